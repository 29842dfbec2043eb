"""Branch and bound over the heights of the pools, box by box: finds a lower bound on the cost of every choice, and better choices on the way.

A box holds a range of heights for each pool. Its linear program, with cuts from crowds, bounds what choices in the box cost, and its prices say which
heights are too dear for a better choice; what is left of the box with the least bound is searched first. It is split at the linear program's height
of the pool for which that mixes the most different heights. Before that the 0-1 program looks for a choice close to these heights. A box that is
narrow is given to it as a whole: there it has few heights to compare, and usually ends soon.

Of a large program it cannot be asked so often. There the linear program of a box around these heights, and of a narrower one around those that it has in
turn, says what a choice with such heights is likely to cost: so narrow a box leaves it hardly anything to mix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple

from .. import budget
from ..prices.crowds import Crowd, Priced, Relaxed, prices_of
from ..program.program import Heights, Program
from ..questions.asking import Asking
from ..questions.question import Question
from .peaks import Choice

NARROW = 100
"""A box is narrow if for each pool the cost of its heights differs by at most 1/NARROW of the best choice's cost."""
CLOSE = 400
"""Heights are close if for each pool their costs differ by at most 1/CLOSE of it."""
CLOSER = (CLOSE, 4 * CLOSE)
"""So close, one after the other, are heights that are weighed."""
WIDE = 16
"""A box is wide if it has at least 1/WIDE of each pool's heights: its linear program then goes on from that of all heights, and has the same levels."""
LEAST_PART = 8
"""A box is split in parts of at least 1/LEAST_PART of its heights."""


class Box(NamedTuple):
    """A range of heights for each pool that may hold a better choice."""

    bound: int
    """No choice in it costs less."""
    number: int
    heights: Heights
    middle: tuple[int, ...]
    """The heights in the linear program's solution,"""
    spreads: tuple[float, ...]
    """how far apart those are that it mixes,"""
    crowds: tuple[Crowd, ...]
    """and the crowds that bind there."""


class BoxSearch:
    """The search for the first term of one program."""

    def __init__(
        self, program: Program, asking: Asking, question: Question, best: int, work: int, *, weighs: bool = False
    ) -> None:
        """`weighs`: heights are weighed instead of asked about."""
        self.found: list[Choice] = []
        """The choices that improved on all before them, best first."""
        self.likely: Relaxed | None = None
        """The linear program's solution at those weighed heights at which a choice is likely to cost least,"""
        self._cost: float = math.inf
        """and that cost."""
        self._weighs = weighs
        self._program, self._asking, self._question, self._best = program, asking, question, best
        self._end = asking.work + work
        self._each = min(
            max(work // budget.PART_OF_BOXES, budget.BOX_PER_ENTRY * program.entries), work // budget.MOST_OF_BOXES
        )
        self._prices = program.terms[0].of_peaks
        self._everything = tuple((0, program.highest(pool)) for pool in range(len(program.rooms)))
        self._open = list[Box]()
        self._number = 0
        self._unknown = best
        """The least bound of the boxes that are too small to split and still unsolved."""
        self._narrow = NARROW
        """What is narrow here: wider boxes, too, as long as questions about boxes are answered at once,"""
        self._widest = 1
        """but no wider than this: wider ones are too hard."""

    def run(self, bound: int, relaxed: Relaxed | None = None) -> int:
        """Search until the work is used up; return a lower bound on the cost of every choice. `relaxed` solves the program of all heights."""
        if relaxed is None:
            self._enter(self._everything, bound, ())
        else:
            self._add(self._everything, bound, relaxed)
        return self._search(self._weigh if self._weighs else self._ask_close_to)

    def go_on(self, best: int, work: int) -> int:
        """Search further with so much more work, for the bound alone; `best` is the best choice that is known by now."""
        self._best, self._end = min(self._best, best), self._asking.work + work
        return self._search(lambda box: None)

    def _search(self, look_at: Callable[[Box], object]) -> int:
        """Look at the box with the least bound, and split it, until the work is used up or the best choice is known to be the best."""
        while self._open and self._open[0].bound < self._best:
            if self._asking.is_over(self._end):
                return min(self._open[0].bound, self._unknown)
            box = heappop(self._open)
            known = box.bound
            if not self._weighs and self._is_narrow(box):
                known = self._ask(box.heights, known)
            else:
                look_at(box)
            parts = list(self._halves(box)) if known < self._best else []
            if not parts and known < self._best:
                self._unknown = min(known, self._unknown)
            for part in parts:
                self._enter(part, known, box.crowds)
        return min(self._best, self._unknown)

    def _enter(self, heights: Heights, known: int, crowds: tuple[Crowd, ...]) -> None:
        """Add the box to the open ones if it may hold a better choice."""
        relaxed: Relaxed | None = None
        if not self._asking.is_over(self._end):
            left, is_wide = self._end - self._asking.work, self._is_wide(heights)
            relaxed = self._asking.relax_box(self._program, heights, crowds, self._best, left, is_wide=is_wide)
            if relaxed is None and not self._asking.is_over(self._end):
                known = self._ask(heights, known)  # most boxes are empty, which floating-point numbers cannot prove
        self._add(heights, known, relaxed)

    def _add(self, heights: Heights, known: int, relaxed: Relaxed | None) -> None:
        """The same, with its linear program's solution."""
        middle, spreads = tuple((low + high) // 2 for low, high in heights), tuple(0.0 for _ in heights)
        crowds = tuple[Crowd, ...]()
        if relaxed is not None:
            priced = Priced(self._program, prices_of(relaxed.of_rows, relaxed.of_crowds), heights)
            known, heights = max(known, priced.bound), priced.below(self._best)
            middle, spreads = relaxed.peaks, relaxed.spreads
            crowds = tuple(crowd for crowd, _ in relaxed.of_crowds)
        if known < self._best and heights:
            self._number += 1
            heappush(self._open, Box(known, self._number, heights, middle, spreads, crowds))

    def _ask_close_to(self, box: Box) -> None:
        """Look for a choice close to the heights of the box's solution."""
        self._ask(self._close_to(box, CLOSE), box.bound)

    def _weigh(self, box: Box) -> None:
        """Say what a choice close to these heights is likely to cost, unless that is more than elsewhere."""
        relaxed, cost = None, math.inf
        free = self._prices.index(min(self._prices))  # which takes what has no room in the others
        for parts in CLOSER:
            if self._asking.is_over(self._end):
                return
            heights, left = _with(self._close_to(box, parts), free, box.heights[free]), self._end - self._asking.work
            enough = int(min(self._best, self._cost))
            relaxed = self._asking.relax_narrow(self._program, heights, box.crowds, enough, left)
            if relaxed is None:
                return
            prices = prices_of(relaxed.of_rows, relaxed.of_crowds)
            cost = Priced(self._program, prices, heights).bound
            if cost >= self._cost:
                return
            box = box._replace(middle=relaxed.peaks, crowds=tuple(crowd for crowd, _ in relaxed.of_crowds))
        self.likely, self._cost = relaxed, cost

    def _ask(self, heights: Heights, known: int) -> int:
        """Return a lower bound for these heights; remember better choices that were found."""
        question = replace(self._question, least=known, most=self._best - 1, heights=heights)
        answer = self._asking.ask(self._program, question, min(self._each, self._end - self._asking.work))
        if answer.stopped is not None:
            self._narrow = self._widest = min(2 * self._narrow, NARROW)
        elif answer.work <= budget.SOON_PER_ENTRY * self._program.entries:
            self._narrow = max(self._narrow // 2, self._widest)
        if answer.pools is not None and answer.value is not None and answer.value < self._best:
            self._best = answer.value
            self.found.insert(0, Choice(answer.value, self._program.least_tops(answer.pools), answer.pools))
        if answer.stopped is None:
            return self._best
        return known if answer.bound is None else max(known, answer.bound)

    def _widths(self, box: Box) -> list[int]:
        """For each pool, the difference in cost between its greatest and least height."""
        return [price * (high - low) for price, (low, high) in zip(self._prices, box.heights, strict=True)]

    def _is_wide(self, heights: Heights) -> bool:
        """Are there so many of all heights that the levels of the linear program of all will do?"""
        both = zip(heights, self._everything, strict=True)
        return all((high - low) * WIDE >= most for (low, high), (_, most) in both)

    def _is_narrow(self, box: Box) -> bool:
        return all(width * self._narrow <= self._best for width in self._widths(box))

    def _close_to(self, box: Box, parts: int) -> Heights:
        """Heights of the box close to those in the linear program's solution: their costs differ by one part in so many of the best choice's at most."""
        found = list[tuple[int, int]]()
        for price, middle, (low, high) in zip(self._prices, box.middle, box.heights, strict=True):
            reach, here = self._best // parts // max(price, 1), min(max(middle, low), high)
            found.append((max(here - reach, low), min(here + reach, high)))
        return tuple(found)

    def _halves(self, box: Box) -> Iterator[Heights]:
        """The two parts of the box; nothing if it is a single point."""
        widths = self._widths(box)
        weights = [
            spread * price if width else 0.0
            for spread, price, width in zip(box.spreads, self._prices, widths, strict=True)
        ]
        pool = weights.index(max(weights)) if any(weights) else widths.index(max(widths))
        if widths[pool]:
            low, high = box.heights[pool]
            least = (high - low) // LEAST_PART
            middle = min(max(box.middle[pool], low + least), high - 1 - least)
            yield _with(box.heights, pool, (low, middle))
            yield _with(box.heights, pool, (middle + 1, high))


def _with(heights: Heights, pool: int, ends: tuple[int, int]) -> Heights:
    return (*heights[:pool], ends, *heights[pool + 1 :])
