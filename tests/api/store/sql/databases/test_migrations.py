"""The migrations make the tables that the code declares, from nothing and from the first version."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import asdict
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
from api.store.records import End, JobFilter, JobState
from api.store.sql.databases.database import MIGRATIONS
from api.store.sql.databases.deliveries import STEPS, Deliveries
from api.store.sql.tables import metadata
from tests.api.store.conftest import ABOUT, OPTIMAL
from tests.running.postgresql import Server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite'}"
    made: str = request.getfixturevalue("postgresql").empty_database()
    return made


OLD_JOB = """
INSERT INTO jobs VALUES (:id, 'me', :state, 1, :about, 1.0, NULL, :finished, 1, 0, false,
                         NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, :plan)
"""


def upgrade(connection: Connection, step: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, step)


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
        upgrade(connection, "0001")
        connection.execute(text("INSERT INTO plans VALUES ('me', 'k', 1.0, 'e', '{}', 1, 'x')"))
    engine.dispose()
    store = open_store(url)
    with store.read() as connection:
        assert differences(connection) == []
        assert connection.execute(text("SELECT owner FROM plans")).scalar_one() == "me"
    store.close()


def test_jobs_of_the_first_version_go_on_in_every_state(url: str) -> None:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    about = json.dumps({**asdict(ABOUT), "name": "old"})
    about = json.dumps({name: value for name, value in json.loads(about).items() if name != "kind"})
    summary = json.dumps(asdict(OPTIMAL))
    with engine.begin() as connection:
        upgrade(connection, "0001")
        for number, state in enumerate(JobState):
            id_, finished = f"{number:035x}", 2.0 if state.is_final else None
            has_plan = state is not JobState.QUEUED
            values = {"id": id_, "state": state.value, "about": about, "finished": finished, "plan": has_plan}
            connection.execute(text(OLD_JOB), values)
            connection.execute(text("INSERT INTO problems VALUES (:id, 7, :data)"), {"id": id_, "data": b"problem"})
            connection.execute(text("INSERT INTO events VALUES (:id, 1, 'state', '{}')"), {"id": id_})
            if has_plan:
                put = text("INSERT INTO job_plans VALUES (:id, 1.0, 'e', :summary, 84, 4, :data)")
                connection.execute(put, {"id": id_, "summary": summary, "data": b"plan"})
    engine.dispose()
    with contextlib.closing(open_store(url)) as store:
        found = {job.state: job for job in store.jobs(JobFilter("me"))}
        assert set(found) == set(JobState)
        assert {store.problem(job.id) for job in found.values()} == {b"problem"}
        assert all((store.plan(job.id) is None) == (state is JobState.QUEUED) for state, job in found.items())
        assert [job.id for job in store.recover("it was killed", 3)] == [found[JobState.RUNNING].id]
        claims = [store.claim(), store.claim(), store.claim()]
        assert [claim and claim.job.id for claim in claims[:2]] == [
            found[JobState.QUEUED].id,
            found[JobState.RUNNING].id,
        ]
        assert [claim and claim.best for claim in claims] == [None, b"plan", None]
        for state in (JobState.QUEUED, JobState.RUNNING):
            job = found[state]
            assert store.finish(job.id, 2, End(JobState.SUCCEEDED, OPTIMAL))
        assert store.set_aside() == 0
        assert store.prune(0, 0) == len(JobState)


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(url: str) -> None:
    open_store(url).close()
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9000'"))
    with pytest.raises(StoreUnavailable, match=r"written by a newer memplan .* install that version or a later one"):
        open_store(url)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9000"
        connection.execute(text("UPDATE alembic_version SET version_num = '0011'"))
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
