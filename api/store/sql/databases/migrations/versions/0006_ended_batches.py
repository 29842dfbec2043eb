"""Batches of which no more lines are taken, as their owners have ended them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add them."""
    op.create_table(
        "ended_batches",
        sa.Column("owner", sa.String(200), primary_key=True),
        sa.Column("batch", sa.String(40), primary_key=True),
        sa.Column("created", sa.Float, nullable=False),
    )
