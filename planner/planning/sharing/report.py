"""What a sharing does with memory: the objects of each kind of storage, their users, and the unused share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise

from ...facts.intervals import merged
from ...model.plan import PlanStatus, Shortage
from ...model.problem import Buffer, BufferId, Interval, Problem
from ...model.storage import Kind, Sharing, StorageObject
from .bounds import proven_of_kinds
from .kinds import kinds_of


@dataclass(frozen=True, slots=True)
class ObjectReport:
    """One object."""

    id: int
    size: int
    users: tuple[BufferId, ...]
    """In the order in which they need it."""
    idle: float | None
    """The share of the time in which no buffer needs it; None if a lifetime is unknown."""
    unused: float | None
    """The share of its bytes that is unused, averaged over the time; all of them while it is idle."""


@dataclass(frozen=True, slots=True)
class KindReport:
    """One kind of storage: a pool, a device and a type."""

    kind: Kind
    buffers: int
    total: int | None
    """The sum of its objects' sizes; None without a sharing."""
    bound: int
    unused: float | None
    """The same for all its objects together."""
    objects: tuple[ObjectReport, ...]
    """The largest first."""


@dataclass(frozen=True, slots=True)
class SharingReport:
    """What a sharing does with memory, by kind and object."""

    problem: str | None
    status: PlanStatus
    total: int | None
    bound: int
    time: Interval | None
    """From the first to the last moment at which a buffer is needed, half-open; averages are over this time."""
    unused: float | None
    """The same for all objects together."""
    kinds: tuple[KindReport, ...]
    """In the order in which the problem's buffers name them."""
    untimed: int
    """The number of buffers with bytes but without lifetimes."""
    shortage: Shortage | None = None
    """Why nothing fits, as far as the sharing says."""


def sharing_report(problem: Problem, sharing: Sharing) -> SharingReport:
    """Return the report of a correct sharing (`verify_sharing(problem, sharing)` finds nothing)."""
    uses, proven = _Uses(problem, sharing), proven_of_kinds(sharing)
    buffers = Counter(kinds_of(problem))
    objects: dict[Kind, list[StorageObject]] = {kind: [] for kind in buffers}
    for thing in sharing.objects:
        objects.setdefault(thing.kind, []).append(thing)  # a correct sharing may contain unused objects
    kinds = (
        KindReport(
            kind,
            buffers[kind],
            None if sharing.total is None else sum(thing.size for thing in found),
            proven.get(kind, 0),
            uses.unused(found),
            tuple(uses.report(thing) for thing in sorted(found, key=lambda thing: (-thing.size, thing.id))),
        )
        for kind, found in objects.items()
    )
    return SharingReport(
        problem.name,
        sharing.status,
        sharing.total,
        sharing.bound,
        uses.time,
        uses.unused(sharing.objects),
        tuple(kinds),
        sum(1 for buffer in problem.buffers if buffer.size and buffer.live is None),
        sharing.shortage,
    )


class _Uses:
    """The users of each object, and how much of it they need when."""

    def __init__(self, problem: Problem, sharing: Sharing) -> None:
        spans = [span for buffer in problem.buffers for span in _needed(buffer)]
        self.time = (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None
        self._users: dict[int, list[Buffer]] = {thing.id: [] for thing in sharing.objects}
        where = {each.id: each.object for each in sharing.assignments}
        for buffer in problem.buffers:
            if buffer.id in where:
                self._users[where[buffer.id]].append(buffer)
        self._uses = {id_: _use(users) for id_, users in self._users.items()}

    def report(self, thing: StorageObject) -> ObjectReport:
        use, users = self._uses[thing.id], sorted(self._users[thing.id], key=_turn)
        idle = None if use is None or self.time is None else 1 - Fraction(use.steps, self.time[1] - self.time[0])
        named = tuple(buffer.id for buffer in users)
        return ObjectReport(thing.id, thing.size, named, None if idle is None else float(idle), self.unused((thing,)))

    def unused(self, objects: Sequence[StorageObject]) -> float | None:
        """Return the average unused share of the objects' bytes; None if they have none, or a lifetime is unknown."""
        sized = [thing for thing in objects if thing.size]
        found = [use for thing in sized if (use := self._uses[thing.id]) is not None]
        if self.time is None or not sized or len(found) < len(sized):
            return None
        whole = sum(thing.size for thing in sized) * (self.time[1] - self.time[0])
        return float(1 - Fraction(sum(use.byte_steps for use in found), whole))


@dataclass(frozen=True, slots=True)
class _Use:
    """How much of an object is needed, summed over time."""

    steps: int
    byte_steps: int


def _use(users: Iterable[Buffer]) -> _Use | None:
    """Return the use of an object by these users, who all begin at its start; None if lifetimes are unknown."""
    users = [buffer for buffer in users if buffer.size]
    if any(buffer.live is None for buffer in users):
        return None
    spans = sorted((start, end, buffer.size) for buffer in users for start, end in _needed(buffer))
    edges = sorted({edge for start, end, _ in spans for edge in (start, end)})
    # users that have begun, the largest first: (-size, end)
    present: list[tuple[int, int]] = []
    at = steps = byte_steps = 0
    for begin, until in pairwise(edges):
        while at < len(spans) and spans[at][0] <= begin:
            heappush(present, (-spans[at][2], spans[at][1]))
            at += 1
        while present and present[0][1] <= begin:
            heappop(present)
        if present:
            steps += until - begin
            byte_steps += -present[0][0] * (until - begin)
    return _Use(steps, byte_steps)


def _needed(buffer: Buffer) -> tuple[Interval, ...]:
    """Return when the buffer's bytes are needed."""
    return merged(buffer.live or ()) if buffer.size else ()


def _turn(buffer: Buffer) -> tuple[bool, int]:
    """Return the sort key of first need; buffers that are never needed come last."""
    spans = _needed(buffer)
    return (False, spans[0][0]) if spans else (True, 0)
