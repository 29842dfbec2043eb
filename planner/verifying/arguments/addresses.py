"""The addresses that are taken in a pool while a simple plan is made, and the lowest at which more fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ...facts.colocation import Congruence
from ...facts.sweep import VERIFYING, Integers
from ...model.deadline import tick
from ...model.problem import BufferId, Constraints, Interval

ONE_BY_ONE = 100
"""What is counted for a comparison that is not made in arrays."""
IN_ARRAYS = 16
"""The same for one that is."""
FAR = 1 << 60
"""What ends above this is not looked for in arrays."""

Lying: TypeAlias = tuple[int, int, int]
"""A buffer, and where it begins and ends."""


class Relations:
    """Which buffers may not share an address."""

    def __init__(
        self,
        constraints: Constraints,
        index: Mapping[BufferId, int],
        spans: Sequence[Sequence[Interval]],
        few: Iterable[int],
    ) -> None:
        self.spans = spans
        self._times = _bits_of_times({buffer: spans[buffer] for buffer in few})
        self.conflicts: dict[int, set[int]] = {}
        self.exclusions: dict[int, set[int]] = {}
        for pairs, partners in ((constraints.conflicts, self.conflicts), (constraints.exclusions, self.exclusions)):
            for a, b in pairs:
                partners.setdefault(index[a], set()).add(index[b])
                partners.setdefault(index[b], set()).add(index[a])

    def met(self, buffer: int, others: Sequence[Lying]) -> list[Lying]:
        """Return which of few may not share an address with this one."""
        times, excluded, conflicts = self._times, self.exclusions.get(buffer), self.conflicts.get(buffer)
        mine = times[buffer]
        if not excluded and not conflicts:
            return [other for other in others if times[other[0]] & mine]
        excluded, conflicts = excluded or set(), conflicts or set()
        return [
            other for other in others if other[0] in conflicts or (times[other[0]] & mine and other[0] not in excluded)
        ]


def _bits_of_times(spans: Mapping[int, Sequence[Interval]]) -> dict[int, int]:
    """Return for each buffer a number with a bit for each time, between two births or ends of any, at which it is live."""
    ends = sorted({time for each in spans.values() for span in each for time in span})
    bit = {time: 1 << number for number, time in enumerate(ends)}
    return {buffer: sum(bit[end] - bit[start] for start, end in each) for buffer, each in spans.items()}


class Taken(ABC):
    """What lies in one pool."""

    def __init__(self, relations: Relations, walls: Sequence[Interval]) -> None:
        self._relations, self._walls = relations, walls

    @abstractmethod
    def __len__(self) -> int:
        """Return what is counted for finding an address."""

    @abstractmethod
    def add(self, buffer: int, low: int, high: int) -> None:
        """Put a buffer there."""

    @abstractmethod
    def forget(self, time: int) -> None:
        """Forget what ends by this time if that saves anything: all that follows begins later."""

    @abstractmethod
    def lowest(
        self, members: Sequence[int], offsets: Sequence[int], sizes: Sequence[int], least: int, rule: Congruence
    ) -> int:
        """Return the lowest base from `least` on at which these buffers meet nothing that is there."""


def _above(closed: list[tuple[int, int]], base: int, rule: Congruence) -> int:
    """Return the lowest base outside these ranges."""
    for low, high in sorted(closed):
        if base <= low:
            break
        if base < high:
            base = rule.at_least(high)
    return base


class FewTaken(Taken):
    """Few buffers, compared one by one."""

    def __init__(self, relations: Relations, walls: Sequence[Interval]) -> None:
        super().__init__(relations, walls)
        self._there: list[Lying] = []

    def __len__(self) -> int:
        return ONE_BY_ONE * (len(self._there) + len(self._walls))

    def add(self, buffer: int, low: int, high: int) -> None:
        self._there.append((buffer, low, high))

    def forget(self, time: int) -> None:
        pass

    def lowest(
        self, members: Sequence[int], offsets: Sequence[int], sizes: Sequence[int], least: int, rule: Congruence
    ) -> int:
        closed = []
        for member, low, size in zip(members, offsets, sizes, strict=True):
            if size:
                tick(VERIFYING)
                met = self._relations.met(member, self._there)
                closed += [(begin - low - size, end - low) for _, begin, end in met if begin < end]
                closed += [(begin - low - size, end - low) for begin, end in self._walls if begin < end]
        return _above(closed, least, rule)


class ManyTaken(Taken):
    """Many buffers, a row for each lifetime."""

    def __init__(self, relations: Relations, walls: Sequence[Interval]) -> None:
        super().__init__(relations, walls)
        self._rows: Integers = np.zeros((5, 64), dtype=np.int64)
        """Start, end, low, high, buffer."""
        self._count = 0
        self._place: dict[int, Interval] = {}
        """Of the buffers that are in conflict with others, whenever they are live."""
        self._kept = 64
        """With more rows than this, those that have ended are looked for."""

    def __len__(self) -> int:
        return IN_ARRAYS * self._count + ONE_BY_ONE * len(self._walls)

    def add(self, buffer: int, low: int, high: int) -> None:
        if low >= high or high >= FAR:
            return
        if buffer in self._relations.conflicts:
            self._place[buffer] = (low, high)
        for start, end in self._relations.spans[buffer]:
            if self._count == self._rows.shape[1]:
                self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)], axis=1)
            self._rows[:, self._count] = (start, end, low, high, buffer)
            self._count += 1

    def forget(self, time: int) -> None:
        if self._count <= self._kept:
            return
        stays = self._rows[:, : self._count]
        stays = stays[:, stays[1] > time]
        self._count = stays.shape[1]
        self._rows[:, : self._count] = stays
        self._kept = max(2 * self._count, 64)

    def lowest(
        self, members: Sequence[int], offsets: Sequence[int], sizes: Sequence[int], least: int, rule: Congruence
    ) -> int:
        closed = [
            (begin - low - size, end - low)
            for member, low, size in zip(members, offsets, sizes, strict=True)
            if size
            for begin, end in (*self._walls, *self._in_conflict(member))
        ]
        met = [
            (self._met(member), low, size) for member, low, size in zip(members, offsets, sizes, strict=True) if size
        ]
        if any(size + low >= FAR for _, low, size in met) or any(end >= FAR for _, end in closed):
            for (begins, ends), low, size in met:
                there = zip(begins.tolist(), ends.tolist(), strict=True)
                closed += [(begin - low - size, end - low) for begin, end in there]
            return _above(closed, least, rule)
        lows = [np.array([begin for begin, _ in closed], dtype=np.int64)]
        highs = [np.array([end for _, end in closed], dtype=np.int64)]
        for (begins, ends), low, size in met:
            lows.append(begins - (low + size))
            highs.append(ends - low)
        return _first_gap(np.concatenate(lows), np.concatenate(highs), least, rule)

    def _in_conflict(self, buffer: int) -> list[Interval]:
        partners = self._relations.conflicts.get(buffer, ())
        return [self._place[other] for other in partners if other in self._place]

    def _met(self, buffer: int) -> tuple[Integers, Integers]:
        """Return the ranges of those that are live when this one is."""
        start, end, low, high, owner = self._rows[:, : self._count]
        met = np.zeros(self._count, dtype=bool)
        for begin, stop in self._relations.spans[buffer]:
            met |= (start < stop) & (end > begin)
        excluded = self._relations.exclusions.get(buffer)
        if excluded:
            met &= ~np.isin(owner, list(excluded))
        return low[met], high[met]


def _first_gap(low: Integers, high: Integers, least: int, rule: Congruence) -> int:
    """Return the lowest base outside these ranges, open on both sides, that the rule allows."""
    some = high > least
    low, high = low[some], high[some]
    if not len(low):
        return least
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    if least <= low[0]:
        return least
    if rule.modulus >= FAR:
        return _above([*zip(low.tolist(), high.tolist(), strict=True)], least, rule)
    base = high + (rule.residue - high) % rule.modulus
    gaps = np.flatnonzero(base[:-1] <= low[1:])
    return int(base[gaps[0]] if len(gaps) else base[-1])
