"""One attempt at a problem: the request to a worker process, its result, and how its end is recorded in the store."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from planner.model.errors import Code
from solvers.model.errors import StopReason

from ..errors import HttpCode, OutOfMemory, Refusal, takes_too_long
from ..process.garbage import forget_frames
from ..store import Store, StoreDamaged, StoreUnavailable
from ..store.records import About, Claim, End, Job, JobState, Kept, NewJob, StoredPlan, Summary
from .processes.messages import as_failure
from .processes.pool import CalledOff, Reply, Task, WorkerDied, WorkerLate, WorkerPool

MOST_DEATHS = 3
"""A job is given up when so many of its workers have died, or services while it ran: nobody can tell whether it was the cause."""
AGAIN_SECONDS = 0.5
"""The delay before the store is tried again after it could not be reached."""
FIRST_LOOK_SECONDS = 0.5
"""How long a first look at a long job takes at most: it delays short ones by so much."""

log = structlog.get_logger("memplan.runner")


@dataclass(frozen=True, slots=True)
class Posted:
    """A body that has not been read yet, and how to treat it."""

    owner: str
    body: bytes | bytearray
    format: str | None
    media_type: str
    """The media type with which it was sent."""
    query: Mapping[str, Any]
    """Further options from the query."""
    seconds: float
    """The time limit for reading it."""
    endpoint: str = "plans"
    """The endpoint to which it was sent."""

    @property
    def header(self) -> dict[str, Any]:
        """Return what its readers must know."""
        return {"format": self.format, "media_type": self.media_type, "query": self.query, "endpoint": self.endpoint}


class Attempt:
    """Work on a problem. Its result is written to the store once it is a job's; until then only its caller knows it."""

    def __init__(
        self,
        endings: Endings,
        owner: str,
        problem: bytes | bytearray,
        task: Task,
        job: Job | None = None,
        *,
        is_look: bool = False,
    ) -> None:
        self.job = job
        self.is_look = is_look
        """True if it is a first look: what is not over soon is put back as if it had not begun."""
        self.owner = owner
        self.task = task
        task.on_message = self._note
        self._loop = asyncio.get_running_loop()
        self.about: asyncio.Future[About] = self._loop.create_future()
        """The description of the problem; known from the start unless it is read and planned in one request."""
        self.reply: asyncio.Future[Reply] = self._loop.create_future()
        """The end: the worker's answer or error."""
        self._is_put_back = False
        self._store = endings.store
        self._endings = endings
        self._problem = problem
        self._becoming = threading.Lock()
        self._unnoted: dict[str, Reply] = {}

    @classmethod
    def at(cls, claim: Claim, endings: Endings, *, is_look: bool = False) -> Attempt:
        """Return an attempt at a claimed job."""
        job, task = claim.job, solving(claim.job.about, claim.problem, claim.best)
        if is_look:
            task.stop_after, task.header = FIRST_LOOK_SECONDS, {**task.header, "look": True}
        attempt = cls(endings, job.owner, b"", task, job, is_look=is_look)
        attempt.about.set_result(job.about)
        if job.cancelling:
            attempt.stop()
        return attempt

    @classmethod
    def of(cls, new: NewJob, problem: bytes | bytearray, endings: Endings) -> Attempt:
        """Return an attempt at a problem that is no job yet."""
        attempt = cls(endings, new.owner, problem, solving(new.about, problem))
        attempt.about.set_result(new.about)
        return attempt

    @classmethod
    def unread(cls, posted: Posted, endings: Endings) -> Attempt:
        """Return an attempt at something that may be a problem."""
        header = {"task": "read_and_solve", **posted.header}
        return cls(endings, posted.owner, posted.body, Task(header, (posted.body,), seconds=posted.seconds))

    async def run(self, processes: WorkerPool) -> bool:
        """Run to the end. Return whether that is recorded, as far as it must be."""
        try:
            await self._heed()
            self.reply.set_result(await self._work(processes))
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever waits must be told, and the job must end
            forget_frames(error)
            self.reply.set_exception(error)
            self.reply.exception()  # it is handled, whether anybody else asks for it or not
            if not self.about.done():
                self.about.set_exception(error)
                self.about.exception()
        finally:
            self.task.let_go()
        return self.job is None or await self._endings.note(self, self.job)

    async def _work(self, processes: WorkerPool) -> Reply:
        """Return the worker's answer; if it took too long or too much memory, the best that it had reported."""
        try:
            return await processes.do(self.task)
        except WorkerLate as late:
            if self.is_put_back:
                raise
            log.warning("out of time", job=self.job and self.job.id, reason=str(late))
            if not self.about.done():
                assert self.task.seconds is not None
                raise takes_too_long(self.task.seconds) from late
            text = "no plan was found: its worker was killed long after the time limit"
            return await self._cut_short(processes, late, StopReason.TIME_LIMIT, Refusal(503, HttpCode.NO_PLAN, text))
        except Refusal as refusal:
            stop = _cut_short_by(refusal)
            if stop is None or self.is_put_back or not self.about.done():
                raise
            log.warning(f"out of {stop.value.removesuffix('_limit')}", job=self.job and self.job.id)
            return await self._cut_short(processes, refusal, stop, refusal)

    async def _cut_short(self, processes: WorkerPool, why: Exception, stop: StopReason, otherwise: Refusal) -> Reply:
        """End with what is known: a new attempt would need as much again. Raises `otherwise` if nothing is known."""
        try:
            best = await self._best()
        except StoreUnavailable:
            raise why from None
        if best is None:
            raise otherwise
        header = {"task": "cut_short", "kind": self.about.result().kind, "stop": stop.value}
        return await processes.do(Task(header, (best,), seconds=self.task.seconds))

    async def _best(self) -> bytes | None:
        """Return the best plan or sharing reported so far."""
        if self.job is None:
            event = self._unnoted.get("plan")
            return None if event is None else event.payload
        await asyncio.to_thread(self.tell)
        kept = await asyncio.to_thread(self._store.plan, self.job.id)
        return None if kept is None else kept.data

    async def become_job(self) -> Job:
        """Make it a job, whose worker has begun already."""
        new = NewJob(self.owner, self.about.result())
        job = await asyncio.to_thread(self._store.add_running, new, self._problem)
        had_ended = self.reply.done()
        with self._becoming:
            self.job = job
        await asyncio.to_thread(self.tell)
        await self._heed()
        self._problem = b""  # the store has it
        if had_ended:  # before there was a job to record it for
            await self._endings.note(self, job)
        return job

    async def _heed(self) -> None:
        """Stop if the job was cancelled before anybody could know that this is its attempt."""
        if self.job is None:
            return
        with contextlib.suppress(StoreUnavailable):
            now = await asyncio.to_thread(self._store.job, self.job.id)
            if now is not None and now.cancelling:
                self.stop()

    def tell(self) -> None:
        """Record for the job what was kept back, and keep nothing back from now on. Blocks."""
        with self._becoming:
            self.is_look = False
            unnoted, self._unnoted = self._unnoted, {}
        for reply in unnoted.values():
            self._note(reply)

    def stop(self) -> None:
        """Stop: nobody wants more than what has been found so far."""
        self.is_look = False
        self.task.cancelled.set()

    def counts(self) -> bool:
        """Return whether it is still the job's current attempt. Blocks."""
        if self.job is None:
            return True
        now = self._store.job(self.job.id)
        return now is not None and now.state is JobState.RUNNING and now.attempt == self.job.attempt

    def put_back(self) -> None:
        """Stop, and queue the job again with what has been found so far."""
        self._is_put_back = True
        self.task.cancelled.set()

    @property
    def is_put_back(self) -> bool:
        """True if another worker is to continue it."""
        return self._is_put_back or (self.is_look and self.task.cancelled.is_set())

    def _note(self, reply: Reply) -> None:
        """In a worker's thread: record an improvement. If that fails, there will be a next time, which also tells of its points."""
        header = reply.header
        if header["kind"] == "understood":
            about = about_in(header)
            self.task.seconds = about.options["time_limit"]
            self._loop.call_soon_threadsafe(self._understood, about)
            return
        if self._is_kept_back(reply):
            return
        job = self.job
        assert job is not None
        try:
            if header["kind"] == "plan":
                counts = self._store.save(job.id, job.attempt, as_stored(reply), points_of(reply))
            else:
                counts = self._store.improve(job.id, job.attempt, header["best"], header["bound"], header["seconds"])
        except StoreUnavailable as error:
            log.error("progress cannot be noted", job=job.id, reason=str(error))
            if points_of(reply):
                with self._becoming:
                    self._unnoted[header["kind"]] = self._with_unnoted(reply, is_older=True)
            return
        if not counts:
            self.stop()

    def _is_kept_back(self, reply: Reply) -> bool:
        """Keep it back until there is a job to record it for. It takes the place of what was kept back before."""
        with self._becoming:
            is_kept_back = self.job is None or self.is_look
            reply = self._with_unnoted(reply)
            if is_kept_back:
                self._unnoted[reply.header["kind"]] = reply
            return is_kept_back

    def _with_unnoted(self, reply: Reply, *, is_older: bool = False) -> Reply:
        """Add the points of what was kept back of its kind, which is then no longer. `is_older`: than that."""
        other = self._unnoted.pop(reply.header["kind"], None)
        if other is None:
            return reply
        older, newer = (reply, other) if is_older else (other, reply)
        if points_of(older):
            newer.header["points"] = [*points_of(older), *points_of(newer)]
        return newer

    def _understood(self, about: About) -> None:
        if not self.about.done():
            self.about.set_result(about)


def _cut_short_by(refusal: Refusal) -> StopReason | None:
    """Return which limit ended a run, if its best plan so far can be its answer; None otherwise."""
    if isinstance(refusal, OutOfMemory):
        return StopReason.MEMORY_LIMIT
    return StopReason.TIME_LIMIT if refusal.code is Code.OUT_OF_TIME else None


def solving(about: About, problem: bytes | bytearray, best: bytes | None = None) -> Task:
    """Return the request to plan a problem that was read before, starting from the best known plan."""
    header = {"task": "solve", **about.header, "notes": list(about.notes)}
    return Task(header, (problem,) if best is None else (problem, best), seconds=about.options["time_limit"])


def about_in(header: Mapping[str, Any]) -> About:
    """Return what a worker reports about a problem that it has read."""
    key, digest, name = header["key"], header["digest"], header["name"]
    return About(
        key,
        digest,
        name,
        header["buffers"],
        header["options"],
        tuple(header["notes"]),
        header["format"],
        header["job_kind"],
    )


class Endings:
    """Records how attempts at jobs ended."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.closing = False
        """True if there is no time to wait for an unreachable store."""

    async def note(self, attempt: Attempt, job: Job) -> bool:
        """Record the end. False if that failed: another process then finds the job running without a worker, and restarts it."""
        error = attempt.reply.exception()
        ending: Callable[[], Any]
        if isinstance(error, CalledOff) or (isinstance(error, (WorkerDied, OutOfMemory)) and attempt.is_put_back):
            if attempt.is_look and not isinstance(error, CalledOff):
                log.warning("worker ended in a first look", job=job.id, kind=job.about.kind, reason=str(error))
            ending = partial(self._release, attempt, job)
        elif isinstance(error, WorkerDied):
            log.warning("worker died", job=job.id, attempt=job.attempt, reason=str(error))
            ending = partial(self.store.died, job.id, job.attempt, str(error), MOST_DEATHS)
        elif isinstance(error, Refusal):
            ending = partial(self._fail, job, error)
        elif error is not None:
            log.error("fault while working", job=job.id, reason=f"{type(error).__name__}: {error}"[:500])
            ending = partial(self._fail, job, Refusal(500, HttpCode.INTERNAL, "a fault in memplan; it has been logged"))
        else:
            ending = partial(self._succeed, attempt, job, attempt.reply.result())
        return await self._insist(ending)

    async def _insist(self, ending: Callable[[], Any]) -> bool:
        """Retry, so that a job's end is not lost if the store is unreachable for a moment. In a damaged store it is lost: carrying it out again is of no use."""
        while True:
            try:
                await asyncio.to_thread(ending)
            except StoreDamaged as error:
                log.error("the end of a job cannot be noted, and never will be", reason=str(error))
                return True
            except StoreUnavailable as error:
                log.error("the end of a job cannot be noted", reason=str(error))
                if self.closing:
                    return False
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                return True

    def _succeed(self, attempt: Attempt, job: Job, reply: Reply) -> None:
        plan = as_stored(reply)
        cancelled = plan.summary.stop == "cancelled"
        if cancelled and attempt.is_put_back:
            if plan.summary.best is not None and not attempt.is_look:
                self.store.save(job.id, job.attempt, plan, points_of(reply))
            self.store.release(job.id, job.attempt)
            return
        attempt.tell()
        if reply.header["lasting"]:
            self.store.keep([Kept(job.owner, job.about.key, plan)])
        state = JobState.CANCELLED if cancelled else JobState.SUCCEEDED
        self.store.finish(job.id, job.attempt, End(state, plan.summary, plan, points=points_of(reply)))

    def _release(self, attempt: Attempt, job: Job) -> None:
        if not attempt.is_put_back:  # it is cancelled, and keeps its best plan
            attempt.tell()
        self.store.release(job.id, job.attempt)

    def _fail(self, job: Job, refusal: Refusal) -> None:
        self.store.finish(job.id, job.attempt, End(JobState.FAILED, failure=as_failure(refusal)))


def points_of(reply: Reply) -> Sequence[Mapping[str, Any]]:
    """Return figures of an answer's points that have not been reported before."""
    points: Sequence[Mapping[str, Any]] = reply.header.get("points", ())
    return points


def as_stored(reply: Reply) -> StoredPlan:
    """Return a worker's plan for the store."""
    header = reply.header
    summary = Summary(header["status"], header["stop"], header["best"], header["bound"], header["gap"])
    return StoredPlan(reply.payload, header["etag"], summary, time.time())
