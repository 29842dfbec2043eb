"""The migrations make the tables that the code declares, from nothing and from the first version."""

from __future__ import annotations

import threading
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from procrastinate.schema import SchemaManager
from sqlalchemy import Connection, create_engine, text

from api.store import StoreUnavailable
from api.store.opening import open_store
from api.store.sql.databases.database import MIGRATIONS
from api.store.sql.databases.deliveries import STEPS, Deliveries
from api.store.sql.tables import metadata
from tests.running.postgresql import Server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite'}"
    made: str = request.getfixturevalue("postgresql").empty_database()
    return made


def differences(connection: Connection) -> list[object]:
    """Return how the tables differ from those that the code declares, without the tables of Procrastinate."""
    theirs = ("procrastinate", STEPS)
    options = {"include_name": lambda name, kind, _: kind != "table" or not str(name).startswith(theirs)}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def test_migrating_makes_the_declared_tables(url: str) -> None:
    store = open_store(url)
    with store.read() as connection:
        assert differences(connection) == []
    store.close()


def test_a_store_of_the_first_version_is_migrated_with_its_contents(url: str) -> None:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(text("INSERT INTO plans VALUES ('me', 'k', 1.0, 'e', '{}', 1, 'x')"))
    engine.dispose()
    store = open_store(url)
    with store.read() as connection:
        assert differences(connection) == []
        assert connection.execute(text("SELECT owner FROM plans")).scalar_one() == "me"
    store.close()


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(url: str) -> None:
    open_store(url).close()
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9000'"))
    with pytest.raises(StoreUnavailable, match=r"written by a newer memplan .* install that version or a later one"):
        open_store(url)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9000"
        connection.execute(text("UPDATE alembic_version SET version_num = '0010'"))
    engine.dispose()
    open_store(url).close()


def test_many_may_open_an_empty_database_at_once(postgresql: Server) -> None:
    url = postgresql.empty_database()
    failures: list[Exception] = []

    def work() -> None:
        try:
            open_store(url).close()
        except Exception as error:  # noqa: BLE001 - the test reports whatever it is
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_additions_of_newer_queue_versions_are_made_once(
    postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(postgresql.new_database()) as connection:
        for (name,) in connection.execute(f"SELECT name FROM {STEPS}"):
            (tmp_path / name).write_text("SELECT 1 / 0")
        (tmp_path / "99.00.00_01_new.sql").write_text("CREATE TABLE procrastinate_new (percent text DEFAULT '%s')")
        monkeypatch.setattr(SchemaManager, "get_migrations_path", lambda: str(tmp_path))
        for _ in range(2):
            Deliveries().migrate(connection)
        assert connection.execute("SELECT count(*) FROM procrastinate_new").fetchone() == (0,)
