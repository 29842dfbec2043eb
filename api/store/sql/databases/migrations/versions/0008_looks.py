"""Which jobs are due for a first look, or have one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add that; jobs that wait already have none."""
    op.add_column("jobs", sa.Column("look", sa.String(10)))
    op.create_index("jobs_by_look", "jobs", ["look", "state", "owner", "priority", "id"])
