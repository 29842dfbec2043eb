"""An index for lists of an owner's jobs in one state, and for counting them, where thousands are in another."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add it."""
    op.create_index("jobs_by_owner_and_state", "jobs", ["owner", "state", "id"])
