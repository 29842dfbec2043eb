"""Common parts of the store over a database: its transactions, and how a job is changed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import structlog
from sqlalchemy import Column, Connection, Row, Select, delete, func, insert, select, update

from ..protocol import Collision
from ..records import About, End, EventKind, Job, JobState, NewJob, new_id
from .databases.database import Database
from .rows import change, damaged_columns, gap_of, job_of, values_of
from .tables import BRIEF, ended_batches, events, jobs, problems, set_aside

BLANK = values_of(NewJob("", About("", "", None, 0, {}, (), None)))
"""What a damaged column gets, so that the job can be read again."""
MOST_OF_A_RECORD = 100_000
"""In characters: so much of a damaged record is kept."""

log = structlog.get_logger("memplan.store")


def spoilt(damaged: Sequence[str]) -> str:
    return f"its record is not what was written ({', '.join(damaged)})"


class Part:
    """Every write is one transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.read, self.write = database.read, database.write

    def _row(self, connection: Connection, id_: str, columns: Iterable[Column[Any]] = jobs.c) -> Row[Any]:
        return connection.execute(select(*columns).where(jobs.c.id == id_)).one()

    def _sound(self, connection: Connection, query: Select[Any]) -> list[Row[Any]]:
        """Return the rows of those jobs. A damaged one is set aside, and is not among them."""
        return self._if_sound(connection, connection.execute(query).all())

    def _one(self, connection: Connection, query: Select[Any]) -> Row[Any] | None:
        """Do the same for one job at most."""
        rows = self._sound(connection, query)
        return rows[0] if rows else None

    def _if_sound(self, connection: Connection, rows: Iterable[Row[Any]]) -> list[Row[Any]]:
        """Return those of them that are sound, and set the others aside."""
        found = []
        for row in rows:
            if damaged := damaged_columns(row):
                self._set_aside(connection, row, spoilt(damaged), damaged)
            else:
                found.append(row)
        return found

    def _job(self, connection: Connection, id_: str) -> Job:
        """Return a job; a damaged one is set aside, and has failed."""
        row = self._one(connection, select(jobs).where(jobs.c.id == id_))
        return job_of(self._row(connection, id_) if row is None else row)

    def _set_aside(self, connection: Connection, row: Row[Any], why: str, damaged: Sequence[str] = ()) -> str:
        """End a job that was found damaged, and keep its record for the operator. What is damaged of it gets harmless values. Return its id."""
        id_ = self._name_again(connection, row) if "id" in damaged else row.id
        log.error("a job is damaged and was set aside", job=id_, reason=why)
        if damaged:
            last = select(func.coalesce(func.max(events.c.number), 0)).where(events.c.job == id_)
            blank = {**BLANK, "id": id_, "events": last.scalar_subquery()}
            harmless = {name: blank[name] for name in damaged}
            connection.execute(update(jobs).where(jobs.c.id == id_).values(**harmless))
        now = self._row(connection, id_, BRIEF)
        record = json.dumps(dict(row._mapping), default=repr)[:MOST_OF_A_RECORD]
        connection.execute(delete(set_aside).where(set_aside.c.job == id_))
        kept = {"job": id_, "owner": now.owner, "created": time.time(), "why": why, "record": record}
        connection.execute(insert(set_aside).values(**kept))
        self.database.withdraw(connection, now.delivery)
        self._end(connection, now, End(JobState.FAILED, failure=failure_of(why)), has_plan=now.has_plan)
        return id_

    def _name_again(self, connection: Connection, row: Row[Any]) -> str:
        """Give a job whose id is damaged an id: that of the one problem without a job if there is one, otherwise a new one."""
        place = self.database.place
        for where, found in connection.execute(select(place, jobs.c.id)).all():
            if repr(found) == repr(row.id):
                lost = select(problems.c.job).where(problems.c.job.not_in(select(jobs.c.id)))
                ids = connection.execute(lost.limit(2)).scalars().all()
                id_ = ids[0] if len(ids) == 1 and isinstance(ids[0], str) else new_id()
                if connection.execute(update(jobs).where(place == where).values(id=id_)).rowcount:
                    return id_
        raise Collision("another process sets this job aside")

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


def failure_of(why: str) -> dict[str, Any]:
    """Return as what a damaged job has failed."""
    return {"status": 503, "code": "store_damaged", "detail": why, "findings": [], "more": 0}


def failed(row: Row[Any], damaged: Sequence[str]) -> Job:
    """Return a damaged job as if it had been set aside."""
    harmless = {name: BLANK[name] for name in damaged}
    ended = {"state": JobState.FAILED.value, "failure": failure_of(spoilt(damaged))}
    return job_of(SimpleNamespace(**{**row._mapping, **harmless, **ended}))
