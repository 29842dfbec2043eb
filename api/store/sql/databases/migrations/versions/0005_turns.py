"""An index that leads to each owner's next job."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add it."""
    op.create_index("jobs_by_state_and_owner", "jobs", ["state", "owner", "priority", "id"])
