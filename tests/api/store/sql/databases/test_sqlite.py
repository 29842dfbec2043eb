"""The store in a file: its connections keep nothing of what was written or read."""

from __future__ import annotations

import gc
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from api.process.garbage import give_back
from api.process.machine import resident
from api.store.opening import open_store
from api.store.protocol import Collision
from api.store.records import NewJob
from tests.api.store.conftest import ABOUT, NO_LIMITS

MIB = 1 << 20
FULL = "CREATE TRIGGER full BEFORE INSERT ON problems WHEN new.size > 1 BEGIN SELECT RAISE(FAIL, 'full'); END"


def test_a_large_problem_does_not_stay_in_memory_once_it_is_stored(tmp_path: Path) -> None:
    """The driver keeps statements, and each keeps the values that it was last given."""
    store = open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    try:
        store.add(NewJob("me", ABOUT), b"1", NO_LIMITS)
        problem = bytes(48 * MIB)
        give_back()
        before = resident()
        job = store.add(NewJob("me", ABOUT), problem, NO_LIMITS).job
        give_back()
        assert resident() < before + 24 * MIB
        assert store.problem_size(job.id) == len(problem)
    finally:
        store.close()


def test_nor_if_it_could_not_be_stored(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    try:
        store.add(NewJob("me", ABOUT), b"1", NO_LIMITS)
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file:
            file.execute(FULL)
        problem = bytes(48 * MIB)
        give_back()
        before = resident()
        with pytest.raises(Collision):
            store.add(NewJob("me", ABOUT), problem, NO_LIMITS)
        give_back()
        assert resident() < before + 24 * MIB
    finally:
        store.close()


@pytest.mark.parametrize("size", [3, MIB])
def test_nothing_is_kept_of_pieces_that_were_read(tmp_path: Path, size: int) -> None:
    """Python's driver keeps a reference to each blob that a connection opened."""
    store = open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    try:
        problem = bytes(range(3)) + bytes(size - 3)
        job = store.add(NewJob("me", ABOUT), problem, NO_LIMITS).job

        def read() -> int:
            """Read often; return the number of blocks of memory in use then."""
            for _ in range(150):
                assert store.problem_piece(job.id, 1, 100) == problem[1:101]
            gc.collect()
            return sys.getallocatedblocks()

        before = read()
        read()
        assert read() < before + 150
    finally:
        store.close()


def test_a_piece_is_read_to_its_end_whatever_is_removed_meanwhile(tmp_path: Path) -> None:
    """A removed row's number would be that of no row any more, or of another job's."""
    store = open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    try:
        problem = bytes(range(256)) * 4096
        job = store.add(NewJob("me", ABOUT), problem, NO_LIMITS).job

        @event.listens_for(store.database.engine, "after_cursor_execute")
        def remove(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            if "rowid" in statement:
                with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
                    file.execute("DELETE FROM problems")

        assert store.problem_piece(job.id, 1, 100) == problem[1:101]
        assert store.problem_piece(job.id, 1, 100) == b""
    finally:
        store.close()
