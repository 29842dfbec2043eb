"""The metrics that services and workers report to Prometheus."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ..settings import WrongSettings
from ..store import Store, StoreUnavailable
from ..store.records import JobState

QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Team(Protocol):
    """Worker processes, as counted."""

    @property
    def busy(self) -> int: ...

    size: int
    deaths: int


class Cluster(Team, Protocol):
    """A cluster, as counted."""

    lost: str | None


class Metrics:
    """The figures of a process, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "memplan_requests",
            "Requests by route, method and status.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "memplan_request_seconds", "Time from request to answer.", ("route",), buckets=QUICK, registry=self.registry
        )
        self.requests_by_kind = Counter(
            "memplan_asked", "What was asked for, by kind of job.", ("kind",), registry=self.registry
        )
        self.cache = Counter("memplan_plan_cache", "Plans looked up in the store.", ("result",), registry=self.registry)
        self._busy = Gauge("memplan_workers_busy", "Worker processes at work.", ("processes",), registry=self.registry)
        self._size = Gauge("memplan_workers", "Worker processes.", ("processes",), registry=self.registry)
        self._deaths = Gauge(
            "memplan_worker_deaths", "Worker processes that ended unexpectedly.", ("processes",), registry=self.registry
        )
        self._streams = Gauge("memplan_streams", "Open event streams.", registry=self.registry)

    def watch_team(self, name: str, team: Team) -> None:
        """Report the number of workers, and what they do."""
        self._busy.labels(name).set_function(lambda: team.busy)
        self._size.labels(name).set_function(lambda: team.size)
        self._deaths.labels(name).set_function(lambda: team.deaths)

    def watch_cluster(self, cluster: Cluster) -> None:
        """Report the cluster's threads and tasks, and whether its scheduler answers."""
        self.watch_team("cluster", cluster)
        up = Gauge("memplan_cluster_up", "Does the cluster's scheduler answer?", registry=self.registry)
        up.set_function(lambda: cluster.lost is None)

    def watch_streams(self, count: Callable[[], int]) -> None:
        """Report the number of open event streams."""
        self._streams.set_function(count)

    def watch_store(self, store: Store) -> None:
        """Report the number of jobs, asking the store each time."""
        self.registry.register(_Jobs(store))

    def expose(self) -> bytes:
        """Return them in Prometheus's text format."""
        return generate_latest(self.registry)

    @contextmanager
    def served(self, host: str, port: int | None) -> Iterator[int | None]:
        """Serve them on their own port, if set; return the port. Raises WrongSettings."""
        if port is None:
            yield None
            return
        try:
            server, thread = start_http_server(port, host, self.registry)
        except OSError as error:
            raise WrongSettings(f"metrics_port: {host}:{port} cannot be listened on: {error.strerror}") from None
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
            with contextlib.suppress(OSError):
                server.server_close()


DAMAGED = "Jobs that were found damaged, and are kept for the operator."


class _Jobs(Collector):
    """The store's jobs at the moment of the request."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def describe(self) -> Iterator[Metric]:
        """Describe them without asking the store."""
        yield GaugeMetricFamily("memplan_jobs", "Jobs by state.")
        yield GaugeMetricFamily("memplan_jobs_set_aside", DAMAGED)
        yield GaugeMetricFamily("memplan_store_up", "Does the store answer?")

    def collect(self) -> Iterator[Metric]:
        jobs = GaugeMetricFamily("memplan_jobs", "Jobs by state.", labels=["state"])
        damaged = GaugeMetricFamily("memplan_jobs_set_aside", DAMAGED)
        up = GaugeMetricFamily("memplan_store_up", "Does the store answer?")
        try:
            counts, set_aside = self._store.counts().by_state, self._store.set_aside()
        except StoreUnavailable:
            up.add_metric([], 0)
        else:
            up.add_metric([], 1)
            for state in JobState:
                jobs.add_metric([state.value], counts.get(state, 0))
            damaged.add_metric([], set_aside)
        yield jobs
        yield damaged
        yield up
