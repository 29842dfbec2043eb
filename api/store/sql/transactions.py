"""Common parts of the store over a database: its transactions, and how a job is changed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, select

from ..records import End, EventKind
from .databases.database import Database
from .rows import change, gap_of
from .tables import ended_batches, jobs


class Part:
    """Every write is one transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.read, self.write = database.read, database.write

    def _row(self, connection: Connection, id_: str) -> Row[Any]:
        return connection.execute(select(jobs).where(jobs.c.id == id_)).one()

    def _has_ended(self, connection: Connection, owner: str, batch: str) -> bool:
        this = select(ended_batches.c.batch).where(ended_batches.c.owner == owner, ended_batches.c.batch == batch)
        return connection.execute(this).one_or_none() is not None

    def _change(
        self,
        connection: Connection,
        row: Row[Any],
        values: dict[str, Any],
        *events: tuple[EventKind, Mapping[str, Any]],
    ) -> None:
        change(connection, row, values, *events)
        self.database.announce(connection, row.id)

    def _end(self, connection: Connection, row: Row[Any], end: End, *, has_plan: bool) -> None:
        best = row.best if end.summary is None else end.summary.best
        bound = row.bound if end.summary is None or end.summary.bound is None else end.summary.bound
        facts = {
            "state": end.state.value,
            "status": None if end.summary is None else end.summary.status,
            "stop": None if end.summary is None else end.summary.stop,
            "best": best,
            "bound": bound,
            "gap": gap_of(best, bound) if end.summary is None else end.summary.gap,
            "failure": None if end.failure is None else dict(end.failure),
        }
        ended = {**facts, "finished": time.time(), "has_plan": has_plan, "look": None}
        points = ((EventKind.POINT, point) for point in end.points)
        self._change(connection, row, ended, *points, (EventKind.DONE, facts))
