"""Bounds a second term, of peaks alone, pool by pool, with the pieces that bound the first.

Where pieces do not say that a lower pool costs too much, what they choose below it mostly is a better choice: then bound and choice meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

from ..pieces.cutting import Pieces
from ..program.program import Program
from ..questions.asking import Asking
from .peaks import Choice

FIRST_STEP = 64
"""A pool's first floor is its top; if that is not proven, the next one is lower by such a part of the term."""
SHORTER, LONGER = 4, 2
"""Where a floor was proven the next step is so many times shorter, else longer: that is easier."""
PART_OF_CHOICE = 4
"""A choice below a floor takes such a part of what is left at most."""


class Step(NamedTuple):
    """The next floor of a pool, and what it may gain."""

    gain: int
    pool: int
    floor: int


class Floors:
    """Bounds a second term, of peaks alone, pool by pool: each is higher than that, or all choices cost more than the first term may.

    `program` says how low each pool can be at least, `tops` how high it is.
    """

    def __init__(
        self,
        program: Program,
        pieces: Pieces,
        most: int,
        tops: Sequence[int],
        asking: Asking,
        first: int = FIRST_STEP,
        known: Sequence[int] = (),
    ) -> None:
        """`known` are floors that were proven before, pool by pool."""
        self.found: Choice | None = None
        """The best choice that turned up, if it is better than what was known."""
        self._program, self._pieces, self._most, self._asking = program, pieces, most, asking
        self._prices = program.terms[1].of_peaks
        self._tops = tuple(tops)
        least = [room.lowest for room in program.rooms]
        for row in program.rows:
            least[row.pool] = max(least[row.pool], program.rooms[row.pool].top_of(row.always))
        least = list(map(min, least, tops))
        self.floors = list(map(max, known or least, least))
        """What is proven of each pool."""
        self._missed = [top + 1 for top in tops]
        """By pool, the lowest floor that was not proven."""
        self._short = {pool: max(self._best // first // price, 1) for pool, price in enumerate(self._prices) if price}
        """How far below its top a pool's second floor is,"""
        self._steps = {pool: 0 for pool in self._short if self.floors[pool] <= least[pool]}
        """and its next one, as long as none was proven."""
        self._given_up = set[int]()
        """The pools for whose next floor there is too little work."""

    @property
    def _best(self) -> int:
        """The term's value of the best known choice."""
        return sum(map(mul, self._prices, self._tops))

    def bound(self, work: int) -> int:
        """A lower bound on the term."""
        end = self._asking.work + work
        while (steps := self._open()) and not self._asking.is_over(end):
            before = self._asking.work
            _, pool, floor = max(steps, key=lambda step: (step.gain, -step.pool))
            is_raised = self._is_raised(pool, floor, (end - before) // len(steps))
            if is_raised:
                self.floors[pool] = max(self.floors[pool], floor)
                self._steps.pop(pool, None)
            elif is_raised is None and self._asking.work == before:
                self._given_up.add(pool)
            else:
                self._missed[pool] = floor
                if pool in self._steps:
                    self._steps[pool] = max(self._steps[pool] * LONGER, self._short[pool])
                if is_raised is False and self._pieces.below is not None:
                    self._choose(self._pieces.below, (end - self._asking.work) // PART_OF_CHOICE)
        return sum(map(mul, self._prices, self.floors))

    def _open(self) -> list[Step]:
        """The next steps of all pools that may be higher than their floors."""
        found = list[Step]()
        for pool in self._short.keys() - self._given_up:
            price, top = self._prices[pool], self._tops[pool]
            if pool in self._steps:
                step, gain = self._steps[pool], self._best - price * self._steps[pool]
            else:
                proven = top - self.floors[pool]
                step = max(proven // SHORTER, (top - self._missed[pool] + proven) // 2)
                gain = price * (proven - step)
            if gain > 0 and top - step < self._missed[pool]:
                found.append(Step(gain, pool, top - step))
        return found

    def _is_raised(self, pool: int, floor: int, work: int) -> bool | None:
        """Is the pool this high in every choice? None: not answered within the work."""
        return floor <= self.floors[pool] or self._pieces.exceeds(self._most, pool, floor - 1, work)

    def _choose(self, below: Pieces, work: int) -> None:
        """Choose as these pieces do, if that is better: no floor is higher then. A pool that is far lower is mostly as low as it can be."""
        pools = below.choice(work)
        if pools is None:
            return
        tops = self._program.least_tops(pools)
        value = sum(map(mul, self._prices, tops))
        if value < self._best and self._program.value(0, pools, tops) <= self._most:
            self.found = Choice(value, tops, pools)
            for pool in self._steps:
                if self._tops[pool] - tops[pool] > self._short[pool]:
                    self._steps[pool] = 0
            self._tops = tops
            self._missed = [min(missed, top + 1) for missed, top in zip(self._missed, tops, strict=True)]
