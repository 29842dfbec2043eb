"""Lowers a term that only peaks decide, by asking: if this term is at most some limit, what does the term before it, which the choice of pools decides, cost at least?

The question is turned round because linear programs bound the cost of a choice well, but say little about choices that must cost exactly
a given amount. If the earlier term costs no more than before, there is a better choice; if it costs more, no choice is within the limit.
"""

from __future__ import annotations

from dataclasses import replace

from .. import budget
from ..program.program import Program
from ..questions.asking import Asking
from ..questions.question import Question
from .peaks import Choice

FIRST_STEP = 512
"""The second limit is lower than the best known value by 1/FIRST_STEP of it; each later step is twice as large, or half of the open gap."""
LOWER = 5, 8
"""If that was not enough, although better choices were found, the rest goes to one limit, this far from the proven bound to the best known value."""


def can_limit(program: Program, index: int) -> bool:
    """Is this term decided by peaks alone, and the one before it by the choice of pools alone?"""
    if not index:
        return False
    before, term = program.terms[index - 1], program.terms[index]
    is_of_choices = any(map(any, before.of_homes)) and not before.counts_peaks
    return is_of_choices and not term.is_largest and any(term.of_peaks) and not any(map(any, term.of_homes))


class LimitSearch:
    """The search for one term, with the earlier ones held; `best` is the term's best known value."""

    def __init__(self, program: Program, asking: Asking, question: Question, best: int, work: int) -> None:
        self.found: list[Choice] = []
        """The choices that improved on all before them, best first."""
        self._asking, self._index, self._best = asking, question.term, best
        *earlier, self._most = question.held
        self._held = tuple(earlier)
        before, term = program.terms[self._index - 1 : self._index + 1]
        self._program = program
        self._turned = replace(program, terms=(*program.terms[: self._index - 1], term, before))
        self._question = replace(question, most=None)
        self._end = asking.work + work

    def run(self, bound: int, *, is_least: bool) -> int:
        """Search until the term is proven or the work is used up; return a lower bound. `is_least`: the earlier terms are proven to be at their least."""
        step, limit = self._best // FIRST_STEP + 1, self._best - 1
        while bound < self._best and not self._asking.is_over(self._end):
            is_better, is_impossible = self._ask(
                limit, is_least, budget.PART_OF_LATER_LIMITS if self.found else budget.PART_OF_LIMITS
            )
            if is_better:
                limit = min(max((bound + self._best) // 2, self._best - step), self._best - 1)
                step *= 2
            elif is_impossible:
                bound, limit = limit + 1, self._best - 1
            elif not self.found:
                break
            else:  # much lower limits are refuted sooner
                limit = bound + (self._best - bound) * LOWER[0] // LOWER[1]
                if not self._asking.is_over(self._end) and self._ask(limit, is_least, 1)[1]:
                    bound = limit + 1
                break
        return min(bound, self._best)

    def _ask(self, limit: int, is_least: bool, share: int) -> tuple[bool, bool]:
        """Whether a better choice within this limit was found, and if not, whether there is proven to be none."""
        least, enough = self._most if is_least else None, self._most + 1
        question = replace(self._question, held=(*self._held, limit), least=least, enough=enough)
        answer = self._asking.ask(self._turned, question, (self._end - self._asking.work) // share + 1)
        if answer.pools is not None and answer.value is not None and answer.value <= self._most:
            tops = self._program.least_tops(answer.pools)
            self._best = min(self._program.value(self._index, answer.pools, tops), limit)
            self.found.insert(0, Choice(self._best, tops, answer.pools))
            return True, False
        return False, answer.is_impossible or (answer.bound is not None and answer.bound > self._most)
