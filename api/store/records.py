"""What the store keeps: jobs, what happened to them, and plans."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

ANYBODY = "anonymous"
"""The owner of what is asked without a token."""


TICKS = 4096
"""So many ids a millisecond have an order by themselves; those beyond borrow from the next one."""


class Ids:
    """Ids of jobs, which nobody can guess. Those of one process sort as they were made, those of several by their clocks."""

    def __init__(self) -> None:
        self._last = 0
        self._turn = threading.Lock()

    def new(self) -> str:
        now = time.time_ns() * TICKS // 1_000_000
        with self._turn:
            self._last = max(now, self._last + 1)
            return f"{self._last:014x}{secrets.randbits(84):021x}"


new_id = Ids().new


class JobState(StrEnum):
    """How far a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    """There is an answer; its status says which."""
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self not in UNFINISHED


UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


class EventKind(StrEnum):
    """What can happen to a job."""

    STATE = "state"
    INCUMBENT = "incumbent"
    BOUND = "bound"
    POINT = "point"
    """A part of the answer was found, and is kept."""
    DONE = "done"


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a problem that was read, and how it will be planned."""

    key: str
    """Of the plans that would be the same."""
    digest: str
    name: str | None
    buffers: int
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    format: str | None
    kind: str = "plan"
    """Of job."""

    @property
    def header(self) -> dict[str, Any]:
        """What later readers must know."""
        return {"kind": self.kind, "format": self.format, "options": dict(self.options)}


@dataclass(frozen=True, slots=True)
class Summary:
    """What a plan is worth, without the plan."""

    status: str
    stop: str
    best: int | None
    bound: int | None
    gap: float | None


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A plan as it is given out: always the same bytes."""

    data: bytes
    etag: str
    summary: Summary
    created: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class PlanHead:
    """What is known of a stored plan without loading it."""

    etag: str
    summary: Summary
    created: float
    size: int
    """Bytes."""


class Where(StrEnum):
    """Who is to carry out a job."""

    HERE = "here"
    """The solver processes of the service or of a worker."""
    CLUSTER = "cluster"
    """A Dask cluster; processes where there is none."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job that is to be queued."""

    owner: str
    about: About
    urgent: bool = False
    """A client waits for it, so it goes before those that no client waits for."""
    batch: str | None = None
    line: int | None = None
    """Its place in the batch."""
    where: Where = Where.HERE


@dataclass(frozen=True, slots=True)
class Job:
    """A job, without its problem and its plan."""

    id: str
    owner: str
    state: JobState
    about: About
    created: float
    started: float | None
    finished: float | None
    attempt: int
    deaths: int
    """Workers that died of it."""
    cancelling: bool
    status: str | None
    stop: str | None
    best: int | None
    bound: int | None
    gap: float | None
    failure: Mapping[str, Any] | None
    """Why it failed: status, code, detail, findings, more."""
    batch: str | None
    line: int | None
    has_plan: bool
    delivery: int | None
    """Which delivery to a worker elsewhere is the one that counts; None where workers come and look."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that a worker has taken on, with everything to work on it."""

    job: Job
    problem: bytes
    best: bytes | None = None
    """The best plan of an earlier attempt."""


@dataclass(frozen=True, slots=True)
class End:
    """How a job ended."""

    state: JobState
    summary: Summary | None = None
    plan: StoredPlan | None = None
    failure: Mapping[str, Any] | None = None
    points: Sequence[Mapping[str, Any]] = ()
    """Of the plan, that have not been told before."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a job; numbers grow without gaps."""

    number: int
    kind: EventKind
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """With more than this, no job is added."""

    queued: int
    unfinished: int
    """Of one owner."""
    bytes: int
    """Of all problems."""


@dataclass(frozen=True, slots=True)
class Once:
    """A request that must be carried out once, however often it is sent."""

    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A plan for equal requests."""

    owner: str
    key: str
    plan: StoredPlan


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs to list, the newest first."""

    owner: str
    state: JobState | None = None
    batch: str | None = None
    before: str | None = None
    """Only jobs older than this one."""
    limit: int = 50


Ended: TypeAlias = tuple[float, str]
"""A place in the order in which jobs end: when, and the job's id."""
NONE_ENDED: Ended = (0.0, "")


@dataclass(frozen=True, slots=True)
class Added:
    """A job, and whether it is new."""

    job: Job
    is_new: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """How many jobs there are in each state."""

    by_state: Mapping[JobState, int] = field(default_factory=dict)

    @property
    def queued(self) -> int:
        return self.by_state.get(JobState.QUEUED, 0)
