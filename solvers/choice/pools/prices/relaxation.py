"""The linear program of a choice of pools, with cuts from crowds (see .crowds) that its solution violates.

The height of a pool's peak is divided into levels: each has a column for whether the peak reaches it. A crowd's row says that only as many of it
are in the pool as levels are reached at which one more of them fits.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import compress, pairwise
from typing import NamedTuple

from ....exact.cpsat.linear import LinearProgram, Solved
from .. import budget
from ..program.program import Heights, Program, Row
from .alike import Alike
from .crowds import Crowd, Priced, Relaxed, prices_of
from .levels import SHARES, Reach
from .lifting import Present, Votes, lifted_covers, members_of

LEAST_EXCESS_OF_COVERS = 0.01
"""A lifted cover's row that is violated by less than this part is not added."""
MOST_ENTRIES = 60_000
"""Programs with more entries are solved approximately, unless they have no levels."""
EASE = 16
"""As many of them as these count for one where height is free."""


class Fineness(NamedTuple):
    """How closely the program is solved."""

    levels: int
    """Levels of each pool, besides one for the size of each class; 0: none at all, crowds having the room of the greatest height."""
    idle: int
    gain: float
    """Rounds of crowds end when so many in a row have raised the bound by no more than this part."""


class Charged(NamedTuple):
    """What rows beside those of the program charge each pool: for the heights that it reaches, beside what each unit costs."""

    highest: tuple[int, ...]
    """How high each pool may be, whatever the rows of the program say;"""
    of_heights: tuple[tuple[tuple[int, float], ...], ...]
    """and by pool, in order: a height, and what has to be paid for it less where it is reached."""


WHOLE = Fineness(64, 2, 1e-4)
OF_BOX = Fineness(16, 1, 3e-4)
"""Where one of many ranges of heights is looked at: closer levels, since they are of that range, and fewer rounds."""
WITHIN = Fineness(64, 1, 1e-3)
"""Where such a range is solved from the solution of all heights on: still fewer rounds, since most crowds are known."""
AT_ONCE = Fineness(0, 1, 1.0)
"""Where crowds are known, and one round is all."""


def bound_of(program: Program, relaxed: Relaxed, held: Sequence[int] = ()) -> int:
    """The bound that the solution's prices prove on the term after those that are held."""
    return Priced(program, prices_of(relaxed.of_rows, relaxed.of_crowds, relaxed.of_held), (), held).bound


class Relaxation:
    """The linear program of the term after those that are held."""

    def __init__(
        self,
        program: Program,
        held: Sequence[int],
        covers: Iterable[Crowd] = (),
        fineness: Fineness = WHOLE,
        crowds: Sequence[Crowd] = (),
        charged: Charged | None = None,
    ) -> None:
        """`covers` are the lifted ones that are known, `crowds` those that are likely to bind. Where there are charges, no pools must be alike."""
        self._whole, self._fineness, self._charged = program, fineness, charged
        self._alike = Alike(program, is_sought=charged is None)
        self._program = program = self._alike.program
        self.making = budget.RELAXATION_PER_ENTRY * program.entries
        self.making += (self._whole.entries - program.entries) // budget.COMPARED_ALIKE_A_UNIT
        """The work of writing it, besides"""
        self.work = 0
        self.held = tuple(held)
        self.is_cut = False
        """Would the last solution perhaps be another with more work?"""
        counted = program.terms[: len(held) + 1]
        self._is_free = [not any(each.of_peaks[pool] for each in counted) for pool in range(len(program.rooms))]
        """Height costs nothing there, so there may as well be all of it."""
        self._is_large = bool(fineness.levels) and self._hardness() > MOST_ENTRIES
        self._lp = lp = LinearProgram(is_large=self._is_large)
        self._units = float(max((units for row in program.rows for _, units in row.members), default=1))
        """This many units of room are one in the program,"""
        term = program.terms[len(held)]
        dearest = max((cost for of_homes in term.of_homes for cost in of_homes), default=0)
        self._costs = float(max(dearest, *(int(price * self._units) for price in term.of_peaks), 1))
        """and this many units of cost."""
        self._inside = [
            {p: lp.column(1.0, cost / self._costs) for p, cost in zip(homes, costs, strict=True)}
            for homes, costs in zip(program.homes, term.of_homes, strict=True)
        ]
        self._settle()
        self._members = [members_of(row, self._inside) for row in program.rows]
        self._highest = list(charged.highest) if charged else list(map(program.highest, range(len(program.rooms))))
        self._lowest = [room.below(room.lowest) for room in program.rooms]
        self._tops = [lp.column(None, price * self._units / self._costs) for price in term.of_peaks]
        self._rows = [(number, self._row(row)) for number, row in enumerate(program.rows) if not self._is_idle(row)]
        self._heights: Heights = ()
        """To which it is restricted."""
        self._levels, self._reached = list[list[int]](), list[list[int]]()
        self._make_levels()
        self._limit()
        self._holds = [self._hold(number, most) for number, most in enumerate(held)]
        self._crowds = list[tuple[Crowd, int]]()
        self._known = set[Crowd]()
        self._has_singles = False
        if self._is_large or crowds or charged:
            self._add_singles()
        self.covers = list(covers)
        """The lifted covers that are known; they hold whatever is asked."""
        for crowd in self._alike.in_smaller((*self.covers, *crowds)):
            if crowd not in self._known:
                self._add(crowd)

    def solve(
        self,
        rounds: int | None,
        work: int,
        stopped: Callable[[], object],
        enough: float = math.inf,
        *,
        goes_on: bool = True,
    ) -> Relaxed | None:
        """The best solution within this many rounds of crowds and this much work; None if it was not found.

        A cost from `enough` on needs no further round; and unless it `goes_on` later, nothing is sought after the last one.
        """
        first: Solved | None = None
        found: Solved | None = None
        best: Relaxed | None = None
        last = 0.0
        idle, begin, end = 0, self.work, self.work + work
        number, self.is_cut = 0, True
        until = WITHIN if self._heights else self._fineness
        while number != rounds and self.work < end and idle < until.idle and not stopped():
            number += 1
            before = self._lp.work
            found = self._lp.minimise(end - self.work)
            times, of = budget.STEPS_IN_BOX if self._heights else (1, 1)
            self.work += (self._lp.work - before) * times // of
            if found is None:
                break
            if first is not None:
                idle = idle + 1 if found.cost - last <= until.gain * abs(last) else 0
            first, last = first or found, found.cost
            relaxed = self._relaxed(found, (found.cost - first.cost) / (abs(first.cost) or 1.0), self.work - begin)
            best = relaxed if best is None or not self._is_large else self._better(relaxed, best)
            if found.cost * self._costs >= enough:
                self.is_cut = False
                break
            if number == rounds and not goes_on:
                break
            self.work += budget.CROWDS_PER_ENTRY * self._program.entries
            is_first = not self._has_singles
            if is_first:
                self._add_singles()  # only now: without them a first solution comes soon
            if (not is_first or all(self._is_free)) and not self._sharpen(found.columns):
                self.is_cut = False
                break
        self.is_cut &= found is None or (number != rounds and idle < until.idle)
        return None if best is None else replace(best, work=self.work - begin)

    def _settle(self) -> None:
        """Say that each class is in one pool: in the cheapest, where no row counts it, no term is held, and no pools are alike."""
        counted = {group for row in self._program.rows for group, _ in row.members}
        for group, columns in enumerate(self._inside):
            if self.held or self._alike.is_smaller or group in counted:
                self._lp.row(1.0, 1.0, [(column, float(self._alike.times[p])) for p, column in columns.items()])
                continue
            costs = self._program.terms[0].of_homes[group]
            for n, column in enumerate(columns.values()):
                part = float(n == costs.index(min(costs)))
                self._lp.within(column, part, part)

    def _hardness(self) -> int:
        """The number of entries, those of pools whose height is free being easier."""
        weights = [EASE if is_free else 1 for is_free in self._is_free]
        return sum(len(row.members) // weights[row.pool] for row in self._program.rows)

    def _better(self, one: Relaxed, other: Relaxed) -> Relaxed:
        """The solution whose prices prove more: of approximate solutions that may be the earlier one."""
        bounds = [bound_of(self._whole, each, self.held) for each in (one, other)]
        return one if bounds[0] >= bounds[1] else other

    def restrict(self, heights: Heights) -> None:
        """From now on solve it for pools of these heights, no pools being alike; none given: for all there are. It goes on from the last solution."""
        if heights != self._heights:
            self._heights = heights
            self._limit()

    def _limit(self) -> None:
        """Restrict the program to its heights."""
        for pool, (least, most) in enumerate(zip(self._lowest, self._highest, strict=True)):
            low, high = self._heights[pool] if self._heights else (least, most)
            low = max(low, least)
            high = max(high, low)
            low = high if self._is_free[pool] else low
            self._lp.within(self._tops[pool], low / self._units, high / self._units)
            for level, column in zip(self._levels[pool], self._reached[pool], strict=True):
                self._lp.within(column, float(level <= low), float(level <= high))

    def _relaxed(self, found: Solved, gain: float, work: int) -> Relaxed:
        per_unit = self._costs / self._units
        rooms, alike = self._program.rooms, self._alike
        of_crowds = (
            (alike.in_whole(crowd), found.rows[row] * self._costs)
            for crowd, row in self._crowds
            if row < len(found.rows) and found.rows[row] > 0
        )
        return Relaxed(
            peaks=tuple(
                room.top_of(round(found.columns[self._tops[pool]] * self._units) + room.spare)
                for room, pool in zip(rooms, alike.stands, strict=True)
            ),
            of_rows=tuple(
                alike.divided((n, found.rows[row] * per_unit) for n, row in self._rows if found.rows[row] > 0)
            ),
            of_crowds=tuple((each, price / len(some)) for some, price in of_crowds for each in some),
            of_held=tuple(max(found.rows[row], 0.0) * self._costs / unit for row, unit in self._holds),
            spreads=tuple(self._spread(pool, found.columns) for pool in alike.stands),
            gain=gain,
            work=work,
            shares=tuple(
                tuple(found.columns[columns[alike.stands[pool]]] for pool in homes)
                for columns, homes in zip(self._inside, self._whole.homes, strict=True)
            ),
        )

    def _spread(self, pool: int, values: Sequence[float]) -> float:
        """How far the heights that the solution mixes are apart, on average."""
        levels, reached = self._levels[pool], [values[column] for column in self._reached[pool]]
        rises = (high - low for low, high in zip([self._lowest[pool], *levels], levels, strict=False))
        return sum(rise * share * (1 - share) for rise, share in zip(rises, reached, strict=True))

    def _is_idle(self, row: Row) -> bool:
        """Is there room for everybody?"""
        most = self._base(row.pool, row.always) + sum(units for _, units in row.members)
        return self._is_free[row.pool] and most <= self._highest[row.pool]

    def _row(self, row: Row) -> int:
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
            steps = self._fineness.levels
            grid = {low + (high - low) * n // steps for n in range(1, steps + 1)}
            is_whole = self._is_free[pool] or not steps
            levels = [] if is_whole else sorted(level for level in sizes[pool] | grid if low < level <= high)
            columns = [lp.column(1.0, -less / self._costs) for less in self._charged_less(pool, levels)]
            rises = [(high - low) / self._units for low, high in zip([low, *levels], levels, strict=False)]
            entries = [(column, rise) for column, rise in zip(columns, rises, strict=True)]
            if levels:
                lp.row(None, -low / self._units, [*entries, (self._tops[pool], -1.0)])
            for lower, higher in pairwise(columns):
                lp.row(None, 0.0, [(higher, 1.0), (lower, -1.0)])
            self._levels.append(levels)
            self._reached.append(columns)

    def _charged_less(self, pool: int, levels: Sequence[int]) -> list[float]:
        """How much less is to be paid where each level is reached: all heights from it on, up to the next one, count as reached then."""
        found = [0.0] * len(levels)
        for height, less in self._charged.of_heights[pool] if self._charged else ():
            level = bisect_right(levels, height) - 1
            if level >= 0:
                found[level] += less
        return found

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
        self._has_singles = True
        for (group, _), (height, number) in self._program.needs().items():
            self._add(Crowd(number, (group,), (1,)), [height])

    def _at(self, pool: int, height: int) -> int | None:
        """The column of the highest level up to this height; None if it is certainly reached, or out of reach."""
        level = bisect_right(self._levels[pool], height) - 1
        return None if level < 0 or height > self._highest[pool] else self._reached[pool][level]

    def _sharpen(self, values: Sequence[float]) -> bool:
        """Add the crowds that the solution violates most, one for each row; true if there were any."""
        pools = zip(self._levels, self._reached, self._highest, strict=True)
        reaches = [Reach(levels, [values[each] for each in reached], highest) for levels, reached, highest in pools]
        found = []
        for number, (row, members) in enumerate(zip(self._program.rows, self._members, strict=True)):
            shares = list(map(values.__getitem__, members.columns))
            reach, base = reaches[row.pool], self._base(row.pool, row.always)
            if base + sum(compress(members.units, map(SHARES[0].__le__, shares))) < reach.whole:
                continue  # all that is there in part is below the peak
            present = list(map(Present, members.units, shares, members.groups))
            excess, votes = (
                self._lifted(present, self._highest[row.pool] - base)
                if self._is_free[row.pool]
                else reach.most_broken(present, base)
            )
            if votes:
                found.append((excess, number, sorted((each.group, count) for each, count in votes)))
        found.sort(key=lambda each: (-each[0], each[1]))
        added = 0
        for _, number, best in found[: len(self._program.homes)]:
            crowd = Crowd(number, tuple(group for group, _ in best), tuple(votes for _, votes in best))
            if crowd not in self._known:
                self._add(crowd)
                added += 1
                if self._is_free[self._program.rows[number].pool]:
                    self.covers += self._alike.in_whole(crowd)
        return added > 0

    def _lifted(self, present: Sequence[Present], room: int) -> tuple[float, Votes]:
        """The lifted cover that the solution violates most, and by how much in parts of what the height allows; empty if it violates none."""
        most, best = LEAST_EXCESS_OF_COVERS, Votes()
        for votes, least in lifted_covers(present, room):
            inside = sum(each.share * count for each, count in votes)
            allowed = bisect_right(least, room)
            excess = (inside - allowed) / max(allowed, 1)
            if excess > most:
                most, best = excess, votes
        return most, best

    def _add(self, crowd: Crowd, steps: Sequence[int] = ()) -> None:
        """Add the crowd's row; `steps` are the heights at which more of it fit, where they are known."""
        self._known.add(crowd)
        pool = self._program.rows[crowd.row].pool
        always = 0
        levels: dict[int, float] = {}
        for height in steps or crowd.steps(self._program):
            column = self._at(pool, height)
            if column is not None:
                levels[column] = levels.get(column, 0.0) - 1.0
            elif height <= self._highest[pool]:
                always += 1
        members = [
            (self._inside[group][pool], float(votes)) for group, votes in zip(crowd.classes, crowd.votes, strict=True)
        ]
        if levels or always < sum(crowd.votes):
            self._crowds.append((crowd, self._lp.row(None, float(always), [*members, *levels.items()])))
