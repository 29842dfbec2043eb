"""Choices below the heights of many divisions, followed through time side by side: what does not fit any more is left out, and of each division the cheapest go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....bounds.prices.market import Floats
from ....model.instance import Ints

FINEST = 1 << 40
"""Costs are compared in so many parts of the greatest difference."""
SEED = 1
"""Of the numbers by which choices are known to be the same."""


class Section(NamedTuple):
    """What is live then: by class with a choice, its units in each pool, and what is in each pool in any case. What is the same at two sections is one array."""

    units: dict[int, Ints]
    always: Ints

    def by_size(self, groups: Iterable[int]) -> list[int]:
        """These classes, the largest first."""
        return sorted(groups, key=lambda group: (-int(self.units[group].max()), group))


class Divisions(NamedTuple):
    """Of the classes that are live at the fullest section: their pools, and the heights that follow, division by division."""

    groups: list[int]
    chosen: Ints
    heights: Ints

    def some(self, numbers: Ints) -> Divisions:
        """These alone."""
        return Divisions(self.groups, self.chosen[numbers], self.heights[numbers])


class Followed:
    """The choices of some divisions, from the fullest section on."""

    def __init__(self, divisions: Divisions, some: Ints, fullest: Section, classes: int) -> None:
        self.division, self.cost = some, np.zeros(len(some))
        """Of which division each is, and what it costs."""
        self.now = {group: fullest.units[group] for group in divisions.groups}
        """What each class takes in each pool that is live,"""
        self._pools = divisions.chosen[some].T.astype(np.int16)
        """and its pool, in the same order, choice by choice."""
        self._always = fullest.always
        self._free = divisions.heights[some].T - fullest.always[:, None]
        """The room that is left in each pool, choice by choice."""
        draw = np.random.default_rng(SEED)
        self._mark = draw.integers(1, 1 << 62, classes)
        self._code = draw.integers(1, 1 << 62, len(some))
        """The same for choices of a division that have the same classes in the same pools now."""
        for pools, (group, units) in zip(self._pools, self.now.items(), strict=True):
            self._free[pools, np.arange(len(some))] -= units[pools]
            self._code += self._mark[group] * (pools + 1)
        self._history = list[tuple[int | None, NDArray[np.integer], NDArray[np.integer]]]()
        """Which class came, to which pools, and which choice each comes of."""

    def go_to(self, here: Section, gone: Iterable[int]) -> None:
        """From now on this much is live; these are not any more."""
        if here.always is not self._always:
            self._free -= (here.always - self._always)[:, None]
        self._always = here.always
        every, nothing = np.arange(len(self.cost)), np.zeros_like(here.always)
        for pools, (group, before) in zip(self._pools, self.now.items(), strict=True):
            units = here.units.get(group, nothing)
            if units is not before:
                self._free[pools, every] -= (units - before)[pools]
                self.now[group] = units
        if ended := set(gone):
            self._forget(ended)
        fits = np.flatnonzero((self._free >= 0).all(axis=0))
        if len(fits) < len(self.cost):
            self._keep(fits)

    def _forget(self, ended: set[int]) -> None:
        """Where these are makes no difference any more: of choices that are then the same only the cheapest goes on."""
        for pools, group in zip(self._pools, self.now, strict=True):
            if group in ended:
                self._code -= self._mark[group] * (pools + 1)
        self._pools = self._pools[[group not in ended for group in self.now]]
        self.now = {group: units for group, units in self.now.items() if group not in ended}
        order = np.argsort(self.cost, kind="stable")
        _, first = np.unique(self._code[order], return_index=True)
        if len(first) < len(order):
            self._keep(np.sort(order[first]))

    def _keep(self, some: Ints) -> None:
        self._take(some)
        self._history.append((None, some, some))

    def _take(self, some: Ints) -> None:
        self.division, self.cost, self._code = self.division[some], self.cost[some], self._code[some]
        self._free, self._pools = self._free[:, some], self._pools[:, some]

    def add(self, group: int, units: Ints, due: Mapping[int, float], most: int) -> None:
        """Each goes on with the class in each pool that has room for it, at that cost; about so many do."""
        fits = [np.flatnonzero(self._free[pool] >= units[pool]) for pool in due]
        counts = [len(each) for each in fits]
        before: Ints = np.concatenate(fits)
        pools = np.repeat(np.array(list(due), dtype=np.int16), counts)
        cost = self.cost[before] + np.repeat(np.array(list(due.values())), counts)
        if len(before) > most:
            division = self.division[before]
            alive = int(np.count_nonzero(np.bincount(division)))
            kept = cheapest(division, cost, max(most // alive, 1))
            before, pools, cost = before[kept], pools[kept], cost[kept]
        self._take(before)
        self.cost = cost
        self._free[pools, np.arange(len(cost))] -= units[pools]
        self._code += self._mark[group] * (pools + 1)
        self._pools = np.vstack([self._pools, pools[None, :]])
        self.now[group] = units
        self._history.append((group, before.astype(np.int32), pools))

    def least(self) -> tuple[Ints, Floats]:
        """The divisions that are left, and what the cheapest choice of each costs."""
        some = cheapest(self.division, self.cost, 1)
        return self.division[some], self.cost[some]

    def pools_of(self, division: int) -> dict[int, int]:
        """Who came to which pool in the cheapest of this division."""
        mine = np.flatnonzero(self.division == division)
        at, found = int(mine[self.cost[mine].argmin()]), dict[int, int]()
        for group, before, pools in reversed(self._history):
            if group is not None:
                found[group] = int(pools[at])
            at = int(before[at])
        return found


def cheapest(kind: Ints, cost: Floats, most: int) -> Ints:
    """Which are the cheapest of each kind, so many at most; kind by kind."""
    if not len(cost):
        return np.zeros(0, dtype=np.int64)
    least = float(cost.min())
    scaled = (cost - least) * ((FINEST - 1) / max(float(cost.max()) - least, 1.0))
    order = np.argsort(kind * FINEST + scaled.astype(np.int64), kind="stable")
    counts = np.bincount(kind)
    rank = np.arange(len(order)) - (np.cumsum(counts) - counts)[kind[order]]
    some: Ints = order[rank < most]
    return some
