"""The queries of a store that change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select, Table, func, select, tuple_

from ..protocol import StoreDamaged, StoreUnavailable, require, sound
from ..records import (
    UNFINISHED,
    Counts,
    Ended,
    Event,
    Job,
    JobFilter,
    JobState,
    PlanHead,
    StoredPlan,
)
from .keeping import find
from .rows import damaged_columns, event_of, head_of, job_of, plan_of
from .tables import BRIEF, events, job_plans, jobs, length, problems, set_aside
from .transactions import Part, failed, spoilt


class Lookups(Part):
    """Jobs, their problems, plans and events, and kept plans."""

    def job(self, id_: str, owner: str | None = None) -> Job | None:
        wanted = select(jobs).where(jobs.c.id == id_)
        if owner is not None:
            wanted = wanted.where(jobs.c.owner == owner)
        found, _ = self._jobs(wanted)
        return found[0] if found else None

    def jobs(self, wanted: JobFilter) -> list[Job]:
        query = select(*BRIEF).where(jobs.c.owner == wanted.owner)
        if wanted.state is not None:
            query = query.where(jobs.c.state == wanted.state.value)
        if wanted.batch is not None:
            query = query.where(jobs.c.batch == wanted.batch)
        if wanted.before is not None:
            query = query.where(jobs.c.id < wanted.before)
        query, most = query.order_by(jobs.c.id.desc()), wanted.limit
        while True:
            found, count = self._jobs(query.limit(most))
            if count < most or len(found) >= wanted.limit:
                return found[: wanted.limit]
            most += wanted.limit - len(found)  # some cannot be told of, and a short page would be the last

    def ended(self, owner: str, batch: str, after: Ended, limit: int = 100) -> list[Job]:
        place = tuple_(jobs.c.finished, jobs.c.id)
        query = select(*BRIEF).where(jobs.c.owner == owner, jobs.c.batch == batch, place > tuple_(*after))
        return self._jobs(query.order_by(jobs.c.finished, jobs.c.id).limit(limit))[0]

    def _jobs(self, query: Select[Any]) -> tuple[list[Job], int]:
        """Return those jobs, and how many there are with those that cannot be told of. A damaged one is set aside, and has failed."""
        with self.read() as connection:
            rows = connection.execute(query).all()
        found = (self._after_damage(row, damaged) if (damaged := damaged_columns(row)) else job_of(row) for row in rows)
        return [job for job in found if job is not None], len(rows)

    def _after_damage(self, row: Row[Any], damaged: Sequence[str]) -> Job | None:
        """Return what has become of a damaged job. If nothing can be written now, it is set aside later; without an id it cannot be told of until then."""
        try:
            with self.write() as connection:
                if "id" not in damaged:
                    return self._job(connection, row.id)
                return job_of(self._row(connection, self._set_aside(connection, row, spoilt(damaged), damaged)))
        except StoreDamaged:
            raise
        except StoreUnavailable:
            return None if "id" in damaged else failed(row, damaged)

    def batch_counts(self, owner: str, batch: str) -> tuple[int, int]:
        columns = func.count(), func.count().filter(jobs.c.state.in_(UNFINISHED))
        with self.read() as connection:
            row = connection.execute(select(*columns).where(jobs.c.owner == owner, jobs.c.batch == batch)).one()
        return row[0], row[1]

    def has_ended(self, owner: str, batch: str) -> bool:
        with self.read() as connection:
            return self._has_ended(connection, owner, batch)

    def counts(self) -> Counts:
        with self.read() as connection:
            rows = connection.execute(select(jobs.c.state, func.count()).group_by(jobs.c.state))
            states = {each.value: each for each in JobState}
            return Counts({states[state]: number for state, number in rows if state in states})

    def set_aside(self) -> int:
        with self.read() as connection:
            return int(connection.execute(select(func.count()).select_from(set_aside)).scalar_one())

    def problem(self, id_: str) -> bytes | None:
        with self.read() as connection:
            found = connection.execute(select(problems).where(problems.c.job == id_)).one_or_none()
            return None if found is None else sound(found.data, found.checksum)

    def plan(self, id_: str) -> StoredPlan | None:
        with self.read() as connection:
            row = connection.execute(select(job_plans).where(job_plans.c.job == id_)).one_or_none()
            return None if row is None else plan_of(row)

    def problem_size(self, id_: str) -> int | None:
        with self.read() as connection:
            size: int | None = connection.execute(select(length(problems)).where(problems.c.job == id_)).scalar()
        return size

    def problem_piece(self, id_: str, start: int, size: int) -> bytes:
        with self.read() as connection:
            return self.database.piece(connection, problems, id_, start, size)

    def check_problem(self, id_: str, found: int) -> None:
        self._check(problems, id_, found)

    def check_plan(self, id_: str, found: int) -> None:
        self._check(job_plans, id_, found)

    def _check(self, table: Table, id_: str, found: int) -> None:
        with self.read() as connection:
            require(found, connection.execute(select(table.c.checksum).where(table.c.job == id_)).scalar())

    def plan_head(self, id_: str) -> PlanHead | None:
        head = (job_plans.c.etag, job_plans.c.summary, job_plans.c.created, length(job_plans).label("size"))
        with self.read() as connection:
            row = connection.execute(select(*head).where(job_plans.c.job == id_)).one_or_none()
        return None if row is None else head_of(row)

    def plan_piece(self, id_: str, start: int, size: int) -> bytes:
        with self.read() as connection:
            return self.database.piece(connection, job_plans, id_, start, size)

    def events(self, id_: str, after: int, limit: int = 100) -> list[Event]:
        query = select(events).where(events.c.job == id_, events.c.number > after).order_by(events.c.number)
        with self.read() as connection:
            return [event_of(row) for row in connection.execute(query.limit(limit))]

    def kept(self, owner: str, key: str) -> StoredPlan | None:
        with self.read() as connection:
            try:
                return find(connection, owner, key)
            except StoreDamaged as damaged:  # the plan can be made again
                self.database.noted(damaged)
                return None
