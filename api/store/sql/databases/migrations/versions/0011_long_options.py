"""Long options of jobs, which lists leave out, in a column of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add it; jobs that exist already have theirs among the others."""
    op.add_column("jobs", sa.Column("more", sa.JSON(none_as_null=True)))
