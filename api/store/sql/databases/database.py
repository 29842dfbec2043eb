"""The database behind the store, by SQLAlchemy: what all kinds of databases share, and where they differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import ClassVar

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, LargeBinary, Table, delete, func, insert, select
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ...protocol import Collision, StoreUnavailable
from ..tables import probe

UNUSABLE = "what the store's URL says after '?' cannot be used"
PROBE_BYTES = 1 << 12
MIGRATIONS = Path(__file__).parent / "migrations"

Told = Callable[[str | None], None]
"""Receives the id of a job to which something has happened; None: possibly any. Called from any thread."""


class Database(ABC):
    """A database whose tables are up to date."""

    shared: ClassVar[bool]
    """True if other processes use it too, so that their workers carry out what is queued."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Return a connection to read from."""
        with self.errors(), self.engine.connect() as connection:
            yield connection

    @abstractmethod
    def write(self) -> AbstractContextManager[Connection]:
        """Return a transaction: all of it happens, or nothing."""

    @abstractmethod
    def announce(self, connection: Connection, id_: str) -> None:
        """Announce to listeners, once the transaction is committed, that something has happened to the job."""

    @abstractmethod
    def listen(self, on_change: Told) -> None:
        """From now on call `told` for every announcement."""

    @abstractmethod
    def deliver(self, connection: Connection, id_: str, owner: str, priority: int) -> int | None:
        """Have a worker elsewhere take the job; return the number of this delivery. None: workers look for jobs themselves."""

    @abstractmethod
    def withdraw(self, connection: Connection, delivery: int | None) -> None:
        """Withdraw the job from delivery; a worker that has it is told to stop."""

    @abstractmethod
    def is_alone(self, connection: Connection, what: str) -> bool:
        """True if no other transaction does this at the moment; then none will until this one is done."""

    def wait_for_turn(self, connection: Connection, what: str, *, shared: bool) -> None:
        """Wait until no other transaction has this; several may have it if all of them share it. With one writer at a time nothing is needed."""
        return

    def piece(self, connection: Connection, table: Table, job: str, start: int, size: int) -> bytes:
        """Return some bytes of a job's data in the table; empty if there are none. The rest is not loaded."""
        cut = func.substr(table.c.data, start + 1, size, type_=LargeBinary)
        return bytes(connection.execute(select(cut).where(table.c.job == job)).scalar() or b"")

    def ping(self) -> None:
        """Write something. Raises StoreUnavailable if that is impossible."""
        with self.write() as connection:
            connection.execute(delete(probe))
            connection.execute(insert(probe).values(id=1, data=bytes(PROBE_BYTES)))

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Return a driver's error as our own, without statements or data."""
        try:
            yield
        except IntegrityError as error:
            raise Collision("two writers were in each other's way") from error
        except DBAPIError as error:
            raise StoreUnavailable(f"the store does not answer: {self.reason(error)}") from error
        except PoolTimeout as error:
            raise StoreUnavailable("the store has too much to do") from error

    def reason(self, error: DBAPIError) -> str:
        """Return what anybody may know of it."""
        return str(error.orig)[:200]


def migrate(connection: Connection) -> None:
    """Make every missing step."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
