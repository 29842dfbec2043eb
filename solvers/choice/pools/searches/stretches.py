"""Choices that leave room for gaps, where so many blocks are live at a time that one which fills a pool can hardly ever be packed.

The rows of each pool are stretched: by enough at first that the choice is packed, then by less and less. Each choice is made anew, since one that was made
for less room comes to nothing better by small steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....model.instance import Ints, Placement
from .. import budget
from ..placing.packing import Packing
from ..program.program import Pools, Program
from ..questions.question import Question
from .core import CoreSearch

CROWDED, FAR_TOO_CROWDED = 9, 14
"""With so many blocks live at a time in a pool, a choice leaves room for gaps if it could not be packed as it was; and in any case."""
MOST = 200
"""From this stretch on, in thousandths, no more is tried."""
NEAR = 5
"""Stretches that differ by no more, or by no more than half of the lower, need not be told apart."""
LESS = 3
"""By how many a stretch is divided that was enough."""


FIRST, MORE = 40, 3 / 2
"""The first stretch, and by how much it grows where it was too little."""
PART_OF_CHOICE = 5
"""A choice may take such a part of the work."""


def most_live(packing: Packing, program: Program, number: Ints, homes: Sequence[int]) -> float:
    """How many blocks are live at a time, on average, in the most crowded pool that ends, with each class in its home. `number` is the class of each block."""
    most, pools, lives = 0.0, np.array(homes, dtype=np.int64)[number], packing.lives
    for pool, room in enumerate(program.rooms):
        here = pools == pool
        if room.capacity is not None and here.any():
            span = int(packing.ends[here].max() - packing.starts[here].min())
            most = max(most, float(lives[here].sum()) / span if span > 0 else 0.0)
    return most


class StretchSearch:
    """The search of one question. `number` is the class of each block."""

    def __init__(
        self,
        core: CoreSearch,
        packing: Packing,
        program: Program,
        number: Ints,
        question: Question,
    ) -> None:
        self._core, self._packing, self._number = core, packing, number
        self._low: list[int | None] = [None] * len(program.rooms)
        """A stretch with which each pool could not be packed, if there is one,"""
        self._high: list[int | None] = [0 if room.capacity is None else None for room in program.rooms]
        """and the least with which all could: nothing where the pool has no end."""
        self._question = replace(
            question, stretch=tuple(0 if room.capacity is None else FIRST for room in program.rooms)
        )

    def run(self, work: int) -> Placement | None:
        """The best placement found within the work."""
        end = self._work + work
        best: tuple[int, Pools, Question, Placement] | None = None
        while self._work < end and any(map(self._is_open, range(len(self._high)))):
            pools = self._choice(min(work // PART_OF_CHOICE, end - self._work))
            if pools is None and self._lessen():
                continue
            if pools is None:
                break
            cost, (placement, missed) = self._core.value(pools), self._packed(pools)
            if placement is not None and (best is None or cost < best[0]):
                best = cost, pools, self._question, placement
            self._step(missed)
        if best is None:
            return None
        _, pools, question, placement = best
        better, _ = self._packed(self._core.improved(question, pools, end - self._work))
        return better or placement

    @property
    def _work(self) -> int:
        return self._core.work + self._packing.work

    def _is_open(self, pool: int) -> bool:
        """Is it worth finding out whether less is enough for the pool?"""
        low, high = self._low[pool], self._high[pool]
        if high is None:
            return low is None or low < MOST
        return high > 0 if low is None else high - low > max(low // 2, NEAR)

    def _choice(self, work: int) -> Pools | None:
        end = self._core.work + work
        pools = self._core.choice(self._question, work // 2)
        return None if pools is None else self._core.improved(self._question, pools, end - self._core.work)

    def _packed(self, pools: Pools) -> tuple[Placement | None, list[int]]:
        """The placement of this choice; and the pools that could not be packed."""
        pool_of = np.array(pools, dtype=np.int64)[self._number]
        return self._packing.pack(pool_of, frozenset(), budget.PACKING_CROWDED)

    def _lessen(self) -> bool:
        """Stretch all by less, as long as nothing could be chosen at all; false if that is not so, or there is no less."""
        stretch = tuple(each // LESS for each in self._question.stretch)
        if any(low is not None for low in self._low) or any(self._high) or not any(stretch):
            return False
        self._question = replace(self._question, stretch=stretch)
        return True

    def _step(self, missed: list[int]) -> None:
        """Stretch pools that were missed by more; if there are none, all by less."""
        stretch = self._question.stretch
        if not missed:
            self._high = list(stretch)
        for pool in missed:
            self._low[pool] = stretch[pool]
        self._question = replace(
            self._question,
            stretch=tuple(self._next(p, each) if p in missed or not missed else each for p, each in enumerate(stretch)),
        )

    def _next(self, pool: int, stretch: int) -> int:
        """A greater one until one was found that is enough; then a smaller one, or one between those that are and are not."""
        low, high = self._low[pool], self._high[pool]
        if high is None:
            return int(stretch * MORE)
        if not self._is_open(pool):
            return high
        return high // LESS if low is None else (low + high) // 2
