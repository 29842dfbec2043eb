"""Buffers that overlap in a file while both are needed share their bytes on purpose, and do so in every plan."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import gcd

import numpy as np

from solvers.model.instance import Ints

from ...checks.report import Place, bad_input, quoted
from ...model.columns.buffers import BufferColumns, ids
from ...model.columns.relations import tie_columns
from ...model.columns.varied import VariedColumns
from ...model.deadline import tick
from ...model.errors import Code
from ...model.problem import Buffer, Colocation, Constraints, Interval, Pool

MOST_SHARED = 5_000_000
"""The most ranges of bytes that buffers may leave to others which are needed longer."""
FREE = -1
NEVER: tuple[Interval, ...] = ((0, 0),)


class OwnPlan:
    """What a file's own plan takes of each memory. Hints are the file's places."""

    def __init__(self) -> None:
        self.ends: dict[str, int] = {}
        self.steps: dict[str, int] = {}
        """The largest number of which all offsets are multiples; 0 if all are 0."""

    def add(self, pool: str, offset: int, size: int) -> None:
        self.ends[pool] = max(self.ends.get(pool, 0), offset + size)
        self.steps[pool] = gcd(self.steps.get(pool, 0), offset)

    def pools(self, most: int, otherwise: str = "memory") -> tuple[Pool, ...]:
        """Return the memories, with the alignment that all its places keep, at most this one; one of another name if there are none."""
        found = tuple(Pool(name, alignment=gcd(most, step)) for name, step in self.steps.items())
        return found or (Pool(otherwise, alignment=most),)

    def __str__(self) -> str:
        return f"{sum(self.ends.values())} bytes"


def tied(
    buffers: Sequence[Buffer], place: Callable[[int], Place], pairs: Iterable[tuple[int, int]] = ()
) -> tuple[Sequence[Buffer], Constraints]:
    """Return the buffers and the colocations between them. `place` says where in the file each is. Raises BadInput.

    `pairs`: numbers of buffers that stay as they lie to each other although they do not overlap at one time.
    """
    found = _colocations(buffers, place, pairs)
    if found and isinstance(buffers, BufferColumns):
        buffers = buffers.kept()
    return buffers, Constraints(colocations=found)


class _Memory:
    """Ranges of bytes, each with the use that needs it longest of those that have come so far."""

    def __init__(self) -> None:
        self._begin, self._owner = [0], [FREE]

    def _cut(self, at: int) -> int:
        """Return the number of the range that begins there, which is made if there is none."""
        k = bisect_left(self._begin, at)
        if k == len(self._begin) or self._begin[k] != at:
            self._begin.insert(k, at)
            self._owner.insert(k, self._owner[k - 1])
        return k

    def take(self, low: int, high: int, use: int, end: array[int]) -> Iterator[int]:
        """Give these bytes to the use, except where others end later; yield those that had them before."""
        first, last = self._cut(low), self._cut(high)
        begin, owner = list[int](), list[int]()
        for at, other in zip(self._begin[first:last], self._owner[first:last], strict=True):
            if other != FREE:
                yield other
            longest = other if other != FREE and end[other] > end[use] else use
            if not owner or owner[-1] != longest:
                begin.append(at)
                owner.append(longest)
        self._begin[first:last], self._owner[first:last] = begin, owner


def _colocations(
    buffers: Sequence[Buffer], place: Callable[[int], Place], pairs: Iterable[tuple[int, int]]
) -> Sequence[Colocation]:
    """Return colocations that tie each buffer of such a group to its lowest. Raises BadInput.

    Hints are the file's places, and each buffer has one pool. Uses, one for each interval, come in the order of time. All that need a byte at one
    time are tied to each other, so that each new one only has to be tied to the one of them that is needed longest.
    """
    low, size, home, whose, start, end = _numbers(buffers)
    base = array("q", range(len(buffers)))

    def root(i: int) -> int:
        while base[i] != i:
            base[i] = base[base[i]]
            i = base[i]
        return i

    def unite(i: int, j: int) -> None:
        tops = root(i), root(j)
        if tops[0] != tops[1]:
            lower, higher = sorted(tops, key=lambda k: (low[k], k))
            base[higher] = lower

    for i, j in pairs:
        unite(i, j)
    memories = [_Memory() for _ in range(max(home, default=0) + 1)]
    left = 0
    for use in _listed(np.argsort(np.frombuffer(start, np.int64), kind="stable")):
        tick("reading")
        i = whose[use]
        if not size[i] or start[use] == end[use]:
            continue
        for other in memories[home[i]].take(low[i], low[i] + size[i], use, end):
            left += end[other] > end[use]
            if end[other] > start[use]:
                unite(i, whose[other])
        if left > MOST_SHARED:
            text = f"too many others are needed longer in the bytes of {quoted(buffers[i].id)}, and of those before it"
            raise bad_input(Code.TOO_LARGE, place(i), text)
    roots = np.fromiter(map(root, range(len(base))), np.int64, len(base))
    tied_ = np.flatnonzero(roots != np.arange(len(base)))
    offset = np.fromiter((low[i] - low[roots[i]] for i in tied_.tolist()), np.int64, len(tied_))
    return tie_columns(ids(buffers), tied_, roots[tied_], offset)


def _numbers(buffers: Sequence[Buffer]) -> tuple[array[int], ...]:
    """Return place, size and memory of each buffer; and of each use whose it is, its begin and its end. Those of buffers that are never needed are at 0."""
    if isinstance(buffers, VariedColumns):
        start, end, owner = buffers.lives()
        lists = {each.pools: i for i, each in reversed([*enumerate(buffers.sayings)])}
        home = np.array([lists[each.pools] for each in buffers.sayings])[buffers.said]
        low = np.maximum(buffers.hints, 0)
        return tuple(map(_listed, (low, buffers.size, home, owner, start, end)))
    if isinstance(buffers, BufferColumns):
        never = buffers.start == buffers.end
        begin, end = (np.where(never, 0, column) for column in (buffers.start, buffers.end))
        low = np.zeros_like(begin) if buffers.hints is None else np.maximum(buffers.hints, 0)
        return tuple(map(_listed, (low, buffers.size, np.zeros_like(begin), np.arange(len(begin)), begin, end)))
    places, sizes, homes = array("Q"), array("Q"), array("q")
    whose, begins, ends = (array("q") for _ in range(3))
    memories: dict[tuple[str, ...] | None, int] = {}
    for i, buffer in enumerate(buffers):
        places.append(buffer.hint or 0)
        sizes.append(buffer.size)
        homes.append(memories.setdefault(buffer.pools, len(memories)))
        for first, last in buffer.live or NEVER:
            whose.append(i)
            begins.append(first)
            ends.append(last)
    return places, sizes, homes, whose, begins, ends


def _listed(numbers: Ints) -> array[int]:
    """Return the same numbers, which become objects one by one."""
    return array("q", numbers.astype(np.int64).tobytes())
