"""What a failing disk changes in a store's file is noticed and said, in words of our own."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from api.store import StoreDamaged
from api.store.opening import open_store
from api.store.protocol import checksum
from api.store.records import (
    End,
    EventKind,
    Job,
    JobFilter,
    JobState,
    Kept,
    NewJob,
)
from api.store.sql.store import DatabaseStore
from tests.api.store.conftest import ABOUT, LIMITS
from tests.api.store.in_a_file import PLAN, change, file, spoil_pages, store

__all__ = ["file", "store"]


def add(store: DatabaseStore, problem: bytes = b"a problem") -> Job:
    return store.add(NewJob("me", ABOUT), problem, LIMITS).job


def test_a_job_with_a_damaged_problem_fails_and_others_go_on(store: DatabaseStore, file: Path) -> None:
    spoilt, sound = add(store), add(store)
    change(file, "UPDATE problems SET data = ? WHERE job = ?", b"a prob\x80em", spoilt.id)
    with pytest.raises(StoreDamaged, match="not what was written"):
        store.problem(spoilt.id)
    claim = store.claim()
    assert claim is not None
    assert (claim.job.id, claim.problem) == (sound.id, b"a problem")
    failed = store.job(spoilt.id)
    assert failed is not None
    assert failed.failure is not None
    assert (failed.state, failed.failure["code"]) == (JobState.FAILED, "store_damaged")
    assert store.set_aside() == 1
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


RECORDS = [
    ("about", "{{"),
    ("about", b"\xff\xfe"),
    ("about", "[1]"),
    ("about", '{"kind": 3}'),
    ("about", "no text"),
    ("state", "rumming"),
    ("events", "x"),
    ("created", "x"),
    ("deaths", b"\xff"),
]


def spoil(file: Path, job: Job, column: str, value: object) -> None:
    """Change a value of a job's record. Text gets a byte that no text has."""
    change(file, f"UPDATE jobs SET {column} = ? WHERE id = ?", value, job.id)
    if value == "no text":
        change(file, f"UPDATE jobs SET {column} = CAST(x'7b22ff' AS TEXT) WHERE id = ?", job.id)


def is_set_aside(store: DatabaseStore, id_: str) -> bool:
    job = store.job(id_)
    assert job is not None
    return (
        job.state is JobState.FAILED
        and job.failure is not None
        and job.failure["code"] == "store_damaged"
        and [event.kind for event in store.events(id_, 0)][-1] is EventKind.DONE
        and store.set_aside() == 1
    )


@pytest.mark.parametrize(("column", "value"), RECORDS)
def test_a_damaged_record_does_not_keep_the_queue(store: DatabaseStore, file: Path, column: str, value: object) -> None:
    spoilt, sound = add(store), add(store)
    spoil(file, spoilt, column, value)
    claim = store.claim()
    assert claim is not None
    assert (claim.job.id, store.claim()) == (sound.id, None)
    assert is_set_aside(store, spoilt.id)
    store.ping()
    with store.read() as connection:
        kept = connection.execute(text("SELECT job, owner, record FROM set_aside")).one()
    assert kept[:2] == (spoilt.id, "me")
    assert f'"{column}": ' in kept[2]


@pytest.mark.parametrize("owner", ["x'ff'", "CAST(x'6cff' AS TEXT)", "CAST(x'6eff' AS TEXT)"])
def test_a_damaged_owner_does_not_keep_the_queue(store: DatabaseStore, file: Path, owner: str) -> None:
    spoilt, sound = add(store), add(store)
    change(file, f"UPDATE jobs SET owner = {owner} WHERE id = ?", spoilt.id)
    claim = store.claim(look=True) or store.claim()
    assert claim is not None
    assert (claim.job.id, store.claim()) == (sound.id, None)
    assert is_set_aside(store, spoilt.id)


def test_a_job_whose_problem_is_lost_does_not_keep_the_queue(store: DatabaseStore, file: Path) -> None:
    spoilt, sound = add(store), add(store)
    change(file, "DELETE FROM problems WHERE job = ?", spoilt.id)
    claim = store.claim()
    assert claim is not None
    assert (claim.job.id, store.claim()) == (sound.id, None)
    assert is_set_aside(store, spoilt.id)


@pytest.mark.parametrize(("column", "value"), RECORDS)
def test_a_damaged_record_fails_whoever_finds_it(store: DatabaseStore, file: Path, column: str, value: object) -> None:
    finders: list[Callable[[str], object]] = [
        store.job,
        lambda _: store.jobs(JobFilter("me")),
        lambda id_: store.cancel(id_, "me"),
        lambda _: store.recover("it was killed", 3),
        lambda id_: store.finish(id_, 1, End(JobState.SUCCEEDED, PLAN.summary, PLAN)),
        lambda id_: store.died(id_, 1, "it was killed", 3),
        lambda _: store.cancel_lines("me", "batch"),
    ]
    for number, find in enumerate(finders):
        job = store.add(NewJob("me", ABOUT, batch="batch", line=number), b"a problem", LIMITS).job
        store.claim()
        spoil(file, job, column, value)
        find(job.id)
        assert is_set_aside(store, job.id), number
        change(file, "DELETE FROM set_aside")
        store.remove(job.id)


@pytest.mark.parametrize(("column", "value"), RECORDS)
def test_a_damaged_record_is_told_of_while_nothing_can_be_written(file: Path, column: str, value: object) -> None:
    with contextlib.closing(open_store(f"sqlite:///{file}?timeout=0.01")) as store:
        sound, spoilt = add(store), add(store)
        spoil(file, spoilt, column, value)
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE").close()
            found = {job.id: job for job in store.jobs(JobFilter("me"))}
            other.execute("ROLLBACK").close()
        assert found.pop(sound.id) == sound
        assert {(job.id, job.state) for job in found.values()} <= {(spoilt.id, JobState.FAILED)}
        assert store.set_aside() == 0
        store.jobs(JobFilter("me"))
        assert is_set_aside(store, spoilt.id)


def test_a_page_is_full_although_a_job_cannot_be_told_of(file: Path) -> None:
    with contextlib.closing(open_store(f"sqlite:///{file}?timeout=0.01")) as store:
        ids = [add(store).id for _ in range(7)]
        spoil(file, store.jobs(JobFilter("me"))[2], "id", b"\xff")
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE").close()
            first = [job.id for job in store.jobs(JobFilter("me", limit=4))]
            rest = [job.id for job in store.jobs(JobFilter("me", before=first[-1], limit=4))]
            other.execute("ROLLBACK").close()
        assert len(first) == 4, "a shorter page would be the last"
        assert first + rest == [id_ for id_ in reversed(ids) if id_ != ids[4]]


def test_a_fault_of_the_program_is_no_damage(store: DatabaseStore) -> None:
    for fault in (TypeError, ValueError):
        with pytest.raises(fault), store.write():
            raise fault
        with pytest.raises(fault), store.read():
            raise fault
    store.ping()


def test_a_damaged_summary_is_damage_of_its_plan_alone(store: DatabaseStore, file: Path) -> None:
    job = add(store)
    store.claim()
    store.save(job.id, 1, PLAN)
    change(file, "UPDATE job_plans SET summary = '{}'")
    for read in (store.plan, store.plan_head):
        with pytest.raises(StoreDamaged):
            read(job.id)
    assert [each.id for each in store.recover("it was killed", 3)] == [job.id]
    again = store.claim()
    assert again is not None
    assert again.best is None


def test_a_damaged_event_is_damage(store: DatabaseStore, file: Path) -> None:
    job = add(store)
    change(file, "UPDATE events SET kind = 'stade'")
    with pytest.raises(StoreDamaged):
        store.events(job.id, 0)


def test_an_error_is_said_without_the_driver_s_words(store: DatabaseStore, file: Path) -> None:
    change(file, "DROP TABLE once")
    change(file, "DROP TABLE events")
    with pytest.raises(Exception, match=r"^the store does not answer: its database reports SQLITE_ERROR$"):
        add(store)
