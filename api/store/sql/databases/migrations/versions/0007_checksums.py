"""Checksums of problems and plans, so that a damaged one is noticed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add them; what is there already has none."""
    for table in ("problems", "job_plans", "plans"):
        op.add_column(table, sa.Column("checksum", sa.BigInteger))
