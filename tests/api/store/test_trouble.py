"""A database that is locked or full: an error of our own, nothing half done, and all is well again afterwards."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.store import StoreUnavailable, sql
from api.store.database import DatabaseStore
from api.store.records import About, JobState, NewJob, QueueLimits

ABOUT = About("key", "digest", None, 3, {}, (), None)
LIMITS = QueueLimits(1000, 1000, 1 << 40)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DatabaseStore]:
    monkeypatch.setattr(sql, "LOCKED_SECONDS", 0.05)
    made = DatabaseStore(f"sqlite:///{tmp_path / 'store.sqlite'}")
    yield made
    made.close()


def test_a_locked_database_can_be_read_but_not_written(store: DatabaseStore, tmp_path: Path) -> None:
    job = store.add(NewJob("me", ABOUT), b"problem", LIMITS).job
    other = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE").close()
    for write in (lambda: store.add(NewJob("me", ABOUT), b"", LIMITS), store.claim, store.ping):
        with pytest.raises(StoreUnavailable, match="locked"):
            write()
    assert store.job(job.id) == job
    other.execute("ROLLBACK").close()
    other.close()
    claim = store.claim()
    assert claim is not None
    assert claim.job.attempt == 1


def test_a_full_disk_loses_nothing_that_was_there(store: DatabaseStore) -> None:
    job = store.add(NewJob("me", ABOUT), b"problem", LIMITS).job
    with store.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 2}")  # of this connection, the only one there is
    with pytest.raises(StoreUnavailable, match="full"):
        store.add(NewJob("me", ABOUT), b"x" * 1_000_000, LIMITS)
    assert store.counts().by_state == {JobState.QUEUED: 1}
    assert store.job(job.id) == job
    with store.read() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")
    store.add(NewJob("me", ABOUT), b"x" * 1_000_000, LIMITS)
    assert store.counts().by_state == {JobState.QUEUED: 2}
