"""A lower bound of a term whose earlier ones hold the sum of the peaks, and the best heights: branch and bound over divisions of the fullest section.

There all pools together are full, mostly to the last unit. So where what is live there goes says how high each pool is, and once that is given the linear
program is nearly exact. Its prices bound all other divisions, too (see .division_bound). The division that is cheapest by all prices so far is the next
whose linear program is solved, until one that was solved is still the cheapest. From there on classes that it divides between pools are named, the dearest first.
With little work the tree would come to no division so: until one near the bound is known, some are looked for ahead of their turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import starmap
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from ....kernels.plain import OpenDivisions, Part, divisions
from ..program.program import Costs, Heights, Program, Section
from .crowds import FINEST, Known, Priced, Relaxed
from .division_bound import Solved, least_of, priced_section
from .hulls import Closed, Hulls

if TYPE_CHECKING:
    from ....model.instance import Instance  # the process that answers questions does without numpy

PATIENCE = 300
"""After so many parts that were divided without a linear program one is solved for all that a part may hold."""
DEAR, MOST_DEAR = 200, 16
"""A class that a linear program divides is divided with the section if that costs more than such a part of the best choice; and so many are, at most."""
SIDE_BY_SIDE = 10
"""As long as no division near the bound is known, every second time so many parts are divided to the end instead, and the cheapest division is solved."""
NARROW, AS_CHEAP = 3, 1_000
"""Where so many linear programs one after the other proved far more, but each of one part alone, so that the cheapest is hardly dearer than before, one is
solved for the heights of all parts that cost no more than that but for such a part."""
BEYOND = 1_000
"""Linear programs are solved as long as they may be no dearer than that of the best division, but for such a part."""
AT_ONCE, SOLVED_FULLY = 200, 3
"""nor, after the first few, farther than such a part beyond what was known of them: where the best choice is far too dear, bad divisions take all the work."""
IN_VAIN = 2, 3
"""Where no division was found with such a part of the work, the rest is left to others."""
MOST_FOUND = 3
"""So many of the best divisions are kept, since there may be no choice below the heights of one."""
BOUNDS_A_UNIT = 4
"""Of parts at given prices, with all that is done with these parts."""
MOST_OPEN = 1_000_000
"""So many parts are open at most, which are 300 to 400 MB."""
UNSTOPPED = 10_000
"""After so much work at most is looked whether the tree shall stop."""
ENTRIES_A_UNIT = 8
"""Numbers in the program that are gone through for each unit of work when there are new prices."""


def is_held_by_sum(instance: Instance, program: Program, held: int) -> bool:
    """Do the terms before this one hold the sum of the peaks, and nothing else, and are rows and peaks the same?

    No parts may share addresses while both are live: what is live at a section would be less than the sum of their sizes.
    """
    if len(instance.exclusions) or len(instance.part_block) > instance.blocks:
        return False
    first: Costs = program.terms[0]
    is_sum = held == 1 and not first.is_largest and not any(map(any, first.of_homes))
    is_sum &= len(set(first.of_peaks)) == 1 and first.of_peaks[0] > 0
    return is_sum and not any(room.reserved or room.spare for room in program.rooms)


class Division(NamedTuple):
    """The heights that a division of the fullest section gives, and the linear program below them."""

    heights: tuple[int, ...]
    bound: int
    relaxed: Relaxed


class _Note(NamedTuple):
    """What is known of a division whose linear program was solved, or of what is left of one."""

    named: tuple[int, int] | None = None
    """That linear program divides this class: in this pool there is some of it;"""
    closed: Closed = frozenset()
    """homes that are closed."""


class DivisionTree:
    """The search for the term after the first."""

    def __init__(self, program: Program, most: int, full: Section, best: int, stopped: Callable[[], object]) -> None:
        """`most` is the most that the first term may be, `full` the fullest section, `best` what the best known choice costs."""
        self._program, self._best, self._stopped = program, best, stopped
        self._alone = replace(program, terms=(program.terms[1],))
        self._hulls = Hulls(program, (most,), best)
        self._known = Known(self._alone, self._hulls.steps)
        self._always = [0] * len(program.rooms)
        nothing = (0,) * len(program.rooms)
        units = dict[int, tuple[int, ...]]()
        for group, sizes in full:
            homes = program.homes[group]
            if len(homes) > 1:
                units[group] = tuple(map(add, units.get(group, nothing), sizes))
            else:
                self._always[homes[0]] += sizes[homes[0]]
        self._section = sorted(units.items(), key=lambda each: (-self._least(*each), each[0]))
        """What is divided, in turn."""
        self._free = most // program.terms[0].of_peaks[0] - sum(starmap(self._least, units.items())) - sum(self._always)
        self._ends = [program.highest(pool) for pool in range(len(program.rooms))]
        self._lowest = [0] * len(program.rooms)
        """What is in each pool in any case at some section."""
        for row in program.rows:
            self._lowest[row.pool] = max(self._lowest[row.pool], row.always)
        self._prices = list[tuple[Priced, Sequence[float], Heights]]()
        self._notes = [_Note()]
        """What parts are noted with."""
        self._is_ahead = False
        """Did the tree look ahead when patience last ended?"""
        self._dear = self._work = 0
        self._work_of_prices = program.entries // ENTRIES_A_UNIT
        self._narrow = self._leapt = 0
        """How often such a linear program proved far more of one part alone, and what was known of the last one before."""
        self.first: Relaxed | None = None
        self.last: Relaxed | None = None
        """The linear program of all heights, without crowds, and with them."""
        self.found = list[Division]()
        """The best divisions whose linear programs were solved, the best first."""
        self._open = self._nothing_open()

    @property
    def work(self) -> int:
        return self._hulls.work + self._work_beside

    @property
    def _work_beside(self) -> int:
        """What was not the linear program's."""
        return self._work + self._open.work // BOUNDS_A_UNIT

    def run(self, known: int, work: int) -> int:
        """A lower bound of the term, no higher than the best choice, after this much work at most."""
        everything = tuple((0, end) for end in self._ends)
        bound, left = self._hulls.solve(everything, frozenset(), known, work, self._stopped)
        self.first, self.last = self._hulls.first, self._hulls.relaxed()
        if not left or self._free < 0:
            return self._best
        if self.last is None:
            return min(max(bound, known), self._best)
        self._find_dear()
        self._begin(bound * FINEST)
        self._add_prices(self._hulls.tops)
        while 0 < len(self._open) < MOST_OPEN and self.work < (
            upto := work if self.found else work * IN_VAIN[0] // IN_VAIN[1]
        ):
            if self._stopped():
                break
            found = self._open.next(self._bounds_in(min(upto - self.work, UNSTOPPED)), PATIENCE)
            if found is None:
                continue
            part = Part(*found)
            is_whole = len(part.chosen) == len(self._section)
            if is_whole and part.is_solved and self._notes[part.note].named is None:
                self._open.push(*part)
                break
            if is_whole and part.is_solved:
                self._name(part, work)
            elif is_whole:
                self._solve(part, work)
            elif self._is_far(part) and not self._is_ahead:
                self._open.since, self._is_ahead = 0, True
                self._open.push(*part)
                self._look_ahead(work)
            elif not part.is_solved:
                self._open.since, self._is_ahead = 0, False
                cost, is_left = self._solved(part, work, self._heights_as_cheap(part) if self._is_narrow(part) else ())
                self._leapt = part.bound if cost > part.bound + part.bound // AT_ONCE else 0
                self._add_prices(self._hulls.tops)
                self._open.push(*part._replace(bound=cost, is_solved=is_left))
            else:
                self._open.divide(part.chosen, part.loads, part.bound, part.last)
        return min(max(-(-self._open.least() // FINEST), known), self._best)

    def heights_below(self, value: int, work: int) -> Heights:
        """The heights of all that may cost less than this value, a range for each pool; none if nothing may, or nothing is known.

        What takes more work is not divided.
        """
        return self._open.heights_below(value * FINEST, work * BOUNDS_A_UNIT)

    def _bounds_in(self, work: int) -> int:
        """Up to how many bounds so much work leads."""
        return self._open.work + work * BOUNDS_A_UNIT

    def _is_far(self, part: Part) -> bool:
        """Is no division known that costs hardly more than the cheapest part may?"""
        return not self.found or self.found[0].bound * FINEST > part.bound + part.bound // AT_ONCE

    def _is_narrow(self, part: Part) -> bool:
        """Did linear programs, one after the other, prove far more of one part each, while the cheapest part hardly becomes dearer?"""
        is_so = bool(self.found) and part.bound < self._leapt + self._leapt // AS_CHEAP
        self._narrow = self._narrow + 1 if is_so else 0
        return self._narrow >= NARROW

    def _heights_as_cheap(self, part: Part) -> Heights:
        """The heights of this part and of all that cost hardly more, a range for each pool."""
        self._narrow = 0
        return self._open.around(part.chosen, part.loads, part.bound + part.bound // AS_CHEAP)

    def _look_ahead(self, end: int) -> None:
        """Divide the cheapest parts to the end, side by side, and solve the linear program of the cheapest division that comes of it."""
        if self.work < end and not self._stopped():
            found = self._open.ahead(SIDE_BY_SIDE, self._bounds_in(end - self.work))
            if found is not None:
                self._solve(Part(*found), end)

    def _begin(self, bound: int) -> None:
        """All divisions anew."""
        before, self._open = self._open, self._nothing_open()
        self._open.work, self._open.since = before.work, before.since
        for each in self._prices:
            self._add(*each)
        self._open.push(*Part(bound, (), tuple(self._always)))

    def _nothing_open(self) -> OpenDivisions:
        homes, units = [self._program.homes[group] for group, _ in self._section], [units for _, units in self._section]
        enough = self._best * FINEST
        return divisions(homes, units, self._ends, self._lowest, self._always, self._free, enough)

    def _least(self, group: int, units: tuple[int, ...]) -> int:
        return least_of(units, self._program.homes[group])

    def _solve(self, part: Part, end: int) -> None:
        """Solve the linear program of one division; where it has all homes its prices bound all others."""
        bound, is_left = self._solved(part, end)
        closed = self._notes[part.note].closed
        if not closed:
            self._add_prices(part.loads)
            if is_left and self._find_dear():
                self._begin(min(bound, self._open.least()))
                return
            relaxed = self._hulls.relaxed()
            cost = -(-bound // FINEST)
            if is_left and relaxed is not None:
                self.found.append(Division(part.loads, cost, relaxed))
                self.found = sorted(self.found, key=lambda each: (each.bound, each.heights))[:MOST_FOUND]
        _, group, pool = max(self._hulls.divided, default=(0.0, 0, -1))
        note = self._noted((group, pool) if pool >= 0 else None, closed)
        self._open.push(*part._replace(bound=bound, is_solved=is_left, note=note))

    def _noted(self, named: tuple[int, int] | None, closed: Closed) -> int:
        self._notes.append(_Note(named, closed))
        return len(self._notes) - 1

    def _solved(self, part: Part, end: int, box: Heights = ()) -> tuple[int, bool]:
        """The part's bound by its linear program, or by one for all heights in a box around it; is that no dearer than the best division?

        If it is, it was not solved to its end.
        """
        known, hulls = -(-part.bound // FINEST), self._hulls
        hulls.enough = self._best
        if self.found:
            least = max(self.found[0].bound, known)
            hulls.enough = min(self._best, least + least // BEYOND + 1)
        if known and len(self._prices) > SOLVED_FULLY:
            hulls.enough = min(hulls.enough, known + known // AT_ONCE + 1)
        others = {
            (group, other)
            for (group, _), pool in zip(self._section, part.chosen, strict=False)
            for other in self._program.homes[group]
            if other != pool and not box
        }
        heights = box or self._open.heights(part.chosen, part.loads)
        closed = self._notes[part.note].closed | others
        bound, left = hulls.solve(heights, closed, known, end - self._work_beside, self._stopped)
        bound = bound if left else max(bound, hulls.enough)
        return max(bound * FINEST, part.bound), bool(left)

    def _name(self, part: Part, end: int) -> None:
        """Choices with a class in a pool, and without."""
        named, before = self._notes[part.note]
        assert named is not None
        group, pool = named
        others = {(group, other) for other in self._program.homes[group] if other != pool}
        for closed in (others, {(group, pool)}):
            self._solve(part._replace(is_solved=False, note=self._noted(None, before | closed)), end)

    def _find_dear(self) -> bool:
        """Divide the dearest of those that the last linear program divides with the section; false if none is dear."""
        known = {group for group, _ in self._section}
        dear = [(cost, group) for cost, group, _ in self._hulls.divided if cost * DEAR >= self._best]
        _, group = max((each for each in dear if each[1] not in known), default=(0.0, -1))
        if group < 0 or self._dear >= MOST_DEAR:
            return False
        self._dear += 1
        self._section = [(group, (0,) * len(self._always)), *self._section]
        return True

    def _add_prices(self, tops: Sequence[float]) -> None:
        """The last linear program's prices bound all divisions."""
        prices = self._hulls.prices()
        if prices is not None:
            priced = Priced(self._alone, prices, tuple((0, end) for end in self._ends), known=self._known)
            self._prices.append((priced, tuple(tops), self._hulls.heights))
            self._add(*self._prices[-1])

    def _add(self, priced: Priced, tops: Sequence[float], within: Heights) -> None:
        self._work += self._work_of_prices
        heights = list(map(Solved, self._ends, tops, within))
        prices = priced_section(priced, self._program.homes, self._section, heights, self._free, self._always)
        if prices.fits(self._ends):
            self._open.add(*prices)
