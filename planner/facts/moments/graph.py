"""What a problem says of pairs of buffers, in arrays: who is live with whom, who conflicts with whom, and who never coexists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from solvers.model.instance import Bools, Ints

from ...model.columns.buffers import BufferColumns, ids
from ...model.problem import BufferId, Interval, Pair, Problem
from ..constants import has_read_only_pools, is_constant
from ..intervals import merged

Spans: TypeAlias = tuple[Interval, ...]


class Rows(NamedTuple):
    """Ranges of time, each with the number of its buffer; ordered by buffer, and a buffer's by time."""

    owner: Ints
    start: Ints
    end: Ints


def rows_of(lives: Sequence[Spans]) -> Rows:
    """Return merged lifetimes as rows."""
    pieces = np.array([len(spans) for spans in lives], dtype=np.int64)
    flat = np.array([time for spans in lives for span in spans for time in span], dtype=np.int64).reshape(-1, 2)
    return Rows(np.repeat(np.arange(len(lives)), pieces), flat[:, 0], flat[:, 1])


def lives_of(problem: Problem, numbers: Iterable[int]) -> list[Spans]:
    """Return when these buffers are live."""
    return [merged(problem.buffers[n].live or ()) for n in numbers]


def _rows(problem: Problem, numbers: Sequence[int]) -> Rows:
    columns = problem.buffers
    if not isinstance(columns, BufferColumns):
        return rows_of(lives_of(problem, numbers))
    start, end = columns.start[numbers], columns.end[numbers]
    owner = np.flatnonzero(end > start)
    return Rows(owner, start[owner], end[owner])


def moving(problem: Problem) -> list[int]:
    """Return the numbers of the buffers that others may meet: those of a size, without constants of read-only memory, which are apart from all others."""
    if isinstance(problem.buffers, BufferColumns):
        sized: list[int] = np.flatnonzero(problem.buffers.size > 0).tolist()
        return sized
    has_constants = has_read_only_pools(problem)
    return [n for n, each in enumerate(problem.buffers) if each.size and not (has_constants and is_constant(each))]


def starts_within(start: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return the first of the ascending starts in each range of time, and how many there are."""
    begin = np.searchsorted(start, first, side="left")
    return begin, np.maximum(np.searchsorted(start, last, side="left") - begin, 0)


def spread(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return the number of each range and the elements in it, one after the other."""
    which = np.repeat(np.arange(len(count)), count)
    return which, first[which] + np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)


class Graph:
    """The buffers of some numbers, and what holds between two of them."""

    def __init__(self, problem: Problem, numbers: Sequence[int]) -> None:
        self.rows = _rows(problem, numbers)
        names = ids(problem.buffers)
        self.index = {names[n]: vertex for vertex, n in enumerate(numbers)}
        self._count = max(len(numbers), 1)
        self.conflicts = self._keys(problem.constraints.conflicts)
        self.exclusions = self._keys(problem.constraints.exclusions)
        owner, _, end = self.rows
        self._first = np.searchsorted(owner, np.arange(len(numbers) + 1))
        self._times = np.sort(end)
        self._ends = owner * (len(self._times) + 1) + np.searchsorted(self._times, end)
        """Ascending: a number for each buffer and end."""
        self._met: Ints | None = None
        """All pairs that are live at the same time, once they are listed."""

    def _keys(self, pairs: Sequence[Pair]) -> Ints:
        return np.sort(self.keys(*numbered(pairs, self.index).T))

    def keys(self, a: Ints, b: Ints) -> Ints:
        """Return a number for each pair."""
        keys: Ints = np.minimum(a, b) * self._count + np.maximum(a, b)
        return keys

    def pairs(self, keys: Ints) -> tuple[Ints, Ints]:
        """Return the pairs with these numbers."""
        return keys // self._count, keys % self._count

    def meet(self, a: Ints, b: Ints) -> Bools:
        """Return which pairs are live at the same time: each looked up on its own, or in a list of all where that is shorter."""
        pieces = np.diff(self._first)
        swap = pieces[a] > pieces[b]
        a, b = np.where(swap, b, a), np.where(swap, a, b)
        if self._met is None and pieces[a].sum() > self.meetings:
            self._met = self.live_pairs(self.meetings)
        return self._looked_up(a, b) if self._met is None else among(self.keys(a, b), self._met)

    def _looked_up(self, a: Ints, b: Ints) -> Bools:
        """Return which pairs are live at the same time: for each range of the first the next one of the second that ends later begins in time."""
        _, start, end = self.rows
        pair, mine = spread(self._first[a], self._first[a + 1] - self._first[a])
        other = b[pair]
        next_ = np.searchsorted(
            self._ends,
            other * (len(self._times) + 1) + np.searchsorted(self._times, start[mine], side="right"),
            side="left",
        )
        has_next = next_ < self._first[other + 1]
        found = np.zeros(len(a), dtype=bool)
        hit = has_next.nonzero()[0]
        found[pair[hit[start[next_[hit]] < end[mine[hit]]]]] = True
        return found

    def conflict(self, a: Ints, b: Ints) -> Bools:
        """Return which pairs must not share addresses."""
        keys = self.keys(a, b)
        return (self.meet(a, b) & ~among(keys, self.exclusions)) | among(keys, self.conflicts)

    @cached_property
    def meetings(self) -> int:
        """Return how many pairs of ranges overlap."""
        start = np.sort(self.rows.start)
        return int((np.searchsorted(start, self.rows.end, side="left")).sum() - len(start) * (len(start) + 1) // 2)

    def live_pairs(self, most: int) -> Ints | None:
        """Return the numbers of the pairs that are live at the same time; None if they meet more than so many times."""
        if self.meetings > most:
            return None
        order = np.argsort(self.rows.start, kind="stable")
        owner, start, end = (column[order] for column in self.rows)
        first = np.arange(1, len(start) + 1)
        which, other = spread(first, np.searchsorted(start, end, side="left") - first)
        keys = np.sort(self.keys(owner[which], owner[other]))
        return keys[np.diff(keys, prepend=-1) > 0]


def among(keys: Ints, ascending: Ints) -> Bools:
    """Return which of the numbers are among others, which are in order."""
    if not len(ascending):
        return np.zeros(len(keys), dtype=bool)
    at = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    found: Bools = ascending[at] == keys
    return found


def numbered(pairs: Sequence[Pair], index: Mapping[BufferId, int]) -> Ints:
    """Return the pairs by the numbers of their buffers, without those that have none."""
    found = [(index[a], index[b]) for a, b in pairs if a in index and b in index]
    return np.array(found, dtype=np.int64).reshape(-1, 2)
