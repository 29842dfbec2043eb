"""A worker of a shared store, from start to end: what `memplan worker` runs."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

import structlog

from .jobs.processes.cluster import ClusterPool
from .jobs.processes.pool import ProcessPool
from .jobs.queue.consumer import QueueWorker
from .process import logs
from .process.memory_budget import share_out, solver_processes
from .process.metrics import Metrics
from .settings import Settings, WrongSettings, unknown_variables
from .store import Store, StoreUnavailable
from .store.opening import is_shared, open_store, why
from .store.sql.databases.postgres import PostgresDatabase

log = structlog.get_logger("memplan.worker")


async def work(settings: Settings, on_ready: Callable[[int, int | None], None]) -> None:
    """Carry out jobs until told to stop. `on_ready` receives how many at a time, and where metrics are served.

    Raises WrongSettings.
    """
    logs.configure(settings.log_format, settings.log_level)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as resources:
        store, conninfo = await asyncio.to_thread(_open, settings)
        resources.push_async_callback(asyncio.to_thread, store.close)
        shares = share_out(settings, service=False, readers=0, workers=solver_processes(settings))
        log.info("memory", **shares.in_mib())
        processes = ProcessPool(shares.workers, shares.applied(settings), "solver", started=settings.workers)
        metrics = Metrics()
        metrics.watch_store(store)
        metrics.watch_team("solvers", processes)
        cluster = None if settings.cluster is None else ClusterPool(settings.cluster, settings)
        if cluster is not None:
            metrics.watch_cluster(cluster)
            resources.push_async_callback(cluster.close)
            await cluster.start()
        port = resources.enter_context(metrics.served(settings.host, settings.metrics_port))
        resources.push_async_callback(processes.close)
        await processes.start()
        limits = settings.stalled_seconds, settings.shutdown_seconds
        worker = QueueWorker(conninfo, store, processes, *limits, cluster)
        resources.push_async_callback(worker.close)
        worker.start()
        for text in unknown_variables():
            log.warning("variable", reason=text)
        log.info("started", solvers=processes.size, metrics_port=port)
        on_ready(processes.size, port)
        await stop.wait()
        log.info("stopping")
    log.info("stopped")


def _open(settings: Settings) -> tuple[Store, str]:
    """Return the store, and how to connect to its queue."""
    try:
        if settings.store_url is None or not is_shared(settings.store_url):
            raise WrongSettings(
                "store_url: a worker needs a store that services share, postgresql://…; "
                "with a store of its own `memplan serve` carries the jobs out itself"
            )
        store = open_store(settings.store_url)
    except StoreUnavailable as error:
        raise WrongSettings(f"store_url: {why(error)}") from None
    assert isinstance(store.database, PostgresDatabase), "there is no other kind that is shared"
    return store, store.database.conninfo
