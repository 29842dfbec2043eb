"""The number of bytes in use at each step: a sweep over a plan, for each memory and all together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ..facts.colocation import groups
from ..facts.intervals import merged
from ..model.deadline import in_time, look
from ..model.plan import Placement
from ..model.problem import Buffer, BufferId, Problem

LOOKING = "looking at the plan of"


@dataclass(frozen=True, slots=True)
class Moment:
    """An interval of steps in which nothing changes, half-open."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Height:
    """The most bytes in use at once, and when."""

    bytes: int
    moments: tuple[Moment, ...]
    """In order; not empty."""


class LiveProfile:
    """The bytes in use at each step. Bytes shared by several buffers (views, results in place, exclusions) count once."""

    def __init__(self, problem: Problem, placements: Sequence[Placement]) -> None:
        self._problem = problem
        self._where = {place.id: place for place in placements}
        overlapping = _overlapping(problem)
        plain: dict[str, list[Buffer]] = defaultdict(list)
        shared: dict[str, list[Buffer]] = defaultdict(list)
        self._untimed: dict[str, int] = defaultdict(int)
        for buffer in in_time(problem.buffers, LOOKING, "buffer"):
            if buffer.size and buffer.id in self._where:
                pool = self._where[buffer.id].pool
                if buffer.live is None:
                    self._untimed[pool] += 1
                else:
                    (shared if buffer.id in overlapping else plain)[pool].append(buffer)
        look(LOOKING)
        self._changes = {pool.name: _sums(plain[pool.name]) for pool in problem.pools}
        for name, buffers in shared.items():
            look(LOOKING)
            for time, change in self._unions(buffers).items():
                self._changes[name][time] += change

    def untimed(self, pool: str | None = None) -> int:
        """Return the number of buffers there with bytes but without lifetimes, whose time of use is unknown."""
        return sum(self._untimed.values()) if pool is None else self._untimed.get(pool, 0)

    def highest(self, pool: str | None = None) -> Height | None:
        """Return the most bytes in use at once in the pool (None: all pools); None if no lifetime is known."""
        steps = self.steps(pool)
        most, moments = 0, list[Moment]()
        for i, (time, used) in enumerate(steps):
            if used > most:
                most, moments = used, []
            if used == most and most:
                moments.append(Moment(time, steps[i + 1][0]))
        return Height(most, tuple(moments)) if moments else None

    def steps(self, pool: str | None = None) -> list[tuple[int, int]]:
        """Return (time, bytes in use in the pool from then on) for each change; None: all pools. The last is 0 bytes."""
        look(LOOKING)
        changes: Mapping[int, int] = self._changes[pool] if pool is not None else _added(self._changes.values())
        times = sorted(changes)
        return list(zip(times, accumulate(changes[time] for time in times), strict=True))

    def live_at(self, step: int) -> tuple[Buffer, ...]:
        """Return the buffers with bytes in use at the step, by memory and address."""
        order = {pool.name: i for i, pool in enumerate(self._problem.pools)}
        found = [
            (order[place.pool], place.offset, i)
            for i, buffer in enumerate(in_time(self._problem.buffers, LOOKING, "buffer"))
            if buffer.size
            and any(start <= step < end for start, end in buffer.live or ())
            and (place := self._where.get(buffer.id)) is not None
        ]
        return tuple(self._problem.buffers[i] for _, _, i in sorted(found))

    def live_throughout(self, moments: Sequence[Moment]) -> tuple[Buffer, ...]:
        """Return the buffers in use in every one of the moments, which span all pools, in input order."""
        starts = [moment.start for moment in moments]

        def met(buffer: Buffer) -> int:
            live = merged(buffer.live or ())
            return sum(bisect_left(starts, end) - bisect_left(starts, start) for start, end in live)

        buffers = (b for b in in_time(self._problem.buffers, LOOKING, "buffer") if b.size and b.id in self._where)
        return tuple(buffer for buffer in buffers if met(buffer) == len(moments))

    def _unions(self, buffers: Sequence[Buffer]) -> dict[int, int]:
        """Return how the length of the union of address ranges changes over time, for buffers that may overlap."""
        ranges = {b.id: (self._where[b.id].offset, self._where[b.id].offset + b.size) for b in buffers}
        cover = _Cover({edge for pair in ranges.values() for edge in pair})
        events: dict[int, list[tuple[BufferId, int]]] = defaultdict(list)
        for buffer in buffers:
            for start, end in merged(buffer.live or ()):
                events[start].append((buffer.id, 1))
                events[end].append((buffer.id, -1))
        changes: dict[int, int] = {}
        before = 0
        for time in sorted(events):
            for id_, step in events[time]:
                cover.add(*ranges[id_], step)
            changes[time] = cover.length - before
            before = cover.length
        return changes


def _overlapping(problem: Problem) -> set[BufferId]:
    """Return the buffers that may share addresses with others while both are live."""
    ids = [buffer.id for buffer in problem.buffers]
    together = groups(ids, problem.constraints.colocations)
    found = {ids[member] for group in together for member in group.members}
    return found.union(*problem.constraints.exclusions)


def _sums(buffers: Iterable[Buffer]) -> dict[int, int]:
    changes: dict[int, int] = defaultdict(int)
    for buffer in buffers:
        for start, end in merged(buffer.live or ()):
            changes[start] += buffer.size
            changes[end] -= buffer.size
    return changes


def _added(several: Iterable[Mapping[int, int]]) -> dict[int, int]:
    changes: dict[int, int] = defaultdict(int)
    for one in several:
        for time, change in one.items():
            changes[time] += change
    return changes


class _Cover:
    """The length of a union of ranges under addition and removal, as a tree over their ends."""

    def __init__(self, edges: Iterable[int]) -> None:
        self._edges = sorted(edges)
        leaves = 1 << max(len(self._edges) - 2, 0).bit_length()
        self._leaves = leaves
        self._count = [0] * (2 * leaves)
        self._covered = [0] * (2 * leaves)

    @property
    def length(self) -> int:
        return self._covered[1]

    def add(self, low: int, high: int, times: int) -> None:
        """Cover [low, high) once more (1) or once less (-1)."""
        first, last = bisect_left(self._edges, low), bisect_right(self._edges, high) - 1
        self._add(1, 0, self._leaves, first, last, times)

    def _add(self, node: int, begin: int, end: int, first: int, last: int, times: int) -> None:
        if last <= begin or end <= first:
            return
        if first <= begin and end <= last:
            self._count[node] += times
        else:
            middle = (begin + end) // 2
            self._add(2 * node, begin, middle, first, last, times)
            self._add(2 * node + 1, middle, end, first, last, times)
        if self._count[node]:
            top = len(self._edges) - 1
            self._covered[node] = self._edges[min(end, top)] - self._edges[min(begin, top)]
        else:
            self._covered[node] = 0 if end - begin == 1 else self._covered[2 * node] + self._covered[2 * node + 1]
