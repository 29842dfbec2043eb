"""A linear program of a term whose earlier terms hold the peaks, for one range of heights after another.

What a crowd has room for is a step function of the pool's height. Over a range of heights its rows are the lines above all steps, those that touch them: what they
allow at a height that is mixed of two is no more than these two allow. Where the range changes, so do the ends of the heights and these lines; the dual simplex
goes on from the last solution.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import compress, pairwise
from typing import NamedTuple, TypeAlias

from ....exact.cpsat.linear import LinearProgram, Solved
from .. import budget
from ..program.program import Heights, Program
from .crowds import Crowd, Priced, Relaxed, prices_of
from .lifting import WHOLE, Present, Votes, lifted_covers, members_of

Closed: TypeAlias = frozenset[tuple[int, int]]
"""(class, pool) of homes in which nobody may be."""
LEAST_EXCESS = 0.01
"""A row that is violated by less than this part is not added."""
NOWHERE = 256
"""A class that is nowhere costs so many times what is enough: boxes without any choice then have a bound, too."""
ROUNDS, GAIN = 12, 1e-3
"""Of rows that are added at most, and what the last one must have gained."""


def line_above(steps: Sequence[int], low: int, high: int, at: float) -> tuple[float, float]:
    """Of the line above all that the steps allow from `low` to `high`, which touches it where that is least at `at`: its value at `low`, and its slope."""
    first, last = bisect_right(steps, low), bisect_right(steps, high)
    if first == last:
        return float(last), 0.0
    hull = [(low, first)]
    for number in range(first, last):
        point = (steps[number], number + 1)
        if point[0] == hull[-1][0]:
            hull[-1] = point
            continue
        while len(hull) > 1 and _is_below(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    for (x, votes), (after, more) in pairwise(hull):
        if at <= after:
            slope = (more - votes) / (after - x)
            return votes - slope * (x - low), slope
    return float(last), 0.0


def _is_below(one: tuple[int, int], middle: tuple[int, int], other: tuple[int, int]) -> bool:
    return (middle[1] - one[1]) * (other[0] - one[0]) <= (other[1] - one[1]) * (middle[0] - one[0])


class Line(NamedTuple):
    """A crowd's row."""

    crowd: Crowd
    pool: int
    steps: list[int]
    row: int


class Hulls:
    """The linear program of the term after those that are held, all of peaks alone."""

    def __init__(self, program: Program, held: Sequence[int], enough: int) -> None:
        """Nothing is asked of choices that cost `enough`."""
        self.program, self.held, self.enough = program, tuple(held), enough
        self._lp = lp = LinearProgram()
        self.work = budget.RELAXATION_PER_ENTRY * program.entries
        self._units = float(max((units for row in program.rows for _, units in row.members), default=1))
        term = program.terms[len(held)]
        self._costs = float(max((cost for of_homes in term.of_homes for cost in of_homes), default=1) or 1)
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
        self._members = [members_of(row, self._inside) for row in program.rows]
        self._tops = [lp.column(None) for _ in program.rooms]
        self._bases = [row.always - program.rooms[row.pool].spare for row in program.rows]
        self._rows = [
            lp.row(
                None,
                -base / self._units,
                [
                    *((self._inside[group][row.pool], units / self._units) for group, units in row.members),
                    (self._tops[row.pool], -1.0),
                ],
            )
            for row, base in zip(program.rows, self._bases, strict=True)
        ]
        self._holds = []
        for most, each in zip(held, program.terms, strict=False):
            tops = [(top, float(price)) for top, price in zip(self._tops, each.of_peaks, strict=True)]
            self._holds.append(lp.row(None, most / self._units, tops))
        self.lines = list[Line]()
        self.steps = dict[Crowd, list[int]]()
        """Those of each crowd that has a row."""
        self._single = program.needs()
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
            self.work += self._lp.work - before + self.program.entries // 2
            if found is None:
                break
            self._read(found)
            self.first = self.first or self.relaxed()
            prices = prices_of(self._of_rows, self._of_crowds, self.of_held)
            priced = Priced(self.program, prices, heights, self.held, closed, self.steps)
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

    def relaxed(self) -> Relaxed | None:
        """The solution within the last heights; None if there is none, or no work was left for it."""
        if self._found is None:
            return None
        columns = self._found.columns
        return Relaxed(
            peaks=tuple(map(int, self.tops)),
            of_rows=tuple(self._of_rows),
            of_crowds=tuple(self._of_crowds),
            of_held=tuple(self.of_held),
            gain=0.0,
            work=self.work,
            spreads=tuple(0.0 for _ in self.tops),
            shares=tuple(tuple(columns[column] for column in inside.values()) for inside in self._inside),
        )

    def _read(self, found: Solved) -> None:
        self._found = found
        self.tops = [found.columns[top] * self._units for top in self._tops]
        self.divided = [
            (min(share, 1 - share) * self._spans[group], group, pool)
            for (group, pool), share in zip(self._homes, found.columns, strict=False)
            if WHOLE < share < 1 - WHOLE
            and sum((group, other) not in self._closed for other in self._inside[group]) > 1
        ]
        rows, costs = found.rows, self._costs
        self.of_held = [max(rows[row], 0.0) * costs / self._units for row in self._holds]
        of_rows = ((n, rows[row] * (costs / self._units)) for n, row in enumerate(self._rows) if rows[row] > 0)
        self._of_rows = [(n, price) for n, price in of_rows if price > 0]
        self._of_crowds = [(line.crowd, rows[line.row] * costs) for line in self.lines if rows[line.row] > 0]

    def _refit(self) -> None:
        """All lines anew, for the heights as they are."""
        tops = [min(max(top, low), high) for top, (low, high) in zip(self.tops, self.heights, strict=True)]
        for line in self.lines:
            self._fit(line, tops)

    def _fit(self, line: Line, tops: Sequence[float]) -> None:
        low, high = self.heights[line.pool]
        value, slope = line_above(line.steps, low, high, tops[line.pool])
        self._lp.change(line.row, value - slope * low, self._tops[line.pool], -slope * self._units)

    def _sharpen(self, found: Solved) -> bool:
        """Add the rows that the solution violates most, one for each of the program; true if there were any, or lines were turned."""
        self.work += self.program.entries
        shares, turned = found.columns, 0
        for line in self.lines:
            value = self._allowed(line.steps, line.pool)
            inside = sum(
                shares[self._inside[group][line.pool]] * votes
                for group, votes in zip(line.crowd.classes, line.crowd.votes, strict=True)
            )
            if inside - value > LEAST_EXCESS * max(value, 1.0):
                self._fit(line, self.tops)
                turned += 1
        new = list[tuple[float, int, Crowd, list[int]]]()
        for number, (row, members) in enumerate(zip(self.program.rows, self._members, strict=True)):
            there, base = list(map(shares.__getitem__, members.columns)), self._bases[number]
            top = int(self.tops[row.pool] + 1e-6)
            if sum(compress(members.units, map(WHOLE.__lt__, there))) <= top - base:
                continue  # all that is there in part is below the peak
            present = list(map(Present, members.units, there, members.groups))
            most, best = LEAST_EXCESS, None
            for room in {top, self.heights[row.pool][1]}:
                for votes, least in lifted_covers(present, room - base):
                    steps = [base + units for units in least]
                    allowed = self._allowed(steps, row.pool)
                    excess = (sum(each.share * count for each, count in votes) - allowed) / max(allowed, 1.0)
                    if excess > most and (crowd := _crowd(number, votes)) not in self.steps:
                        most, best = excess, (crowd, steps)
            if best is not None:
                new.append((most, number, *best))
        for (group, pool), (need, number) in self._single.items():
            low, _ = self.heights[pool]
            if need > low and shares[self._inside[group][pool]] - self._allowed([need], pool) > LEAST_EXCESS:
                crowd = Crowd(number, (group,), (1,))
                if crowd not in self.steps:
                    new.append((1.0, number, crowd, [need]))
        new.sort(key=lambda each: (-each[0], each[1]))
        for _, _, crowd, steps in new[: len(self.program.homes)]:
            self._add(crowd, steps)
        return bool(new) or turned > 0

    def _allowed(self, steps: Sequence[int], pool: int) -> float:
        low, high = self.heights[pool]
        value, slope = line_above(steps, low, high, self.tops[pool])
        return value + slope * (self.tops[pool] - low)

    def _add(self, crowd: Crowd, steps: list[int]) -> None:
        self.steps[crowd] = steps
        pool = self.program.rows[crowd.row].pool
        members = [
            (self._inside[group][pool], float(votes)) for group, votes in zip(crowd.classes, crowd.votes, strict=True)
        ]
        low, high = self.heights[pool]
        value, slope = line_above(steps, low, high, self.tops[pool])
        row = self._lp.row(None, value - slope * low, [*members, (self._tops[pool], -slope * self._units)])
        self.lines.append(Line(crowd, pool, steps, row))


def _crowd(number: int, votes: Votes) -> Crowd:
    chosen = sorted((each.group, count) for each, count in votes)
    return Crowd(number, tuple(group for group, _ in chosen), tuple(count for _, count in chosen))
