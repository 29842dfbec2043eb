"""Arrangements of blocks in storage objects: their total, a check of the rules, and the best one found for each pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry.rules import violation
from ..model.errors import SolverFailed
from ..model.instance import Instance, Ints, Placement


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """The number of each block's storage object. An object is as large as its largest block."""

    storage: Ints
    """(n) from 0 on; objects of different pools have different numbers."""


def homes(instance: Instance) -> Ints:
    """(n) each block's pool; with storage objects no block has a choice."""
    found: Ints = instance.allowed.argmax(axis=1).astype(np.int64)
    return found


def totals(instance: Instance, arrangement: Arrangement) -> tuple[int, ...]:
    """The sum of the objects' sizes in each pool."""
    sizes, pools = _objects(instance, arrangement)
    sums = np.zeros(len(instance.pools), dtype=np.int64)
    np.add.at(sums, pools, sizes)
    return tuple(sums.tolist())


def as_placement(instance: Instance, arrangement: Arrangement) -> Placement:
    """The objects of each pool stacked, by number: a placement whose peaks are the totals.

    So an arrangement can be passed and checked as a placement.
    """
    sizes, pools = _objects(instance, arrangement)
    begin = np.zeros(len(sizes), dtype=np.int64)
    for pool in range(len(instance.pools)):
        here = np.flatnonzero(pools == pool)
        begin[here] = np.cumsum(sizes[here]) - sizes[here]
    return Placement(homes(instance), begin[arrangement.storage])


def from_placement(instance: Instance, placement: Placement) -> Arrangement:
    """The arrangement of such a placement: blocks at one address share an object. Raises SolverFailed if objects overlap."""
    key = np.stack([placement.pool, placement.offset], axis=1)
    starts, storage = np.unique(key, axis=0, return_inverse=True)
    storage = storage.reshape(-1).astype(np.int64)
    sizes = np.zeros(len(starts), dtype=np.int64)
    np.maximum.at(sizes, storage, instance.block_high)
    ends = starts[:, 1] + sizes
    if ((starts[1:, 0] == starts[:-1, 0]) & (ends[:-1] > starts[1:, 1])).any():
        raise SolverFailed("sharing", "it put blocks inside objects of others")
    return Arrangement(storage)


def broken_rule(instance: Instance, arrangement: Arrangement) -> str | None:
    """The first rule that the arrangement breaks, in words; None if it keeps them all."""
    storage = arrangement.storage
    if len(storage) != instance.blocks:
        return f"{len(storage)} objects' numbers for {instance.blocks} blocks"
    if len(storage) and (storage.min() < 0 or storage.max() >= instance.blocks):
        return "an object has a number that is out of range"
    pools = homes(instance)
    first = np.full(instance.blocks, -1, dtype=np.int64)
    first[storage] = pools
    if (first[storage] != pools).any():
        return "blocks of different pools share an object"
    return violation(instance, as_placement(instance, arrangement))


class Best:
    """The best objects found for each pool. Pools are independent, so each keeps its own best."""

    def __init__(self, instance: Instance, start: Arrangement | None = None) -> None:
        self._size: list[int] = instance.block_high.tolist()
        self._home: list[int] = homes(instance).tolist()
        self._objects: dict[int, list[list[int]]] = {}
        self._total: dict[int, int] = {}
        for pool in range(len(instance.pools)):
            if not any(home == pool and size for home, size in zip(self._home, self._size, strict=True)):
                self.note(pool, [])
        if start is not None:
            self.offer(start)

    def total(self, pool: int) -> int | None:
        """The total size of the pool's objects; None if there are none yet."""
        return self._total.get(pool)

    def note(self, pool: int, objects: Sequence[Sequence[int]]) -> bool:
        """Keeps these objects, given as the users of each, if their total is better; true if it is. All blocks with bytes must be in one."""
        total = sum(max(self._size[block] for block in users) for users in objects)
        before = self._total.get(pool)
        if before is not None and total >= before:
            return False
        self._total[pool] = total
        self._objects[pool] = [list(users) for users in objects]
        return True

    def offer(self, arrangement: Arrangement) -> bool:
        """Keeps each pool's objects of the arrangement where they are better; true if any are."""
        users: dict[int, dict[int, list[int]]] = {pool: {} for pool in set(self._home)}
        for block, number in enumerate(arrangement.storage.tolist()):
            if self._size[block]:
                users[self._home[block]].setdefault(number, []).append(block)
        better = [self.note(pool, list(objects.values())) for pool, objects in users.items()]
        return any(better)

    def arrangement(self) -> Arrangement | None:
        """The arrangement of all blocks; None while a pool has none. Blocks without bytes join the first object of their pool."""
        storage = np.zeros(len(self._size), dtype=np.int64)
        number = 0
        first: dict[int, int] = {}
        for pool in sorted(set(self._home)):
            objects = self._objects.get(pool)
            if objects is None:
                return None
            first[pool] = number
            for users in objects:
                storage[users] = number
                number += 1
            number += not objects
        for block, size in enumerate(self._size):
            if not size:
                storage[block] = first[self._home[block]]
        return Arrangement(storage)


def _objects(instance: Instance, arrangement: Arrangement) -> tuple[Ints, Ints]:
    """Size and pool of each object; an unused number is an object of size 0."""
    count = int(arrangement.storage.max(initial=-1)) + 1
    sizes, pools = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    np.maximum.at(sizes, arrangement.storage, instance.block_high)
    pools[arrangement.storage] = homes(instance)
    return sizes, pools
