"""The first tables: jobs with their problems, plans and events, plans kept for later, and requests that count once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("about", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("started", sa.Float),
        sa.Column("finished", sa.Float),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("deaths", sa.Integer, nullable=False),
        sa.Column("cancelling", sa.Boolean, nullable=False),
        sa.Column("status", sa.String(20)),
        sa.Column("stop", sa.String(20)),
        sa.Column("best", sa.BigInteger),
        sa.Column("bound", sa.BigInteger),
        sa.Column("gap", sa.Float),
        sa.Column("failure", sa.JSON(none_as_null=True)),
        sa.Column("batch", sa.String(40)),
        sa.Column("line", sa.Integer),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("has_plan", sa.Boolean, nullable=False),
    )
    op.create_index("jobs_by_turn", "jobs", ["state", "priority", "id"])
    op.create_index("jobs_by_owner", "jobs", ["owner", "id"])
    op.create_index("jobs_by_batch", "jobs", ["batch", "line"])
    op.create_index("jobs_by_end", "jobs", ["finished"])
    op.create_table(
        "problems",
        sa.Column("job", sa.String(40), sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "job_plans",
        sa.Column("job", sa.String(40), sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("etag", sa.String(80), nullable=False),
        sa.Column("summary", sa.JSON, nullable=False),
        sa.Column("best", sa.BigInteger),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("job", sa.String(40), sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
    )
    op.create_table(
        "plans",
        sa.Column("owner", sa.String(200), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("etag", sa.String(80), nullable=False),
        sa.Column("summary", sa.JSON, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_index("plans_by_age", "plans", ["created"])
    op.create_table(
        "once",
        sa.Column("owner", sa.String(200), primary_key=True),
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("job", sa.String(40), sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    )
    op.create_index("ix_once_job", "once", ["job"])
