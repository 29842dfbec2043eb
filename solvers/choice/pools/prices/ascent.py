"""Prices of many classes with crowds, raised window of time by window of time: each is a linear program at the prices of all others.

A window has the rows of some time. Its classes pay what all other rows and their crowds charge them, and a pool's height costs there what these leave of
its price: less for each unit, and less again from each height on at which others have room for more of a crowd. So no window's solution makes what all
prices prove less, but for what levels of heights are rounded; and where others have fewer crowds than they could, later sweeps have them pay more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, Protocol

from .. import budget
from ..program.program import Costs, Program
from .crowds import Crowd, Relaxed, renumbered
from .relaxation import Charged, bound_of
from .spans import FINEST, MOST_FINE

ENTRIES = 6_000
"""So many numbers are in the rows of a window."""
GRID = 256
"""So many heights of a pool are told apart in what others charge for them."""
ROUNDS_AT_FIRST, ROUNDS = 2, 3
"""Each window is solved so often with crowds found in between: in the first sweep, and later, when it knows some."""
LEAST_GAIN = 1e-3
"""A sweep that raises the bound by a smaller part is the last."""


class Solving(Protocol):
    """Who solves linear programs, and counts the work."""

    work: int

    def relax_charged(
        self, program: Program, charged: Charged, crowds: Sequence[Crowd], rounds: int, work: int
    ) -> Relaxed | None:
        """Solve it within this much work; None if it was not solved."""

    def is_over(self, end: int) -> bool:
        """True if all work up to this end is used up, or nothing can be solved any more."""


class Window(NamedTuple):
    """A part of the program, at the prices of all others."""

    program: Program
    charged: Charged
    classes: tuple[int, ...]
    """Its classes, as the whole program numbers them,"""
    first: int
    """its first row,"""
    of_rows: list[tuple[int, float]]
    of_crowds: list[tuple[Crowd, float]]
    """and the prices that there were, in the whole program."""


class Ascent:
    """Of one program's first term, from a solution of some of its rows."""

    def __init__(self, program: Program, relaxed: Relaxed) -> None:
        self._program = program
        self.best = relaxed
        """The solution whose prices prove most,"""
        self.bound = bound_of(program, relaxed)
        """and what they prove."""
        self._rounds, self.is_done = ROUNDS_AT_FIRST, False
        """Has the last sweep gained hardly anything?"""
        self.of_rows, self.of_crowds = dict(relaxed.of_rows), dict(relaxed.of_crowds)
        self._highest = tuple(map(program.highest, range(len(program.rooms))))
        dearest = max((cost for costs in program.terms[0].of_homes for cost in costs), default=0)
        self._scale = max(min(FINEST, MOST_FINE // max(dearest, 1)), 1)
        self.paid = [[0.0] * len(homes) for homes in program.homes]
        """What each class pays in each of its homes,"""
        self._of_units = [0.0] * len(program.rooms)
        """each pool for a unit of its height,"""
        self._of_heights = [[0.0] * (GRID + 1) for _ in program.rooms]
        """and for reaching heights, by their place in the grid."""
        self._charge(self.of_rows.items(), self.of_crowds.items(), 1.0)
        self._ends = list(self._borders())
        """The first row of each window, and the end,"""
        self._next, self._begun = 0, self.bound
        """the window that comes next, and what was proven when the sweep began."""

    def run(self, solving: Solving, work: int) -> None:
        """Go on from window to window."""
        end = solving.work + work
        while not self.is_done and not solving.is_over(end):
            last = self._ends[self._next + 1]
            window = self._cut(self._ends[self._next], last)
            solving.work += budget.WINDOW_PER_ENTRY * window.program.entries
            known = (crowd for crowd, _ in window.of_crowds)
            crowds = tuple(renumbered(known, range(self._ends[self._next], last), window.classes))
            left = max(end - solving.work, 1)
            found = solving.relax_charged(window.program, window.charged, crowds, self._rounds, left)
            self._learn(window, found)
            if found is None:
                break
            self._next += 1
            if self._next + 1 == len(self._ends):
                solving.work += self._keep()
                self.is_done = self.bound - self._begun <= LEAST_GAIN * abs(self._begun)
                self._next, self._begun = 0, self.bound
                self._ends, self._rounds = self._moved(), ROUNDS
        solving.work += self._keep()

    def _keep(self) -> int:
        """Keep the prices as they are if they prove more; the work that this takes."""
        found = replace(self.best, of_rows=tuple(self.of_rows.items()), of_crowds=tuple(self.of_crowds.items()))
        bound = bound_of(self._program, found)
        if bound > self.bound:
            self.best, self.bound = found, bound
        return self._program.entries // budget.SETTLED_A_UNIT

    def _borders(self) -> Iterator[int]:
        """Where windows begin that have so many numbers each, and the end."""
        rows, count = self._program.rows, ENTRIES
        for n, row in enumerate(rows):
            if count >= ENTRIES and (not n or row.section != rows[n - 1].section):
                yield n
                count = 0
            count += len(row.members)
        yield len(rows)

    def _moved(self) -> list[int]:
        """The same for the next sweep: between those of this one, or where windows were in the first."""
        if len(self._ends) < 3:
            return self._ends
        found = list(self._borders())
        if found != self._ends:
            return found
        return [0, *((a + b) // 2 for a, b in pairwise(found)), found[-1]]

    def _cut(self, first: int, last: int) -> Window:
        """The window of these rows, which then charge nobody."""
        program = self._program
        of_rows = [(n, self.of_rows.pop(n)) for n in range(first, last) if n in self.of_rows]
        of_crowds = [each for each in self.of_crowds.items() if first <= each[0].row < last]
        for crowd, _ in of_crowds:
            del self.of_crowds[crowd]
        self._charge(of_rows, of_crowds, -1.0)
        rows = program.rows[first:last]
        classes = tuple(sorted({group for row in rows for group, _ in row.members}))
        number_of = {group: number for number, group in enumerate(classes)}
        term, scale = program.terms[0], self._scale
        costs = (
            tuple(
                scale * cost + round(scale * paid)
                for cost, paid in zip(term.of_homes[group], self.paid[group], strict=True)
            )
            for group in classes
        )
        of_peaks = zip(term.of_peaks, self._of_units, strict=True)
        part = Program(
            homes=tuple(program.homes[group] for group in classes),
            rooms=program.rooms,
            rows=tuple(row._replace(members=tuple((number_of[g], units) for g, units in row.members)) for row in rows),
            terms=(Costs(tuple(costs), tuple(max(int(scale * (price - paid)), 0) for price, paid in of_peaks)),),
            apart=(),
        )
        charged = Charged(self._highest, tuple(map(self._less, range(len(program.rooms)))))
        return Window(part, charged, classes, first, of_rows, of_crowds)

    def _less(self, pool: int) -> tuple[tuple[int, float], ...]:
        """What is charged for reaching heights of the pool."""
        high, paid = self._highest[pool], self._of_heights[pool]
        return tuple((-(-high * n // GRID), each * self._scale) for n, each in enumerate(paid) if each > 0)

    def _learn(self, window: Window, found: Relaxed | None) -> None:
        """Charge what the window's solution says; or as before, if there is none."""
        of_rows, of_crowds = window.of_rows, window.of_crowds
        if found is not None:
            first, classes, scale = window.first, window.classes, self._scale
            of_rows = [(first + row, price / scale) for row, price in found.of_rows]
            of_crowds = [
                (Crowd(first + row, tuple(classes[each] for each in some), votes), price / scale)
                for (row, some, votes), price in found.of_crowds
            ]
        self.of_rows.update(of_rows)
        self.of_crowds.update(of_crowds)
        self._charge(of_rows, of_crowds, 1.0)

    def _charge(
        self, of_rows: Iterable[tuple[int, float]], of_crowds: Iterable[tuple[Crowd, float]], sign: float
    ) -> None:
        """Charge these prices; with the sign changed, give them back."""
        program = self._program
        for n, price in of_rows:
            row = program.rows[n]
            self._of_units[row.pool] += sign * price
            self._pay(row.pool, row.members, sign * price)
        for crowd, price in of_crowds:
            pool = program.rows[crowd.row].pool
            self._pay(pool, zip(crowd.classes, crowd.votes, strict=True), sign * price)
            high, heights = max(self._highest[pool], 1), self._of_heights[pool]
            for height in crowd.steps(program):
                if height <= high:
                    heights[max(height, 0) * GRID // high] += sign * price

    def _pay(self, pool: int, counts: Iterable[tuple[int, int]], price: float) -> None:
        for group, count in counts:
            self.paid[group][self._program.homes[group].index(pool)] += price * count
