"""The service behind its routes: its parts, and how it starts and stops."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import structlog

from .errors import HttpCode, Refusal, takes_too_long
from .jobs.dispatch import Dispatcher, EmbeddedDispatcher, SubmittingDispatcher
from .jobs.hub import Hub
from .jobs.processes.cluster import ClusterPool
from .jobs.processes.pool import ProcessPool, Reply, Task, WorkerLate
from .process import machine
from .process.garbage import Trimmer, collect_often, keep_little
from .process.memory_budget import Shares
from .process.metrics import Metrics
from .settings import Settings, WrongSettings, unknown_variables
from .store import Store, StoreUnavailable
from .store.records import About, Kept, StoredPlan

PRUNE_SECONDS = 60.0
KEEP_SECONDS = 0.25
"""A plan waits this long for others, to be written to the store together."""
REMEMBERED_PROBLEMS = 10_000
REMEMBERED_BYTES = 16 << 20
OVERHEAD_BYTES = 2000
"""The memory of each remembered item, besides its variable part."""
TRIM_SECONDS = 2.0
SHORT_PART = 4
"""Memory is short if less than one part in this many is left."""
DAY = 86_400.0

log = structlog.get_logger("memplan.service")
Result = TypeVar("Result")
Value = TypeVar("Value")


class DataFolder:
    """The folder of an embedded store, held by one service at a time."""

    def __init__(self, path: Path) -> None:
        what = f"the data folder {str(path)!r}"
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unusable(what, error) from None
        self._lock = hold(path / "service.lock", what)
        self.store_url = f"sqlite:///{path.resolve() / 'memplan.sqlite'}"

    def close(self) -> None:
        """Release it for another service."""
        self._lock.close()


def hold(lock: Path, what: str) -> IO[str]:
    """Return the open file that keeps other services from using it, until it is closed. Raises WrongSettings."""
    try:
        held = lock.open("a+", encoding="ascii")
    except OSError as error:
        raise _unusable(what, error) from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.seek(0)
        holder = held.read(20).strip()
        held.close()
        raise WrongSettings(f"{what} is in use by another service{f' (process {holder})' if holder else ''}") from None
    held.truncate(0)
    held.write(str(os.getpid()))
    held.flush()
    return held


def _unusable(what: str, error: OSError) -> WrongSettings:
    return WrongSettings(f"{what} cannot be used: {os.strerror(error.errno or 0)}")


class Recent(Generic[Value]):
    """Recently used items of each token, by a key, as far as there is room. A token finds only its own: response times must not reveal others' requests."""

    def __init__(self, size_of: Callable[[Value], int], most: int | None = None) -> None:
        """`size_of`: the approximate bytes of a value. `most`: the most values, however small."""
        self._size_of = size_of
        self._most = most
        self._values: OrderedDict[tuple[str, str], Value] = OrderedDict()
        self._bytes = 0

    def get(self, owner: str, key: str) -> Value | None:
        found = self._values.get((owner, key))
        if found is not None:
            self._values.move_to_end((owner, key))
        return found

    def put(self, owner: str, key: str, value: Value) -> None:
        self._forget((owner, key))
        self._values[owner, key] = value
        self._bytes += self._size_of(value)
        while self._bytes > REMEMBERED_BYTES or (self._most is not None and len(self._values) > self._most):
            self._forget(next(iter(self._values)))

    def clear(self) -> None:
        self._values.clear()
        self._bytes = 0

    def _forget(self, which: tuple[str, str]) -> None:
        before = self._values.pop(which, None)
        self._bytes -= 0 if before is None else self._size_of(before)


def about_bytes(about: About) -> int:
    """Return the approximate bytes of a description."""
    return OVERHEAD_BYTES + 4 * (len(repr(about.options)) + len(about.name or "") + sum(map(len, about.notes)))


def plan_bytes(plan: StoredPlan) -> int:
    return OVERHEAD_BYTES + len(plan.data)


@dataclass(slots=True)
class Service:
    """Everything that routes use."""

    settings: Settings
    store: Store
    readers: ProcessPool
    solvers: ProcessPool | None
    """None if workers elsewhere solve."""
    cluster: ClusterPool | None
    """Carries out batches, if there is one."""
    hub: Hub
    dispatcher: Dispatcher
    metrics: Metrics
    problems: Recent[About]
    """Descriptions of bodies that were sent lately, so that they need not be read again."""
    plans: Recent[StoredPlan]
    """Plans of the store that were requested lately. A plan kept under a key is right for ever, so none becomes stale."""
    closing: asyncio.Event
    resources: contextlib.ExitStack
    """What must be closed at the very end."""
    streams: Counter[str] = field(default_factory=Counter)
    """The open event streams of each token."""
    _unkept: list[Kept] = field(default_factory=list)
    """Plans to be written to the store soon."""
    _spawned: set[asyncio.Task[Any]] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    metrics_port: int | None = None
    """The separate port of the metrics, if any."""
    _pruner: asyncio.Task[None] | None = None
    _trimmer: asyncio.Task[None] | None = None
    _ready: tuple[float, dict[str, Any]] | None = None
    _ready_turn: asyncio.Lock | None = None

    @classmethod
    async def start(cls, settings: Settings, metrics: Metrics, shares: Shares) -> Service:
        """Start with as many processes as the shares are for. Raises WrongSettings."""
        settings.require_safe_host()
        with contextlib.ExitStack() as resources:
            store = await asyncio.to_thread(open_store_of, settings, resources)
            count = shares.readers
            readers = ProcessPool(count, settings, "reader", large=max(1, count - 1), started=settings.readers)
            solvers = (
                None if store.shared else ProcessPool(shares.workers, settings, "solver", started=settings.workers)
            )
            cluster = None if solvers is None or settings.cluster is None else ClusterPool(settings.cluster, settings)
            dispatcher = (
                SubmittingDispatcher()
                if solvers is None
                else EmbeddedDispatcher(store, solvers, cluster, has_several_owners=settings.has_several_tokens)
            )
            service = cls(
                settings,
                store,
                readers,
                solvers,
                cluster,
                Hub(),
                dispatcher,
                metrics,
                Recent(about_bytes, REMEMBERED_PROBLEMS),
                Recent(plan_bytes),
                closing=asyncio.Event(),
                resources=resources,
            )
            service._show_figures()
            service.resources = resources.pop_all()
        service._ready_turn = asyncio.Lock()
        store.listen(service.hub.tell)
        await asyncio.gather(*(processes.start() for processes in service._pools))
        if cluster is not None:
            await cluster.start()
        await dispatcher.start()
        keep_little()
        collect_often()
        service._trimmer = asyncio.create_task(service._trim(), name="trimmer")
        service._pruner = asyncio.create_task(service._prune(), name="pruner")
        solving = "elsewhere" if solvers is None else solvers.size
        for text in unknown_variables():
            log.warning("variable", reason=text)
        log.info("started", solvers=solving, readers=readers.size, metrics_port=service.metrics_port)
        return service

    def _show_figures(self) -> None:
        """Serve the metrics. Raises WrongSettings."""
        self.metrics.watch_store(self.store)
        self.metrics.watch_streams(self.streams.total)
        for processes in self._pools:
            self.metrics.watch_team(f"{processes.name}s", processes)
        if self.cluster is not None:
            self.metrics.watch_cluster(self.cluster)
        self.metrics_port = self.resources.enter_context(
            self.metrics.served(self.settings.host, self.settings.metrics_port)
        )

    @property
    def _pools(self) -> list[ProcessPool]:
        return [self.readers] if self.solvers is None else [self.readers, self.solvers]

    def begin_to_close_soon(self) -> None:
        """Do the same from a signal handler."""
        self._loop.call_soon_threadsafe(self.begin_to_close)

    def begin_to_close(self) -> None:
        """Answer all long waits."""
        self.closing.set()
        self.hub.tell_all()

    async def close(self) -> None:
        """Put running jobs back into the queue, and close."""
        self.begin_to_close()
        for task in (self._pruner, self._trimmer):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await self.dispatcher.close()
        await asyncio.gather(*self._spawned, return_exceptions=True)
        await asyncio.gather(*(processes.close() for processes in self._pools))
        if self.cluster is not None:
            await self.cluster.close()
        await asyncio.to_thread(self.resources.close)
        log.info("stopped")

    def spawn(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Start something that continues whether anybody waits or not; stopping the service waits for it."""
        task = asyncio.create_task(work)
        self._spawned.add(task)
        task.add_done_callback(self._spawned.discard)
        return task

    def open_stream(self, owner: str) -> None:
        """Count a further lasting answer. Raises Refusal if there are too many."""
        is_full = self.streams.total() >= self.settings.max_streams
        if is_full or self.streams[owner] >= self.settings.streams_per_token:
            whose = "event streams" if is_full else "of your event streams"
            text = f"too many {whose} are open, batches included; try again later"
            raise Refusal(429, HttpCode.TOO_MANY_STREAMS, text, headers={"Retry-After": "5"})
        self.streams[owner] += 1

    def close_stream(self, owner: str) -> None:
        self.streams[owner] -= 1
        if not self.streams[owner]:
            del self.streams[owner]

    def forget(self, id_: str) -> None:
        """Remove a job soon."""
        self.spawn(self._forget(id_))

    def keep(self, owner: str, key: str, plan: StoredPlan) -> None:
        """Keep a plan for equal requests."""
        self.plans.put(owner, key, plan)
        self._unkept.append(Kept(owner, key, plan))
        if len(self._unkept) == 1:
            self.spawn(self._keep())

    async def _keep(self) -> None:
        """Write several at a time, since each access to the store costs more than the data."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KEEP_SECONDS):
                await self.closing.wait()
        waiting, self._unkept = self._unkept, []
        with contextlib.suppress(StoreUnavailable):  # they can be made again
            await asyncio.to_thread(self.store.keep, waiting)

    async def _forget(self, id_: str) -> None:
        with contextlib.suppress(StoreUnavailable):  # pruning will find it
            await asyncio.to_thread(self.store.remove, id_)

    async def read(self, task: str, *parts: bytes | bytearray, owner: str = "", **header: Any) -> Reply:
        """Have a reader process examine what somebody sent."""
        seconds = self.settings.max_explain_seconds
        try:
            return await self.readers.do(Task({"task": task, **header}, parts, owner, seconds))
        except WorkerLate:
            raise takes_too_long(seconds) from None

    async def readiness(self) -> dict[str, Any]:
        """Try whether plans can be made, unless tried recently."""
        assert self._ready_turn is not None
        async with self._ready_turn:
            if self._ready is None or time.monotonic() - self._ready[0] > self.settings.ready_seconds:
                self._ready = (time.monotonic(), await self._try())
            return self._ready[1]

    async def _try(self) -> dict[str, Any]:
        found: dict[str, Any] = {"store": None, "solvers": {}}
        try:
            await asyncio.to_thread(self.store.ping)
            found["set_aside"] = await asyncio.to_thread(self.store.set_aside)
        except StoreUnavailable as error:
            found["store"] = str(error)
        try:
            found["solvers"] = (await self.read("ready")).header["solvers"]
        except Exception as error:  # noqa: BLE001 - not ready, whatever the reason
            found["solvers"] = {"auto": f"{type(error).__name__}: {error}"[:200]}
        if self.cluster is not None:
            found["cluster"] = self.cluster.lost
        return found

    async def _trim(self) -> None:
        """Return memory after a burst; if it is short, drop remembered items too."""
        trimmer = Trimmer(collects=False)
        while True:
            await asyncio.sleep(TRIM_SECONDS)
            if machine.resident() * SHORT_PART > self.settings.service_memory * (SHORT_PART - 1):
                log.warning(
                    "memory is short", mib=machine.resident() >> 20, most_mib=self.settings.service_memory >> 20
                )
                self.problems.clear()
                self.plans.clear()
            await asyncio.to_thread(trimmer.trim)

    async def _prune(self) -> None:
        while True:
            older = time.time() - self.settings.retention_days * DAY
            with contextlib.suppress(StoreUnavailable):
                gone = await asyncio.to_thread(self.store.prune, older, self.settings.max_store_bytes)
                if gone:
                    log.info("pruned", records=gone)
            await asyncio.sleep(PRUNE_SECONDS)


def open_store_of(settings: Settings, resources: contextlib.ExitStack) -> Store:
    """Return the store in use; what must be closed at the end is added to the resources. Raises WrongSettings."""
    from .store.opening import file_of, is_shared, open_store, why

    url = settings.store_url
    try:
        if url is None or not is_shared(url):
            folder = DataFolder(settings.data_dir)
            resources.callback(folder.close)
            url = url or folder.store_url
            file = file_of(url)
            if file is not None:  # another service may have it, with a data folder of its own
                resources.callback(hold(file.with_name(f"{file.name}.lock"), f"the store {str(file)!r}").close)
        store = open_store(url)
    except StoreUnavailable as error:
        raise WrongSettings(f"store_url: {why(error)}") from None
    resources.callback(store.close)
    return store
