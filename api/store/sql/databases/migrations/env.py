"""What alembic runs: every step that is missing, in one transaction, on the connection that it is given."""

from __future__ import annotations

from alembic import context

from api.store.sql.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
