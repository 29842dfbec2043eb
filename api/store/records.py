"""The store's records: jobs, their events, and plans."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

ANYBODY = "anonymous"
"""The owner of requests without a token."""


TICKS = 4096
"""This many ids per millisecond are ordered; further ones borrow from the next one."""


class Ids:
    """Ids of jobs, which nobody can guess. Those of one process sort by time of creation, those of several by their clocks."""

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
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    """There is an answer; its status tells which."""
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self not in UNFINISHED


UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


class Look(StrEnum):
    """Where a job stands with its first look; one that will have none, or had it, stands nowhere."""

    DUE = "due"
    BEGUN = "begun"
    """It runs, and still counts as waiting."""


class EventKind(StrEnum):
    """The kinds of events of a job."""

    STATE = "state"
    INCUMBENT = "incumbent"
    BOUND = "bound"
    POINT = "point"
    """A part of the answer was found, and is kept."""
    DONE = "done"


@dataclass(frozen=True, slots=True)
class About:
    """The description of a problem that was read, and how it will be planned."""

    key: str
    """Equal for equal plans."""
    digest: str
    name: str | None
    buffers: int
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    format: str | None
    kind: str = "plan"
    """The kind of job."""

    @property
    def header(self) -> dict[str, Any]:
        """Return what later readers must know."""
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
    """A plan as sent: always the same bytes."""

    data: bytes
    etag: str
    summary: Summary
    created: float
    """In seconds since 1970."""


@dataclass(frozen=True, slots=True)
class PlanHead:
    """What is known of a stored plan without loading it."""

    etag: str
    summary: Summary
    created: float
    size: int
    """In bytes."""


class Where(StrEnum):
    """Which processes carry out a job."""

    HERE = "here"
    """The solver processes of the service or of a worker."""
    CLUSTER = "cluster"
    """A Dask cluster; processes if there is none."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be queued."""

    owner: str
    about: About
    urgent: bool = False
    """A client waits for it, so it goes before those without waiting clients."""
    batch: str | None = None
    line: int | None = None
    """Its position in the batch."""
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
    """The number of workers that it killed."""
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
    """The current delivery to a worker elsewhere; None if workers look for jobs themselves."""
    events: int
    """The number of its last event so far."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claimed job, with everything needed to work on it."""

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
    """The plan's points that have not been reported before."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a job; numbers grow without gaps."""

    number: int
    kind: EventKind
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """Limits beyond which no job is added."""

    queued: int
    unfinished: int
    """Of one owner."""
    bytes: int
    """Of all problems."""
    has_several_owners: bool = False
    """Whether others may come: no worker is then reserved for the short jobs of one."""


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
"""A place in the order in which jobs end: the time, and the job's id."""
NONE_ENDED: Ended = (0.0, "")


@dataclass(frozen=True, slots=True)
class Added:
    """A job, and whether it is new."""

    job: Job
    is_new: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of jobs in each state."""

    by_state: Mapping[JobState, int] = field(default_factory=dict)

    @property
    def queued(self) -> int:
        return self.by_state.get(JobState.QUEUED, 0)
