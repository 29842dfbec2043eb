"""Dispatchers with all that they need: an embedded one, and one that submits jobs to a worker in the same process."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from api.jobs.dispatch import Dispatcher, EmbeddedDispatcher, SubmittingDispatcher
from api.jobs.processes.pool import ProcessPool
from api.jobs.queue.consumer import QueueWorker
from api.jobs.requests.options import as_document
from api.settings import Settings
from api.store import Store, StoreUnavailable
from api.store.opening import open_store
from api.store.records import About, Job, JobState, NewJob, QueueLimits
from api.store.sql.databases.postgres import PostgresDatabase
from planner import Options
from planner.formats import write_problem
from planner.generate import Request, generate
from planner.model.problem import Buffer, Problem
from tests.running.forked import forking_workers

SECONDS = 120.0
STALLED_SECONDS = 2.5
"""A worker that was silent for this long counts as dead; a living one on a busy machine is heard of sooner."""
LIMITS = QueueLimits(1000, 1000, 1 << 40)
EASY = write_problem(Problem(tuple(Buffer(i, 16 + i, live=((i, i + 2),)) for i in range(5))))
SLOW = write_problem(generate("random", Request(400, seed=5)))
FOREVER = Options(solver="waiting", time_limit=600, workers=1)
"""With these options SLOW has a plan at once, then waits until it is stopped (tests/running/installed)."""
OBJECTS_FOREVER = Options(time_limit=600, work_limit=10**12, workers=1)
"""Like FOREVER, for jobs whose buffers share storage objects."""


@dataclass(frozen=True, slots=True)
class Rig:
    """A dispatcher and the workers behind it."""

    store: Store
    dispatcher: Dispatcher
    processes: ProcessPool

    def add(self, problem: bytes = EASY, options: Options | None = None, *, objects: bool = False) -> Job:
        """Queue a job as the service does."""
        job = add(self.store, problem, options, objects=objects)
        self.dispatcher.wake()
        return job

    def cancel(self, job: Job) -> None:
        """Stop a job as the service does."""
        self.store.cancel(job.id, job.owner)
        self.dispatcher.stop_job(job.id)

    async def until(self, job: Job, *states: JobState, attempt: int = 0) -> Job:
        """Wait until the job is in one of the states, and return it."""
        return await until(self.store, job, lambda now: now.state in states and now.attempt >= attempt)

    async def until_there_is_a_plan(self, job: Job) -> Job:
        return await until(self.store, job, lambda now: now.has_plan)


def add(
    store: Store, problem: bytes = EASY, options: Options | None = None, *, objects: bool = False, owner: str = "me"
) -> Job:
    document = as_document(options or Options(workers=1))
    kind = "sharing" if objects else "plan"
    about = About("key", "digest", None, 5, document, ("a note",), None, kind)
    return store.add(NewJob(owner, about), problem, LIMITS).job


async def until(store: Store, job: Job, holds: Callable[[Job], bool]) -> Job:
    end = time.monotonic() + SECONDS
    while True:
        now = await asyncio.to_thread(store.job, job.id)
        assert now is not None
        if holds(now):
            return now
        assert time.monotonic() < end, now
        await asyncio.sleep(0.05)


@asynccontextmanager
async def rig(
    url: str, wrap: Callable[[Store], Any] = lambda store: store, stalled_seconds: float = 60.0, size: int = 1
) -> AsyncIterator[Rig]:
    """Open a rig with `size` worker processes; `wrap` is applied to the store that the rig uses."""
    async with contextlib.AsyncExitStack() as resources:
        resources.enter_context(forking_workers())
        plain = open_store(url)
        resources.callback(plain.close)
        store: Store = wrap(plain)
        processes = ProcessPool(size, Settings(), "solver")
        resources.push_async_callback(processes.close)
        await processes.start()
        dispatcher: Dispatcher
        if isinstance(plain.database, PostgresDatabase):
            dispatcher = SubmittingDispatcher()
            worker = QueueWorker(plain.database.conninfo, store, processes, stalled_seconds, 5.0)
            resources.push_async_callback(worker.close)
            worker.start()
        else:
            dispatcher = EmbeddedDispatcher(store, processes)
            resources.push_async_callback(dispatcher.close)
        await dispatcher.start()
        yield Rig(store, dispatcher, processes)


def with_rig(
    url: str,
    work: Callable[[Rig], Awaitable[None]],
    wrap: Callable[[Store], Any] = lambda store: store,
    stalled_seconds: float = 60.0,
    size: int = 1,
) -> None:
    """Open a rig, do the work with it and close it."""

    async def whole() -> None:
        async with rig(url, wrap, stalled_seconds, size) as made:
            await work(made)

    asyncio.run(whole())


def spied(made: Rig) -> list[int]:
    """Return a list that receives the number of parts of every task begun from now on."""
    do, parts = made.processes.do, []

    async def noted(task: Any) -> Any:
        parts.append(len(task.parts))
        return await do(task)

    made.processes.do = noted  # type: ignore[method-assign]
    return parts


class Unreliable:
    """A store that cannot be reached the first two times a job's end is written."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.left = 2

    def finish(self, *arguments: Any) -> bool:
        if self.left:
            self.left -= 1
            raise StoreUnavailable("gone for a moment")
        return self._store.finish(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
