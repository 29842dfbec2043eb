"""What a sharing does with memory: for each kind of storage its objects, the users of each, and how much of it is unused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise

from ...facts.intervals import merged
from ...model.plan import PlanStatus
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
    """The share of the time in which no buffer needs it; None if a lifetime is not known."""
    unused: float | None
    """The share of its bytes that is unused, on average over the time; while it is idle that is all of them."""


@dataclass(frozen=True, slots=True)
class KindReport:
    """One kind of storage: a pool, a device and a type."""

    kind: Kind
    buffers: int
    total: int | None
    """The sizes of its objects, added up; None without a sharing."""
    bound: int
    unused: float | None
    """Of all its objects together."""
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
    """From the first to the last moment at which any buffer is needed, half-open: averages are over it."""
    unused: float | None
    """Of all objects together."""
    kinds: tuple[KindReport, ...]
    """In the order in which the problem's buffers name them."""
    untimed: int
    """How many buffers have bytes but no lifetime."""


def sharing_report(problem: Problem, sharing: Sharing) -> SharingReport:
    """The report of a sharing that is right: `verify_sharing(problem, sharing)` finds nothing."""
    uses, proven = _Uses(problem, sharing), proven_of_kinds(sharing)
    buffers = Counter(kinds_of(problem))
    objects: dict[Kind, list[StorageObject]] = {kind: [] for kind in buffers}
    for thing in sharing.objects:
        objects.setdefault(thing.kind, []).append(thing)  # nobody need use an object for the sharing to be right
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
    )


class _Uses:
    """Who uses each object, and how much of it when."""

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
        """The share of their bytes that is unused, on average; None if they have none, or a lifetime is not known."""
        sized = [thing for thing in objects if thing.size]
        found = [use for thing in sized if (use := self._uses[thing.id]) is not None]
        if self.time is None or not sized or len(found) < len(sized):
            return None
        whole = sum(thing.size for thing in sized) * (self.time[1] - self.time[0])
        return float(1 - Fraction(sum(use.byte_steps for use in found), whole))


@dataclass(frozen=True, slots=True)
class _Use:
    """How much of an object is needed, added up over time."""

    steps: int
    byte_steps: int


def _use(users: Iterable[Buffer]) -> _Use | None:
    """Of an object with these users, who all begin where it begins; None where lifetimes do not say."""
    users = [buffer for buffer in users if buffer.size]
    if any(buffer.live is None for buffer in users):
        return None
    spans = sorted((start, end, buffer.size) for buffer in users for start, end in _needed(buffer))
    edges = sorted({edge for start, end, _ in spans for edge in (start, end)})
    # Those that have begun, the largest first: the size with its sign turned, and the end.
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
    """When its bytes are."""
    return merged(buffer.live or ()) if buffer.size else ()


def _turn(buffer: Buffer) -> tuple[bool, int]:
    """By when it is needed first; what never is comes last."""
    spans = _needed(buffer)
    return (False, spans[0][0]) if spans else (True, 0)
