"""Run by alembic: every missing step, in one transaction, on the given connection."""

from __future__ import annotations

from alembic import context

from api.store.sql.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
