"""Which delivery of a job to a worker counts, where workers elsewhere carry jobs out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add it."""
    op.add_column("jobs", sa.Column("delivery", sa.BigInteger))
