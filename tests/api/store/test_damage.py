"""What a failing disk changes in a store's file is noticed and said, in words of our own."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.store import StoreDamaged
from api.store.opening import open_store
from api.store.protocol import checksum
from api.store.records import About, Job, JobState, Kept, NewJob, QueueLimits, StoredPlan, Summary
from api.store.sql.store import DatabaseStore

LIMITS = QueueLimits(1000, 1000, 1 << 30)
ABOUT = About("key", "digest", "name", 3, {"time_limit": 2.0}, (), None)
PLAN = StoredPlan(b"a plan", '"x"', Summary("optimal", "proved", 1, 1, 0.0), time.time())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "jobs.sqlite"


@pytest.fixture
def store(file: Path) -> Iterator[DatabaseStore]:
    with contextlib.closing(open_store(f"sqlite:///{file}")) as made:
        yield made


def add(store: DatabaseStore, problem: bytes = b"a problem") -> Job:
    return store.add(NewJob("me", ABOUT), problem, LIMITS).job


def change(file: Path, statement: str, *values: object) -> None:
    """Change the file behind the store's back."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute(statement, values).close()


def spoil_pages(file: Path, filling: bytes) -> None:
    """Overwrite the beginnings of all pages that a long value fills, by which one leads to the next."""
    change(file, "PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(file.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    pages = [start for start in range(0, len(data), size) if data[start + 4 : start + size] == filling * (size - 4)]
    assert pages
    for start in pages:
        data[start : start + 4] = b"\x7f\xff\xff\xff"
    with file.open("r+b") as written:
        written.write(data)


def test_a_job_with_a_damaged_problem_fails_and_others_go_on(store: DatabaseStore, file: Path) -> None:
    spoilt, sound = add(store), add(store)
    change(file, "UPDATE problems SET data = ? WHERE job = ?", b"a prob\x80em", spoilt.id)
    with pytest.raises(StoreDamaged, match="not what was written"):
        store.problem(spoilt.id)
    assert store.claim() is None
    claim = store.claim()
    assert claim is not None
    assert (claim.job.id, claim.problem) == (sound.id, b"a problem")
    failed = store.job(spoilt.id)
    assert failed is not None
    assert failed.failure is not None
    assert (failed.state, failed.failure["code"]) == (JobState.FAILED, "store_damaged")
    with pytest.raises(StoreDamaged):
        store.ping()


def test_a_damaged_plan_is_not_given_out(store: DatabaseStore, file: Path) -> None:
    add(store)
    claim = store.claim()
    assert claim is not None
    store.save(claim.job.id, 1, PLAN)
    store.release(claim.job.id, 1)
    store.keep([Kept("me", "key", PLAN)])
    store.ping()
    for table in ("plans", "job_plans"):
        change(file, f"UPDATE {table} SET data = ?", b"A plan")
    assert store.kept("me", "key") is None, "it is made again"
    with pytest.raises(StoreDamaged):
        store.plan(claim.job.id)
    again = store.claim()
    assert again is not None
    assert again.best is None, "a new attempt does without it"
    with pytest.raises(StoreDamaged):
        store.ping()


def test_what_an_earlier_version_wrote_has_no_checksum(store: DatabaseStore, file: Path) -> None:
    job = add(store)
    change(file, "UPDATE problems SET checksum = NULL")
    assert store.problem(job.id) == b"a problem"
    store.check_problem(job.id, 1)


def test_a_damaged_page_is_damage_whichever_way_it_is_read(store: DatabaseStore, file: Path) -> None:
    job = add(store, b"x" * 1_000_000)
    spoil_pages(file, b"x")
    for read in (store.problem, lambda id_: store.problem_piece(id_, 500_000, 1000)):
        with pytest.raises(StoreDamaged, match="is damaged: put a copy of it back"):
            read(job.id)
    with pytest.raises(StoreDamaged):
        store.ping()


def test_pieces_that_are_not_what_was_written_are_damage(store: DatabaseStore) -> None:
    job = add(store)
    store.check_problem(job.id, checksum(b"problem", checksum(b"a ")))
    store.ping()
    with pytest.raises(StoreDamaged):
        store.check_problem(job.id, checksum(b"A problem"))
    with pytest.raises(StoreDamaged):
        store.ping()


@pytest.mark.parametrize("value", ["a problem", 3, "a plain word"])
def test_a_value_of_another_type_is_damage(store: DatabaseStore, file: Path, value: object) -> None:
    job = add(store)
    change(file, "UPDATE problems SET data = ?", value)
    for read in (store.problem, lambda id_: store.problem_piece(id_, 0, 4)):
        with pytest.raises(StoreDamaged):
            read(job.id)


@pytest.mark.parametrize(
    ("column", "value"),
    [("about", "{{"), ("about", b"\xff\xfe"), ("about", "[1]"), ("about", '{"kind": 3}'), ("state", "rumming")],
)
def test_a_damaged_record_is_damage(store: DatabaseStore, file: Path, column: str, value: object) -> None:
    job = add(store)
    change(file, f"UPDATE jobs SET {column} = ?", value)
    with pytest.raises(StoreDamaged):
        store.job(job.id)


def test_an_error_is_said_without_the_driver_s_words(store: DatabaseStore, file: Path) -> None:
    change(file, "DROP TABLE once")
    change(file, "DROP TABLE events")
    with pytest.raises(Exception, match=r"^the store does not answer: its database reports SQLITE_ERROR$"):
        add(store)
