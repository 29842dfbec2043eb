"""Who uses which storage object, what that adds up to, and whether it keeps the rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..geometry.rules import violation
from ..model.errors import SolverFailed
from ..model.instance import Instance, Ints, Placement


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """The number of each block's storage object. An object is as large as the largest block in it."""

    storage: Ints
    """(n) from 0 on; the objects of different pools have different numbers."""


def homes(instance: Instance) -> Ints:
    """(n) each block's pool: with shared objects none has a choice."""
    found: Ints = instance.allowed.argmax(axis=1).astype(np.int64)
    return found


def totals(instance: Instance, arrangement: Arrangement) -> tuple[int, ...]:
    """The sizes of the objects of each pool, added up."""
    sizes, pools = _objects(instance, arrangement)
    sums = np.zeros(len(instance.pools), dtype=np.int64)
    np.add.at(sums, pools, sizes)
    return tuple(sums.tolist())


def as_placement(instance: Instance, arrangement: Arrangement) -> Placement:
    """The objects of each pool one above the other, by number: a placement whose peaks are the totals.

    So an arrangement can go wherever a placement goes, and is checked there by the same rules.
    """
    sizes, pools = _objects(instance, arrangement)
    begin = np.zeros(len(sizes), dtype=np.int64)
    for pool in range(len(instance.pools)):
        here = np.flatnonzero(pools == pool)
        begin[here] = np.cumsum(sizes[here]) - sizes[here]
    return Placement(homes(instance), begin[arrangement.storage])


def from_placement(instance: Instance, placement: Placement) -> Arrangement:
    """The way back: what begins at one address is one object. Raises SolverFailed if objects overlap, so that it is no arrangement."""
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


def _objects(instance: Instance, arrangement: Arrangement) -> tuple[Ints, Ints]:
    """Size and pool of each object; a number that nobody uses is an object of no size."""
    count = int(arrangement.storage.max(initial=-1)) + 1
    sizes, pools = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    np.maximum.at(sizes, arrangement.storage, instance.block_high)
    pools[arrangement.storage] = homes(instance)
    return sizes, pools
