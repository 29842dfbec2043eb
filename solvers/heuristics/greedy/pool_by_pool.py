"""A first placement of many blocks in several pools, in a hundredth of the time that placing block after block takes.

Each block goes to the pool that it prefers, and a kernel packs each pool with what fits. What is left out goes on to the next pool that it may be in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from ...fitting.measures import measure
from ...fitting.orders import ordered
from ...model.conflicts import distinct, partners
from ...model.instance import Bools, Instance, Ints, Placement
from ...model.interruption import check_interrupted, interruptible
from .colouring import coloured
from .packing import filled

MANY_BLOCKS = 5_000
"""Below this, placing one after the other takes at most a fifth of a second."""


ROUNDS_PER_POOL = 3
"""In a round, what found no room goes one pool on. Some blocks begin later than others, or again."""
FIRST_ORDER = "size"
"""The first of all orders; other solvers begin with it too."""


class Packed(NamedTuple):
    """The placement found."""

    placement: Placement
    all_as_preferred: bool
    """Is every block in its first pool? Then placing them one after the other, by size and lowest fit, gives the same placement."""


def pool_by_pool(instance: Instance, hurries: Callable[[], bool] | None = None) -> Packed | None:
    """Place all blocks; None if not all find a place this way, which proves nothing. Once `hurries` is true, nothing is looked a place for below others."""
    whereabouts = _Whereabouts(instance)
    if not whereabouts.begin():
        return None
    offset, turn, pool = np.empty(instance.blocks, dtype=np.int64), whereabouts.turn, whereabouts.pool
    fresh = np.ones(instance.blocks, dtype=bool)
    only = instance.allowed & (instance.lowest == instance.highest)  # such blocks come first everywhere
    as_preferred = not turn.any() and bool((only.any(axis=1) == only[np.arange(instance.blocks), pool]).all())
    for _ in range(ROUNDS_PER_POOL * len(instance.pools)):
        moving = np.zeros(instance.blocks, dtype=bool)
        pool = whereabouts.pool
        for p in np.unique(pool[fresh]).tolist():
            check_interrupted()
            here = np.flatnonzero(pool == p)
            order = np.lexsort((whereabouts.rank[here], ~only[here, p]))
            offset[here], left_out = filled(instance, p, here, order, hurries)
            moving[here[left_out]] = True
        if not moving.any():
            return Packed(Placement(pool, offset), as_preferred)
        as_preferred = False
        moved = whereabouts.move_on(moving)
        if moved is None:
            return None
        fresh = moved
    return None


class _Whereabouts:
    """The pool of each block. Blocks of one class are in the same pool, and those that must be apart in different ones."""

    def __init__(self, instance: Instance) -> None:
        self._each = np.arange(instance.blocks)
        self._first = instance.first_of_class
        self._homes, self._count = _homes(instance)
        self._pairs = self._first[instance.apart]
        self._others = partners(self._pairs.tolist())
        """For the first block of a class, the first blocks of those that it must be apart from."""
        self.turn = np.zeros(instance.blocks, dtype=np.int64)
        """Which of its pools each block is in."""
        self.rank = np.empty(instance.blocks, dtype=np.int64)
        """The place of each block in the order in which a pool is packed."""
        self.rank[ordered(FIRST_ORDER, measure(instance))] = self._each
        self._comes_first = np.zeros(instance.blocks, dtype=bool)

    @property
    def pool(self) -> Ints:
        pool: Ints = self._homes[self._each, self.turn]
        return pool

    def begin(self) -> bool:
        """Put every block into the first of its pools that it may be in; false if there is none."""
        if not self._count.all():
            return False
        if self._settle(sorted(self._others)):
            return True
        self.turn[:], self._comes_first[:] = 0, False
        return self._colour()

    def _colour(self) -> bool:
        """Choose pools for all classes that must be apart from others, one at a time leaving none for the last; false if none are found."""
        classes = sorted(self._others)
        number = {each: i for i, each in enumerate(classes)}
        lists: dict[bytes, list[int]] = {}
        homes = []
        for each in interruptible(classes):
            row = self._homes[each, : self._count[each]]
            homes.append(lists.setdefault(row.tobytes(), row.tolist()))
        pools = coloured(homes, [[number[other] for other in self._others[each]] for each in classes])
        if pools is None:
            return False
        for each, mine, pool in zip(classes, homes, pools, strict=True):
            self.turn[each] = mine.index(pool)
        self.turn = self.turn[self._first]
        return True

    def move_on(self, some: Bools) -> Bools | None:
        """Put these blocks, and their classes, into the next of their pools; return all that moved, or None if there is no such pool.

        A class that has been in its last pool, or cannot be in it, begins again, once: it is then placed before all others.
        """
        moved = np.zeros(len(some), dtype=bool)
        moved[self._first[some]] = True
        moved = moved[self._first]
        self.turn[moved] += 1
        through = moved & (self.turn >= self._count)
        if (through & self._comes_first).any():
            return None
        self.turn[through], before = 0, self._comes_first.copy()
        self._comes_first |= through
        pool = self.pool
        clash = self._pairs[pool[self._pairs[:, 0]] == pool[self._pairs[:, 1]]].reshape(-1)
        if not self._settle(distinct(clash[moved[clash]]).tolist()):
            return None
        self._comes_first = self._comes_first[self._first]
        self.rank[self._comes_first & ~before] -= len(some)
        return moved

    def _settle(self, some: Collection[int]) -> bool:
        """Have each of these classes, one after the other, go on to a pool without any of its others; false if there is none."""
        pool: list[int | None] = self.pool.tolist()
        for each in some:
            pool[each] = None  # until it is their turn they are nowhere
        for each in interruptible(some):
            closed = {pool[other] for other in self._others[each]}
            open_to_it = [t for t in range(int(self._count[each])) if int(self._homes[each, t]) not in closed]
            turn = next((t for t in open_to_it if t >= self.turn[each]), None)
            if turn is None:
                if not open_to_it or self._comes_first[each]:
                    return False
                self._comes_first[each], turn = True, open_to_it[0]
            self.turn[each], pool[each] = turn, int(self._homes[each, turn])
        self.turn = self.turn[self._first]
        return True


def _homes(instance: Instance) -> tuple[Ints, Ints]:
    """The pools of each block, in the order that the first of its class prefers and closed ones last; and how many are open."""
    first = instance.first_of_class
    allowed = instance.allowed[first]
    wish = np.where(allowed, instance.preference[first], len(instance.pools))
    homes: Ints = np.argsort(wish, axis=1, kind="stable")
    return homes, allowed.sum(axis=1)
