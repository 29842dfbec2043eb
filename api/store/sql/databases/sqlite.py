"""The store in an SQLite file: for one service on one machine, without further installation."""

from __future__ import annotations

import os
import sqlite3
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import URL, Connection, Engine, Integer, Table, create_engine, event, literal_column, select
from sqlalchemy.exc import ArgumentError, DatabaseError, SAWarning

from ...protocol import StoreDamaged, StoreUnavailable
from ..columns import utf8
from ..tables import length
from .database import LEAST_FREE, UNUSABLE, Database, Delivery, Told, migrate

PLENTY = 1 << 26
"""With more free bytes nobody need look closer."""
SCARCE = 4 * LEAST_FREE
"""With fewer free bytes the log is emptied after each write, so that the next one begins it anew."""
FULL_DISK = "the disk of the store is full"
LARGE = 1 << 18
"""Values with more bytes are not left in a connection that is kept."""
LOCKED_SECONDS = 5.0
"""The time that a write waits for another process that holds the file."""


BUSY, LOCKED, PERM, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB = 5, 6, 3, 7, 8, 10, 11, 13, 14, 26
"""SQLite's primary codes of errors."""
WORDS = {
    BUSY: "another process has locked its file",
    LOCKED: "another process has locked its file",
    PERM: "its file may not be used",
    NOMEM: "there is no memory left",
    READONLY: "its file may not be written",
    IOERR: "its disk cannot be written",
    FULL: "its disk is full",
    CANTOPEN: "its file cannot be opened",
}
READING = (IOERR | 1 << 8, IOERR | 2 << 8)
"""Of I/O errors, those of reading."""


class SqliteDatabase(Database):
    """One file, one process."""

    shared: ClassVar[bool] = False
    place = literal_column("rowid", Integer)
    driver_errors = (sqlite3.Error,)

    def __init__(self, url: URL) -> None:
        super().__init__(_engine(url))
        # SQLite has one writer at a time. Waiting here is fairer and faster than polling for the file's lock.
        self._turn = threading.Lock()
        self._listeners: list[Told] = []
        self._announced: dict[str, None] = {}
        self._file = Path(str(url.database))
        self._opened: tuple[int, int] | None = None
        with self.opening():
            try:
                with self.errors():
                    self._require_sound()
            except OverflowError:
                raise StoreUnavailable(UNUSABLE) from None
            self._opened = self._found()
            with self.write() as connection:
                migrate(connection)

    def _require_sound(self) -> None:
        """Raise StoreUnavailable for a file that is no database, or is damaged."""
        try:
            with self.engine.connect() as connection:
                found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
        except DatabaseError as error:
            if type(error.orig) is not sqlite3.DatabaseError:
                raise  # locked, full, not permitted
            found = error.orig
        if found != "ok":
            text = f"{self._file} is damaged ({str(found)[:200]}): put a copy of it back, or move it away to begin anew"
            raise StoreUnavailable(text)

    def ping(self) -> None:
        """Also check the disk: data may fit into SQLite's log without proving that a new job does."""
        super().ping()
        with self.read() as connection:
            self.require_room(connection, LEAST_FREE // 2)

    def require_room(self, connection: Connection, size: int) -> None:
        """What is written goes into the log, and from there into the file, which has not all pages yet."""
        free = self._free()
        if free > PLENTY + 2 * size:
            return
        page, pages, unused = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("page_size", "page_count", "freelist_count")
        )
        to_come = max(page * pages - _length(self._file), 0)
        log = 0 if to_come else _length(Path(f"{self._file}-wal"))  # begun anew
        size += LEAST_FREE // 2
        if free + log - to_come < size + max(size - page * unused, 0):
            raise StoreUnavailable(FULL_DISK)

    def _free(self) -> int:
        """Return the number of free bytes on the disk."""
        try:
            disk = os.statvfs(self._file.parent)
        except OSError as error:
            raise StoreUnavailable(f"the disk of the store does not answer: {error.strerror}") from None
        return disk.f_bavail * disk.f_frsize

    def _found(self) -> tuple[int, int] | None:
        """Return what distinguishes the file from any other of its name; None if there is none."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _require_same(self) -> None:
        """Refuse a replaced file: SQLite would continue to write to a removed one, and the data would be lost."""
        if self._found() != self._opened:
            raise StoreUnavailable(
                "the file of the store was removed or replaced while it was in use: put it back and start again"
            )

    @contextmanager
    def write(self) -> Iterator[Connection]:
        announced: dict[str, None] = {}
        if self._opened is not None:
            self._require_same()
        with self.errors(), self._turn:
            with self.engine.connect() as connection, connection.execution_options(memplan_writes=True).begin():
                self._announced = announced
                yield connection
            if self._opened is not None and self._free() < SCARCE:
                with self.engine.connect() as connection:
                    _driver(connection).execute("PRAGMA wal_checkpoint(PASSIVE)").close()
        for id_ in announced:
            for on_change in self._listeners:
                on_change(id_)

    def piece(self, connection: Connection, table: Table, job: str, start: int, size: int) -> bytes:
        # One transaction: otherwise the row may be removed, and its number be another's, before its blob is opened.
        connection.exec_driver_sql("BEGIN")
        row = select(self.place, length(table)).select_from(table).where(table.c.job == job)
        number, whole = connection.execute(row).one_or_none() or (0, 0)
        if start >= whole:
            return b""
        if whole <= LARGE:
            return super().piece(connection, table, job, start, size)
        # SQLite's substr would load all of it. Python's connections keep a reference to every blob opened, so this one is closed afterwards.
        driver = _driver(connection)
        connection.detach()
        with driver.blobopen(table.name, "data", number, readonly=True) as blob:
            blob.seek(start)
            return bytes(blob.read(size))

    def trouble(self, error: BaseException | None) -> StoreUnavailable:
        code = getattr(error, "sqlite_errorcode", None)
        primary = CORRUPT if code is None else code & 0xFF  # without a code: text that is no UTF-8
        if code in READING:
            return StoreDamaged("the disk of the store cannot be read")
        if primary in (CORRUPT, NOTADB):
            return StoreDamaged(
                "the file of the store is damaged: put a copy of it back, or move it away to begin anew"
            )
        why = WORDS.get(primary, f"its database reports {getattr(error, 'sqlite_errorname', 'an error')}")
        return StoreUnavailable(f"the store does not answer: {why}")

    def announce(self, connection: Connection, id_: str) -> None:
        self._announced[id_] = None

    def listen(self, on_change: Told) -> None:
        self._listeners.append(on_change)

    def deliver(self, connection: Connection, delivery: Delivery) -> None: ...

    def withdraw(self, connection: Connection, delivery: int | None) -> None: ...

    def is_alone(self, connection: Connection, what: str) -> bool:
        return True


def _length(file: Path) -> int:
    """Return the size of a file; 0 if there is none."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


def _engine(url: URL) -> Engine:
    if url.host or url.database in (None, "", ":memory:") or "\0" in url.database:
        raise StoreUnavailable("the store's URL names no file, as sqlite:///jobs.sqlite does")
    waits = {} if "timeout" in url.query else {"timeout": LOCKED_SECONDS}
    url = url.set(drivername="sqlite")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SAWarning)  # of names without a meaning
            engine = create_engine(url, pool_size=8, max_overflow=8, pool_timeout=LOCKED_SECONDS, connect_args=waits)
    except (ArgumentError, TypeError, ValueError, SAWarning):
        raise StoreUnavailable(UNUSABLE) from None

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: Any) -> None:
        connection.text_factory = utf8
        connection.isolation_level = None  # the only begin is SQLAlchemy's, below
        connection.execute("PRAGMA journal_mode=WAL").close()
        connection.execute("PRAGMA synchronous=NORMAL").close()  # a crash of this process loses nothing
        connection.execute(f"PRAGMA journal_size_limit={LARGE}").close()  # a log that has grown gives its room back
        connection.execute("PRAGMA secure_delete=FAST").close()  # what is removed is not first written as zeros
        connection.execute("PRAGMA foreign_keys=ON").close()

    @event.listens_for(engine, "before_cursor_execute")
    def let_go(
        connection: Connection, _cursor: Any, _statement: Any, values: Any, _context: Any, is_many: bool
    ) -> None:
        """A kept statement keeps what it was last given, also if it failed: after a large value its connection is closed."""
        rows = values if is_many else (values,)
        if any(isinstance(value, memoryview) and len(value) > LARGE for row in rows for value in row):
            connection.detach()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writing transaction takes the lock at once, so it cannot fail half way for lack of it. Readers ask only one question.
        if connection.get_execution_options().get("memplan_writes", False):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
