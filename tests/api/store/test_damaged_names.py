"""A job whose id is damaged is set aside as any other, in every store; so is text that PostgreSQL sends as its disk has it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from api.store import Store
from api.store.opening import open_store
from api.store.records import End, EventKind, Job, JobFilter, JobState, NewJob
from tests.api.store.conftest import ABOUT, LIMITS
from tests.api.store.in_a_file import change
from tests.running.postgresql import Server

Spoil = Callable[[str, str, bytes], None]
"""Overwrites a column of a job with bytes that are no text."""
Spoilt = tuple[Store, Spoil]


def in_a_file(file: Path) -> Spoil:
    def spoil(id_: str, column: str, data: bytes) -> None:
        change(file, f"UPDATE jobs SET {column} = CAST(? AS TEXT) WHERE id = ?", data, id_)

    return spoil


def on_a_server(server: Server, url: str) -> Spoil:
    """The server takes such bytes while it is told that the database has no encoding."""

    def encoding(number: int) -> None:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(
                "UPDATE pg_database SET encoding = %s WHERE datname = %s", (number, url.rpartition("/")[2])
            )

    def spoil(id_: str, column: str, data: bytes) -> None:
        encoding(0)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")  # nor does a disk look at keys
            text = f"convert_from('\\x{data.hex()}'::bytea, 'SQL_ASCII')"
            value = f"{text}::json" if column == "about" else text
            connection.execute(f"UPDATE jobs SET {column} = {value} WHERE id = '{id_}'")
        encoding(6)

    return spoil


@pytest.fixture(params=["sqlite", "postgresql"])
def spoilt(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Spoilt]:
    if request.param == "sqlite":
        file = tmp_path / "store.sqlite"
        url, spoil = f"sqlite:///{file}", in_a_file(file)
    else:
        server = request.getfixturevalue("postgresql")
        url = server.new_database()
        spoil = on_a_server(server, url)
    with contextlib.closing(open_store(url)) as store:
        yield store, spoil


def add(store: Store, line: int = 0) -> Job:
    return store.add(NewJob("me", ABOUT, batch="batch", line=line), b"a problem", LIMITS).job


def is_set_aside(store: Store, id_: str) -> bool:
    job = store.job(id_)
    return (
        job is not None
        and job.state is JobState.FAILED
        and job.failure is not None
        and job.failure["code"] == "store_damaged"
        and [event.kind for event in store.events(id_, 0)] == [EventKind.STATE, EventKind.DONE]
    )


@pytest.mark.parametrize("data", [b"\xff", b"\x80\x01\xfe" * 12, b""])
def test_a_damaged_id_does_not_keep_the_queue(spoilt: Spoilt, data: bytes) -> None:
    store, spoil = spoilt
    first, sound = add(store), add(store)
    spoil(first.id, "id", data)
    claim = store.claim()
    assert claim is not None
    assert (claim.job.id, store.claim()) == (sound.id, None)
    assert store.set_aside() == 1
    if data:  # otherwise it is some id
        assert is_set_aside(store, first.id), "it has its id again"
    store.ping()


def test_a_delivery_leads_to_a_job_whose_id_is_damaged(postgresql: Server) -> None:
    url = postgresql.new_database()
    with contextlib.closing(open_store(url)) as store:
        for data in (b"\xff", b"another"):
            job = add(store)
            on_a_server(postgresql, url)(job.id, "id", data)
            assert store.claim(job.id, job.delivery) is None
            assert store.counts().queued == 0
            assert len(store.jobs(JobFilter("me", state=JobState.FAILED))) == store.set_aside()
        assert store.set_aside() == 2


def test_several_damaged_ids_do_not_keep_the_queue(spoilt: Spoilt) -> None:
    store, spoil = spoilt
    for number in range(3):
        spoil(add(store).id, "id", b"\xff%d" % number)
    sound = add(store)
    claim = store.claim()
    assert claim is not None
    assert (claim.job.id, store.claim()) == (sound.id, None)
    failed = store.jobs(JobFilter("me", state=JobState.FAILED))
    assert len({job.id for job in failed}) == 3
    assert store.set_aside() == 3


FINDERS: list[Callable[[Store], object]] = [
    lambda store: store.jobs(JobFilter("me")),
    lambda store: store.recover("it was killed", 3),
    lambda store: store.cancel_lines("me", "batch"),
]


@pytest.mark.parametrize("find", FINDERS)
def test_a_damaged_id_is_set_aside_by_whoever_finds_it(spoilt: Spoilt, find: Callable[[Store], object]) -> None:
    store, spoil = spoilt
    job = add(store)
    store.claim()
    spoil(job.id, "id", b"\xff\xfe")
    find(store)
    again = store.job(job.id)
    assert again is not None
    assert again.state is JobState.FAILED
    assert store.set_aside() == 1
    assert store.batch_counts("me", "batch") == (1, 0)


@pytest.mark.parametrize(("column", "data"), [("state", b"queued\xff"), ("batch", b"\xff"), ("stop", b"\xff")])
def test_a_damaged_text_fails_its_job_alone(spoilt: Spoilt, column: str, data: bytes) -> None:
    store, spoil = spoilt
    job = add(store)
    spoil(job.id, column, data)
    assert store.job(job.id) is not None
    assert is_set_aside(store, job.id)
    assert not store.finish(job.id, 1, End(JobState.CANCELLED))


def test_a_value_that_is_missing_is_damage(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    with contextlib.closing(open_store(f"sqlite:///{file}")) as store:
        first, sound = add(store), add(store)
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("PRAGMA writable_schema = ON").close()
            nullable = "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'jobs'"
            other.execute(nullable).close()
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("UPDATE jobs SET created = NULL, attempt = NULL WHERE id = ?", (first.id,)).close()
        claim = store.claim()
        assert claim is not None
        assert claim.job.id == sound.id
        assert is_set_aside(store, first.id)
