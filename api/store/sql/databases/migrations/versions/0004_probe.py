"""A table of one row, written to find out whether anything can be written."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add it."""
    op.create_table(
        "probe", sa.Column("id", sa.Integer, primary_key=True), sa.Column("data", sa.LargeBinary, nullable=False)
    )
