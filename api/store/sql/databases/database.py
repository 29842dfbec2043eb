"""The database behind the store, by SQLAlchemy: what all kinds of databases have in common, and where they differ."""

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
"""Gets the id of a job to which something has happened; None: to any of them, perhaps. Called from any thread."""


class Database(ABC):
    """A database whose tables are up to date."""

    shared: ClassVar[bool]
    """Do other processes use it too, so that workers among them carry out what is queued?"""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to read from."""
        with self.errors(), self.engine.connect() as connection:
            yield connection

    @abstractmethod
    def write(self) -> AbstractContextManager[Connection]:
        """A transaction: all of it happens, or nothing."""

    @abstractmethod
    def announce(self, connection: Connection, id_: str) -> None:
        """Once the transaction is through, whoever listens is told that something has happened to the job."""

    @abstractmethod
    def listen(self, told: Told) -> None:
        """From now on have this called for everything that is announced."""

    @abstractmethod
    def deliver(self, connection: Connection, id_: str, owner: str, priority: int) -> int | None:
        """Have a worker elsewhere take on the job; the number of this delivery. None: workers come and look for themselves."""

    @abstractmethod
    def withdraw(self, connection: Connection, delivery: int | None) -> None:
        """No worker need take on that job any more, and the one that has is told to stop."""

    @abstractmethod
    def is_alone(self, connection: Connection, what: str) -> bool:
        """Does no other transaction do this at the moment? If so, none will until this one is through."""

    def wait_for_turn(self, connection: Connection, what: str, *, shared: bool) -> None:
        """Until the transaction is through, no other has this; several have it at a time if all of them share it. One writer at a time needs nothing more."""
        return

    def piece(self, connection: Connection, table: Table, job: str, start: int, size: int) -> bytes:
        """Some bytes of what the table has of a job; nothing where it has nothing. The rest of it is not loaded."""
        cut = func.substr(table.c.data, start + 1, size, type_=LargeBinary)
        return bytes(connection.execute(select(cut).where(table.c.job == job)).scalar() or b"")

    def ping(self) -> None:
        """Really writes something. Raises StoreUnavailable if that cannot be done."""
        with self.write() as connection:
            connection.execute(delete(probe))
            connection.execute(insert(probe).values(id=1, data=bytes(PROBE_BYTES)))

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """What a driver raises, as our own error; no statement and no data in it."""
        try:
            yield
        except IntegrityError as error:
            raise Collision("two writers were in each other's way") from error
        except DBAPIError as error:
            raise StoreUnavailable(f"the store does not answer: {self.reason(error)}") from error
        except PoolTimeout as error:
            raise StoreUnavailable("the store has too much to do") from error

    def reason(self, error: DBAPIError) -> str:
        """What may be said of it to anybody."""
        return str(error.orig)[:200]


def migrate(connection: Connection) -> None:
    """Every step that is missing."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
