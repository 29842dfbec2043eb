"""The service behind its routes: what it is made of, and how it starts and stops."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import time
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

import structlog

from .jobs.crew import Crew, Reply, Task
from .jobs.hub import Hub
from .jobs.runner import EmbeddedRunner, Runner
from .metrics import Metrics
from .settings import Settings, WrongSettings
from .store import Store, StoreUnavailable
from .store.records import About, StoredPlan

PRUNE_SECONDS = 60.0
REMEMBERED = 10_000
REMEMBERED_BYTES = 64 << 20
DAY = 86_400.0

log = structlog.get_logger("memplan.service")
Result = TypeVar("Result")


class DataFolder:
    """The folder of an embedded store, held by one service at a time."""

    def __init__(self, path: Path) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock: IO[str] = (path / "service.lock").open("a+", encoding="ascii")
        except OSError as error:
            raise WrongSettings(
                f"the data folder {str(path)!r} cannot be used: {os.strerror(error.errno or 0)}"
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.seek(0)
            holder = self._lock.read(20).strip()
            self._lock.close()
            raise WrongSettings(
                f"the data folder {str(path)!r} is in use by another service{f' (process {holder})' if holder else ''}"
            ) from None
        self._lock.truncate(0)
        self._lock.write(str(os.getpid()))
        self._lock.flush()
        self.store_url = f"sqlite:///{path.resolve() / 'memplan.sqlite'}"

    def close(self) -> None:
        """Let another service have it."""
        self._lock.close()


class Memory:
    """What was understood of bodies that were sent before, so that they need not be read again."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, About] = OrderedDict()

    def get(self, fingerprint: str) -> About | None:
        found = self._known.get(fingerprint)
        if found is not None:
            self._known.move_to_end(fingerprint)
        return found

    def put(self, fingerprint: str, about: About) -> None:
        self._known[fingerprint] = about
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


class KeptPlans:
    """Plans of the store that were asked for lately. One that was kept under a key is right for ever, so none grows stale."""

    def __init__(self) -> None:
        self._plans: OrderedDict[tuple[str, str], StoredPlan] = OrderedDict()
        self._bytes = 0

    def get(self, owner: str, key: str) -> StoredPlan | None:
        plan = self._plans.get((owner, key))
        if plan is not None:
            self._plans.move_to_end((owner, key))
        return plan

    def put(self, owner: str, key: str, plan: StoredPlan) -> None:
        before = self._plans.pop((owner, key), None)
        self._bytes += len(plan.data) - (0 if before is None else len(before.data))
        self._plans[owner, key] = plan
        while self._bytes > REMEMBERED_BYTES:
            self._bytes -= len(self._plans.popitem(last=False)[1].data)


@dataclass(slots=True)
class Service:
    """Everything that routes use."""

    settings: Settings
    folder: DataFolder
    store: Store
    readers: Crew
    solvers: Crew
    hub: Hub
    runner: Runner
    metrics: Metrics
    memory: Memory
    plans: KeptPlans
    closing: asyncio.Event
    streams: int = 0
    _spawned: set[asyncio.Task[Any]] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _pruner: asyncio.Task[None] | None = None
    _ready: tuple[float, dict[str, Any]] | None = None
    _ready_turn: asyncio.Lock | None = None

    @classmethod
    async def start(cls, settings: Settings, metrics: Metrics) -> Service:
        """Raises WrongSettings."""
        settings.require_safe_host()
        folder = DataFolder(settings.data_dir)
        try:
            store = await asyncio.to_thread(_open_store, settings.store_url or folder.store_url)
        except StoreUnavailable as error:
            folder.close()
            raise WrongSettings(f"store_url: {error}") from None
        readers = Crew(settings.readers, settings, "reader")
        solvers = Crew(settings.solver_processes, settings, "solver")
        hub = Hub()
        runner = EmbeddedRunner(store, solvers, hub, settings)
        service = cls(
            settings,
            folder,
            store,
            readers,
            solvers,
            hub,
            runner,
            metrics,
            Memory(),
            KeptPlans(),
            closing=asyncio.Event(),
        )
        service._ready_turn = asyncio.Lock()
        await asyncio.gather(readers.start(), solvers.start())
        await runner.start()
        service._pruner = asyncio.create_task(service._prune(), name="pruner")
        log.info("started", solvers=solvers.size, readers=readers.size, data=str(settings.data_dir))
        return service

    def begin_to_close_soon(self) -> None:
        """The same from a signal handler."""
        self._loop.call_soon_threadsafe(self.begin_to_close)

    def begin_to_close(self) -> None:
        """Whoever waits for something long is sent home."""
        self.closing.set()
        self.hub.tell_all()

    async def close(self) -> None:
        """Running jobs go back into the queue."""
        self.begin_to_close()
        if self._pruner is not None:
            self._pruner.cancel()
            await asyncio.gather(self._pruner, return_exceptions=True)
        await self.runner.close()
        await asyncio.gather(*self._spawned, return_exceptions=True)
        await asyncio.gather(self.readers.close(), self.solvers.close())
        await asyncio.to_thread(self.store.close)
        self.folder.close()
        log.info("stopped")

    def spawn(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Something that goes on whether anybody waits for it or not, and that the service waits for when it stops."""
        task = asyncio.create_task(work)
        self._spawned.add(task)
        task.add_done_callback(self._spawned.discard)
        return task

    def forget(self, id_: str) -> None:
        """Remove a job before long."""
        self.spawn(self._forget(id_))

    def keep(self, owner: str, key: str, plan: StoredPlan) -> None:
        """Keep a plan for whoever asks for the same again."""
        self.plans.put(owner, key, plan)
        self.spawn(self._keep(owner, key, plan))

    async def _keep(self, owner: str, key: str, plan: StoredPlan) -> None:
        with contextlib.suppress(StoreUnavailable):  # it can be made again
            await asyncio.to_thread(self.store.keep, owner, key, plan)

    async def _forget(self, id_: str) -> None:
        with contextlib.suppress(StoreUnavailable):  # pruning will find it
            await asyncio.to_thread(self.store.remove, id_)

    async def read(self, task: str, *parts: bytes | bytearray, **header: Any) -> Reply:
        """Have a reader process look at what was sent."""
        seconds = self.settings.max_explain_seconds
        return await self.readers.do(Task({"task": task, **header}, parts, seconds=seconds))

    async def readiness(self) -> dict[str, Any]:
        """Can plans be made? Tries it, unless it has just been tried."""
        assert self._ready_turn is not None
        async with self._ready_turn:
            if self._ready is None or time.monotonic() - self._ready[0] > self.settings.ready_seconds:
                self._ready = (time.monotonic(), await self._try())
            return self._ready[1]

    async def _try(self) -> dict[str, Any]:
        found: dict[str, Any] = {"store": None, "solvers": {}}
        try:
            await asyncio.to_thread(self.store.ping)
        except StoreUnavailable as error:
            found["store"] = str(error)
        try:
            found["solvers"] = (await self.read("ready")).header["solvers"]
        except Exception as error:  # noqa: BLE001 - not ready, whatever the reason
            found["solvers"] = {"auto": f"{type(error).__name__}: {error}"[:200]}
        return found

    async def _prune(self) -> None:
        while True:
            older = time.time() - self.settings.retention_days * DAY
            with contextlib.suppress(StoreUnavailable):
                gone = await asyncio.to_thread(self.store.prune, older, self.settings.max_store_bytes)
                if gone:
                    log.info("pruned", records=gone)
            await asyncio.sleep(PRUNE_SECONDS)


def _open_store(url: str) -> Store:
    from .store.database import DatabaseStore

    return DatabaseStore(url)
