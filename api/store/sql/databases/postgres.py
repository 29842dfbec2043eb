"""The store in PostgreSQL: for several services and workers, which notify each other by LISTEN and NOTIFY."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    String,
    and_,
    create_engine,
    delete,
    event,
    extract,
    func,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import ArgumentError

from ...protocol import StoreUnavailable
from ..columns import Damaged, document, utf8
from ..tables import places
from ..turns import last_deliveries, rank_of, where_of
from .database import LEAST_FREE, UNUSABLE, Database, Delivery, Told, migrate
from .deliveries import Deliveries, queue_of
from .listener import CHANNEL, Listener
from .sqlstates import trouble

if TYPE_CHECKING:
    import psycopg

CONNECTIONS = 8
"""Kept open by each process; in a rush twice as many."""
WAIT_SECONDS = 5.0
"""For a free connection, or for a new one."""
CONNECTION: dict[str, Any] = {
    "connect_timeout": int(WAIT_SECONDS),
    "application_name": "memplan",
    # no request of the store takes long; what hangs must not hang for ever
    "options": "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s",
    # a server that vanished silently is noticed within some seconds
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""The parameters of every connection; those in the URL's query have precedence."""
ROOM_WIDTH = 1 << 10
"""Of each row that asks for room: longer ones would be compressed."""
MIGRATION_LOCK = 6_077_115_106_001
"""Its holder may change tables. Any number that no other program uses."""


EVERYBODY = ""
"""In place of an owner: all of them together."""
NOW = extract("epoch", func.clock_timestamp())
RESERVED_SECONDS = 10
"""A place is free again after so long without its job: writing one takes less."""
FORGOTTEN_SECONDS = 3600


class PostgresDatabase(Database):
    """A separate database on a server that others use too."""

    shared: ClassVar[bool] = True
    place = literal_column("ctid::text", String)

    def __init__(self, url: URL) -> None:
        super().__init__(_engine(url))
        self._name = uuid.uuid4().hex
        """Of this process among those that fill the queue."""
        self._deliveries = Deliveries()
        self._listeners: list[Listener] = []
        with self.opening(), self.errors(), self.engine.begin() as connection:
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            migrate(connection)
            self._deliveries.migrate(_driver(connection))

    @property
    def conninfo(self) -> str:
        """Return how to connect, in libpq's words, including the password."""
        import psycopg.conninfo

        url = self.engine.url
        parts = url.translate_connect_args(username="user", database="dbname")
        return psycopg.conninfo.make_conninfo(**{**CONNECTION, **parts, **url.query})

    @contextmanager
    def write(self) -> Iterator[Connection]:
        with self.errors(), self.engine.begin() as connection:
            yield connection

    def announce(self, connection: Connection, id_: str) -> None:
        connection.execute(text("SELECT pg_notify(:channel, :id)"), {"channel": CHANNEL, "id": id_})

    def listen(self, on_change: Told) -> None:
        self._listeners.append(Listener(self.conninfo, on_change))

    def deliver(self, connection: Connection, delivery: Delivery) -> int:
        driver = _driver(connection)
        turn = None if delivery.before is None else self._deliveries.turn(driver, delivery.before)
        if turn is None:
            priority = delivery.priority
            now = self._deliveries.rank_now(driver, where_of(priority))
            mine = self._deliveries.least_rank(driver, last_deliveries(connection, delivery.owner, priority))
            turn = queue_of(delivery), rank_of(priority, now, mine)
        return self._deliveries.add(driver, delivery.job, *turn)

    def begin(self, connection: Connection, delivery: int) -> None:
        self._deliveries.begin(_driver(connection), delivery)

    def withdraw(self, connection: Connection, delivery: int | None) -> None:
        if delivery is not None:
            self._deliveries.withdraw(_driver(connection), delivery)

    def is_alone(self, connection: Connection, what: str) -> bool:
        lock = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:what, 0))")
        return bool(connection.execute(lock, {"what": f"memplan {what}"}).scalar_one())

    def wait_for_turn(self, connection: Connection, what: str, *, shared: bool) -> None:
        lock = text(f"SELECT pg_advisory_xact_lock{'_shared' if shared else ''}(hashtextextended(:what, 0))")
        connection.execute(lock, {"what": f"memplan {what}"})

    def others_places(self, connection: Connection, owner: str) -> tuple[int, int]:
        theirs = and_(places.c.process != self._name, places.c.until > NOW)
        sums = [
            func.coalesce(func.sum(places.c.taken).filter(places.c.owner == whose), 0) for whose in (owner, EVERYBODY)
        ]
        mine, everybody = connection.execute(select(*sums).where(theirs)).one()
        return int(mine), int(everybody)

    def take_places(self, connection: Connection, owner: str, mine: int, everybody: int) -> None:
        connection.execute(delete(places).where(places.c.until < NOW - FORGOTTEN_SECONDS))
        for whose, taken in (
            (EVERYBODY, everybody),
            (owner, mine),
        ):  # always in this order, so that nobody waits in a circle
            new = insert(places).values(process=self._name, owner=whose, taken=taken, until=NOW + RESERVED_SECONDS)
            values = {"taken": new.excluded.taken, "until": new.excluded.until}
            connection.execute(new.on_conflict_do_update(index_elements=["process", "owner"], set_=values))

    def fill_place(self, connection: Connection, owner: str) -> None:
        for whose in (EVERYBODY, owner):
            this = and_(places.c.process == self._name, places.c.owner == whose, places.c.taken > 0)
            connection.execute(update(places).where(this).values(taken=places.c.taken - 1))

    def ping(self) -> None:
        """Also ask the disk for room, in files that go again with the transaction: what is written may find some in those that are there."""
        super().ping()
        name = f"room_{self._name}"
        with self.errors(), self.engine.connect() as connection, connection.begin() as never:
            connection.execute(text(f"CREATE UNLOGGED TABLE {name} (data text)"))
            rows = "SELECT repeat('x', :width) FROM generate_series(1, :count)"
            values = {"width": ROOM_WIDTH, "count": LEAST_FREE // ROOM_WIDTH}
            connection.execute(text(f"INSERT INTO {name} {rows}"), values)
            never.rollback()

    def trouble(self, error: BaseException | None) -> StoreUnavailable:
        return trouble("the store", error)

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()
        super().close()


def _engine(url: URL) -> Engine:
    try:
        import procrastinate  # noqa: F401 - found missing here rather than at the first job
        import psycopg  # noqa: F401
    except ImportError as error:
        raise StoreUnavailable(
            f"PostgreSQL needs more than is installed ({error.name}): pip install 'memplan[postgresql]'"
        ) from None
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_size=CONNECTIONS,
            max_overflow=CONNECTIONS,
            pool_timeout=WAIT_SECONDS,
            pool_pre_ping=True,  # otherwise a restarted server is noticed only by a failure
            connect_args={name: value for name, value in CONNECTION.items() if name not in url.query},
        )
    except (ArgumentError, TypeError, ValueError):
        raise StoreUnavailable(UNUSABLE) from None
    event.listen(engine, "connect", _load_whatever_there_is)
    return engine


def _load_whatever_there_is(connection: psycopg.Connection[Any], _record: object) -> None:
    """Text that cannot be decoded is loaded as Damaged. The server sends it as the disk has it."""
    from psycopg.adapt import Buffer, Loader

    class Text(Loader):
        def load(self, data: Buffer) -> str | Damaged:
            return utf8(bytes(data))

    class Document(Loader):
        def load(self, data: Buffer) -> Any:
            return document(bytes(data))

    for name in ("text", "varchar"):
        connection.adapters.register_loader(name, Text)
    connection.adapters.register_loader("json", Document)


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver: Any = connection.connection.driver_connection
    return driver  # type: ignore[no-any-return]
