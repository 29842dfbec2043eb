"""Which workers carry out the jobs of a store: this process's own, others that share the store, or a cluster for batches."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from functools import partial
from typing import Protocol

import structlog

from ..store import Store, StoreUnavailable
from ..store.records import NewJob, Where
from ..store.sql.turns import is_short
from .attempt import MOST_DEATHS, Attempt, Endings, Posted
from .processes.cluster import ClusterPool
from .processes.pool import ProcessPool, WorkerPool

MOMENT_SECONDS = 0.25
"""The time that a request for a plan waits for a free process before it is queued."""
LOOK_SECONDS = 2.0
"""The interval at which the store is asked for jobs without a notification, for example after it was unreachable."""

log = structlog.get_logger("memplan.runner")


class Dispatcher(Protocol):
    """Has the queued jobs of a store carried out. It is notified of new ones, and of those to stop."""

    async def start(self) -> None:
        """Begin, with the jobs left from before."""

    def at_once(self, new: NewJob, problem: bytes | bytearray) -> Attempt | None:
        """Begin a problem that is no job yet, if possible here without making anybody wait."""

    async def unread(self, posted: Posted) -> Attempt | None:
        """Do the same for something that has not been read. If all are busy, wait a moment: most work is over soon."""

    def wake(self) -> None:
        """Look for new jobs."""

    def stop_job(self, id_: str) -> None:
        """End the cancelled job now, keeping its best plan."""

    async def close(self) -> None:
        """Stop; jobs that run here go back into the queue with their best plans."""


class Attempts(ABC):
    """Attempts at jobs of a store by workers of one kind, and the task that begins further ones."""

    def __init__(self, store: Store, workers: WorkerPool) -> None:
        self._store = store
        self._workers = workers
        self._endings = Endings(store)
        self._running: dict[Attempt, asyncio.Task[bool]] = {}
        self._wake = asyncio.Event()
        self._dispatcher: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """From now on take jobs on."""
        self._dispatcher = asyncio.create_task(self._dispatch(), name=type(self).__name__)

    def wake(self) -> None:
        """Look for new jobs, or more room."""
        self._wake.set()

    def stop_job(self, id_: str) -> None:
        for attempt in self._running:
            if attempt.job is not None and attempt.job.id == id_:
                attempt.stop()

    async def close(self) -> None:
        """Close; jobs go back into the queue with the best they have, and with them one whose claim is under way."""
        self._endings.closing = True
        self._wake.set()
        if self._dispatcher is not None:
            await asyncio.wait({self._dispatcher})
        for attempt in self._running:
            attempt.put_back()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    @abstractmethod
    async def _take_on(self) -> None:
        """Begin as many jobs as there are, and as there is room for."""

    async def _dispatch(self) -> None:
        while not self._endings.closing:
            self._wake.clear()
            try:
                await self._take_on()
            except StoreUnavailable as error:
                log.error("no job can be taken on", reason=str(error))
            except Exception as error:  # noqa: BLE001 - whatever it is, the others' jobs go on
                log.error("fault while taking on a job", reason=f"{type(error).__name__}: {error}"[:500])
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._wake.wait()

    def _begin(self, attempt: Attempt) -> Attempt:
        running = asyncio.create_task(attempt.run(self._workers))
        self._running[attempt] = running
        running.add_done_callback(partial(self._ended, attempt))
        return attempt

    def _ended(self, attempt: Attempt, _: asyncio.Task[bool]) -> None:
        del self._running[attempt]
        self._wake.set()


class EmbeddedDispatcher(Attempts):
    """The only dispatcher of its store: as many jobs at a time as there are solver processes."""

    def __init__(
        self,
        store: Store,
        processes: ProcessPool,
        cluster: ClusterPool | None = None,
        *,
        has_several_owners: bool = False,
    ) -> None:
        super().__init__(store, processes)
        self._processes = processes
        self._has_several_owners = has_several_owners
        self._cluster = None if cluster is None else ClusterJobs(store, cluster)
        self._where = None if cluster is None else Where.HERE
        self._is_empty = False
        """True if it is known that no job is queued."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        """Requests that wait a moment for a process; every second free process goes to the queue."""
        self._promised = self._claiming = 0
        self._queue_is_next = False

    async def start(self) -> None:
        left = await asyncio.to_thread(self._store.recover, "the service was killed", MOST_DEATHS)
        for job in left:
            log.warning("job was running when the service ended", job=job.id, state=job.state.value, deaths=job.deaths)
        self.begin()
        if self._cluster is not None:
            self._cluster.begin()

    def wake(self) -> None:
        self._is_empty = False
        super().wake()
        if self._cluster is not None:
            self._cluster.wake()

    def stop_job(self, id_: str) -> None:
        super().stop_job(id_)
        if self._cluster is not None:
            self._cluster.stop_job(id_)

    def at_once(self, new: NewJob, problem: bytes | bytearray) -> Attempt | None:
        may_begin = is_short(new.about.options) or self._has_room_for_long
        has_room = self._has_room and may_begin and not self._is_for_looks
        return self._begin(Attempt.of(new, problem, self._endings)) if has_room else None

    async def unread(self, posted: Posted) -> Attempt | None:
        if not self._has_room:
            await self._a_moment()
        has_room = self._has_room and self._has_room_for_long and not self._is_for_looks
        return self._begin(Attempt.unread(posted, self._endings)) if has_room else None

    async def _a_moment(self) -> None:
        """Wait until a process is free, if that is soon."""
        free: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(free)
        try:
            async with asyncio.timeout(MOMENT_SECONDS):
                await free
        except TimeoutError:
            pass
        finally:
            if free.done() and not free.cancelled():
                self._promised -= 1
                self._wake.set()  # the waiting request may not need it any more
            elif free in self._waiting:
                self._waiting.remove(free)

    def _hand_on(self) -> None:
        """Give a free process to a waiting request, unless it is the queue's turn."""
        while self._waiting and self._has_room and (self._is_empty or not self._queue_is_next):
            free = self._waiting.popleft()
            if free.done():  # its moment is just over, or its client has left
                continue
            free.set_result(None)
            self._promised += 1
            self._queue_is_next = True

    @property
    def _has_room(self) -> bool:
        return not self._endings.closing and len(self._running) + self._promised < self._processes.size

    @property
    def _has_room_for_long(self) -> bool:
        """True if long work may begin: one of several workers is left to short work, and to first looks at long work."""
        return self._processes.size == 1 or sum(map(is_long, self._running)) < self._processes.size - 1

    @property
    def _is_for_looks(self) -> bool:
        """True if a free process may only take first looks: with several owners, all others may be busy with what each calls short."""
        busy = sum(not attempt.is_look for attempt in self._running) + self._promised + self._claiming
        return self._has_several_owners and busy >= self._processes.size - 1 > 0

    async def close(self) -> None:
        elsewhere = [] if self._cluster is None else [self._cluster.close()]
        await asyncio.gather(super().close(), *elsewhere)

    async def _take_on(self) -> None:
        while self._has_room:
            self._is_empty = True  # unless notified in the meantime
            short, is_for_looks = not self._has_room_for_long, self._is_for_looks
            claim = None
            if not is_for_looks:
                self._claiming = 1  # a request that begins meanwhile must know
                try:
                    claim = await asyncio.to_thread(self._store.claim, short=short, where=self._where)
                finally:
                    self._claiming = 0
            is_look = claim is None and (short or is_for_looks)
            if is_look:
                claim = await asyncio.to_thread(self._store.claim, look=True, short=is_for_looks, where=self._where)
            if claim is None:
                self._is_empty &= not is_look
                self._queue_is_next = False
                self._hand_on()
                break
            self._is_empty = self._queue_is_next = False
            self._begin(Attempt.at(claim, self._endings, is_look=is_look))

    def _ended(self, attempt: Attempt, _: asyncio.Task[bool]) -> None:
        del self._running[attempt]
        self._hand_on()
        died = attempt.reply.done() and attempt.reply.exception() is not None
        if died or not self._is_empty:  # a job whose worker died is queued again
            self._wake.set()


class ClusterJobs(Attempts):
    """Jobs for the cluster: as many at a time as it has room for."""

    def __init__(self, store: Store, cluster: ClusterPool) -> None:
        super().__init__(store, cluster)
        self._cluster = cluster
        cluster.on_room = self.wake

    async def _take_on(self) -> None:
        while not self._endings.closing and len(self._running) < self._cluster.size:
            claim = await asyncio.to_thread(self._store.claim, where=Where.CLUSTER)
            if claim is None:
                break
            self._begin(Attempt.at(claim, self._endings))


def is_long(attempt: Attempt) -> bool:
    """True if it may take long; unknown work that has not been read may, and a first look does not."""
    if attempt.is_look:
        return False
    about = attempt.about
    if not about.done() or about.exception() is not None:
        return True
    return not is_short(about.result().options)


class SubmittingDispatcher:
    """Carries nothing out itself: the shared store delivers jobs to workers, and tells a job's worker to stop."""

    async def start(self) -> None: ...

    def at_once(self, new: NewJob, problem: bytes | bytearray) -> Attempt | None:
        return None

    async def unread(self, posted: Posted) -> Attempt | None:
        return None

    def wake(self) -> None: ...

    def stop_job(self, id_: str) -> None: ...

    async def close(self) -> None: ...
