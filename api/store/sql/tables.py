"""The tables, equal for all databases. migrations/ leads from one version of them to the next."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

metadata = MetaData()

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("state", String(20), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("about", JSON(none_as_null=True), nullable=False),
    Column("created", Float, nullable=False),
    Column("started", Float),
    Column("finished", Float),
    Column("attempt", Integer, nullable=False),
    Column("deaths", Integer, nullable=False),
    Column("cancelling", Boolean, nullable=False),
    Column("status", String(20)),
    Column("stop", String(20)),
    Column("best", BigInteger),
    Column("bound", BigInteger),
    Column("gap", Float),
    Column("failure", JSON(none_as_null=True)),
    Column("batch", String(40)),
    Column("line", Integer),
    Column("events", Integer, nullable=False),
    Column("has_plan", Boolean, nullable=False),
    Column("delivery", BigInteger),
    Column("look", String(10)),
    Index("jobs_by_turn", "state", "priority", "id"),
    Index("jobs_by_state_and_owner", "state", "owner", "priority", "id"),
    Index("jobs_by_owner", "owner", "id"),
    Index("jobs_by_owner_and_state", "owner", "state", "id"),
    Index("jobs_by_batch", "batch", "line"),
    Index("jobs_by_end", "finished"),
    Index("jobs_by_look", "look", "state", "owner", "priority", "id"),
)

problems = Table(
    "problems",
    metadata,
    Column("job", String(40), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),  # behind those that are read without it
    Column("checksum", BigInteger),  # None: an earlier version wrote it
)

job_plans = Table(
    "job_plans",
    metadata,
    Column("job", String(40), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("created", Float, nullable=False),
    Column("etag", String(80), nullable=False),
    Column("summary", JSON, nullable=False),
    Column("best", BigInteger),
    Column("size", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),  # behind those that are read without it
    Column("checksum", BigInteger),  # None: an earlier version wrote it
)

events = Table(
    "events",
    metadata,
    Column("job", String(40), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("data", JSON, nullable=False),
)

plans = Table(
    "plans",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("created", Float, nullable=False),
    Column("etag", String(80), nullable=False),
    Column("summary", JSON, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),  # behind those that are read without it
    Column("checksum", BigInteger),  # None: an earlier version wrote it
    Index("plans_by_age", "created"),
)

once = Table(
    "once",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("job", String(40), ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, index=True),
)

ended_batches = Table(
    "ended_batches",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("batch", String(40), primary_key=True),
    Column("created", Float, nullable=False),
)
"""Those of which no more lines are taken."""

probe = Table(
    "probe",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
"""One row, written to find out whether anything can be written."""
