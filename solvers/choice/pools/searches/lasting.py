"""Heights that hold at all times, where the sum of the peaks is held at what is live at the fullest moment; and a choice below them.

Where what is live at the fullest section goes says how high each pool is. Most such divisions leave nothing a little earlier or later, where hardly less is live, or at
another time that is nearly as full. So many divisions, as different as possible, are followed through time side by side, from the fullest section on to both ends: each
has some choices of what is live, the cheapest at prices on room that fit below its heights. Few divisions last, and the fewer are left, the more choices each has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ....bounds.prices.market import Floats
from ....bounds.weighted_sections import live_by_section
from ....model.instance import Instance, Ints
from .. import budget
from ..program.program import Program
from .following import Divisions, Followed, Section, cheapest
from .peaks import Choice

FEWEST, STATES = 500, 6_000
"""So many divisions, and choices of all of them together, are followed at least and at most;"""
REMEMBERED = 12_000_000
"""and no more than can be remembered with all classes of each."""
ALIKE = 1
"""Of divisions in which each pool is about as high, so many are followed, the cheapest."""
WIDE, WIDEST = 4, 8_000_000
"""Of many pools there are more divisions than these: while the fullest section is divided, so many times as many are kept as are followed, the cheapest;
and no more than come to so many heights with one more class in each of its pools."""
BEST = 20
"""So many of the divisions that last are followed again, with as many choices."""


class LastingHeights:
    """The search for one term of the choice, at prices of the program's rows; all peaks together may come to `most`."""

    def __init__(
        self,
        instance: Instance,
        program: Program,
        number: Ints,
        term: int,
        prices: Mapping[int, float],
        most: int,
        stopped: Callable[[], object],
    ) -> None:
        self.work = program.entries // budget.SETTLED_A_UNIT
        self._program, self._term, self._most, self._stopped = program, term, most, stopped
        self._due, self._worth = _priced(program, term, prices)
        self._ends = np.array([program.highest(pool) for pool in range(len(program.rooms))], dtype=np.int64)
        sizes = (instance.part_high - instance.part_low)[instance.rect_part]
        self._sizes = np.stack([pool.whole(sizes) for pool in instance.pools], axis=1)
        self._group = number[instance.part_block[instance.rect_part]]
        self._begin, self._end = instance.rect_start, instance.rect_end
        self._fullest = int(live_by_section(instance).argmax())
        self._known = dict[tuple[int, bytes], Ints]()
        """What classes take that are live, so that each is compared once."""

    def choices(self, work: int) -> list[Choice]:
        """One below each of the best heights that hold, the cheapest first; none where there is too little work for it."""
        classes = len(self._program.homes)
        states = min(work * budget.STATES_A_UNIT // (2 * classes), REMEMBERED // classes, STATES)
        if states < FEWEST:
            return []
        sections = {row.section for row in self._program.rows} | {self._fullest}
        in_time = {section: self._live_at(section) for section in sorted(sections)}
        divisions = self._divided(in_time[self._fullest], states, self.work + work)
        lasting, _ = self._followed(in_time, divisions, states)
        some = sorted(lasting, key=lambda number: (lasting[number], number))[:BEST]
        best = divisions.some(np.array(some, dtype=np.int64))
        lasting, sides = self._followed(in_time, best, states)
        choices = list[Choice]()
        for number in lasting:
            pools = dict(zip(best.groups, best.chosen[number].tolist(), strict=True))
            for side in sides:
                pools.update(side.pools_of(number))
            choices.append(self._choice(pools, tuple(best.heights[number].tolist())))
        return sorted(choices, key=lambda choice: (choice.value, choice.tops))

    def _choice(self, pools: Mapping[int, int], tops: tuple[int, ...]) -> Choice:
        """With those that are in no row where they are cheapest."""
        every = tuple(
            pools.get(group, min(due, key=lambda pool: (due[pool], pool))) for group, due in enumerate(self._due)
        )
        return Choice(self._program.value(self._term, every, tops), tops, every)

    def _live_at(self, section: int) -> Section:
        here = (self._begin <= section) & (section < self._end)
        units, always = dict[int, Ints](), np.zeros(len(self._ends), dtype=np.int64)
        for group, sizes in zip(self._group[here].tolist(), self._sizes[here], strict=True):
            homes = self._program.homes[group]
            if len(homes) == 1:
                always[homes[0]] += sizes[homes[0]]
            else:
                units[group] = units[group] + sizes if group in units else sizes
        known = self._known
        same = {group: known.setdefault((group, sizes.tobytes()), sizes) for group, sizes in units.items()}
        return Section(same, known.setdefault((-1, always.tobytes()), always))

    def _divided(self, fullest: Section, states: int, end: int) -> Divisions:
        """Divisions of the fullest section, as different as possible, the cheapest first; none once so much work is done."""
        groups = fullest.by_size(fullest.units)
        loads, cost, chosen = fullest.always[None, :], np.zeros(1), np.zeros((1, 0), dtype=np.int64)
        parts = max(round(states ** (1 / max(len(self._ends) - 1, 1))), 2)
        alike, digit = np.maximum(self._ends // parts, 1), (parts + 2) ** np.arange(len(self._ends))
        most_a_unit = budget.POOLS_AS_FAST * budget.STATES_A_UNIT
        widest = max(min(WIDE * states, WIDEST // len(self._ends) ** 2), 1)
        for group in groups:
            homes, sizes = np.array(self._program.homes[group]), fullest.units[group]
            due = np.array([self._due[group][pool] - self._worth[pool] * sizes[pool] for pool in homes.tolist()])
            more, pool = np.repeat(loads, len(homes), axis=0), np.tile(homes, len(loads))
            more[np.arange(len(more)), pool] += sizes[pool]
            costs = np.repeat(cost, len(homes)) + np.tile(due, len(loads))
            fits = np.flatnonzero((more <= self._ends).all(axis=1))
            _, kind = np.unique((more[fits] // alike * digit).sum(axis=1), return_inverse=True)
            kept = fits[cheapest(kind, costs[fits], ALIKE)]
            most = 0 if self.work >= end or self._stopped() else widest
            if len(kept) > most:
                kept = kept[np.argsort(costs[kept], kind="stable")[:most]]
            chosen = np.column_stack([chosen[kept // len(homes)], pool[kept]])
            loads, cost = more[kept], costs[kept]
            self.work += len(more) * max(len(self._ends), budget.POOLS_AS_FAST) // most_a_unit + 1
        left = self._most - loads.sum(axis=1)
        order = np.argsort(cost, kind="stable")
        order = order[left[order] >= 0][:states]
        heights = loads[order]
        heights[:, -1] = np.minimum(heights[:, -1] + left[order], self._ends[-1])
        return Divisions(groups, chosen[order], heights)

    def _followed(
        self, in_time: Mapping[int, Section], divisions: Divisions, states: int
    ) -> tuple[dict[int, float], list[Followed]]:
        """What those cost at prices that last to both ends, by number; and the choices that were followed to each."""
        due = np.zeros(len(divisions.heights))
        for pool, worth in enumerate(self._worth.tolist()):
            due -= worth * divisions.heights[:, pool]
        for group, pools in zip(divisions.groups, divisions.chosen.T, strict=True):
            due += np.array([self._due[group].get(pool, 0.0) for pool in range(len(self._ends))])[pools]
        at, every = list(in_time).index(self._fullest), list(in_time)
        some, sides = np.arange(len(due)), list[Followed]()
        for sections in sorted((every[at::-1], every[at:]), key=len):
            sides.append(self._follow(in_time, sections, divisions, some, states))
            some, costs = sides[-1].least()
            due[some] += costs
        return dict(zip(some.tolist(), due[some].tolist(), strict=True)), sides

    def _follow(
        self, in_time: Mapping[int, Section], sections: Sequence[int], divisions: Divisions, some: Ints, states: int
    ) -> Followed:
        """These divisions, over these sections, one after the other."""
        followed = Followed(divisions, some, in_time[self._fullest], len(self._due))
        last = {group: n for n, section in enumerate(sections) for group in in_time[section].units}
        for at, section in enumerate(sections):
            here = in_time[section]
            followed.go_to(here, [group for group in followed.now if last[group] < at])
            for group in here.by_size(here.units.keys() - followed.now.keys()):
                followed.add(group, here.units[group], self._due[group], states)
                self.work += len(followed.cost) // budget.STATES_A_UNIT + 1
            self.work += budget.SECTION_FOLLOWED
            if not len(followed.cost) or self._stopped():
                return followed
        return followed


def _priced(program: Program, term: int, prices: Mapping[int, float]) -> tuple[list[dict[int, float]], Floats]:
    """What each class costs in each pool at these prices of rows, and what a unit of each pool's height is worth."""
    every = zip(program.homes, program.terms[term].of_homes, strict=True)
    due = [dict(zip(homes, map(float, costs), strict=True)) for homes, costs in every]
    worth = np.zeros(len(program.rooms))
    for number, price in prices.items():
        row = program.rows[number]
        worth[row.pool] += price
        for group, units in row.members:
            due[group][row.pool] += price * units
    return due, worth
