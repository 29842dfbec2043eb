"""Branch and bound over the heights of the pools, box by box: finds a lower bound on the cost of every choice, and better choices on the way.

A box holds a range of heights for each pool. The linear program, with cuts from crowds, bounds what choices in the box cost; the box with the least
bound is searched first. It is split around the heights in the linear program's solution: into a narrow box, and the boxes beside it, which cost more.
A narrow box is given to the 0-1 program: there it has few heights to compare, and usually ends soon.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush

from .peaks import Choice
from .prices.relaxation import bound_of
from .program import Heights, Program
from .questions.asking import Asking
from .questions.question import Question

NARROW = 100
"""A box is narrow if for each pool the cost of its heights differs by at most 1/NARROW of the best choice's cost."""
SHARE_OF_BOX = 12
"""One question may take at most this part of the work."""


class BoxSearch:
    """The search for the first term of one program."""

    def __init__(self, program: Program, asking: Asking, question: Question, best: int, work: int) -> None:
        self.found: list[Choice] = []
        """The choices that improved on all before them, best first."""
        self._program, self._asking, self._question, self._best = program, asking, question, best
        self._end, self._each = asking.work + work, work // SHARE_OF_BOX
        self._prices = program.terms[0].of_peaks
        self._open = list[tuple[int, int, Heights, tuple[int, ...]]]()
        """Each open box: its bound, its number, its heights, and the heights in the linear program's solution."""
        self._number = 0
        self._unknown = best
        """The least bound of the boxes that are too small to split and still unsolved."""

    def run(self, bound: int) -> int:
        """Search until the work is used up; return a lower bound on the cost of every choice."""
        everything = tuple((0, self._program.highest(pool)) for pool in range(len(self._program.rooms)))
        self._enter(everything, bound)
        while self._open and self._open[0][0] < self._best:
            if self._asking.is_over(self._end):
                return min(self._open[0][0], self._unknown)
            known, _, box, heights = heappop(self._open)
            parts = [box]
            if self._is_narrow(box):
                known = self._ask(box, known)
                parts = list(self._halves(box)) if known < self._best else []
                if not parts and known < self._best:
                    self._unknown = min(known, self._unknown)
            else:
                parts = list(self._around(box, heights))
            for part in parts:
                self._enter(part, known)
        return min(self._best, self._unknown)

    def _enter(self, box: Heights, known: int) -> None:
        """Add the box to the open ones if it may hold a better choice."""
        heights = tuple((low + high) // 2 for low, high in box)
        if not self._asking.is_over(self._end):
            relaxed = self._asking.relax(self._program, (), box, self._end - self._asking.work)
            if relaxed is None and not self._asking.is_over(self._end):
                known = self._ask(box, known)  # most boxes are empty, which floating-point numbers cannot prove
            elif relaxed is not None:
                known = max(known, bound_of(self._program, relaxed, heights=box))
                heights = tuple(room.below(peak) for room, peak in zip(self._program.rooms, relaxed.peaks, strict=True))
        if known < self._best:
            self._number += 1
            heappush(self._open, (known, self._number, box, heights))

    def _ask(self, box: Heights, known: int) -> int:
        """Return a lower bound for the box; remember better choices that were found."""
        question = replace(self._question, least=known, most=self._best - 1, heights=box)
        answer = self._asking.ask(self._program, question, min(self._each, self._end - self._asking.work))
        if answer.pools is not None and answer.value is not None and answer.value < self._best:
            self._best = answer.value
            self.found.insert(0, Choice(answer.value, self._program.least_tops(answer.pools), answer.pools))
        if answer.stopped is None:
            return self._best
        return known if answer.bound is None else max(known, answer.bound)

    def _widths(self, box: Heights) -> list[int]:
        """For each pool, the difference in cost between its greatest and least height."""
        return [price * (high - low) for price, (low, high) in zip(self._prices, box, strict=True)]

    def _is_narrow(self, box: Heights) -> bool:
        return all(width * NARROW <= self._best for width in self._widths(box))

    def _halves(self, box: Heights) -> Iterator[Heights]:
        """The two halves of the box, split where it is widest; nothing if it is a single point."""
        widths = self._widths(box)
        pool = widths.index(max(widths))
        low, high = box[pool]
        if low < high and widths[pool]:
            middle = (low + high) // 2
            yield _with(box, pool, (low, middle))
            yield _with(box, pool, (middle + 1, high))

    def _around(self, box: Heights, heights: tuple[int, ...]) -> Iterator[Heights]:
        """The narrow box around these heights, and the boxes beside it."""
        for pool, (price, width, height) in enumerate(zip(self._prices, self._widths(box), heights, strict=True)):
            if width * NARROW <= self._best:
                continue
            low, high = box[pool]
            reach, middle = self._best // NARROW // price // 2, min(max(height, low), high)
            first, last = max(middle - reach, low), min(middle + reach, high)
            if low < first:
                yield _with(box, pool, (low, first - 1))
            if last < high:
                yield _with(box, pool, (last + 1, high))
            box = _with(box, pool, (first, last))
        yield box


def _with(box: Heights, pool: int, ends: tuple[int, int]) -> Heights:
    return (*box[:pool], ends, *box[pool + 1 :])
