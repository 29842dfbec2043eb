"""What carries jobs out, and the one for a single machine: it takes them from the store and has them done by worker processes."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

import structlog

from ..errors import HttpCode, Refusal
from ..settings import Settings
from ..store import Store, StoreUnavailable
from ..store.records import Claim, End, Job, JobState, NewJob, StoredPlan, Summary
from .crew import Crew, Reply, Task, WorkerDied
from .hub import Hub
from .posted import as_message

MOST_DEATHS = 3
"""A job that has killed so many workers is given up."""
LOOK_SECONDS = 2.0
"""How often the store is asked for jobs without having been told of any: after it could not be reached, say."""

log = structlog.get_logger("memplan.runner")
Result = TypeVar("Result")


class Attempt:
    """Work on a problem. What comes of it is noted in the store as soon as it is a job's; until then only whoever began it knows of it."""

    def __init__(self, store: Store, hub: Hub, new: NewJob, problem: bytes, job: Job | None = None) -> None:
        about = new.about
        self.job = job
        self.task = Task(
            {"task": "solve", "format": about.format, "options": dict(about.options), "notes": list(about.notes)},
            (problem,),
            seconds=about.options["time_limit"],
            on_message=self._note,
        )
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        """The end of it: the worker's answer, or what it raised."""
        self._store = store
        self._hub = hub
        self._new = new
        self._problem = problem
        self._unnoted: dict[str, Reply] = {}

    @property
    def owner(self) -> str:
        return self._new.owner

    @property
    def key(self) -> str:
        """Of the plans that would be the same."""
        return self._new.about.key

    async def become_job(self) -> tuple[Job, bool]:
        """From now on it is a job, whose worker has begun already; and whether it has ended by now, which nobody has noted then."""
        job = await asyncio.to_thread(self._store.add_running, self._new, self._problem)
        had_ended = self.reply.done()
        self.job = job
        for reply in list(self._unnoted.values()):
            await asyncio.to_thread(self._note, reply)
        return job, had_ended

    def stop(self) -> None:
        """Nobody wants more than what has been found so far."""
        self.task.cancelled.set()

    def _note(self, reply: Reply) -> None:
        """In a worker's thread: something got better. If it cannot be noted, there will be a next time."""
        header, job = reply.header, self.job
        if job is None:
            self._unnoted[header["kind"]] = reply
            return
        try:
            if header["kind"] == "plan":
                counts = self._store.save(job.id, job.attempt, as_stored(reply))
            else:
                counts = self._store.improve(job.id, job.attempt, header["best"], header["bound"], header["seconds"])
        except StoreUnavailable as error:
            log.error("progress cannot be noted", job=job.id, reason=str(error))
            return
        if not counts:
            self.stop()
        self._hub.tell(job.id)


class Runner(Protocol):
    """Carries out the jobs that stand in the store. It is told of new ones, and of those that are to stop."""

    async def start(self) -> None:
        """Begin, with what was left from before."""

    def at_once(self, new: NewJob, problem: bytes) -> Attempt | None:
        """Begin on a problem that is no job yet, if that can be done without anybody having to wait for it."""

    async def adopt(self, attempt: Attempt) -> Job:
        """Make a job of it after all."""

    def wake(self) -> None:
        """There may be a new job."""

    def stop_job(self, id_: str) -> None:
        """The job is marked as cancelled: end it now, keeping its best plan."""

    async def close(self) -> None:
        """Stop; running jobs go back into the queue with their best plans."""


class EmbeddedRunner:
    """One per store: as many jobs at a time as there are solver processes."""

    def __init__(self, store: Store, crew: Crew, hub: Hub, settings: Settings) -> None:
        self._store = store
        self._crew = crew
        self._hub = hub
        self._settings = settings
        self._running: dict[Attempt, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._is_empty = False
        """Is it known that no job is queued?"""
        self._closing = False
        self._dispatcher: asyncio.Task[None] | None = None

    async def start(self) -> None:
        left = await asyncio.to_thread(self._store.recover, "the service ended while it ran", MOST_DEATHS)
        for job in left:
            log.warning("job was running when the service ended", job=job.id, state=job.state.value, deaths=job.deaths)
        self._dispatcher = asyncio.create_task(self._dispatch(), name="dispatcher")

    def wake(self) -> None:
        self._is_empty = False
        self._wake.set()

    def stop_job(self, id_: str) -> None:
        for attempt in self._running:
            if attempt.job is not None and attempt.job.id == id_:
                attempt.stop()

    def at_once(self, new: NewJob, problem: bytes) -> Attempt | None:
        if self._closing or len(self._running) >= self._crew.size:
            return None
        return self._begin(Attempt(self._store, self._hub, new, problem))

    async def close(self) -> None:
        self._closing = True
        if self._dispatcher is not None:
            self._dispatcher.cancel()
            await asyncio.gather(self._dispatcher, return_exceptions=True)
        for attempt in self._running:
            attempt.stop()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _dispatch(self) -> None:
        while True:
            self._wake.clear()
            try:
                while len(self._running) < self._crew.size:
                    self._is_empty = True  # unless somebody says otherwise in the meantime
                    claim = await asyncio.to_thread(self._store.claim)
                    if claim is None:
                        break
                    self._is_empty = False
                    self._take(claim)
            except StoreUnavailable as error:
                log.error("no job can be taken on", reason=str(error))
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _take(self, claim: Claim) -> None:
        job = claim.job
        attempt = Attempt(self._store, self._hub, NewJob(job.owner, job.about), claim.problem, job)
        if job.cancelling:
            attempt.stop()
        self._begin(attempt)
        self._hub.tell(job.id)

    def _begin(self, attempt: Attempt) -> Attempt:
        running = asyncio.create_task(self._run(attempt))
        self._running[attempt] = running
        running.add_done_callback(partial(self._ended, attempt))
        return attempt

    def _ended(self, attempt: Attempt, _: asyncio.Task[None]) -> None:
        del self._running[attempt]
        if attempt.job is not None:
            self._hub.tell(attempt.job.id)
        if not self._is_empty:
            self._wake.set()

    async def _run(self, attempt: Attempt) -> None:
        try:
            attempt.reply.set_result(await self._crew.do(attempt.task))
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever waits must be told, and the job must end
            attempt.reply.set_exception(error)
            attempt.reply.exception()  # it is dealt with, whether anybody else asks for it or not
        if attempt.job is not None:
            await self._note_end(attempt, attempt.job)

    async def adopt(self, attempt: Attempt) -> Job:
        job, had_ended = await attempt.become_job()
        if had_ended:
            await self._note_end(attempt, job)
        return job

    async def _note_end(self, attempt: Attempt, job: Job) -> None:
        ending: Callable[[], Any]
        error = attempt.reply.exception()
        if isinstance(error, WorkerDied):
            log.warning("worker died", job=job.id, attempt=job.attempt, reason=str(error))
            ending = partial(self._store.died, job.id, job.attempt, str(error), MOST_DEATHS)
            if self._closing:
                ending = partial(self._store.release, job.id, job.attempt)
        elif isinstance(error, Refusal):
            ending = partial(self._fail, job, error)
        elif error is not None:
            log.error("fault while working", job=job.id, reason=f"{type(error).__name__}: {error}"[:500])
            ending = partial(self._fail, job, Refusal(500, HttpCode.INTERNAL, "a fault in memplan; it has been logged"))
        else:
            ending = partial(self._succeed, job, attempt.reply.result())
        await self._insist(ending)
        if isinstance(error, WorkerDied):
            self.wake()  # it is queued again

    async def _insist(self, ending: Callable[[], Result]) -> Result | None:
        """How a job ended must not be lost because the store was locked for a moment."""
        while True:
            try:
                return await asyncio.to_thread(ending)
            except StoreUnavailable as error:
                log.error("the end of a job cannot be noted", reason=str(error))
                if self._closing:
                    return None  # it stays marked as running, so the next start takes it up again
                await asyncio.sleep(LOOK_SECONDS)

    def _succeed(self, job: Job, reply: Reply) -> None:
        plan = as_stored(reply)
        cancelled = plan.summary.stop == "cancelled"
        if cancelled and self._closing:
            if plan.summary.best is not None:
                self._store.save(job.id, job.attempt, plan)
            self._store.release(job.id, job.attempt)
            return
        if reply.header["lasting"]:
            self._store.keep(job.owner, job.about.key, plan)
        state = JobState.CANCELLED if cancelled else JobState.SUCCEEDED
        self._store.finish(job.id, job.attempt, End(state, plan.summary, plan))

    def _fail(self, job: Job, refusal: Refusal) -> None:
        failure = {name: value for name, value in as_message(refusal).items() if name not in ("kind", "headers")}
        self._store.finish(job.id, job.attempt, End(JobState.FAILED, failure=failure))


def as_stored(reply: Reply) -> StoredPlan:
    """A plan that has come from a worker."""
    header = reply.header
    summary = Summary(header["status"], header["stop"], header["best"], header["bound"], header["gap"])
    return StoredPlan(reply.payload, f'"{hashlib.sha256(reply.payload).hexdigest()[:32]}"', summary, time.time())
