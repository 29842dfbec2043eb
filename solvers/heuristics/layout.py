"""A placement that can be changed: classes of blocks are lifted out and set down elsewhere, and everything can be put back."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

import numpy as np

from ..bounds.weighted_sections import homes_of_classes
from ..fitting.gaps import Span
from ..fitting.neighbours import neighbours
from ..fitting.orders import Fit
from ..fitting.reserved import Reserved
from ..model.conflicts import partners
from ..model.instance import Instance, Ints, Placement
from ..model.interruption import check_interrupted, interruptible

Spots = list[tuple[int, int, int]]
"""(block, pool, base)"""
LOOK_EVERY = 32
"""Blocks: to find room for so many takes a few milliseconds."""


class Layout:
    """Where every block is. Blocks of one class, which must share a pool, come and go together."""

    def __init__(self, instance: Instance, start: Placement, hurries: Callable[[], bool] = lambda: False) -> None:
        """From when `hurries` is true on, there is no room for a class of very many."""
        self.instance = instance
        self._hurries = hurries
        self.pool, self.offset = start.pool.copy(), start.offset.copy()
        self.homes = homes_of_classes(instance)
        check_interrupted()
        self.members: dict[int, list[int]] = {}
        for block, group in enumerate(instance.pool_class.tolist()):
            self.members.setdefault(group, []).append(block)
        self.high: list[int] = instance.block_high.tolist()
        self._near = neighbours(instance)
        check_interrupted()
        self._reserved = Reserved(instance)
        self._top = [0] * len(instance.pools)
        """The greatest height ever reached in the pool."""
        places = list(zip(range(instance.blocks), start.pool.tolist(), start.offset.tolist(), strict=True))
        for block, pool, base in interruptible(places):
            self._put(block, pool, base)
        self.work_of_look = max(self._near.work // max(instance.blocks, 1), 1)
        """The work of searching a place for a block in a pool."""
        self._spans = [
            [Span(*row) for row in zip(*columns, strict=True)]
            for columns in zip(
                *(table.tolist() for table in (instance.lowest, instance.highest, instance.modulus, instance.residue)),
                strict=True,
            )
        ]
        check_interrupted()
        self._apart = partners(instance.apart.tolist())

    @property
    def placement(self) -> Placement:
        return Placement(self.pool.copy(), self.offset.copy())

    def lift(self, groups: Iterable[int]) -> Spots:
        """Take these classes out; what it takes to put them back."""
        spots = [
            (block, int(self.pool[block]), int(self.offset[block])) for group in groups for block in self.members[group]
        ]
        self.take(block for block, *_ in spots)
        return spots

    def take(self, blocks: Iterable[int]) -> None:
        """Take single blocks out again."""
        for block in blocks:
            self._near.lift(block)

    def set_down(self, spots: Spots) -> None:
        """Put lifted blocks there; that nothing is in their way is the caller's business."""
        for block, pool, base in spots:
            self._put(block, pool, base)
            self.pool[block], self.offset[block] = pool, base

    def room(self, group: int, pool: int, fit: Fit) -> Spots | None:
        """Where the lifted class would lie in the pool; None if it has no room. The blocks are not set down."""
        blocks = self.members[group]
        if len(blocks) == 1:
            base = self.base(blocks[0], pool, fit)
            return None if base is None else [(blocks[0], pool, base)]
        spots: Spots = []
        for block in sorted(blocks, key=lambda b: (-self.high[b], b)):
            hurries = len(spots) % LOOK_EVERY == LOOK_EVERY - 1 and self._hurries()
            base = None if hurries else self.base(block, pool, fit)
            if base is None:
                break
            spots.append((block, pool, base))
            self._put(block, pool, base)
        self.take(block for block, *_ in spots)
        return spots if len(spots) == len(blocks) else None

    def is_free(self, block: int, pool: int, base: int) -> bool:
        """Could the lifted block lie just there, where it may lie at all?"""
        span = Span(base, base, 1, 0)
        extra = self._reserved.closed(block, pool, span, self._top[pool], Fit.LOWEST)
        return self._near.open_base(block, pool, span, extra, Fit.LOWEST) is not None

    def base(self, block: int, pool: int, fit: Fit) -> int | None:
        """Where one lifted block would lie in the pool; None if it has no room."""
        span = self._spans[block][pool]
        extra = self._reserved.closed(block, pool, span, self._top[pool], fit)
        return self._near.open_base(block, pool, span, extra, fit)

    def _put(self, block: int, pool: int, base: int) -> None:
        self._near.place(block, pool, base)
        self._top[pool] = max(self._top[pool], base + self.high[block])

    def is_open(self, group: int, pool: int, lifted: set[int]) -> bool:
        """Is nothing there that the class must be apart from? `lifted` are classes that are nowhere."""
        class_of = self.instance.pool_class
        return not any(
            int(class_of[other]) not in lifted and int(self.pool[other]) == pool
            for block in self.members[group]
            for other in self._apart.get(block, ())
        )

    def must_part(self, group: int, others: Container[int]) -> bool:
        """Must the class be in another pool than one of these?"""
        class_of = self.instance.pool_class
        return any(
            int(class_of[other]) in others for block in self.members[group] for other in self._apart.get(block, ())
        )

    def blocks_in(self, pool: int) -> Ints:
        return np.flatnonzero(self.pool == pool)


def lives(instance: Instance) -> tuple[Ints, Ints]:
    """First and last section of each block; of those without, all time."""
    block = instance.part_block[instance.rect_part]
    birth, death = (
        np.full(instance.blocks, instance.sections, dtype=np.int64),
        np.zeros(instance.blocks, dtype=np.int64),
    )
    np.minimum.at(birth, block, instance.rect_start)
    np.maximum.at(death, block, instance.rect_end)
    timeless = death == 0
    birth[timeless], death[timeless] = 0, instance.sections + 1
    return birth, death
