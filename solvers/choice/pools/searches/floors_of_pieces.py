"""Bounds a second term, of peaks alone, pool by pool, with the pieces that bound the first."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

from ..cutting import Pieces
from ..program.program import Program
from ..questions.asking import Asking

FIRST_STEP = 64
"""A pool's first floor is lower than its top by such a part of the term."""
SHORTER, LONGER = 4, 2
"""Where that was proven the next step is so many times shorter, else longer: that is easier."""


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
    ) -> None:
        self._pieces, self._most, self._asking = pieces, most, asking
        self._prices = program.terms[1].of_peaks
        self._tops, self._first = tuple(tops), first
        least = [room.lowest for room in program.rooms]
        for row in program.rows:
            least[row.pool] = max(least[row.pool], program.rooms[row.pool].top_of(row.always))
        self._floors = list(map(min, least, tops))

    def bound(self, work: int) -> int:
        """A lower bound on the term."""
        end, best = self._asking.work + work, sum(map(mul, self._prices, self._tops))
        steps = {pool: (best // self._first, -1, best) for pool, price in enumerate(self._prices) if price}
        """By pool: the next step, the longest that was not proven, and the shortest that was."""
        while steps and not self._asking.is_over(end):
            before = self._asking.work
            pool = max(steps, key=lambda each: (steps[each][2] - steps[each][0], -each))
            step, failed, proven = steps.pop(pool)
            floor = self._tops[pool] - step // self._prices[pool]
            is_raised = self._is_raised(pool, floor, (end - self._asking.work) // (len(steps) + 1))
            if is_raised:
                self._floors[pool], proven = max(self._floors[pool], floor), step
            elif is_raised is None and self._asking.work == before:  # there is too little left
                continue
            else:
                failed = step
            step = max(step * LONGER, 1) if proven == best else max(proven // SHORTER, (failed + proven) // 2)
            if failed < step < proven:
                steps[pool] = step, failed, proven
        return sum(map(mul, self._prices, self._floors))

    def _is_raised(self, pool: int, floor: int, work: int) -> bool | None:
        """Is the pool this high in every choice? None: not answered within the work."""
        return floor <= self._floors[pool] or self._pieces.exceeds(self._most, pool, floor - 1, work)
