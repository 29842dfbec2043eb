"""The store in a database, by SQLAlchemy: how it is opened, and what reads and writes of all kinds have in common."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from .errors import StoreUnavailable

LOCKED_SECONDS = 5.0
"""How long a write waits for another process that holds the file."""
MIGRATIONS = Path(__file__).parent / "migrations"


class Database:
    """A database whose tables are up to date."""

    def __init__(self, url: str | URL) -> None:
        try:
            self._url = make_url(url)
        except ArgumentError:
            raise StoreUnavailable("the store's URL cannot be read") from None
        if self._url.get_backend_name() != "sqlite":
            raise StoreUnavailable("only sqlite:/// URLs are supported by this version")
        self.engine = _sqlite(self._url)
        # SQLite has one writer at a time. Waiting for one's turn here is fairer and quicker than polling for the file's lock.
        self._turn = threading.Lock()
        with self.write() as connection:
            _migrate(connection)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to read from, at one moment in time."""
        with _wrapped(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: all of it happens, or nothing."""
        with (
            _wrapped(),
            self._turn,
            self.engine.connect() as connection,
            connection.execution_options(memplan_writes=True).begin(),
        ):
            yield connection

    def ping(self) -> None:
        """Raises StoreUnavailable if it can be neither read nor written."""
        with self.write() as connection:
            connection.execute(text("SELECT 1"))

    def close(self) -> None:
        self.engine.dispose()


@contextmanager
def _wrapped() -> Iterator[None]:
    """What a driver raises, as our own error; no statement and no data in it."""
    try:
        yield
    except DBAPIError as error:
        raise StoreUnavailable(f"the store does not answer: {str(error.orig)[:200]}") from error
    except PoolTimeout as error:
        raise StoreUnavailable("the store has too much to do") from error


def _sqlite(url: URL) -> Engine:
    engine = create_engine(
        url, pool_size=8, max_overflow=8, pool_timeout=LOCKED_SECONDS, connect_args={"timeout": LOCKED_SECONDS}
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # SQLAlchemy's begin, below, is the only one
        connection.execute("PRAGMA journal_mode=WAL").close()
        connection.execute("PRAGMA synchronous=NORMAL").close()  # a crash of this process loses nothing
        connection.execute("PRAGMA foreign_keys=ON").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that will write takes the lock at once: it can then not fail half way for want of it.
        writes = connection.get_execution_options().get("memplan_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _migrate(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
