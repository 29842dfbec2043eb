"""A store in a file, a plan to keep in it, and what a failing disk changes behind its back."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.store.opening import open_store
from api.store.records import StoredPlan, Summary
from api.store.sql.store import DatabaseStore

PLAN = StoredPlan(b"a plan", '"x"', Summary("optimal", "proved", 1, 1, 0.0), time.time())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "jobs.sqlite"


@pytest.fixture
def store(file: Path) -> Iterator[DatabaseStore]:
    with contextlib.closing(open_store(f"sqlite:///{file}")) as made:
        yield made


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
