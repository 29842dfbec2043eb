"""Jobs that were found damaged, for the operator."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add them."""
    op.create_table(
        "set_aside",
        sa.Column("job", sa.String(40), primary_key=True),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("why", sa.String(500), nullable=False),
        sa.Column("record", sa.String(100_000), nullable=False),
    )
