"""The interface of all stores, their errors, and checksums of what they keep. All calls block, and raise StoreUnavailable if the store cannot be reached.

Writes of a running job carry its attempt: if another attempt is current, nothing is written, and the result is False.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .records import (
    Added,
    Claim,
    Counts,
    End,
    Ended,
    Event,
    Job,
    JobFilter,
    Kept,
    NewJob,
    Once,
    PlanHead,
    QueueLimits,
    StoredPlan,
    Where,
)


class StoreError(Exception):
    """The root of errors that stores raise on purpose."""


class StoreUnavailable(StoreError):
    """It cannot be reached, is locked or full. Trying again later may help."""


class StoreDamaged(StoreUnavailable):
    """What was written cannot be read, or is not what was written. Only its operator can help."""


class Collision(StoreUnavailable):
    """Another writer was in the way. Trying again at once helps."""


class QueueFull(StoreError):
    """There are too many unfinished jobs already."""


class BatchEnded(StoreError):
    """The line's batch has been ended by its owner."""


class KeyReused(StoreError):
    """An idempotency key was used with another request before."""


class Store(Protocol):
    """Keeps jobs and plans."""

    @property
    def shared(self) -> bool:
        """True if other processes use it too, so that their workers carry out what is queued."""

    def listen(self, on_change: Callable[[str | None], None]) -> None:
        """From now on call `on_change`, from any thread, with the id of every job that changes; None: any job may have changed."""

    def add(
        self,
        new: NewJob,
        problem: bytes | bytearray,
        limits: QueueLimits,
        once: Once | None = None,
        end: End | None = None,
    ) -> Added:
        """Queue a job, or record one that has already ended. Raises QueueFull, KeyReused and BatchEnded."""

    def add_running(self, new: NewJob, problem: bytes | bytearray) -> Job:
        """Record a job that has already begun."""

    def job(self, id_: str, owner: str | None = None) -> Job | None:
        """Return the job of that id, if it is the owner's."""

    def jobs(self, wanted: JobFilter) -> list[Job]:
        """Return the jobs that pass the filter, the newest first."""

    def ended(self, owner: str, batch: str, after: Ended, limit: int = 100) -> list[Job]:
        """Return jobs of a batch that have ended after that one, in the order of their ends."""

    def batch_counts(self, owner: str, batch: str) -> tuple[int, int]:
        """Return the number of jobs of a batch, and of those that have not ended."""

    def counts(self) -> Counts:
        """Return the numbers of all jobs."""

    def remove(self, id_: str) -> None:
        """Forget a job."""

    def claim(
        self,
        id_: str | None = None,
        delivery: int | None = None,
        *,
        short: bool = False,
        look: bool = False,
        where: Where | None = None,
    ) -> Claim | None:
        """Claim the next job, the next short one, the next long one for a first look (`short`: or a short one for it), or the next for `where`.

        Or that one, also for a look, if it is queued and this delivery is current.
        """

    def improve(self, id_: str, attempt: int, best: int | None, bound: int | None, seconds: float) -> bool:
        """Record a better best or bound."""

    def save(self, id_: str, attempt: int, plan: StoredPlan, points: Sequence[Mapping[str, Any]] = ()) -> bool:
        """Keep the best plan so far, and record which of its points are new."""

    def finish(self, id_: str, attempt: int, end: End) -> bool:
        """End the job. A better plan from before stays."""

    def release(self, id_: str, attempt: int) -> bool:
        """Put the job back into the queue, through no fault of its own; or end it, if it is to stop."""

    def died(self, id_: str, attempt: int, why: str, most: int) -> Job | None:
        """Its worker is gone: queue it again, or give it up at the `most`-th death."""

    def redeliver(self, id_: str, delivery: int) -> bool:
        """The worker to which a queued job was delivered died before it began: deliver it to another."""

    def recover(self, why: str, most: int) -> list[Job]:
        """Do the same for all jobs recorded as running, when the only service of an embedded store starts."""

    def cancel(self, id_: str, owner: str) -> Job | None:
        """End a queued job, and mark a running one."""

    def end_batch(self, owner: str, batch: str) -> None:
        """Take no more lines of a batch."""

    def has_ended(self, owner: str, batch: str) -> bool:
        """True if no more lines of the batch are taken."""

    def cancel_lines(self, owner: str, batch: str, limit: int = 100) -> list[str]:
        """Cancel up to `limit` of a batch's jobs that have not ended and are not marked, and return their ids; none: that is all."""

    def problem(self, id_: str) -> bytes | None:
        """Return a job's problem, as sent."""

    def plan(self, id_: str) -> StoredPlan | None:
        """Return the best plan of a job so far."""

    def problem_size(self, id_: str) -> int | None:
        """Bytes of a job's problem."""

    def problem_piece(self, id_: str, start: int, size: int) -> bytes:
        """Return `size` bytes of a job's problem from `start` on."""

    def check_problem(self, id_: str, found: int) -> None:
        """Raise StoreDamaged if this is not the checksum of all bytes of a job's problem as written."""

    def plan_head(self, id_: str) -> PlanHead | None:
        """Return the description of a job's best plan."""

    def plan_piece(self, id_: str, start: int, size: int) -> bytes:
        """Return `size` bytes of it from `start` on. If the job has not ended, it may be another plan by then."""

    def check_plan(self, id_: str, found: int) -> None:
        """Do the same for a job's best plan."""

    def events(self, id_: str, after: int, limit: int = 100) -> list[Event]:
        """Return what has happened to a job since."""

    def keep(self, kept: Sequence[Kept]) -> None:
        """Keep plans for equal requests."""

    def kept(self, owner: str, key: str) -> StoredPlan | None:
        """Return a kept plan."""

    def prune(self, older_than: float, max_bytes: int) -> int:
        """Forget finished jobs and plans from before then, and the oldest beyond a total size; return how many. If another does so already, nothing is done."""

    def set_aside(self) -> int:
        """Return how many jobs were found damaged, which failed and are kept for the operator."""

    def ping(self) -> None:
        """Raise StoreUnavailable if nothing can be read or written, or if damage was noticed."""

    def close(self) -> None:
        """Release everything."""


CHANGED = "a stored value is not what was written: the store is damaged"


def checksum(data: bytes | bytearray, of_what_precedes: int = 0) -> int:
    return zlib.crc32(data, of_what_precedes)


def sound(data: object, expected: int | None) -> bytes:
    """Return the data. Raises StoreDamaged if it has changed; what an earlier version wrote has no checksum."""
    if not isinstance(data, bytes):
        raise StoreDamaged(CHANGED)
    require(checksum(data) if expected is not None else None, expected)
    return data


def require(found: int | None, expected: int | None) -> None:
    if expected is not None and found != expected:
        raise StoreDamaged(CHANGED)
