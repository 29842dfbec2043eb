"""Room in the queue that processes may fill."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add it."""
    op.create_table(
        "places",
        sa.Column("process", sa.String(40), primary_key=True),
        sa.Column("owner", sa.String(200), primary_key=True),
        sa.Column("taken", sa.BigInteger, nullable=False),
        sa.Column("until", sa.Float, nullable=False),
    )
