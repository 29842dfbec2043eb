"""The Store over a database."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update

from .errors import Collision, KeyReused, QueueFull
from .kept import find, put
from .pruning import forget_old, shrink
from .records import (
    Added,
    Claim,
    Counts,
    End,
    Event,
    EventKind,
    Job,
    JobFilter,
    JobState,
    Kept,
    NewJob,
    Once,
    QueueLimits,
    StoredPlan,
    Summary,
)
from .room import Room
from .rows import change, gap_of, job_of, plan_of, plan_values, values_of
from .sql import Database, Told
from .tables import events, job_plans, jobs, once, problems

SMALL = 1 << 16
"""Problems up to here are limited by their number alone."""
UNFINISHED = (JobState.QUEUED.value, JobState.RUNNING.value)


class DatabaseStore:
    """Jobs and plans in tables. Every write is one transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.read, self.write = database.read, database.write
        self._room = Room()

    @property
    def shared(self) -> bool:
        return self.database.shared

    def listen(self, told: Told) -> None:
        self.database.listen(told)

    def ping(self) -> None:
        self.database.ping()

    def close(self) -> None:
        self.database.close()

    def add(
        self,
        new: NewJob,
        problem: bytes,
        limits: QueueLimits,
        once: Once | None = None,
        answer: StoredPlan | None = None,
    ) -> Added:
        try:
            return self._add(new, problem, limits, once, answer)
        except Collision:  # the same key at the same moment, and the other one was first
            return self._add(new, problem, limits, once, answer)

    def _add(
        self, new: NewJob, problem: bytes, limits: QueueLimits, once: Once | None, answer: StoredPlan | None
    ) -> Added:
        with self.write() as connection:
            known = None if once is None else self._known(connection, new.owner, once)
            if known is not None:
                return Added(known, is_new=False)
            if answer is None:
                self._require_room(connection, new.owner, len(problem), limits)
            job = self._insert(connection, new, problem, {"state": JobState.QUEUED.value}, queued=answer is None)
            if once is not None:
                self._note_once(connection, new.owner, once, job.id)
            if answer is None:
                return Added(job, is_new=True)
            connection.execute(insert(job_plans).values(job=job.id, best=answer.summary.best, **plan_values(answer)))
            self._end(connection, self._row(connection, job.id), End(JobState.SUCCEEDED, answer.summary), has_plan=True)
            return Added(job_of(self._row(connection, job.id)), is_new=True)

    def add_running(self, new: NewJob, problem: bytes) -> Job:
        with self.write() as connection:
            facts = {"state": JobState.RUNNING.value, "attempt": 1, "started": time.time()}
            return self._insert(connection, new, problem, facts, queued=False)

    def job(self, id_: str, owner: str | None = None) -> Job | None:
        wanted = select(jobs).where(jobs.c.id == id_)
        if owner is not None:
            wanted = wanted.where(jobs.c.owner == owner)
        with self.read() as connection:
            row = connection.execute(wanted).one_or_none()
        return None if row is None else job_of(row)

    def jobs(self, wanted: JobFilter) -> list[Job]:
        query = select(jobs).where(jobs.c.owner == wanted.owner)
        if wanted.state is not None:
            query = query.where(jobs.c.state == wanted.state.value)
        if wanted.batch is not None:
            query = query.where(jobs.c.batch == wanted.batch)
        if wanted.before is not None:
            query = query.where(jobs.c.id < wanted.before)
        with self.read() as connection:
            return [job_of(row) for row in connection.execute(query.order_by(jobs.c.id.desc()).limit(wanted.limit))]

    def counts(self) -> Counts:
        with self.read() as connection:
            rows = connection.execute(select(jobs.c.state, func.count()).group_by(jobs.c.state))
            return Counts({JobState(state): number for state, number in rows})

    def remove(self, id_: str) -> None:
        with self.write() as connection:
            connection.execute(delete(jobs).where(jobs.c.id == id_))

    def claim(self, id_: str | None = None, delivery: int | None = None) -> Claim | None:
        queued = jobs.c.state == JobState.QUEUED.value
        if id_ is not None:
            queued = and_(queued, jobs.c.id == id_, jobs.c.delivery == delivery)
        elif self._is_empty():
            return None
        else:  # said like this, the index leads to the one row that is wanted, and thousands that wait are not sorted
            most = select(func.max(jobs.c.priority)).where(queued).scalar_subquery()
            queued = and_(queued, jobs.c.priority == most)
        turn = select(jobs).where(queued).order_by(jobs.c.id)
        with self.write() as connection:
            row = connection.execute(turn.limit(1).with_for_update(skip_locked=id_ is None)).one_or_none()
            if row is None:
                return None
            values = {
                "state": JobState.RUNNING.value,
                "attempt": row.attempt + 1,
                "started": row.started or time.time(),
            }
            said = (EventKind.STATE, {"state": values["state"], "attempt": values["attempt"]})
            self._change(connection, row, values, said)
            problem = connection.execute(select(problems.c.data).where(problems.c.job == row.id)).scalar_one()
            best = connection.execute(select(job_plans.c.data).where(job_plans.c.job == row.id)).scalar_one_or_none()
            return Claim(job_of(self._row(connection, row.id)), problem, best)

    def _is_empty(self) -> bool:
        """Mostly no job waits, and finding that out must not keep others from writing."""
        queued = jobs.c.state == JobState.QUEUED.value
        with self.read() as connection:
            return connection.execute(select(jobs.c.id).where(queued).limit(1)).one_or_none() is None

    def improve(self, id_: str, attempt: int, best: int | None, bound: int | None, seconds: float) -> bool:
        with self.write() as connection:
            row = self._running(connection, id_, attempt)
            if row is None:
                return False
            # An earlier attempt may have come further than this one has so far.
            best = min((value for value in (best, row.best) if value is not None), default=None)
            bound = max((value for value in (bound, row.bound) if value is not None), default=None)
            gap = gap_of(best, bound)
            said: list[tuple[EventKind, dict[str, Any]]] = []
            if best != row.best:
                said.append((EventKind.INCUMBENT, {"best": best, "gap": gap, "seconds": seconds}))
            if bound != row.bound:
                said.append((EventKind.BOUND, {"bound": bound, "gap": gap, "seconds": seconds}))
            if said:
                self._change(connection, row, {"best": best, "bound": bound, "gap": gap}, *said)
            return True

    def save(self, id_: str, attempt: int, plan: StoredPlan) -> bool:
        with self.write() as connection:
            row = self._running(connection, id_, attempt)
            if row is None:
                return False
            if not self._is_worse(connection, id_, plan.summary):
                self._put_plan(connection, id_, plan)
                connection.execute(update(jobs).where(jobs.c.id == id_).values(has_plan=True))
            return True

    def finish(self, id_: str, attempt: int, end: End) -> bool:
        with self.write() as connection:
            row = self._running(connection, id_, attempt)
            if row is None:
                return False
            plan, has_plan = end.plan, row.has_plan
            if plan is not None and self._is_worse(connection, id_, plan.summary):
                end = replace(end, summary=self._summary(connection, row))
            elif plan is not None:
                self._put_plan(connection, id_, plan)
                has_plan = True
            self._end(connection, row, end, has_plan=has_plan)
            return True

    def release(self, id_: str, attempt: int) -> bool:
        with self.write() as connection:
            row = self._running(connection, id_, attempt)
            if row is None:
                return False
            self._requeue(connection, row)
            return True

    def died(self, id_: str, attempt: int, why: str, most: int) -> Job | None:
        with self.write() as connection:
            row = self._running(connection, id_, attempt)
            return None if row is None else self._bury(connection, row, why, most)

    def redeliver(self, id_: str, delivery: int) -> bool:
        this = and_(jobs.c.id == id_, jobs.c.state == JobState.QUEUED.value, jobs.c.delivery == delivery)
        with self.write() as connection:
            row = connection.execute(select(jobs).where(this).with_for_update()).one_or_none()
            if row is not None:
                again = self.database.deliver(connection, id_, row.priority)
                self._change(connection, row, {"delivery": again})
            return row is not None

    def recover(self, why: str, most: int) -> list[Job]:
        with self.write() as connection:
            running = select(jobs).where(jobs.c.state == JobState.RUNNING.value)
            rows = connection.execute(running.with_for_update()).all()
            return [self._bury(connection, row, why, most) for row in rows]

    def cancel(self, id_: str, owner: str) -> Job | None:
        with self.write() as connection:
            mine = select(jobs).where(jobs.c.id == id_, jobs.c.owner == owner)
            row = connection.execute(mine.with_for_update()).one_or_none()
            if row is None:
                return None
            if row.state == JobState.QUEUED.value:
                self._end(connection, row, End(JobState.CANCELLED), has_plan=row.has_plan)
            elif row.state == JobState.RUNNING.value:
                self._change(connection, row, {"cancelling": True})
            if row.state in UNFINISHED:
                self.database.withdraw(connection, row.delivery)
            return job_of(self._row(connection, id_))

    def problem(self, id_: str) -> bytes | None:
        with self.read() as connection:
            data: bytes | None = connection.execute(select(problems.c.data).where(problems.c.job == id_)).scalar()
        return data

    def plan(self, id_: str) -> StoredPlan | None:
        with self.read() as connection:
            row = connection.execute(select(job_plans).where(job_plans.c.job == id_)).one_or_none()
        return None if row is None else plan_of(row)

    def events(self, id_: str, after: int, limit: int = 100) -> list[Event]:
        query = select(events).where(events.c.job == id_, events.c.number > after).order_by(events.c.number)
        with self.read() as connection:
            rows = connection.execute(query.limit(limit))
            return [Event(row.number, EventKind(row.kind), row.data) for row in rows]

    def keep(self, kept: Sequence[Kept]) -> None:
        try:
            with self.write() as connection:
                put(connection, kept)
        except Collision:  # somebody else keeps one of them at this moment
            if len(kept) > 1:
                for each in kept:
                    self.keep([each])

    def kept(self, owner: str, key: str) -> StoredPlan | None:
        with self.read() as connection:
            return find(connection, owner, key)

    def prune(self, older_than: float, max_bytes: int) -> int:
        with self.write() as connection:
            if not self.database.is_alone(connection, "prune"):
                return 0
            return forget_old(connection, older_than) + shrink(connection, max_bytes)

    def _insert(
        self, connection: Connection, new: NewJob, problem: bytes, facts: dict[str, Any], *, queued: bool
    ) -> Job:
        """A new job, and the first event of it."""
        values = values_of(new) | facts | {"events": 1}
        if queued:
            values["delivery"] = self.database.deliver(connection, values["id"], values["priority"])
        said = {name: values[name] for name in ("state", "attempt") if name in facts}
        connection.execute(insert(jobs).values(**values))
        connection.execute(insert(problems).values(job=values["id"], data=problem, size=len(problem)))
        connection.execute(insert(events).values(job=values["id"], number=1, kind=EventKind.STATE.value, data=said))
        return job_of(SimpleNamespace(**values))

    def _known(self, connection: Connection, owner: str, asked: Once) -> Job | None:
        row = connection.execute(select(once).where(once.c.owner == owner, once.c.key == asked.key)).one_or_none()
        if row is None:
            return None
        if row.fingerprint != asked.fingerprint:
            raise KeyReused
        return job_of(self._row(connection, row.job))

    def _note_once(self, connection: Connection, owner: str, asked: Once, id_: str) -> None:
        connection.execute(insert(once).values(owner=owner, key=asked.key, fingerprint=asked.fingerprint, job=id_))

    def _require_room(self, connection: Connection, owner: str, size: int, limits: QueueLimits) -> None:
        if not self._room.take(owner, limits):
            self._count(connection, owner, limits)
        if size > SMALL:
            held = connection.execute(select(func.coalesce(func.sum(problems.c.size), 0))).scalar_one()
            if held + size > limits.bytes:
                raise QueueFull("the store is full")

    def _count(self, connection: Connection, owner: str, limits: QueueLimits) -> None:
        """Those that are there already. Raises QueueFull if one more would be too many."""
        queued = select(func.count()).select_from(jobs).where(jobs.c.state == JobState.QUEUED.value)
        mine = select(func.count()).select_from(jobs).where(jobs.c.state.in_(UNFINISHED), jobs.c.owner == owner)
        waiting, unfinished = connection.execute(select(queued.scalar_subquery(), mine.scalar_subquery())).one()
        if waiting >= limits.queued:
            raise QueueFull("too many jobs are waiting")
        if unfinished >= limits.unfinished:
            raise QueueFull("too many of your jobs are unfinished")
        self._room.counted(owner, limits, limits.unfinished - unfinished, limits.queued - waiting)

    def _row(self, connection: Connection, id_: str) -> Row[Any]:
        return connection.execute(select(jobs).where(jobs.c.id == id_)).one()

    def _running(self, connection: Connection, id_: str, attempt: int) -> Row[Any] | None:
        """The job, if this attempt is still the one that counts."""
        mine = select(jobs).where(jobs.c.id == id_, jobs.c.attempt == attempt, jobs.c.state == JobState.RUNNING.value)
        return connection.execute(mine.with_for_update()).one_or_none()

    def _change(
        self, connection: Connection, row: Row[Any], values: dict[str, Any], *said: tuple[EventKind, Mapping[str, Any]]
    ) -> None:
        change(connection, row, values, *said)
        self.database.announce(connection, row.id)

    def _is_worse(self, connection: Connection, id_: str, summary: Summary) -> bool:
        """Is a better plan kept already? An answer that is proven is never worse."""
        if summary.status in ("optimal", "infeasible"):
            return False
        row = connection.execute(select(job_plans.c.best).where(job_plans.c.job == id_)).one_or_none()
        if row is None or row.best is None:
            return False
        return summary.best is None or summary.best > row.best

    def _put_plan(self, connection: Connection, id_: str, plan: StoredPlan) -> None:
        connection.execute(delete(job_plans).where(job_plans.c.job == id_))
        connection.execute(insert(job_plans).values(job=id_, best=plan.summary.best, **plan_values(plan)))

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
        ended = {**facts, "finished": time.time(), "has_plan": has_plan}
        self._change(connection, row, ended, (EventKind.DONE, facts))

    def _requeue(self, connection: Connection, row: Row[Any]) -> None:
        queued = {"state": JobState.QUEUED.value}
        delivery = self.database.deliver(connection, row.id, row.priority)
        self._change(connection, row, {**queued, "delivery": delivery}, (EventKind.STATE, queued))

    def _bury(self, connection: Connection, row: Row[Any], why: str, most: int) -> Job:
        deaths = row.deaths + 1
        connection.execute(update(jobs).where(jobs.c.id == row.id).values(deaths=deaths))
        if row.cancelling:
            self._end(connection, row, End(JobState.CANCELLED, self._summary(connection, row)), has_plan=row.has_plan)
        elif deaths >= most:
            failure = {
                "status": 503,
                "code": "worker_died",
                "detail": f"{deaths} workers ended while they worked on this, the last one because {why}",
                "findings": [],
                "more": 0,
            }
            end = End(JobState.FAILED, self._summary(connection, row), failure=failure)
            self._end(connection, row, end, has_plan=row.has_plan)
        else:
            self._requeue(connection, row)
        return job_of(self._row(connection, row.id))

    def _summary(self, connection: Connection, row: Row[Any]) -> Summary | None:
        """Of the plan that is kept, if one is."""
        found = connection.execute(select(job_plans.c.summary).where(job_plans.c.job == row.id)).one_or_none()
        return None if found is None else Summary(**found.summary)


__all__ = ["DatabaseStore"]
