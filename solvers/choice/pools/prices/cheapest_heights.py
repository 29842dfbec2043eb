"""At which heights of pools a choice costs least: the linear program is solved at one set of heights after the other, each of which is paid for as a whole.

The linear program of all heights mixes them: a pool is as high as a class for that part of it that is inside. At given heights, classes that are higher stay
outside. What that costs is not convex, so one pool after the other is made lower, higher or empty, by steps that become smaller, as long as all becomes
cheaper. Between two sets of heights only ends of columns change, so each program goes on from the last solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ....exact.cpsat.linear import LinearProgram, Solved
from .. import budget
from ..program.program import Program
from .crowds import Relaxed

STEPS = (2, 4, 8, 16, 32)
"""Pools become lower or higher by such parts of the greatest height that they can have, in turn."""
LEAST_GAIN = 1e-6
"""A smaller part is no gain."""
WORTH = 0.02
"""Where all costs less by a smaller part than at the heights of the linear program, those serve as well, and pools begin with more of it."""


class CheapestHeights:
    """Of one program, for its first term. Ranges must not be reserved."""

    def __init__(self, program: Program, stopped: Callable[[], object]) -> None:
        self._program, self._stopped = program, stopped
        self.making = budget.RELAXATION_PER_ENTRY * program.entries
        """The work of writing the linear program, besides"""
        self._lp = lp = LinearProgram()
        term = program.terms[0]
        self._units = float(max((units for row in program.rows for _, units in row.members), default=1))
        """So many units of room are one in the linear program,"""
        dearest = max((cost for costs in term.of_homes for cost in costs), default=0)
        self._costs = float(max(dearest, *(int(price * self._units) for price in term.of_peaks), 1))
        """and so many units of cost."""
        self._inside = [
            {p: lp.column(1.0, cost / self._costs) for p, cost in zip(homes, costs, strict=True)}
            for homes, costs in zip(program.homes, term.of_homes, strict=True)
        ]
        for columns in self._inside:
            lp.row(1.0, 1.0, [(column, 1.0) for column in columns.values()])
        self._tops = [lp.column(None, price * self._units / self._costs) for price in term.of_peaks]
        self._rows, least = list[int](), [dict[int, int]() for _ in program.rooms]
        for row in program.rows:
            base = row.always - program.rooms[row.pool].spare
            members = [(self._inside[group][row.pool], units / self._units) for group, units in row.members]
            self._rows.append(lp.row(None, -base / self._units, [(self._tops[row.pool], -1.0), *members]))
            for group, units in row.members:
                least[row.pool][group] = max(least[row.pool].get(group, 0), base + units)
        self._needed = [sorted((height, group) for group, height in each.items()) for each in least]
        """By pool, how high it must be for each class, the lowest first."""
        lowest = (room.below(room.lowest) for room in program.rooms)
        self._ends = [(low, max(program.highest(pool), low)) for pool, low in enumerate(lowest)]
        free = (pool for pool, room in enumerate(program.rooms) if room.capacity is None)
        rest = min(free, key=lambda pool: (term.of_peaks[pool], pool), default=None)
        self._sought = [pool for pool, price in enumerate(term.of_peaks) if price and pool != rest]
        """All pools but the one that takes what is left: that is as high as it must be."""
        self._heights = [max((height for height, _ in self._needed[pool]), default=0) for pool in self._sought]
        """Those of the pools that are sought, for which the linear program keeps classes out of them now: of none at first."""
        for pool, price in enumerate(term.of_peaks):
            low, high = self._ends[pool]
            lp.within(self._tops[pool], (low if price else high) / self._units, high / self._units)

    @property
    def work(self) -> int:
        return self._lp.work

    def run(self, work: int, worth: float = WORTH) -> Relaxed | None:
        """The solution at the cheapest heights that are found within so much work; None if there is none, or those of the linear program are about as cheap."""
        mixed = self._lp.minimise(work)
        if mixed is None:
            return None
        heights = [round(mixed.columns[self._tops[pool]] * self._units) for pool in self._sought]
        best = first = self._at(heights, work)
        for part in STEPS:
            idle = number = 0
            while idle < len(heights) and self.work < work and not self._stopped():
                idle += 1
                for height in self._others(number, heights[number], part):
                    tried = [*heights[:number], height, *heights[number + 1 :]]
                    found = self._at(tried, work) if self.work < work else None
                    if found is not None and (best is None or found.cost < best.cost - LEAST_GAIN * abs(best.cost)):
                        heights, best, idle = tried, found, 0
                        break
                number = (number + 1) % len(heights)
        if best is None or (first is not None and first.cost - best.cost < worth * abs(best.cost)):
            return None
        return self._relaxed(best, heights)

    def _others(self, number: int, height: int, part: int) -> Iterator[int]:
        """Other heights of a pool: lower, higher, and as low as it can be."""
        low, high = self._ends[self._sought[number]]
        step = max(high // part, 1)
        others = dict.fromkeys((max(height - step, low), min(height + step, high), low))
        return (other for other in others if other != height)

    def _at(self, heights: list[int], work: int) -> Solved | None:
        """The solution at these heights."""
        for pool, before, height in zip(self._sought, self._heights, heights, strict=True):
            self._lp.within(self._tops[pool], height / self._units, height / self._units)
            for needed, group in self._needed[pool]:
                if min(before, height) < needed <= max(before, height):
                    self._lp.within(self._inside[group][pool], 0.0, float(needed <= height))
        self._heights = heights
        return self._lp.minimise(max(work - self.work, 1))

    def _relaxed(self, found: Solved, heights: list[int]) -> Relaxed:
        per_unit = self._costs / self._units
        rooms, tops = self._program.rooms, [round(found.columns[top] * self._units) for top in self._tops]
        for pool, height in zip(self._sought, heights, strict=True):
            tops[pool] = height
        rows = ((number, found.rows[row] * per_unit) for number, row in enumerate(self._rows))
        return Relaxed(
            peaks=tuple(room.top_of(top + room.spare) for room, top in zip(rooms, tops, strict=True)),
            of_rows=tuple((number, price) for number, price in rows if price > 0),
            of_crowds=(),
            of_held=(),
            gain=0.0,
            work=self.work,
            spreads=(0.0,) * len(rooms),
            shares=tuple(
                tuple(found.columns[columns[p]] for p in homes)
                for columns, homes in zip(self._inside, self._program.homes, strict=True)
            ),
        )
