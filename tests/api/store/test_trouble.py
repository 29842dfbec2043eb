"""If a database is locked, full or gone, the store raises its own error, leaves nothing half done, and recovers."""

from __future__ import annotations

import contextlib
import queue
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import randbytes

import psycopg
import pytest

from api.store import StoreUnavailable
from api.store.opening import open_store
from api.store.records import About, JobState, NewJob, QueueLimits
from api.store.sql.databases import sqlite
from api.store.sql.databases.database import Delivery
from api.store.sql.store import DatabaseStore
from tests.running.disks import filled, mounted
from tests.running.postgresql import SECONDS, Server

ABOUT = About("key", "digest", None, 3, {}, (), None)
LIMITS = QueueLimits(1000, 1000, 1 << 40)
MANY = QueueLimits(10_000, 10_000, 1 << 40)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DatabaseStore]:
    monkeypatch.setattr(sqlite, "LOCKED_SECONDS", 0.05)
    made = open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    yield made
    made.close()


@pytest.fixture(scope="module")
def own_server(postgresql: Server) -> Iterator[Server]:
    """A PostgreSQL server that a test may stop."""
    with contextlib.closing(Server(postgresql.programs)) as server:
        yield server


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
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 2}")  # for the only connection
    with pytest.raises(StoreUnavailable, match="full"):
        store.add(NewJob("me", ABOUT), b"x" * 1_000_000, LIMITS)
    assert store.counts().by_state == {JobState.QUEUED: 1}
    assert store.job(job.id) == job
    with store.read() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")
    store.add(NewJob("me", ABOUT), b"x" * 1_000_000, LIMITS)
    assert store.counts().by_state == {JobState.QUEUED: 2}


@pytest.mark.parametrize("size", [16_000, 700_000])
def test_jobs_on_a_full_disk_can_be_cancelled_and_removed(tmp_path: Path, size: int) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted(folder, 6 << 20) as is_mounted:
        if not is_mounted:
            pytest.skip("a small disk needs the right to mount it")
        with contextlib.closing(open_store(f"sqlite:///{folder / 'store.sqlite'}")) as store:
            for _ in range(2):
                added: list[str] = []
                with contextlib.suppress(StoreUnavailable):
                    while True:
                        added.append(store.add(NewJob("me", ABOUT), randbytes(size), MANY).job.id)
                assert added
                with pytest.raises(StoreUnavailable, match=r"^the disk of the store is full$"):
                    store.ping()
                for id_ in added:
                    store.cancel(id_, "me")
                    store.remove(id_)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_database_server_that_returns_is_used_again(own_server: Server, how: signal.Signals) -> None:
    heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    with contextlib.closing(open_store(own_server.new_database())) as store:
        store.listen(heard.put)
        assert heard.get(timeout=SECONDS) is None
        job = store.add(NewJob("me", ABOUT), b"problem", LIMITS).job
        own_server.stop(how)
        for ask in (store.ping, store.claim, store.counts, lambda: store.add(NewJob("me", ABOUT), b"", LIMITS)):
            with pytest.raises(StoreUnavailable) as caught:
                ask()
            said = str(caught.value)
            assert said.startswith("the store does not answer: "), said
            assert "server" in said, said
            assert "127.0.0.1" not in said, "whoever is told this need not know where it is"
        own_server.start()
        assert store.job(job.id) == job
        assert heard.get(timeout=SECONDS) is None, "what was announced in the meantime was missed"
        claim = store.claim()
        assert claim is not None
        assert heard.get(timeout=SECONDS) == job.id


def test_a_full_disk_of_a_database_server_is_noticed(postgresql: Server) -> None:
    """Also if what is written to notice it would find room in files that are there."""
    disk = Path(tempfile.mkdtemp(prefix="disk-", dir=postgresql.folder))
    with mounted(disk, 64 << 20) as is_mounted:
        if not is_mounted:
            pytest.skip("a small disk needs the right to mount it")
        with postgresql.database_on(disk) as url, contextlib.closing(open_store(url)) as store:
            store.ping()
            with filled(disk):
                for _ in range(3):
                    with pytest.raises(StoreUnavailable, match=r"^the store does not answer: its disk is full$"):
                        store.ping()
            store.ping()
            store.add(NewJob("me", ABOUT), b"problem", LIMITS)


def test_waiting_for_locked_rows_is_limited(postgresql: Server) -> None:
    url = postgresql.new_database()
    with contextlib.closing(open_store(f"{url}?options=-c%20lock_timeout%3D50ms")) as store:
        job = store.add(NewJob("me", ABOUT), b"problem", LIMITS).job
        with psycopg.connect(url) as other:
            other.execute("SELECT FROM jobs FOR UPDATE")
            with pytest.raises(
                StoreUnavailable, match=r"^the store does not answer: another process holds what is to be written$"
            ):
                store.cancel(job.id, "me")
        cancelled = store.cancel(job.id, "me")
        assert cancelled is not None
        assert cancelled.state is JobState.CANCELLED


def test_a_job_is_never_without_its_delivery_nor_a_delivery_without_its_job(postgresql: Server) -> None:
    url = postgresql.new_database()
    with contextlib.closing(open_store(url)) as store, psycopg.connect(url, autocommit=True) as queue_:

        def waiting() -> set[int]:
            return {number for (number,) in queue_.execute("SELECT id FROM procrastinate_jobs")}

        first = store.add(NewJob("me", ABOUT), b"problem", LIMITS).job
        assert waiting() == {first.delivery}
        queue_.execute("ALTER TABLE procrastinate_jobs RENAME TO away")
        with pytest.raises(StoreUnavailable, match="queue"):
            store.add(NewJob("me", ABOUT), b"problem", LIMITS)
        queue_.execute("ALTER TABLE away RENAME TO procrastinate_jobs")
        assert store.counts().queued == 1
        with store.write() as connection:
            store.database.deliver(connection, Delivery(first.id, "me", 0))
            connection.rollback()
        assert waiting() == {first.delivery}
        store.cancel(first.id, "me")
        assert waiting() == set()
