"""Which buffers may share addresses although they are live together: those that move as one, and those that exclude each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice, pairwise
from typing import TypeAlias

import numpy as np

from ..facts.colocation import forest_of, groups
from ..facts.intervals import merged
from ..facts.sweep import VERIFYING, Integers, Pieces, all_apart, meetings
from ..model.columns.buffers import ids
from ..model.deadline import in_time, look
from ..model.problem import BufferId, Interval, Problem

PAIRS_AT_ONCE = 4096
MOST_COLOURS = 8
FEW_RECTANGLES = 64

Rectangle: TypeAlias = tuple[int, int, int, int]
"""Low, high, start, end."""


class Permitted:
    """Pairs of buffers that may share addresses although they are live together."""

    def __init__(self, problem: Problem) -> None:
        index = {id_: i for i, id_ in enumerate(ids(problem.buffers))}
        self.any = bool(problem.constraints.colocations or problem.constraints.exclusions)
        """False if no two buffers may."""
        self._buffers = len(index)
        self._group = np.arange(-1, -len(index) - 1, -1)
        """For each buffer the number of its group; below 0 and unique if it has none."""
        forest = forest_of(index, problem.constraints.colocations)
        if forest is not None:
            self._group[forest.members] = np.repeat(np.arange(len(forest.begin) - 1), np.diff(forest.begin))
        else:
            for number, group in enumerate(groups(index, problem.constraints.colocations)):
                self._group[[*group.members]] = number
        first, second = numbers_of(index, problem.constraints.exclusions)
        self._excluded = np.unique(self._numbered(first, second))
        self._colour = _coloured(self._group, first, second)
        """A colour for each buffer: equal within a group, different for buffers that exclude each other, -1 for a buffer without exclusions."""

    def _numbered(self, first: Integers, second: Integers) -> Integers:
        numbers: Integers = np.minimum(first, second) * self._buffers + np.maximum(first, second)
        return numbers

    def may_share(self, first: Integers, second: Integers) -> Integers:
        """For each pair, True if both are of one group or exclude each other."""
        found: Integers = self._group[first] == self._group[second]
        return found | np.isin(self._numbered(first, second), self._excluded)

    def others(self, pairs: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield the pairs that may not share."""
        while some := [*islice(pairs, PAIRS_AT_ONCE)]:
            for i in np.flatnonzero(~self.may_share(*np.array(some).T)).tolist():
                yield some[i]

    def clashes(self, pieces: Pieces) -> Iterator[tuple[int, int]]:
        """Yield the pairs that overlap and may not, some perhaps several times. What is of one group is not compared with itself."""
        grouped = self._group[pieces.owner.astype(np.int64)]
        if len(np.unique(grouped)) == len(np.unique(pieces.owner)):
            yield from self.others(meetings(pieces))
            return
        order = np.argsort(grouped, kind="stable")
        numbers, begins = np.unique(grouped[order], return_index=True)
        parts = dict(zip(numbers.tolist(), np.split(order, begins[1:]), strict=True))
        seen = set[tuple[int, int]]()
        for pair in meetings(self._outlines(pieces)):
            if pair not in seen:
                seen.add(pair)
                yield from self.others(_between(*(_only(pieces, parts[each]) for each in pair)))

    def are_apart(self, pieces: Pieces) -> bool:
        """Return True if no two pieces overlap that may not: each colour is checked together with what has none. False as well if there are too many colours."""
        owner = pieces.owner.astype(np.int64)
        colour, is_grouped = self._colour[owner], self._group[owner] >= 0
        of_colours = range(int(colour.max(initial=-1)) + 1)
        if len(of_colours) > MOST_COLOURS:
            return False
        for each in of_colours or range(1):
            look(VERIFYING)
            wanted = (colour < 0) | (colour == each)
            alone, outlined = _only(pieces, wanted & ~is_grouped), self._outlines(_only(pieces, wanted & is_grouped))
            if not all_apart(Pieces(*map(np.concatenate, zip(alone, outlined, strict=True)))):
                return False
        return next(self.others(meetings(_only(pieces, colour >= 0))), None) is None

    def _outlines(self, pieces: Pieces) -> Pieces:
        """Return the same memory in fewer pieces: what a group uses at several times, or side by side, becomes one."""
        group = self._group.tolist()
        times: dict[tuple[int, int, int], list[Interval]] = {}
        ranges: dict[tuple[int, int, int], list[Interval]] = {}
        for low, high, start, end, i in in_time(pieces.rows(), VERIFYING):
            times.setdefault((group[i], low, high), []).append((start, end))
        for (owner, low, high), used in in_time(times.items(), VERIFYING):
            for start, end in merged(used):
                ranges.setdefault((owner, start, end), []).append((low, high))
        found: dict[int, list[Rectangle]] = {}
        for (owner, start, end), taken in in_time(ranges.items(), VERIFYING):
            found.setdefault(owner, []).extend((low, high, start, end) for low, high in merged(taken))
        return Pieces.of([(*each, owner) for owner, several in found.items() for each in _disjoint(several)])


def _disjoint(several: list[Rectangle]) -> Iterable[Rectangle]:
    """Return rectangles that cover the same but do not overlap; many are returned as they are."""
    if not 1 < len(several) <= FEW_RECTANGLES:
        return several
    moments = sorted({moment for _, _, start, end in several for moment in (start, end)})
    return [
        (low, high, begin, stop)
        for begin, stop in pairwise(moments)
        for low, high in merged([(low, high) for low, high, start, end in several if start <= begin and stop <= end])
    ]


def _between(one: Pieces, other: Pieces) -> Iterator[tuple[int, int]]:
    """Yield the pairs of owners, one of each, whose pieces overlap in address and time, lower number first."""
    few, many = sorted((one, other), key=len)
    for low, high, start, end, mine in few.rows():
        look(VERIFYING)
        met = (many.low < high) & (many.high > low) & (many.start < end) & (many.end > start)
        for theirs in many.owner[met].tolist():
            yield (mine, theirs) if mine < theirs else (theirs, mine)


def numbers_of(index: Mapping[BufferId, int], pairs: Sequence[tuple[BufferId, BufferId]]) -> tuple[Integers, Integers]:
    """Return the numbers of the first and of the second buffer of each pair."""
    found = [(index[a], index[b]) for a, b in in_time(pairs, VERIFYING)]
    both = np.array(found, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _coloured(group: Integers, first: Integers, second: Integers) -> Integers:
    """Give each group that excludes others the first colour that none of these has, in the order of the pairs."""
    found: Integers = np.full(len(group), -1)
    numbers, begins, number = np.unique(
        np.stack((group[first], group[second]), axis=1).reshape(-1), return_index=True, return_inverse=True
    )
    if not len(numbers):
        return found
    number = number.reshape(-1, 2)
    order = np.argsort(number.reshape(-1), kind="stable")
    friends = np.split(number[:, ::-1].reshape(-1)[order], np.cumsum(np.bincount(number.reshape(-1)))[:-1])
    known = np.full(len(numbers), -1)
    for each in in_time(np.argsort(begins).tolist(), VERIFYING):
        taken = {*known[friends[each]].tolist()}
        known[each] = next(colour for colour in count() if colour not in taken)
    at = np.minimum(np.searchsorted(numbers, group), len(numbers) - 1)
    return np.where(numbers[at] == group, known[at], -1)


def _only(pieces: Pieces, wanted: Integers) -> Pieces:
    return Pieces(*(column[wanted] for column in pieces))
