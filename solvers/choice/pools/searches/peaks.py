"""Search over the heights of the pools' peaks, where peaks have a cost: once they are given, the program only asks what fits.

It begins with the peaks that would be best if classes could be divided, and with peaks of known choices. Each is lowered and raised in steps
that shrink, or one is lowered while another is raised; the search goes on from whatever is better.

Where earlier terms hold the peaks at their least, the cost of a later term depends on which pools are high. All blocks in the last pool is often
one way to reach the least peaks, and from there windows of time find nothing. So first the dearest pool is made as low as these peaks allow,
then the next one; the blocks in the other pools cost little once windows have gone over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from .. import budget
from ..program.program import Pools, Program
from ..questions.asking import Asking
from ..questions.question import Question

Tops: TypeAlias = tuple[int, ...]

SLACKS = (0, 2, 5, 10, 20, 40, 80, 160)
"""Peaks below which nothing fits are raised by these thousandths, in turn."""
STEPS = (20, 10, 5, 3)
"""A peak is changed by these thousandths, in turn."""
KEPT = 6


class Choice(NamedTuple):
    """A choice of pools, what it is worth, and how high the pools then are."""

    value: int
    tops: Tops
    pools: Pools


class PeakSearch:
    """The search for one term, with the earlier ones held."""

    def __init__(self, program: Program, asking: Asking, question: Question, best: int | None, work: int) -> None:
        self.found: list[Choice] = []
        """The best choices, best first."""
        self._program, self._asking, self._question, self._best = program, asking, question, best
        self._end = asking.work + work
        self._each = work // budget.PART_OF_PEAKS
        terms = program.terms[: question.term + 1]
        self._counted = [p for p in range(len(program.rooms)) if any(term.of_peaks[p] for term in terms)]
        self._price = [max(term.of_peaks[p] for term in terms) for p in range(len(program.rooms))]
        self._least = sum(min(costs) for costs in program.terms[question.term].of_homes)
        """The least cost of any choice, apart from peaks."""
        self._tried = set[Tops]()

    def run(self, starts: Iterable[Tops]) -> list[Choice]:
        """The best choices that were found, best first."""
        for start in starts:
            self._enter(start)
        for step in STEPS:
            while self.found and any(self._try(tops) for tops in self._moves(self.found[0].tops, step)):
                pass
        return self.found

    def _enter(self, start: Tops) -> None:
        """Raise the peaks until a better choice fits, or none can be better."""
        for slack in SLACKS:
            tops = self._within(top + top * slack // 1000 for top in start)
            if self._try(tops) or self._asking.is_over(self._end) or not self._is_worth_asking(tops):
                return

    def _within(self, tops: Iterable[int]) -> Tops:
        """As far as pools end there; those whose peaks have no price may be as high as they can."""
        rooms = self._program.rooms
        return tuple(
            max(top if room.capacity is None else min(top, room.capacity) if price else room.capacity, room.lowest)
            for top, room, price in zip(tops, rooms, self._price, strict=True)
        )

    def _moves(self, tops: Tops, step: int) -> Iterator[Tops]:
        for p in self._counted:
            change = max(tops[p] * step // 1000, 1)
            yield self._changed(tops, {p: -change})
            yield self._changed(tops, {p: change})
            for q in self._counted:
                if q != p and self._price[q]:
                    yield self._changed(tops, {p: -change, q: change * self._price[p] // self._price[q]})

    def _changed(self, tops: Tops, by: dict[int, int]) -> Tops:
        return self._within(max(top + by.get(p, 0), 0) for p, top in enumerate(tops))

    def _try(self, tops: Tops) -> bool:
        """Is there a better choice below these peaks?"""
        if tops in self._tried or self._asking.is_over(self._end) or not self._is_worth_asking(tops):
            return False
        self._tried.add(tops)
        index = self._question.term
        most = None if self._best is None else self._best - 1
        question = replace(self._question, most=most, tops=tops, are_peaks=True)
        answer = self._asking.ask(self._program, question, min(self._each, self._end - self._asking.work))
        if answer.pools is None:
            return False
        tight = self._program.least_tops(answer.pools)
        self._best = self._program.value(index, answer.pools, tight)
        self.found = [Choice(self._best, tight, answer.pools), *self.found][:KEPT]
        return True

    def _is_worth_asking(self, tops: Tops) -> bool:
        terms = self._program.terms
        kept = zip(terms, self._question.held, strict=False)
        too_dear = self._best is not None and self._least + terms[self._question.term].of_tops(tops) >= self._best
        return not too_dear and all(term.of_tops(tops) <= most for term, most in kept)


def are_peaks_after_choice(program: Program, index: int) -> bool:
    """Is this term decided by peaks alone, and the one before it by the choice of pools alone?"""
    if not index:
        return False
    before, term = program.terms[index - 1], program.terms[index]
    is_of_choices = any(map(any, before.of_homes)) and not before.counts_peaks
    return is_of_choices and not term.is_largest and any(term.of_peaks) and not any(map(any, term.of_homes))


def is_held_by_peaks(program: Program, index: int) -> bool:
    """Are the earlier terms decided by peaks alone, and this one by the choice of pools alone?"""
    term = program.terms[index]
    is_of_choices = any(map(any, term.of_homes)) and not any(term.of_peaks)
    return index > 0 and is_of_choices and not any(any(map(any, one.of_homes)) for one in program.terms[:index])
