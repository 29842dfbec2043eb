"""The migrations lead to the tables that the code speaks of."""

from __future__ import annotations

from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from api.store.database import DatabaseStore
from api.store.tables import metadata


def test_migrating_makes_the_tables_there_are(tmp_path: Path) -> None:
    store = DatabaseStore(f"sqlite:///{tmp_path / 'store.sqlite'}")
    with store.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    store.close()
