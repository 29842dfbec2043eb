"""Carries out the jobs of a shared store, as a worker of its queue: Procrastinate knows which job is next, which workers live, and which jobs are to stop."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from ...store import Store, StoreUnavailable
from ...store.records import Claim, JobState
from ...store.sql.databases.deliveries import CLUSTER_QUEUE, FIRST_QUEUE, LOOKING, QUEUE, QUEUES, SOLVE
from ..attempt import AGAIN_SECONDS, Attempt, Endings
from ..processes.cluster import ClusterPool
from ..processes.pool import ProcessPool, WorkerPool

if TYPE_CHECKING:
    from procrastinate import App, JobContext

LOOK_SECONDS = 2.0
"""The interval at which the queue is asked for jobs without a notification."""
CANCEL_SECONDS = 1.0
"""The same for jobs that are to stop."""
BEATS = 6
"""A worker is considered dead after this many missing signs of life."""
FORGOTTEN_SECONDS = 86_400.0
"""After this long a dead worker is forgotten: long enough that none is forgotten because the database was gone."""

log = structlog.get_logger("memplan.worker")


@dataclass(slots=True)
class Turn:
    """An attempt that may be cancelled before it has begun."""

    attempt: Attempt | None = None
    called_off: Callable[[Attempt], None] | None = None

    def begin(self, attempt: Attempt) -> None:
        self.attempt = attempt
        if self.called_off is not None:
            self.called_off(attempt)

    def call_off(self, how: Callable[[Attempt], None]) -> None:
        self.called_off = how
        if self.attempt is not None:
            how(self.attempt)


async def together(parts: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Wait for all of them; if one fails or this is cancelled, cancel the others. Cancelling again cancels them again."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    ending = cancelled = False
    while left := [task for task in tasks if not task.done()]:
        try:
            done, _ = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            tell = not ending and any(task.cancelled() or task.exception() is not None for task in done)
        except asyncio.CancelledError:
            tell = cancelled = True
        if tell:  # once: a part that is already ending must not be stopped because another one was faster
            ending = True
            for task in left:
                task.cancel()
    if cancelled:
        raise asyncio.CancelledError
    for task in tasks:
        if not task.cancelled():
            task.result()


class QueueWorker:
    """Carries out as many jobs at a time as there are solver processes."""

    def __init__(
        self,
        conninfo: str,
        store: Store,
        processes: ProcessPool,
        stalled_seconds: float,
        shutdown_seconds: float,
        cluster: ClusterPool | None = None,
    ) -> None:
        self._conninfo = conninfo
        self._store = store
        self._processes = processes
        self._cluster = cluster
        self._stalled = stalled_seconds
        self._shutdown_seconds = shutdown_seconds
        self._endings = Endings(store)
        self._attempts: set[Attempt] = set()
        """Those that run."""
        self._turns_for_all = 0
        """How many processes that are not left to short jobs are taken."""
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take jobs; wait for an unreachable queue."""
        self._running = asyncio.create_task(self._run(), name="queue worker")

    async def close(self) -> None:
        """Put running jobs back into the queue with their best plans; if the queue is unreachable, the worker that finds them takes over."""
        self._endings.closing = True
        if self._running is None:
            return
        for _ in range(2):  # the second time is an order
            self._running.cancel()
            if (await asyncio.wait({self._running}, timeout=self._shutdown_seconds))[0]:
                return
        log.warning("the queue cannot be told that this worker ends")

    async def _run(self) -> None:
        while not self._endings.closing:
            try:
                await self._work()
            except Exception as error:  # noqa: BLE001 - whatever it is, a process that does nothing must not look as if it worked
                reason = error.__cause__ or error
                log.error("the queue cannot be worked on", reason=f"{type(reason).__name__}: {reason}"[:300])
            await asyncio.sleep(AGAIN_SECONDS)

    async def _work(self) -> None:
        """Be one worker of the queue, until a connection fails so that it is unclear what the queue was told."""
        from .patient_queue import pool
        from .sweeper import Sweeper

        app = self._app()
        async with pool(self._conninfo, self._stalled) as connections, app.open_async(connections):
            sweeper = Sweeper(app.job_manager, self._store, self._stalled)
            beside = [
                asyncio.create_task(sweeper.run(), name="sweeper"),
                asyncio.create_task(self._stop_what_others_do(), name="what others do"),
            ]
            try:
                await self._take_turns(app)
            finally:
                for task in beside:
                    task.cancel()
                await asyncio.gather(*beside, return_exceptions=True)

    async def _take_turns(self, app: App) -> None:
        """Be two workers of the queue if there are several solver processes: one of these is left to short jobs and first looks."""
        size, name = self._processes.size, f"{socket.gethostname()}-{os.getpid()}"
        queues = tuple(each for each in QUEUES if each != CLUSTER_QUEUE or self._cluster is None)
        shares = [self._turns(app, name, queues, size - 1 if size > 1 else 1)]
        if size > 1:
            shares.append(self._turns(app, f"{name}-short", LOOKING, 1))
        if self._cluster is not None:
            shares.append(self._turns_on(self._cluster, app, f"{name}-cluster"))
        await together(shares)

    async def _turns_on(self, cluster: ClusterPool, app: App, name: str) -> None:
        """Add a worker of the queue each time the cluster has grown."""
        workers: list[asyncio.Task[None]] = []
        size = 0
        try:
            while True:
                if (more := cluster.size - size) > 0:
                    turns = self._turns(app, f"{name}{len(workers)}", (CLUSTER_QUEUE,), more)
                    workers.append(asyncio.create_task(turns))
                    size += more
                grown = asyncio.create_task(asyncio.sleep(LOOK_SECONDS))
                done, _ = await asyncio.wait((*workers, grown), return_when=asyncio.FIRST_COMPLETED)
                for ended in done:
                    ended.result()
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _turns(self, app: App, name: str, queues: Sequence[str], count: int) -> None:
        """Run `count` jobs of these queues at a time."""
        await app.run_worker_async(
            queues=list(queues),
            name=name,
            concurrency=count,
            fetch_job_polling_interval=LOOK_SECONDS,
            abort_job_polling_interval=CANCEL_SECONDS,
            shutdown_graceful_timeout=0,  # jobs are reported at once, and are put back within a second
            delete_jobs="always",  # the store knows how they ended
            install_signal_handlers=False,
            update_heartbeat_interval=self._stalled / BEATS,
            stalled_worker_timeout=FORGOTTEN_SECONDS,
        )

    def _app(self) -> App:
        from procrastinate import App, RetryStrategy

        from .patient_queue import PatientConnector, PatientManager

        app = App(connector=(connector := PatientConnector()))
        app.job_manager = PatientManager(connector, lambda: self._turns_for_all < self._processes.size - 1)

        # a failed delivery was not carried out, so it is delivered again
        @app.task(name=SOLVE, queue=QUEUE, pass_context=True, retry=RetryStrategy(wait=1))
        async def solve(context: JobContext, id_: str) -> None:
            await self._carry_out(context, id_, connector.wake)

        return app

    async def _carry_out(self, context: JobContext, id_: str, wake: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Handle one delivery, from fetching until its attempt has ended. Cancelling this stops the attempt, but does not yet end it."""
        from procrastinate.job_context import AbortReason

        assert context.job.id is not None
        turn = Turn()
        queues, queue = tuple(context.worker_queues or ()), context.job.queue
        pool: WorkerPool = self._processes
        if self._cluster is not None and queue == CLUSTER_QUEUE:
            pool = self._cluster
        is_look = queue == FIRST_QUEUE and queues == LOOKING
        self._turns_for_all += QUEUE in queues
        work = asyncio.create_task(self._attempt(turn, id_, context.job.id, pool, is_look=is_look))
        waking = asyncio.create_task(wake())  # if all of these are taken now, what waits is due for first looks
        try:
            while True:
                try:
                    return await asyncio.shield(work)
                except asyncio.CancelledError:
                    if work.cancelled():
                        raise
                    by_user = context.abort_reason() is AbortReason.USER_REQUEST
                    turn.call_off(Attempt.stop if by_user else Attempt.put_back)
        finally:
            self._turns_for_all -= QUEUE in queues
            waking.cancel()

    async def _attempt(self, turn: Turn, id_: str, delivery: int, pool: WorkerPool, *, is_look: bool) -> None:
        claim = await self._claim(id_, delivery, is_look=is_look)
        if claim is None:
            return
        log.info("taken on", job=id_, attempt=claim.job.attempt)
        turn.begin(attempt := Attempt.at(claim, self._endings, is_look=is_look))
        self._attempts.add(attempt)
        try:
            if not await attempt.run(pool):
                raise StoreUnavailable("the end of the attempt could not be noted")
        finally:
            self._attempts.remove(attempt)

    async def _stop_what_others_do(self) -> None:
        """Stop attempts that others have taken over from a worker wrongly considered dead. One without improvements would run to its end unnoticed."""
        while True:
            await asyncio.sleep(self._stalled / BEATS)
            for attempt in tuple(self._attempts):
                try:
                    counts = await asyncio.to_thread(attempt.counts)
                except StoreUnavailable as error:
                    log.warning("it is not known what others have taken over", reason=str(error))
                    continue
                if not counts and not attempt.reply.done():
                    log.warning("others have taken over what runs here", job=attempt.job and attempt.job.id)
                    attempt.stop()

    async def _claim(self, id_: str, delivery: int, *, is_look: bool) -> Claim | None:
        """Return the job, unless it has ended or has been delivered to another worker since."""
        while True:
            try:
                claim = await asyncio.to_thread(self._store.claim, id_, delivery, look=is_look)
                if claim is None:
                    await asyncio.to_thread(self._release, id_, delivery)
            except StoreUnavailable as error:
                log.error("no job can be taken on", reason=str(error))
                if self._endings.closing:
                    raise
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                return claim

    def _release(self, id_: str, delivery: int) -> None:
        """Have a running job delivered again, by its own worker only, if the attempt's end could not be recorded."""
        job = self._store.job(id_)
        if job is not None and job.state is JobState.RUNNING and job.delivery == delivery:
            self._store.release(id_, job.attempt)
