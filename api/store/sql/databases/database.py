"""The database behind the store, by SQLAlchemy: what all kinds of databases share, and where they differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import structlog
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import ColumnElement, Connection, Engine, Table, delete, func, insert, select
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ...protocol import Collision, StoreDamaged, StoreUnavailable, sound
from ..columns import BYTES
from ..tables import probe

log = structlog.get_logger("memplan.store")

UNUSABLE = "what the store's URL says after '?' cannot be used"
PROBE_BYTES = 1 << 12
LEAST_FREE = 1 << 20
"""With fewer free bytes on its disk the store takes no more jobs: they are left to those that it has."""
MIGRATIONS = Path(__file__).parent / "migrations"

Told = Callable[[str | None], None]
"""Receives the id of a job to which something has happened; None: possibly any. Called from any thread."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A job to be taken by a worker elsewhere."""

    job: str
    owner: str
    priority: int
    before: int | None = None
    """The delivery whose turn it keeps."""
    look: bool = False
    """True if the job is due for a first look."""
    has_several_owners: bool = False
    """True if no process may be reserved for the short jobs of one owner."""


class Database(ABC):
    """A database whose tables are up to date."""

    shared: ClassVar[bool]
    """True if other processes use it too, so that their workers carry out what is queued."""

    place: ClassVar[ColumnElement[Any]]
    """Where a row lies in its table, by which it is found whatever has become of its key."""

    driver_errors: ClassVar[tuple[type[Exception], ...]] = ()
    """What the driver raises where SQLAlchemy is not in between."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.damage: str | None = None
        """What was noticed of damage, since it was opened."""

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Leave no connection behind if it fails."""
        try:
            yield
        except BaseException:
            self.engine.dispose()
            raise

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
        """From now on call `on_change` for every announcement."""

    @abstractmethod
    def deliver(self, connection: Connection, delivery: Delivery) -> int | None:
        """Have a worker elsewhere take the job; return the number of this delivery. None: workers look for jobs themselves."""

    def begin(self, connection: Connection, delivery: int) -> None:
        """Note that this delivery is carried out to its end; a first look is not."""
        return

    @abstractmethod
    def withdraw(self, connection: Connection, delivery: int | None) -> None:
        """Withdraw the job from delivery; a worker that has it is told to stop."""

    @abstractmethod
    def is_alone(self, connection: Connection, what: str) -> bool:
        """True if no other transaction does this at the moment; then none will until this one is done."""

    def wait_for_turn(self, connection: Connection, what: str, *, shared: bool) -> None:
        """Wait until no other transaction has this; several may have it if all of them share it. With one writer at a time nothing is needed."""
        return

    def others_places(self, connection: Connection, owner: str) -> tuple[int, int]:
        """Return how many places in the queue other processes have taken for jobs yet to come: of this owner, and in all."""
        return 0, 0

    def take_places(self, connection: Connection, owner: str, mine: int, everybody: int) -> None:
        """Let other processes know that this one has so many places, for the owner and in all."""
        return

    def fill_place(self, connection: Connection, owner: str) -> None:
        """Let them know that one of these has its job, once the transaction is committed."""
        return

    def require_room(self, connection: Connection, size: int) -> None:
        """Raise StoreUnavailable if so many bytes more leave too little room to end, cancel and remove what is there. A server's disk is its operator's."""
        return

    def piece(self, connection: Connection, table: Table, job: str, start: int, size: int) -> bytes:
        """Return some bytes of a job's data in the table; empty if there are none. The rest is not loaded."""
        cut = func.substr(table.c.data, start + 1, size, type_=BYTES)
        return sound(connection.execute(select(cut).where(table.c.job == job)).scalar() or b"", None)

    def ping(self) -> None:
        """Write something. Raises StoreUnavailable if that is impossible, or if damage was noticed."""
        if self.damage is not None:
            raise StoreDamaged(self.damage)
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
            raise self.noted(self.trouble(error.orig)) from error
        except self.driver_errors as error:
            raise self.noted(self.trouble(error)) from error
        except PoolTimeout as error:
            raise StoreUnavailable("the store has too much to do") from error
        except StoreDamaged as error:
            raise self.noted(error) from error.__cause__

    def noted(self, trouble: StoreUnavailable) -> StoreUnavailable:
        """Remember damage, and return the error."""
        if isinstance(trouble, StoreDamaged):
            log.error("the store is damaged", reason=str(trouble))
            self.damage = str(trouble)
        return trouble

    @abstractmethod
    def trouble(self, error: BaseException | None) -> StoreUnavailable:
        """Return a driver's error as our own, with what anybody may know of it."""


def migrate(connection: Connection) -> None:
    """Make every missing step. Raises StoreUnavailable if a newer version has made steps that this one does not know."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    steps = {step.revision for step in ScriptDirectory.from_config(config).walk_revisions()}
    made = MigrationContext.configure(connection).get_current_revision()
    if made is not None and made not in steps:
        raise StoreUnavailable(
            f"the store was written by a newer memplan (step {made[:40]} of its tables; this version knows {max(steps)} at most): "
            "install that version or a later one, or give the URL of another store"
        )
    command.upgrade(config, "head")
