"""What Prometheus is told."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from .store.records import Counts, JobState

QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The service's figures, in a registry of their own."""

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
        self.cache = Counter("memplan_plan_cache", "Plans looked up in the store.", ("result",), registry=self.registry)
        self.jobs = Gauge("memplan_jobs", "Jobs by state.", ("state",), registry=self.registry)
        self.busy = Gauge("memplan_workers_busy", "Worker processes at work.", ("crew",), registry=self.registry)
        self.size = Gauge("memplan_workers", "Worker processes.", ("crew",), registry=self.registry)
        self.deaths = Gauge(
            "memplan_worker_deaths", "Worker processes that ended unexpectedly.", ("crew",), registry=self.registry
        )
        self.streams = Gauge("memplan_streams", "Open event streams.", registry=self.registry)

    def expose(self, counts: Counts) -> bytes:
        """In Prometheus's text format."""
        for state in JobState:
            self.jobs.labels(state.value).set(counts.by_state.get(state, 0))
        return generate_latest(self.registry)
