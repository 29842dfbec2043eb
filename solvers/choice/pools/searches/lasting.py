"""Heights that hold at all times, where the sum of the peaks is held at what is live at the fullest moment; and a choice below them.

Where what is live at the fullest section goes says how high each pool is. Most such divisions leave nothing a little earlier or later, where hardly less is live, or at
another time that is nearly as full. So many divisions, as different as possible, are followed through time side by side, from the fullest section on to both ends: each
has some choices of what is live, the cheapest at prices on room that fit below its heights. Few divisions last, and the fewer are left, the more choices each has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ....bounds.prices.market import Floats
from ....bounds.weighted_sections import live_by_section
from ....kernels import active
from ....kernels.interface import Course, Divisions
from ....model.instance import Instance, Ints
from .. import budget
from ..program.entries import priced
from ..program.program import Program
from .following import Lives
from .peaks import Choice

FEWEST, DIVISIONS, STATES = 500, 6_000, 12_000
"""So many divisions are followed at least and at most, and so many choices of all of them together at most;"""
REMEMBERED = 24_000_000
"""and no more than can be remembered with all classes of each."""
ALIKE = 1
"""Of divisions in which each pool is about as high, so many are followed, the cheapest."""
WIDE, WIDEST = 4, 8_000_000
"""Of many pools there are more divisions than these: while the fullest section is divided, so many times as many are kept as are followed, the cheapest;
and no more than come to so many heights with one more class in each of its pools."""
BEST = 20
"""So many of the divisions that last are followed again, with as many choices."""
MOST_POOLS = 255
"""With more nothing is followed."""


class Divided(NamedTuple):
    """Divisions of what is live at the fullest section: its classes with a choice, and division by division their pools, the heights that follow, and the room left."""

    groups: Ints
    chosen: Ints
    heights: Ints
    room: Ints

    def some(self, numbers: Ints) -> Divided:
        """These alone."""
        return Divided(self.groups, self.chosen[numbers], self.heights[numbers], self.room[numbers])


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
        self._due, self._worth = priced(program, term, prices)
        self._ends = np.array([program.highest(pool) for pool in range(len(program.rooms))], dtype=np.int64)
        sizes = (instance.part_high - instance.part_low)[instance.rect_part]
        group = number[instance.part_block[instance.rect_part]]
        only = np.array([homes[0] if len(homes) == 1 else -1 for homes in program.homes], dtype=np.int64)
        by_pool = np.stack([pool.whole(sizes) for pool in instance.pools], axis=1)
        self._lives = Lives(group, by_pool, only[group], instance.rect_start, instance.rect_end)
        self._fullest = int(live_by_section(instance).argmax())

    def choices(self, work: int) -> list[Choice]:
        """One below each of the best heights that hold, the cheapest first; none where there is too little work for it."""
        classes = len(self._program.homes)
        states = min(work * budget.STATES_A_UNIT // (2 * classes), REMEMBERED // classes, STATES)
        if states < FEWEST or len(self._ends) > MOST_POOLS:
            return []
        sections = np.unique(np.array([self._fullest, *(row.section for row in self._program.rows)], dtype=np.int64))
        courses = self._lives.courses(sections, int(np.searchsorted(sections, self._fullest)))
        divisions = self._divided(min(states, DIVISIONS), work // 2)
        lasting, costs, _ = self._followed(courses, divisions, states, with_pools=False)
        best = divisions.some(lasting[np.argsort(costs, kind="stable")[:BEST]])
        lasting, _, pools = self._followed(courses, best, states, with_pools=True)
        choices = [
            self._choice(every, tuple(tops)) for every, tops in zip(pools, best.heights[lasting].tolist(), strict=True)
        ]
        return sorted(choices, key=lambda choice: (choice.value, choice.tops))

    def _choice(self, pools: Ints, tops: tuple[int, ...]) -> Choice:
        """With those that are in no row where they are cheapest."""
        every = tuple(np.where(pools < 0, self._due.argmin(axis=1), pools).tolist())
        return Choice(self._program.value(self._term, every, tops), tops, every)

    def _divided(self, states: int, work: int) -> Divided:
        """Divisions of the fullest section, as different as possible, the cheapest first; as many as there is so much work for."""
        always, groups, units = self._lives.live_at(self._fullest).taken()
        order = np.lexsort((groups, -units.max(axis=1)))
        groups, units = groups[order], units[order]
        loads, cost, chosen = always[None, :], np.zeros(1), np.zeros((1, 0), dtype=np.int64)
        parts = max(round(states ** (1 / max(len(self._ends) - 1, 1))), 2)
        alike, digit = np.maximum(self._ends // parts, 1), (parts + 2) ** np.arange(len(self._ends))
        pools, most_a_unit = len(self._ends), budget.POOLS_AS_FAST * budget.DIVISIONS_A_UNIT
        tried = max(pools, budget.POOLS_AS_FAST) * sum(len(self._program.homes[group]) for group in groups.tolist())
        affordable = work * most_a_unit // max(tried, 1)
        widest = max(min(WIDE * states, WIDEST // pools**2, affordable), 1)
        end = self.work + work
        for group, sizes in zip(groups.tolist(), units, strict=True):
            homes = np.array(self._program.homes[group])
            due = self._due[group, homes] - self._worth[homes] * sizes[homes]
            more, pool = np.repeat(loads, len(homes), axis=0), np.tile(homes, len(loads))
            more[np.arange(len(more)), pool] += sizes[pool]
            costs = np.repeat(cost, len(homes)) + np.tile(due, len(loads))
            fits = np.flatnonzero((more <= self._ends).all(axis=1))
            kept = fits[_cheapest((more[fits] // alike * digit).sum(axis=1), costs[fits], ALIKE)]
            most = 0 if self.work >= end or self._stopped() else widest
            if len(kept) > most:
                kept = kept[np.argsort(costs[kept], kind="stable")[:most]]
            chosen = np.column_stack([chosen[kept // len(homes)], pool[kept]])
            loads, cost = more[kept], costs[kept]
            self.work += len(more) * max(pools, budget.POOLS_AS_FAST) // most_a_unit + 1
        left = self._most - loads.sum(axis=1)
        order = np.argsort(cost, kind="stable")
        order = order[left[order] >= 0][:states]
        room = np.zeros((len(order), len(self._ends)), dtype=np.int64)
        room[:, -1] = np.minimum(left[order], self._ends[-1] - loads[order, -1])
        return Divided(groups, chosen[order], loads[order] + room, room)

    def _followed(
        self, courses: list[Course], divisions: Divided, states: int, with_pools: bool
    ) -> tuple[Ints, Floats, Ints]:
        """Those that last to both ends, what they cost at prices, and the pools of all classes in their cheapest choices; -1 for classes in no row."""
        due = np.zeros(len(divisions.heights))
        for worth, heights in zip(self._worth, divisions.heights.T, strict=True):
            due -= worth * heights
        for group, chosen in zip(divisions.groups, divisions.chosen.T, strict=True):
            due += self._due[group, chosen]
        some: Ints = np.arange(len(due))
        pools = np.full((len(due), len(self._due) if with_pools else 0), -1, dtype=np.int64)
        if with_pools:
            pools[:, divisions.groups] = divisions.chosen
        for course in courses:
            start = Divisions(divisions.groups, divisions.chosen[some].reshape(-1), divisions.room[some].reshape(-1))
            left, costs, came, work = active().kernels.follow(
                len(self._ends),
                start,
                course,
                self._due.reshape(-1),
                states,
                with_pools,
                lambda _: bool(self._stopped()),
            )
            self.work += work
            some, due, pools = some[left], due[left] + costs, pools[left]
            if with_pools:
                pools = np.where(came.reshape(pools.shape) < 0, pools, came.reshape(pools.shape))
        return some, due, pools


def _cheapest(kind: Ints, cost: Floats, most: int) -> Ints:
    """Which are the cheapest of each kind, so many at most; kind by kind."""
    order = np.lexsort((cost, kind))
    is_more = np.zeros(len(order), dtype=bool)
    is_more[most:] = kind[order[most:]] == kind[order[:-most]]
    some: Ints = order[~is_more]
    return some
