"""What it costs, at prices of rows, if pools end too low for some classes: a price of room says nothing of a class that fits in no pool but a dear one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....bounds.prices.market import Floats
from ..program.entries import priced
from ..program.program import Program, Room

MATTERS = 50
"""What they cost by that must be more than one part in so many of what all cost."""


class Needs:
    """Of one program's term, at prices of rows."""

    def __init__(self, program: Program, term: int, prices: Mapping[int, float], chosen: set[int]) -> None:
        """`chosen` are the classes whose pools are chosen beside the heights."""
        self._rooms = program.rooms
        self._due, self._worth = priced(program, term, prices)
        self._needs = np.zeros(self._due.shape, dtype=np.int64)
        for (group, pool), (height, _) in program.needs().items():
            self._needs[group, pool] = height
        ends = [np.inf if room.capacity is None else room.below(room.capacity) for room in self._rooms]
        self._due[self._needs > np.array(ends)] = np.inf  # beside what is there in any case
        self._others = np.array([group not in chosen for group in range(len(self._due))])

    @property
    def have_room(self) -> bool:
        """Has each class a pool that is high enough for it?"""
        return bool(np.isfinite(self._due).any(axis=1).all())

    def _lost(self, tops: Sequence[int]) -> Floats:
        """By class: how much more than in its cheapest pool it costs in the cheapest of those that are high enough."""
        high = np.array([room.below(top) for room, top in zip(self._rooms, tops, strict=True)])
        left = np.where(self._needs <= high, self._due, np.inf).min(axis=1)
        lost: Floats = np.where(self._others, left - self._due.min(axis=1), 0.0)
        return lost

    def value(self, tops: Sequence[int], chosen: Mapping[int, int]) -> float:
        """What all cost below these heights, but for what is the same below all."""
        inside = sum(float(self._due[group, pool]) for group, pool in chosen.items())
        high = np.array([room.below(top) for room, top in zip(self._rooms, tops, strict=True)])
        return inside + float(self._lost(tops).sum()) - float(high @ self._worth)

    def raised(self, rooms: tuple[Room, ...], tops: Sequence[int]) -> tuple[Room, ...] | None:
        """The rooms with the pool whose height costs most by that so high that this is halved; None where it does not matter."""
        lost, cheapest = self._lost(tops), self._due.argmin(axis=1)
        of_pools = np.bincount(cheapest, lost, len(rooms))
        pool = int(of_pools.argmax())
        if of_pools[pool] * MATTERS <= self._due.min(axis=1).sum():
            return None
        some = np.flatnonzero((cheapest == pool) & (lost > 0))
        some = some[np.argsort(self._needs[some, pool], kind="stable")]
        half = int(np.searchsorted(np.cumsum(lost[some]), of_pools[pool] / 2))
        height = int(self._needs[some[half], pool])
        return tuple(room._replace(lowest=room.above(height)) if p == pool else room for p, room in enumerate(rooms))
