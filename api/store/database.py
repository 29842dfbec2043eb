"""The Store over a database."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from .errors import KeyReused, QueueFull
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
    NewJob,
    Once,
    QueueLimits,
    StoredPlan,
    Summary,
)
from .rows import change, gap_of, job_of, plan_of, plan_values, values_of
from .sql import Database
from .tables import events, job_plans, jobs, once, plans, problems

SMALL = 1 << 16
"""Problems up to here are limited by their number alone."""
UNFINISHED = (JobState.QUEUED.value, JobState.RUNNING.value)


class DatabaseStore(Database):
    """Jobs and plans in tables. Every write is one transaction."""

    def add(
        self,
        new: NewJob,
        problem: bytes,
        limits: QueueLimits,
        once: Once | None = None,
        answer: StoredPlan | None = None,
    ) -> Added:
        with self.write() as connection:
            known = None if once is None else self._known(connection, new.owner, once)
            if known is not None:
                return Added(known, is_new=False)
            if answer is None:
                self._require_room(connection, new.owner, len(problem), limits)
            job = self._insert(connection, new, problem, {"state": JobState.QUEUED.value})
            if once is not None:
                self._note_once(connection, new.owner, once, job.id)
            if answer is None:
                return Added(job, is_new=True)
            connection.execute(insert(job_plans).values(job=job.id, best=answer.summary.best, **plan_values(answer)))
            self._end(connection, self._row(connection, job.id), End(JobState.SUCCEEDED, answer.summary), has_plan=True)
            return Added(job_of(self._row(connection, job.id)), is_new=True)

    def add_running(self, new: NewJob, problem: bytes) -> Job:
        with self.write() as connection:
            return self._insert(
                connection, new, problem, {"state": JobState.RUNNING.value, "attempt": 1, "started": time.time()}
            )

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

    def claim(self) -> Claim | None:
        queued = jobs.c.state == JobState.QUEUED.value
        with self.read() as connection:  # mostly there is none, and finding that out must not keep others from writing
            if connection.execute(select(jobs.c.id).where(queued).limit(1)).one_or_none() is None:
                return None
        turn = select(jobs).where(queued).order_by(jobs.c.priority.desc(), jobs.c.id)
        with self.write() as connection:
            row = connection.execute(turn.limit(1)).one_or_none()
            if row is None:
                return None
            values = {
                "state": JobState.RUNNING.value,
                "attempt": row.attempt + 1,
                "started": row.started or time.time(),
            }
            change(connection, row, values, (EventKind.STATE, {"state": values["state"], "attempt": values["attempt"]}))
            problem = connection.execute(select(problems.c.data).where(problems.c.job == row.id)).scalar_one()
            return Claim(job_of(self._row(connection, row.id)), problem)

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
                change(connection, row, {"best": best, "bound": bound, "gap": gap}, *said)
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
            self._requeue(connection, row, {})
            return True

    def died(self, id_: str, attempt: int, why: str, most: int) -> Job | None:
        with self.write() as connection:
            row = self._running(connection, id_, attempt)
            return None if row is None else self._bury(connection, row, why, most)

    def recover(self, why: str, most: int) -> list[Job]:
        with self.write() as connection:
            rows = connection.execute(select(jobs).where(jobs.c.state == JobState.RUNNING.value)).all()
            return [self._bury(connection, row, why, most) for row in rows]

    def cancel(self, id_: str, owner: str) -> Job | None:
        with self.write() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == id_, jobs.c.owner == owner)).one_or_none()
            if row is None:
                return None
            if row.state == JobState.QUEUED.value:
                self._end(connection, row, End(JobState.CANCELLED), has_plan=row.has_plan)
            elif row.state == JobState.RUNNING.value:
                connection.execute(update(jobs).where(jobs.c.id == id_).values(cancelling=True))
            return job_of(self._row(connection, id_))

    def plan(self, id_: str) -> StoredPlan | None:
        with self.read() as connection:
            row = connection.execute(select(job_plans).where(job_plans.c.job == id_)).one_or_none()
        return None if row is None else plan_of(row)

    def events(self, id_: str, after: int, limit: int = 100) -> list[Event]:
        query = select(events).where(events.c.job == id_, events.c.number > after).order_by(events.c.number)
        with self.read() as connection:
            rows = connection.execute(query.limit(limit))
            return [Event(row.number, EventKind(row.kind), row.data) for row in rows]

    def keep(self, owner: str, key: str, plan: StoredPlan) -> None:
        with self.write() as connection:
            same = (plans.c.owner == owner, plans.c.key == key)
            if not connection.execute(update(plans).where(*same).values(**plan_values(plan))).rowcount:
                connection.execute(insert(plans).values(owner=owner, key=key, **plan_values(plan)))

    def kept(self, owner: str, key: str) -> StoredPlan | None:
        with self.read() as connection:
            row = connection.execute(select(plans).where(plans.c.owner == owner, plans.c.key == key)).one_or_none()
        return None if row is None else plan_of(row)

    def prune(self, older_than: float, max_bytes: int) -> int:
        with self.write() as connection:
            gone = connection.execute(delete(jobs).where(jobs.c.finished < older_than)).rowcount
            gone += connection.execute(delete(plans).where(plans.c.created < older_than)).rowcount
            return gone + self._shrink(connection, max_bytes)

    def _shrink(self, connection: Connection, max_bytes: int) -> int:
        """Plans go first, since they can be made again; then finished jobs."""
        tables = (plans, problems, job_plans)
        size = sum(connection.execute(select(func.coalesce(func.sum(t.c.size), 0))).scalar_one() for t in tables)
        gone = 0
        for owner, key, bytes_ in connection.execute(
            select(plans.c.owner, plans.c.key, plans.c.size).order_by(plans.c.created)
        ).all():
            if size <= max_bytes:
                return gone
            connection.execute(delete(plans).where(plans.c.owner == owner, plans.c.key == key))
            size, gone = size - bytes_, gone + 1
        sizes = (
            select(jobs.c.id, problems.c.size + func.coalesce(job_plans.c.size, 0)).join(problems).outerjoin(job_plans)
        )
        for id_, bytes_ in connection.execute(
            sizes.where(jobs.c.finished.is_not(None)).order_by(jobs.c.finished)
        ).all():
            if size <= max_bytes:
                return gone
            connection.execute(delete(jobs).where(jobs.c.id == id_))
            size, gone = size - bytes_, gone + 1
        return gone

    def _insert(self, connection: Connection, new: NewJob, problem: bytes, facts: dict[str, Any]) -> Job:
        """A new job, and the first event of it."""
        values = values_of(new) | facts | {"events": 1}
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
        queued = select(func.count()).select_from(jobs).where(jobs.c.state == JobState.QUEUED.value)
        mine = select(func.count()).select_from(jobs).where(jobs.c.state.in_(UNFINISHED), jobs.c.owner == owner)
        waiting, unfinished = connection.execute(select(queued.scalar_subquery(), mine.scalar_subquery())).one()
        if waiting >= limits.queued:
            raise QueueFull("too many jobs are waiting")
        if unfinished >= limits.unfinished:
            raise QueueFull("too many of your jobs are unfinished")
        if size > SMALL:
            held = connection.execute(select(func.coalesce(func.sum(problems.c.size), 0))).scalar_one()
            if held + size > limits.bytes:
                raise QueueFull("the store is full")

    def _row(self, connection: Connection, id_: str) -> Row[Any]:
        return connection.execute(select(jobs).where(jobs.c.id == id_)).one()

    def _running(self, connection: Connection, id_: str, attempt: int) -> Row[Any] | None:
        """The job, if this attempt is still the one that counts."""
        mine = select(jobs).where(jobs.c.id == id_, jobs.c.attempt == attempt, jobs.c.state == JobState.RUNNING.value)
        return connection.execute(mine).one_or_none()

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
        change(connection, row, {**facts, "finished": time.time(), "has_plan": has_plan}, (EventKind.DONE, facts))

    def _requeue(self, connection: Connection, row: Row[Any], values: dict[str, Any]) -> None:
        queued = {"state": JobState.QUEUED.value}
        change(connection, row, {**values, **queued}, (EventKind.STATE, queued))

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
            self._requeue(connection, row, {})
        return job_of(self._row(connection, row.id))

    def _summary(self, connection: Connection, row: Row[Any]) -> Summary | None:
        """Of the plan that is kept, if one is."""
        found = connection.execute(select(job_plans.c.summary).where(job_plans.c.job == row.id)).one_or_none()
        return None if found is None else Summary(**found.summary)


__all__ = ["DatabaseStore"]
