"""The tables, equal for all databases. migrations/ leads from one version of them to the next."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, ForeignKey, Index, MetaData, Table, Text, cast, func, literal
from sqlalchemy.sql.functions import Function

from .columns import BYTES, DOCUMENT, FLAG, LARGE_WHOLE, NUMBER, WHOLE, text

metadata = MetaData()
BYTES_OF_A_ROW = 500


def length(table: Table) -> Function[int]:
    """The bytes in the column `data`, which are not read for that. The column `size` is for operators: a disk may have changed it."""
    return func.length(table.c.data, type_=LARGE_WHOLE)


def written(*columns: Column[Any]) -> ColumnElement[int]:
    """About the bytes of these columns in a row, with its names and places in indexes."""
    texts = (func.coalesce(func.length(cast(column, Text), type_=LARGE_WHOLE), 0) for column in columns)
    return sum(texts, start=literal(BYTES_OF_A_ROW, LARGE_WHOLE))


def content() -> list[Column[Any]]:
    """Return the columns of what is kept whole, behind those that are read without it."""
    return [
        Column("size", LARGE_WHOLE, nullable=False),
        Column("data", BYTES, nullable=False),
        Column("checksum", LARGE_WHOLE),  # None: an earlier version wrote it
    ]


jobs = Table(
    "jobs",
    metadata,
    Column("id", text(40), primary_key=True),
    Column("owner", text(200), nullable=False),
    Column("state", text(20), nullable=False),
    Column("priority", WHOLE, nullable=False),
    Column("about", DOCUMENT, nullable=False),
    Column("created", NUMBER, nullable=False),
    Column("started", NUMBER),
    Column("finished", NUMBER),
    Column("attempt", WHOLE, nullable=False),
    Column("deaths", WHOLE, nullable=False),
    Column("cancelling", FLAG, nullable=False),
    Column("status", text(20)),
    Column("stop", text(20)),
    Column("best", LARGE_WHOLE),
    Column("bound", LARGE_WHOLE),
    Column("gap", NUMBER),
    Column("failure", DOCUMENT),
    Column("batch", text(40)),
    Column("line", WHOLE),
    Column("events", WHOLE, nullable=False),
    Column("has_plan", FLAG, nullable=False),
    Column("delivery", LARGE_WHOLE),
    Column("look", text(10)),
    Column("more", DOCUMENT),  # long options, behind what is read without them
    Index("jobs_by_turn", "state", "priority", "id"),
    Index("jobs_by_state_and_owner", "state", "owner", "priority", "id"),
    Index("jobs_by_owner", "owner", "id"),
    Index("jobs_by_owner_and_state", "owner", "state", "id"),
    Index("jobs_by_batch", "batch", "line"),
    Index("jobs_by_end", "finished"),
    Index("jobs_by_look", "look", "state", "owner", "priority", "id"),
)

BRIEF = tuple(column for column in jobs.c if column.name != "more")
"""What lists have of a job: long options make up megabytes."""

problems = Table(
    "problems",
    metadata,
    Column("job", text(40), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    *content(),
)

job_plans = Table(
    "job_plans",
    metadata,
    Column("job", text(40), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("created", NUMBER, nullable=False),
    Column("etag", text(80), nullable=False),
    Column("summary", DOCUMENT, nullable=False),
    Column("best", LARGE_WHOLE),
    *content(),
)

events = Table(
    "events",
    metadata,
    Column("job", text(40), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("number", WHOLE, primary_key=True),
    Column("kind", text(20), nullable=False),
    Column("data", DOCUMENT, nullable=False),
)

plans = Table(
    "plans",
    metadata,
    Column("owner", text(200), primary_key=True),
    Column("key", text(64), primary_key=True),
    Column("created", NUMBER, nullable=False),
    Column("etag", text(80), nullable=False),
    Column("summary", DOCUMENT, nullable=False),
    *content(),
    Index("plans_by_age", "created"),
)

once = Table(
    "once",
    metadata,
    Column("owner", text(200), primary_key=True),
    Column("key", text(255), primary_key=True),
    Column("fingerprint", text(64), nullable=False),
    Column("job", text(40), ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, index=True),
)

ended_batches = Table(
    "ended_batches",
    metadata,
    Column("owner", text(200), primary_key=True),
    Column("batch", text(40), primary_key=True),
    Column("created", NUMBER, nullable=False),
)
"""Those of which no more lines are taken."""

set_aside = Table(
    "set_aside",
    metadata,
    Column("job", text(40), primary_key=True),
    Column("owner", text(200), nullable=False),
    Column("created", NUMBER, nullable=False),
    Column("why", text(500), nullable=False),
    Column("record", text(100_000), nullable=False),
)
"""Jobs whose record or problem was found damaged, for the operator: what was in the record, and why it is here."""

places = Table(
    "places",
    metadata,
    Column("process", text(40), primary_key=True),
    Column("owner", text(200), primary_key=True),
    Column("taken", LARGE_WHOLE, nullable=False),
    Column("until", NUMBER, nullable=False),
)
"""Room in the queue that each process may fill without counting again; an empty owner is all of them together."""

probe = Table(
    "probe",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("data", BYTES, nullable=False),
)
"""One row, written to find out whether anything can be written."""
