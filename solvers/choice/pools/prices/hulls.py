"""A linear program of a term whose earlier terms hold the peaks, or which weighs them, for one range of heights after another.

What a crowd has room for is a step function of the pool's height. Over a range of heights its rows are the lines above all steps, those that touch them: what they
allow at a height that is mixed of two is no more than these two allow. Where the range changes, so do the ends of the heights and these lines; the dual simplex
goes on from the last solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from ....exact.cpsat.linear import LinearProgram, Solved
from ....kernels.plain import crowd_lines, divided_rows
from .. import budget
from ..program.program import Heights, Program
from .crowds import Crowd, Known, Priced, Prices, Relaxed, prices_of
from .lifting import WHOLE, members_of

Closed: TypeAlias = frozenset[tuple[int, int]]
"""(class, pool) of homes in which nobody may be."""
LEAST_EXCESS = 0.01
"""A row that is violated by less than this part is not added."""
NOWHERE = 256
"""A class that is nowhere costs so many times what is enough: boxes without any choice then have a bound, too."""
ROUNDS, GAIN = 12, 1e-3
"""Of rows that are added at most, and what the last one must have gained."""


End: TypeAlias = tuple[float, int, float]
"""What the row of a line ends at, and how much which column counts in it."""


@dataclass(slots=True)
class Line:
    """A crowd's row."""

    crowd: Crowd
    pool: int
    row: int
    end: End


class Hulls:
    """The linear program of the term after those that are held, all of peaks alone. Where none is, the term may weigh peaks itself."""

    def __init__(self, program: Program, held: Sequence[int], enough: int) -> None:
        """Nothing is asked of choices that cost `enough`."""
        self.program, self.held, self.enough = program, tuple(held), enough
        self._lp = lp = LinearProgram()
        self._entries = program.entries
        self.work = budget.RELAXATION_PER_ENTRY * self._entries
        self._units = float(max((units for row in program.rows for _, units in row.members), default=1))
        term = program.terms[len(held)]
        dearest = max((cost for of_homes in term.of_homes for cost in of_homes), default=0)
        self._costs = max(1.0, float(dearest), *(price * self._units for price in term.of_peaks))
        self._inside = [
            {p: lp.column(1.0, cost / self._costs) for p, cost in zip(homes, costs, strict=True)}
            for homes, costs in zip(program.homes, term.of_homes, strict=True)
        ]
        self._homes = [(group, pool) for group, homes in enumerate(program.homes) for pool in homes]
        """By column: the class and the pool."""
        self._spans = [max(costs, default=0) - min(costs, default=0) for costs in term.of_homes]
        for columns in self._inside:
            nowhere = lp.column(1.0, NOWHERE * enough / self._costs)
            lp.row(1.0, 1.0, [(nowhere, 1.0), *((column, 1.0) for column in columns.values())])
        self._tops = [lp.column(None, price * self._units / self._costs) for price in term.of_peaks]
        bases = [row.always - program.rooms[row.pool].spare for row in program.rows]
        self._first = len(program.homes)
        """The row of the linear program that is the first of those of the program."""
        for row, base in zip(program.rows, bases, strict=True):
            entries = [(self._inside[group][row.pool], units / self._units) for group, units in row.members]
            lp.row(None, -base / self._units, [*entries, (self._tops[row.pool], -1.0)])
        self._holds = []
        for most, each in zip(held, program.terms, strict=False):
            tops = [(top, float(price)) for top, price in zip(self._tops, each.of_peaks, strict=True)]
            self._holds.append(lp.row(None, most / self._units, tops))
        self.lines = list[Line]()
        self.steps = dict[Crowd, list[int]]()
        """Those of each crowd that has a row."""
        self._known = Known(program, self.steps)
        members = [members_of(row, self._inside) for row in program.rows]
        most = max((abs(base) + sum(each.units) for base, each in zip(bases, members, strict=True)), default=0)
        most = max(most, *map(program.highest, range(len(program.rooms))))
        rows = zip(program.rows, bases, members, strict=True)
        self._divided = divided_rows([(row.pool, base, each.units, each.columns) for row, base, each in rows], most)
        self._above, self._above_singles = crowd_lines(most), crowd_lines(most)
        self._singles = list[tuple[Crowd, list[int]]]()
        """The crowds of one class in one pool, which is as high as the class needs."""
        for (group, pool), (need, number) in program.needs().items():
            self._singles.append((Crowd(number, (group,), (1,)), [need]))
            self._above_singles.add(pool, [self._inside[group][pool]], (1,), [need])
        self._found: Solved | None = None
        self._of_rows, self._of_crowds = list[tuple[int, float]](), list[tuple[Crowd, float]]()
        """What has a price in the last solution."""
        self.first: Relaxed | None = None
        """The very first solution, without crowds."""
        self.heights: Heights = ()
        self._closed: Closed = frozenset()
        self.divided = list[tuple[float, int, int]]()
        """Of the classes that the last solution divides: how much of one is in one of its pools, at what it costs to be elsewhere; the class, and the pool."""
        self.tops: list[float] = [0.0] * len(program.rooms)
        self.of_held = list[float]()
        """The price of each held term."""

    def solve(
        self, heights: Heights, closed: Closed, known: int, end: int, stopped: Callable[[], object]
    ) -> tuple[int, Heights]:
        """A bound of all choices within these heights and without those homes, and which heights are left for less than enough; empty: none is."""
        self.heights, enough, best, left, last = heights, self.enough, known, heights, 0.0
        self._found, self.divided = None, []
        for group, pool in self._closed ^ closed:
            self._lp.within(self._inside[group][pool], 0.0, float((group, pool) not in closed))
        self._closed = closed
        for top, (low, high) in zip(self._tops, heights, strict=True):
            self._lp.within(top, low / self._units, high / self._units)
        self._refit()
        for number in range(ROUNDS):
            if self.work >= end or stopped():
                break
            before = self._lp.work
            found = self._lp.minimise(end - self.work)
            self.work += self._lp.work - before + self._entries // 2
            if found is None:
                break
            self._read(found)
            self.first = self.first or self.relaxed()
            prices = prices_of(self._of_rows, self._of_crowds, self.of_held)
            priced = Priced(self.program, prices, heights, self.held, closed, self._known)
            if priced.bound > best or left is heights:
                best = max(priced.bound, best)
                left = priced.below(enough)
            if best >= enough or not left:
                return best, ()
            if number and found.cost - last <= GAIN * abs(last):
                break
            last = found.cost
            if not self._sharpen(found):
                break
        return best, left

    def know(self, crowds: Sequence[Crowd]) -> None:
        """Add the rows of these crowds, which are likely to bind."""
        self.heights = self.heights or tuple((0, self.program.highest(pool)) for pool in range(len(self.tops)))
        self._add([(crowd, crowd.steps(self.program)) for crowd in crowds if crowd not in self.steps])

    def relaxed(self) -> Relaxed | None:
        """The solution within the last heights; None if there is none, or no work was left for it."""
        if self._found is None:
            return None
        columns = iter(self._found.columns)
        return Relaxed(
            peaks=tuple(map(int, self.tops)),
            of_rows=tuple(self._of_rows),
            of_crowds=tuple(self._of_crowds),
            of_held=tuple(self.of_held),
            gain=0.0,
            work=self.work,
            spreads=tuple(0.0 for _ in self.tops),
            shares=tuple(tuple(islice(columns, len(homes))) for homes in self.program.homes),
        )

    def prices(self) -> Prices | None:
        """Those that this solution has for rows and crowds."""
        return None if self._found is None else prices_of(self._of_rows, self._of_crowds)

    def _read(self, found: Solved) -> None:
        self._found = found
        self.tops = [found.columns[top] * self._units for top in self._tops]
        self.divided = [
            (min(share, 1 - share) * self._spans[group], group, pool)
            for column, share in enumerate(found.columns[: len(self._homes)])
            if WHOLE < share < 1 - WHOLE
            for group, pool in (self._homes[column],)
            if sum((group, other) not in self._closed for other in self._inside[group]) > 1
        ]
        rows, costs = found.rows, self._costs
        self.of_held = [max(rows[row], 0.0) * costs / self._units for row in self._holds]
        of_rows = enumerate(rows[self._first : self._first + len(self.program.rows)])
        each = ((n, price * (costs / self._units)) for n, price in of_rows if price > 0)
        self._of_rows = [(n, price) for n, price in each if price > 0]
        self._of_crowds = [(line.crowd, rows[line.row] * costs) for line in self.lines if rows[line.row] > 0]

    def _refit(self) -> None:
        """All lines anew, for the heights as they are."""
        tops = [min(max(top, low), high) for top, (low, high) in zip(self.tops, self.heights, strict=True)]
        for line, above in zip(self.lines, self._above.lines(self.heights, tops, 0), strict=True):
            self._turn(line, *above)

    def _turn(self, line: Line, value: float, slope: float) -> None:
        end = self._end_of(line.pool, value, slope)
        if end != line.end:  # mostly it is as it was
            line.end = end
            self._lp.change(line.row, *end)

    def _end_of(self, pool: int, value: float, slope: float) -> End:
        return value - slope * self.heights[pool][0], self._tops[pool], -slope * self._units

    def _sharpen(self, found: Solved) -> bool:
        """Add the rows that the solution violates most, one for each of the program; true if there were any, or lines were turned."""
        self.work += self._entries
        solution = found.columns, self.heights, self.tops
        turned = self._above.broken(*solution, LEAST_EXCESS)
        for place, value, slope in turned:
            self._turn(self.lines[place], value, slope)
        tops = [int(top + 1e-6) for top in self.tops]
        # Each room once, in a set's order, which decides between covers that are equally broken.
        rooms = [tuple({top, high}) for top, (_, high) in zip(tops, self.heights, strict=True)]
        best = dict[int, tuple[float, Crowd, list[int]]]()
        for number, excess, votes, steps in self._divided.covers(*solution, tops, rooms, LEAST_EXCESS):
            if number not in best or excess > best[number][0]:
                members = self.program.rows[number].members
                crowd = _crowd(number, [(members[place][0], count) for place, count in votes])
                if crowd not in self.steps:
                    best[number] = excess, crowd, steps
        new = list(best.values())
        for place, _, _ in self._above_singles.broken(*solution, LEAST_EXCESS):
            crowd, steps = self._singles[place]
            if crowd not in self.steps:
                new.append((1.0, crowd, steps))
        new.sort(key=lambda each: (-each[0], each[1].row))
        self._add([(crowd, steps) for _, crowd, steps in new[: len(self.program.homes)]])
        return bool(new or turned)

    def _add(self, crowds: Sequence[tuple[Crowd, list[int]]]) -> None:
        before, rows = len(self.lines), self.program.rows
        members = []
        for crowd, steps in crowds:
            self.steps[crowd] = steps
            columns = [self._inside[group][rows[crowd.row].pool] for group in crowd.classes]
            self._above.add(rows[crowd.row].pool, columns, crowd.votes, steps)
            members.append(list(zip(columns, map(float, crowd.votes), strict=True)))
        above = self._above.lines(self.heights, self.tops, before)
        for (crowd, _), entries, line in zip(crowds, members, above, strict=True):
            pool = rows[crowd.row].pool
            end = self._end_of(pool, *line)
            self.lines.append(Line(crowd, pool, self._lp.row(None, end[0], [*entries, end[1:]]), end))


def _crowd(number: int, votes: Sequence[tuple[int, int]]) -> Crowd:
    chosen = sorted(votes)
    return Crowd(number, tuple(group for group, _ in chosen), tuple(count for _, count in chosen))
