"""Bounds a term that only peaks decide, pool by pool: how low can this one be, whatever the others are?

Each question is: with this pool no higher than that, what does the term before, which the choice of pools decides, cost at least? If more than it may,
the pool is higher in every plan of use. No peak is weighed in such a question, so CP-SAT answers it far sooner than one about all pools together.
"""

from __future__ import annotations

from dataclasses import replace

from .. import budget
from ..program.program import Program
from ..questions.asking import Asking
from ..questions.question import Question
from .peaks import Choice

FIRST_STEP = 64
"""Where that is too hard, a pool's first question is how it could be lower by such a part of the term's value."""
LONG, SHORT, LAST = 16, 4, 2
"""Each later step is the last one divided by this. Whatever it asks, a question takes a while to begin; so where the last one took hardly more, the step is long."""
FINEST = 4_096
"""A pool that could be lower by such a part of the term's value at most is settled."""


class FloorSearch:
    """Of one term, with the earlier ones held, from pools with these tops; `best` is the term's best known value.

    `proof` is the work of proving that the term before is at its least, as it is held here; None: that is not proven. To prove that a pool cannot be
    any lower takes about as much.
    """

    def __init__(
        self,
        program: Program,
        asking: Asking,
        question: Question,
        best: int,
        tops: tuple[int, ...],
        work: int,
        proof: int | None = None,
    ) -> None:
        self.found: list[Choice] = []
        """The choices that improved on all before them, best first."""
        self._program, self._asking, self._index, self._best = program, asking, question.term, best
        *earlier, self._most = question.held
        self._question = replace(question, term=self._index - 1, held=tuple(earlier), least=None, most=None)
        self._tops = list(tops)
        self._floors = [room.lowest for room in program.rooms]
        self._end, self._proof = asking.work + work, proof

    def run(self) -> int:
        """A lower bound on the term."""
        prices = self._program.terms[self._index].of_peaks
        counted = sorted((p for p, price in enumerate(prices) if price), key=lambda p: -self._tops[p] * prices[p])
        steps, work = dict[int, tuple[int, int]](), self._end - self._asking.work
        for number, pool in enumerate(counted):
            # Without the greatest the others are of no use, so each may take of what is left what it is of the term.
            due = [self._tops[other] * prices[other] for other in counted[number:]]
            share = (self._end - self._asking.work) * due[0] // max(sum(due), 1)
            if not steps and self._settle(pool, share):  # as long as the greater ones are settled, too
                continue
            before, step = self._asking.work, self._best // FIRST_STEP
            if self._raise(pool, step // prices[pool], min(share, work // budget.PART_OF_FLOORS)):
                if not steps and self._is_soon(before) and self._settle(pool, share):
                    continue
                steps[pool] = step, self._next(before)
            elif not number:
                return self._bound()
        while steps:
            pool = max(steps, key=lambda each: (steps[each][0], -each))  # the pool that may be lower by most
            last, part = steps.pop(pool)
            before, step = self._asking.work, max(last // part, self._best // FINEST)
            work = (self._end - before) // (len(steps) + 1)
            if part == LONG:
                work = min(work, budget.LONG_FLOOR_PER_ENTRY * self._program.entries)
            if not self._raise(pool, step // prices[pool], work):
                if part != LAST:
                    steps[pool] = last, SHORT if part == LONG else LAST
            elif part != LAST and step * FINEST > self._best:
                steps[pool] = step, self._next(before)
        return self._bound()

    def _settle(self, pool: int, work: int) -> bool:
        """Prove that the pool cannot be any lower, or find how low it can be, where that is likely to be proven within this work; false if it was not."""
        if self._proof is None or work * budget.LIKELY.part < self._proof * budget.LIKELY.of:
            return False
        end, top = self._asking.work + work, None
        while self._tops[pool] != top:
            top = self._tops[pool]
            if self._raise(pool, 0, end - self._asking.work):
                return True
        return False

    def _is_soon(self, before: int) -> bool:
        """Did the last question, with this work before it, take hardly more than to begin?"""
        return self._asking.work - before <= budget.SOON_PER_ENTRY * self._program.entries

    def _next(self, before: int) -> int:
        """What a step is divided by after one that succeeded, with this work before it."""
        return LONG if self._is_soon(before) else SHORT

    def _bound(self) -> int:
        prices = self._program.terms[self._index].of_peaks
        return min(sum(price * floor for price, floor in zip(prices, self._floors, strict=True)), self._best)

    def _raise(self, pool: int, step: int, work: int) -> bool:
        """Raise the pool's floor to so much below its top; false if that was not proven."""
        top = self._tops[pool] - step - 1
        if top < self._floors[pool]:
            return True
        if work <= 0 or self._asking.stop is not None:
            return False
        tops = tuple(top if other == pool else None for other in range(len(self._tops)))
        question = replace(self._question, tops=tops, enough=self._most + 1)
        answer = self._asking.ask(self._program, question, work)
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
