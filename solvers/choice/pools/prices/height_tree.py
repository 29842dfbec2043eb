"""Branch and bound over the heights of pools whose sum earlier terms hold: a lower bound of the term after them.

The linear program of all heights has each pool as high as the crowds in it would like, some of the time. In a box, a range of heights for each pool, this is
limited by what the crowds' rows allow between its ends (see .hulls). The box with the least bound is cut in two where that gains most: just below a
height at which more of some crowds fits, so that in one part that is missing, and in the other the pool must be as high.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from ..program.program import Heights, Program, Section
from .crowds import Relaxed
from .hulls import Closed, Hulls, Line, line_above
from .reachable import Reachable

CUTS = 24
"""Heights of a pool at which it may be cut that are looked at."""
OF_CLASS, MOST_GAINED = 0.25, 2.0
"""The part of what prices say that naming a class gains, as long as nothing is known of it; and how much more than they say a cut gains at most."""
SOME = 6
"""So many boxes show whether a tree will come near."""
DIVIDED = 100
"""Where the linear program of all heights is below what is known by one part in so many, classes are divided that cost much, and a tree takes long."""
LINES_PER_UNIT = 4
"""Rows of crowds that are looked at for that, for each unit of work."""


class Cut(NamedTuple):
    """Where a box is cut: at the least height of a pool's upper part, or, if a class is named, in choices with it in the pool and without."""

    pool: int
    height: int
    group: int | None = None
    gain: float = 0.0
    """What it gains by prices, in that part where that is least."""


class Box(NamedTuple):
    """A range of heights for each pool that may hold a better choice."""

    bound: int
    """No choice in it costs less."""
    number: int
    heights: Heights
    closed: Closed
    """(class, pool) of homes in which nobody is."""
    cut: Cut | None
    """None: these are no ranges."""


class HeightTree:
    """The search for the term after the first."""

    def __init__(
        self, program: Program, most: int, full: Sequence[Section], best: int, stopped: Callable[[], object]
    ) -> None:
        """`most` is the most that the first term may be, `full` are the fullest sections, `best` what the best known choice costs."""
        self._program, self._best, self._stopped = program, best, stopped
        self._hulls = Hulls(program, (most,), best)
        self._reachable = Reachable(program, most // program.terms[0].of_peaks[0], full, stopped)
        self.first: Relaxed | None = None
        self.last: Relaxed | None = None
        """The linear program of all heights, without crowds, and with them."""
        self._open = list[Box]()
        self._number = 0
        self._gained = {False: [OF_CLASS], True: [1.0]}
        """By whether heights were cut: the parts that cuts have gained."""

    @property
    def work(self) -> int:
        return self._hulls.work + self._reachable.work

    def run(self, known: int, work: int, near: int = 0) -> int:
        """A lower bound of the term, no higher than the best choice, after this much work at most.

        After some boxes that is all, unless the bound is as near to the best choice as one part in `near`; 0: any.
        """
        everything = tuple((0, self._program.highest(pool)) for pool in range(len(self._program.rooms)))
        root = self._enter(everything, frozenset(), 0, work)
        if root * DIVIDED < known * (DIVIDED - 1):
            return known
        self.first, self.last = self._hulls.first, self._hulls.relaxed()
        while self._open and self.work < work and not self._stopped() and self._open[0].cut is not None:
            if self._number >= SOME and (self._best - self._open[0].bound) * near > self._best:
                break
            box = heappop(self._open)
            bounds = [self._enter(heights, closed, box.bound, work) for heights, closed in self._parts(box)]
            self._learn(box.cut, min(bounds) - box.bound)
        return max(min(self._open[0].bound, self._best), known) if self._open else self._best

    def _parts(self, box: Box) -> list[tuple[Heights, Closed]]:
        """The two parts of a box."""
        assert box.cut is not None
        pool, height, group, _ = box.cut
        if group is None:
            low, high = box.heights[pool]
            parts = (low, height - 1), (height, high)
            return [((*box.heights[:pool], part, *box.heights[pool + 1 :]), box.closed) for part in parts]
        others = {(group, other) for other in self._program.homes[group] if other != pool}
        return [(box.heights, box.closed | others), (box.heights, box.closed | {(group, pool)})]

    def _enter(self, heights: Heights, closed: Closed, known: int, end: int) -> int:
        """Add the box to the open ones if it may hold a better choice; its bound."""
        heights = self._reachable.within(heights)
        if not heights:
            return self._best
        bound, left = self._hulls.solve(heights, closed, known, end - self._reachable.work, self._stopped)
        left = self._reachable.within(left) if left else ()
        if not left:
            return self._best
        self._number += 1
        heappush(self._open, Box(bound, self._number, left, closed, self._cut(left)))
        return bound

    def _learn(self, cut: Cut | None, gain: int) -> None:
        """How much of what prices said a cut of that kind has gained."""
        if cut is not None and cut.gain > 0:
            self._gained[cut.group is None].append(min(gain / cut.gain, MOST_GAINED))

    def _cut(self, heights: Heights) -> Cut | None:
        """Where cutting gains most in that part where it gains least, as far as prices say."""
        tops, price = self._hulls.tops, sum(self._hulls.of_held) * self._program.terms[0].of_peaks[0]
        of_class, of_height = (statistics.fmean(self._gained[kind]) for kind in (False, True))
        most, group, pool = max(self._hulls.divided, default=(0.0, 0, 0))
        found, best = Cut(pool, 0, group, most) if most > 0 else None, most * of_class / of_height
        for pool, (low, high) in enumerate(heights):
            top = tops[pool]
            lines = [line for line in self._hulls.lines if line.pool == pool and line.price > 0]
            steps = sorted({step for line in lines for step in line.steps if max(low, top) < step <= high})
            for step in _some(steps):
                below = sum(_loss(line, low, high, step, top) for line in lines)
                gain = min(below, price * (step - top))
                if gain > best:
                    best, found = gain, Cut(pool, step, None, gain)
            self._hulls.work += len(lines) * min(len(steps), CUTS) // LINES_PER_UNIT
        return found


def _some(steps: list[int]) -> list[int]:
    """Some of the steps, most of them among the first."""
    count = len(steps)
    if count <= CUTS:
        return steps
    return [steps[int((count - 1) * (n / (CUTS - 1)) ** 2)] for n in range(CUTS)]


def _loss(line: Line, low: int, high: int, step: int, top: float) -> float:
    """What the row of a crowd loses at this top, at its price, where the pool stays below the step."""
    value, slope = line_above(line.steps, low, high, top)
    lower, flatter = line_above(line.steps, low, step - 1, top)
    return line.price * (value - lower + (slope - flatter) * (top - low))
