"""Stores with SQLite and with PostgreSQL, and the jobs that tests put into them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.store import Store
from api.store.opening import open_store
from api.store.records import (
    About,
    EventKind,
    Job,
    NewJob,
    Once,
    QueueLimits,
    StoredPlan,
    Summary,
)

WORST = 1 << 62
SECONDS = 120.0


ABOUT = About("key", "digest", "na\x00me \u2028 \ud800", 3, {"time_limit": 1.0, "capacity": None}, ("a note",), None)


LIMITS = QueueLimits(1000, 1000, 1 << 30)
NO_LIMITS = QueueLimits(1000, 1000, WORST)


OPTIMAL = Summary("optimal", "proved", 84, 84, 0.0)


def feasible(best: int, data: bytes = b"plan") -> StoredPlan:
    return StoredPlan(data, f'"{best}"', Summary("feasible", "time_limit", best, 50, 0.5), time.time())


def add(store: Store, owner: str = "me", *, urgent: bool = False, once: Once | None = None) -> Job:
    return store.add(NewJob(owner, ABOUT, urgent), b"problem", NO_LIMITS, once).job


def events_of(store: Store, id_: str) -> list[tuple[int, EventKind]]:
    return [(event.number, event.kind) for event in store.events(id_, 0)]


Open = Callable[[], Store]


@pytest.fixture(params=["sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    if request.param == "sqlite":
        return lambda: open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    url = request.getfixturevalue("postgresql").new_database()
    return lambda: open_store(url)


@pytest.fixture
def store(opened: Open) -> Iterator[Store]:
    made = opened()
    yield made
    made.close()
