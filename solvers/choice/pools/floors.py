"""Bounds a term that only peaks decide, pool by pool: how low can this one be, whatever the others are?

Each question is: with this pool no higher than that, what does the term before, which the choice of pools decides, cost at least? If more than it may,
the pool is higher in every plan of use. No peak is weighed in such a question, so CP-SAT answers it far sooner than one about all pools together.
"""

from __future__ import annotations

from dataclasses import replace

from . import budget
from .peaks import Choice
from .program.program import Program
from .questions.asking import Asking, Wish
from .questions.question import Question

FIRST_STEP = 64
"""A pool's first question is how it could be lower by such a part of the term's value."""
LONG, SHORT, LAST = 16, 4, 2
"""Each later step is the last one divided by this. Whatever it asks, a question takes a while to begin; so where the last one took hardly more, the step is long."""
FINEST = 4_096
"""A pool that could be lower by such a part of the term's value at most is settled."""


class FloorSearch:
    """Of one term, with the earlier ones held, from pools with these tops; `best` is the term's best known value."""

    def __init__(
        self, program: Program, asking: Asking, question: Question, best: int, tops: tuple[int, ...], work: int
    ) -> None:
        self.found: list[Choice] = []
        """The choices that improved on all before them, best first."""
        self._program, self._asking, self._index, self._best = program, asking, question.term, best
        *earlier, self._most = question.held
        self._question = replace(question, term=self._index - 1, held=tuple(earlier), least=None, most=None)
        self._tops = list(tops)
        self._floors = [room.lowest for room in program.rooms]
        self._work, self._end = work, asking.work + work

    def run(self) -> int:
        """A lower bound on the term."""
        prices = self._program.terms[self._index].of_peaks
        counted = sorted((p for p, price in enumerate(prices) if price), key=lambda p: -self._tops[p] * prices[p])
        steps = dict[int, tuple[int, int]]()
        step, work = self._best // FIRST_STEP, self._work // budget.PART_OF_FLOORS
        first = [self._wish(pool, step // prices[pool], work) for pool in counted]
        for pool, wish, further in zip(counted, first, [*first[1:], None], strict=True):
            before = self._asking.work
            if not self._raise(pool, wish, further):
                return self._bound()
            steps[pool] = step, self._next(before)
        while steps:
            pool = max(steps, key=lambda each: (steps[each][0], -each))  # the pool that may be lower by most
            last, part = steps.pop(pool)
            before, step = self._asking.work, max(last // part, self._best // FINEST)
            work = (self._end - before) // (len(steps) + 1)
            if part == LONG:
                work = min(work, budget.LONG_FLOOR_PER_ENTRY * self._program.entries)
            if not self._raise(pool, self._wish(pool, step // prices[pool], work)):
                if part != LAST:
                    steps[pool] = last, SHORT if part == LONG else LAST
            elif part != LAST and step * FINEST > self._best:
                steps[pool] = step, self._next(before)
        return self._bound()

    def _next(self, before: int) -> int:
        """What a step is divided by after one that succeeded, with this work before it."""
        return LONG if self._asking.work - before <= budget.SOON_PER_ENTRY * self._program.entries else SHORT

    def _bound(self) -> int:
        prices = self._program.terms[self._index].of_peaks
        return min(sum(price * floor for price, floor in zip(prices, self._floors, strict=True)), self._best)

    def _wish(self, pool: int, step: int, work: int) -> Wish | None:
        """May the pool be lower than its top by more than this step? None: that is proven not to be."""
        top = self._tops[pool] - step - 1
        if top < self._floors[pool]:
            return None
        tops = tuple(top if other == pool else None for other in range(len(self._tops)))
        return Wish(self._program, replace(self._question, tops=tops, enough=self._most + 1), work)

    def _raise(self, pool: int, wish: Wish | None, further: Wish | None = None) -> bool:
        """Raise the pool's floor to what was asked about; false if that was not proven. A `further` question may be answered ahead."""
        if wish is None:
            return True
        top = wish.question.tops[pool]
        if not wish.work or top is None or self._asking.stop is not None:
            return False
        answer = self._asking.ask(*wish, lambda: further)
        if answer.pools is not None and answer.value is not None and answer.value <= self._most:
            lower = self._program.least_tops(answer.pools)
            value = self._program.value(self._index, answer.pools, lower)
            self._tops[pool] = lower[pool]
            if value < self._best:
                self._best = value
                self.found.insert(0, Choice(value, lower, answer.pools))
            return False
        if answer.is_impossible or (answer.bound is not None and answer.bound > self._most):
            self._floors[pool] = top + 1
            return True
        return False
