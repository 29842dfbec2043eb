"""The linear program of a choice of pools, with cuts from crowds (see .crowds) that its solution violates.

The height of a pool's peak is divided into levels: each has a column for whether the peak reaches it. A crowd's row says that only as many of it
are in the pool as levels are reached at which one more of them fits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from ....exact.cpsat.linear import LinearProgram, Solved
from ..program import Heights, Program
from .crowds import Crowd, Priced, Relaxed, prices_of

LEVELS = 64
"""Levels of each pool, besides one for the size of each class."""
LEAST_EXCESS = 0.02
"""A crowd's row that is violated by less is not added."""
LEAST_SHARE = 1e-6
SHARES = (0.2, 0.4, 0.6, 0.8)
"""Crowds are sought among classes of which at least this part is in the pool."""
LEAST_GAIN = 1e-4
"""Rounds of crowds end when two in a row have raised the bound by no more than this part."""
MOST_ENTRIES = 25_000
"""Programs with more entries are solved approximately."""
WORK_PER_ENTRY = 3
"""Work of looking for crowds."""


def bound_of(program: Program, relaxed: Relaxed, held: Sequence[int] = (), heights: Heights = ()) -> int:
    """The bound that the solution's prices prove on the term after those that are held."""
    return Priced(program, prices_of(relaxed.of_rows, relaxed.of_crowds, relaxed.of_held), heights, held).bound


class Relaxation:
    """The linear program of the term after those that are held."""

    def __init__(self, program: Program, held: Sequence[int]) -> None:
        self._program = program
        self.work = 0
        self._is_large = program.entries > MOST_ENTRIES
        self._lp = lp = LinearProgram(is_large=self._is_large)
        self._units = float(max((units for row in program.rows for _, units in row.members), default=1))
        """This many units of room are one in the program,"""
        term = program.terms[len(held)]
        dearest = max((cost for of_homes in term.of_homes for cost in of_homes), default=0)
        self._costs = float(max(dearest, *(int(price * self._units) for price in term.of_peaks), 1))
        """and this many units of cost."""
        self._inside = [
            {p: lp.column(0.0, 1.0, cost / self._costs) for p, cost in zip(homes, costs, strict=True)}
            for homes, costs in zip(program.homes, term.of_homes, strict=True)
        ]
        for columns in self._inside:
            lp.row(1.0, 1.0, [(column, 1.0) for column in columns.values()])
        self._highest = [program.highest(pool) for pool in range(len(program.rooms))]
        self._lowest = [room.below(room.lowest) for room in program.rooms]
        self._tops = [lp.column(0.0, None, price * self._units / self._costs) for price in term.of_peaks]
        self._rows = [self._row(number) for number in range(len(program.rows))]
        self._levels, self._reached = list[list[int]](), list[list[int]]()
        self._make_levels()
        self._held = tuple(held)
        self._holds = [self._hold(number, most) for number, most in enumerate(held)]
        self._crowds = list[tuple[Crowd, int]]()
        self._known = set[Crowd]()
        if self._is_large:
            self._add_singles()

    def solve(self, heights: Heights, rounds: int | None, work: int, stopped: Callable[[], object]) -> Relaxed | None:
        """The best solution with pools of these heights within this many rounds of crowds and this much work; None if it was not found."""
        self._limit(heights)
        first: Solved | None = None
        best: Relaxed | None = None
        last = 0.0
        idle, begin, end = 0, self.work, self.work + work
        number = 0
        while number != rounds and self.work < end and idle < 2 and not stopped():
            number += 1
            before = self._lp.work
            found = self._lp.minimise(end - self.work)
            self.work += self._lp.work - before
            if found is None:
                break
            if first is not None:
                idle = idle + 1 if found.cost - last <= LEAST_GAIN * abs(last) else 0
            first, last = first or found, found.cost
            relaxed = self._relaxed(found, (found.cost - first.cost) / (abs(first.cost) or 1.0), self.work - begin)
            best = relaxed if best is None or not self._is_large else self._better(relaxed, best)
            self.work += WORK_PER_ENTRY * self._program.entries
            if not self._known:
                self._add_singles()  # only now: without them a first solution comes soon
            elif not self._sharpen(found.columns):
                break
        return None if best is None else replace(best, work=self.work - begin)

    def _better(self, one: Relaxed, other: Relaxed) -> Relaxed:
        """The solution whose prices prove more: of approximate solutions that may be the earlier one."""
        bounds = [bound_of(self._program, each, self._held) for each in (one, other)]
        return one if bounds[0] >= bounds[1] else other

    def _limit(self, heights: Heights) -> None:
        """Restrict the program to pools between these heights; without any, to all heights there are."""
        for pool, (least, most) in enumerate(heights or [(0, highest) for highest in self._highest]):
            low = max(least, self._lowest[pool])
            high = max(min(most, self._highest[pool]), low)
            self._lp.within(self._tops[pool], low / self._units, high / self._units)
            for level, column in zip(self._levels[pool], self._reached[pool], strict=True):
                self._lp.within(column, float(level <= low), float(level <= high))

    def _relaxed(self, found: Solved, gain: float, work: int) -> Relaxed:
        per_unit = self._costs / self._units
        rooms = self._program.rooms
        return Relaxed(
            peaks=tuple(
                room.top_of(round(found.columns[top] * self._units) + room.spare)
                for room, top in zip(rooms, self._tops, strict=True)
            ),
            of_rows=tuple((n, found.rows[row] * per_unit) for n, row in enumerate(self._rows) if found.rows[row] > 0),
            of_crowds=tuple(
                (crowd, found.rows[row] * self._costs)
                for crowd, row in self._crowds
                if row < len(found.rows) and found.rows[row] > 0
            ),
            of_held=tuple(max(found.rows[row], 0.0) * self._costs / unit for row, unit in self._holds),
            gain=gain,
            work=work,
        )

    def _row(self, number: int) -> int:
        row = self._program.rows[number]
        members = [(self._inside[group][row.pool], units / self._units) for group, units in row.members]
        room = self._program.rooms[row.pool]
        return self._lp.row(None, (room.spare - row.always) / self._units, [*members, (self._tops[row.pool], -1.0)])

    def _make_levels(self) -> None:
        """Make the column of each level, and the row that adds them up to the peak."""
        program, lp = self._program, self._lp
        sizes: list[set[int]] = [set() for _ in program.rooms]
        for row in program.rows:
            sizes[row.pool] |= {self._base(row.pool, row.always) + units for _, units in row.members}
        for pool in range(len(program.rooms)):
            low, high = self._lowest[pool], self._highest[pool]
            grid = {low + (high - low) * n // LEVELS for n in range(1, LEVELS + 1)}
            levels = sorted(level for level in sizes[pool] | grid if low < level <= high)
            columns = [lp.column(0.0, 1.0) for _ in levels]
            rises = [(high - low) / self._units for low, high in zip([low, *levels], levels, strict=False)]
            entries = [(column, rise) for column, rise in zip(columns, rises, strict=True)]
            lp.row(None, -low / self._units, [*entries, (self._tops[pool], -1.0)])
            for lower, higher in pairwise(columns):
                lp.row(None, 0.0, [(higher, 1.0), (lower, -1.0)])
            self._levels.append(levels)
            self._reached.append(columns)

    def _hold(self, number: int, most: int) -> tuple[int, float]:
        """Hold an earlier term at a greatest value: its row, and the unit of that row."""
        term = self._program.terms[number]
        costs = [
            (columns[p], float(cost))
            for columns, homes, of_homes in zip(self._inside, self._program.homes, term.of_homes, strict=True)
            for p, cost in zip(homes, of_homes, strict=True)
        ]
        costs += [(top, price * self._units) for top, price in zip(self._tops, term.of_peaks, strict=True)]
        unit = max((cost for _, cost in costs), default=1.0) or 1.0
        return self._lp.row(None, most / unit, [(column, cost / unit) for column, cost in costs]), unit

    def _base(self, pool: int, always: int) -> int:
        return always - self._program.rooms[pool].spare

    def _add_singles(self) -> None:
        """Add the rows that say: a pool is at least as high as each class in it."""
        highest: dict[tuple[int, int], tuple[int, int]] = {}
        for number, row in enumerate(self._program.rows):
            for group, units in row.members:
                height = self._base(row.pool, row.always) + units
                known = highest.get((group, row.pool))
                if known is None or height > known[0]:
                    highest[group, row.pool] = height, number
        for (group, _), (_, number) in highest.items():
            self._add(Crowd(number, (group,)))

    def _at(self, pool: int, height: int) -> int | None:
        """The column of the highest level up to this height; None if that level is certainly reached, or out of reach."""
        level = bisect_right(self._levels[pool], height) - 1
        return None if level < 0 or height > self._highest[pool] else self._reached[pool][level]

    def _sharpen(self, values: Sequence[float]) -> bool:
        """Add the crowds that the solution violates most, one for each row; true if there were any."""
        found = []
        for number, row in enumerate(self._program.rows):
            present = [(units, group, values[self._inside[group][row.pool]]) for group, units in row.members]
            present = sorted((each for each in present if each[2] > LEAST_SHARE), reverse=True)
            height = self._base(row.pool, row.always)
            most, best = LEAST_EXCESS, list[tuple[int, int, float]]()
            for share in (LEAST_SHARE, *SHARES):
                some = [each for each in present if each[2] >= share]
                sizes, shares = [units for units, _, _ in some], list(accumulate(each for _, _, each in some))
                for count in range(2, len(some) + 1):
                    excess = self._excess(row.pool, height, sizes[:count], shares[count - 1], values)
                    if excess > most:
                        most, best = excess, some[:count]
            if best:
                found.append((most, number, best))
        found.sort(key=lambda each: (-each[0], each[1]))
        added = 0
        for _, number, best in found[: len(self._program.homes)]:
            largest, chosen = best[0][0], {group for _, group, _ in best}
            members = self._program.rows[number].members
            crowd = Crowd(number, tuple(group for group, units in members if group in chosen or units >= largest))
            if crowd not in self._known:
                self._add(crowd)
                added += 1
        return added > 0

    def _excess(self, pool: int, height: int, sizes: Sequence[int], present: float, values: Sequence[float]) -> float:
        """By how much the presence of a crowd of these sizes (largest first) in the pool exceeds what the levels above this height allow."""
        highest, levels, reached = self._highest[pool], self._levels[pool], self._reached[pool]
        for units in reversed(sizes):
            height += units
            if height > highest:  # so are all that follow
                break
            level = bisect_right(levels, height) - 1
            present -= 1.0 if level < 0 else values[reached[level]]
            if present <= LEAST_EXCESS:
                break
        return present

    def _add(self, crowd: Crowd) -> None:
        self._known.add(crowd)
        row = self._program.rows[crowd.row]
        units = dict(row.members)
        height, always = self._base(row.pool, row.always), 0
        levels: dict[int, float] = {}
        for size in sorted(units[group] for group in crowd.classes):
            height += size
            column = self._at(row.pool, height)
            if column is not None:
                levels[column] = levels.get(column, 0.0) - 1.0
            elif height <= self._highest[row.pool]:
                always += 1
        members = [(self._inside[group][row.pool], 1.0) for group in crowd.classes]
        self._crowds.append((crowd, self._lp.row(None, float(always), [*members, *levels.items()])))
