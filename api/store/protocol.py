"""What every store can do, and why it did not. All calls block, and raise StoreUnavailable when the store cannot be reached.

Writes of a running job carry its attempt: when it is another's by now, nothing is written, and the answer is False.
"""

from __future__ import annotations

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
    """Root of what stores raise on purpose."""


class StoreUnavailable(StoreError):
    """It cannot be reached, is locked or full. Trying again later may help."""


class Collision(StoreUnavailable):
    """Another writer was in the way. Trying again at once helps."""


class QueueFull(StoreError):
    """There are too many unfinished jobs already."""


class BatchEnded(StoreError):
    """Its owner has ended the batch, of which this would be a line."""


class KeyReused(StoreError):
    """An idempotency key has come with another request than the first time."""


class Store(Protocol):
    """Keeps jobs and plans."""

    @property
    def shared(self) -> bool:
        """Do other processes use it too, so that workers among them carry out what is queued?"""

    def listen(self, told: Callable[[str | None], None]) -> None:
        """From now on have this called, from any thread, with the id of every job to which something happens; None: perhaps to any."""

    def add(
        self,
        new: NewJob,
        problem: bytes,
        limits: QueueLimits,
        once: Once | None = None,
        answer: StoredPlan | None = None,
        failure: Mapping[str, Any] | None = None,
    ) -> Added:
        """Queue a job; with an answer, it has succeeded already, and with a failure it has failed. Raises QueueFull, KeyReused and BatchEnded."""

    def add_running(self, new: NewJob, problem: bytes) -> Job:
        """Note a job that has been taken on already."""

    def job(self, id_: str, owner: str | None = None) -> Job | None:
        """The job of that id, if it is the owner's."""

    def jobs(self, wanted: JobFilter) -> list[Job]:
        """Those that are wanted, the newest first."""

    def ended(self, owner: str, batch: str, after: Ended, limit: int = 100) -> list[Job]:
        """Jobs of a batch that have ended after that one, in the order of their ends."""

    def batch_counts(self, owner: str, batch: str) -> tuple[int, int]:
        """How many jobs a batch has, and how many of them have not ended."""

    def counts(self) -> Counts:
        """Of all jobs."""

    def remove(self, id_: str) -> None:
        """Forget a job."""

    def claim(
        self, id_: str | None = None, delivery: int | None = None, *, short: bool = False, where: Where | None = None
    ) -> Claim | None:
        """Take on the next job, or the next short one, or the next for there; or that one, if it is queued and this delivery is the one that counts."""

    def improve(self, id_: str, attempt: int, best: int | None, bound: int | None, seconds: float) -> bool:
        """Note a better best or bound."""

    def save(self, id_: str, attempt: int, plan: StoredPlan, points: Sequence[Mapping[str, Any]] = ()) -> bool:
        """Keep the best plan so far, and note which of its points are new."""

    def finish(self, id_: str, attempt: int, end: End) -> bool:
        """The job has ended. A better plan that is kept from before stands."""

    def release(self, id_: str, attempt: int) -> bool:
        """Put the job back into the queue, through no fault of its own."""

    def died(self, id_: str, attempt: int, why: str, most: int) -> Job | None:
        """Its worker is gone: queue it again, or give it up once it has killed that many."""

    def redeliver(self, id_: str, delivery: int) -> bool:
        """The worker to which a queued job was delivered is gone before it began: deliver it to another."""

    def recover(self, why: str, most: int) -> list[Job]:
        """The same for all jobs that are said to be running; for the one service of an embedded store, when it starts."""

    def cancel(self, id_: str, owner: str) -> Job | None:
        """End a queued job, and mark a running one."""

    def end_batch(self, owner: str, batch: str) -> None:
        """Take no more lines of a batch."""

    def has_ended(self, owner: str, batch: str) -> bool:
        """Are no more lines of the batch taken?"""

    def cancel_lines(self, owner: str, batch: str, limit: int = 100) -> list[Job]:
        """Cancel so many of a batch's jobs, as far as they have not ended and are not marked; none: that is all."""

    def problem(self, id_: str) -> bytes | None:
        """A job's problem, as it was sent."""

    def plan(self, id_: str) -> StoredPlan | None:
        """The best plan of a job so far."""

    def problem_size(self, id_: str) -> int | None:
        """Bytes of a job's problem."""

    def problem_piece(self, id_: str, start: int, size: int) -> bytes:
        """So many bytes of it from there on."""

    def plan_head(self, id_: str) -> PlanHead | None:
        """What the best plan of a job is."""

    def plan_piece(self, id_: str, start: int, size: int) -> bytes:
        """So many bytes of it from there on. Of a job that has not ended it may be another plan by then."""

    def events(self, id_: str, after: int, limit: int = 100) -> list[Event]:
        """What has happened to a job since."""

    def keep(self, kept: Sequence[Kept]) -> None:
        """Keep plans for equal requests."""

    def kept(self, owner: str, key: str) -> StoredPlan | None:
        """A plan that was kept."""

    def prune(self, older_than: float, max_bytes: int) -> int:
        """Forget finished jobs and plans from before then, and the oldest beyond a total size; how many went. If another does so already, none do."""

    def ping(self) -> None:
        """Raises StoreUnavailable if nothing can be read or written."""

    def close(self) -> None:
        """Let go of everything."""
