"""The Store over a database: what happens to its jobs from queueing until they are forgotten."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, insert, select, update

from ..protocol import Collision, StoreDamaged, sound
from ..records import UNFINISHED, Claim, End, EventKind, Job, JobState, Kept, Look, StoredPlan, Summary, Where
from .databases.database import Database, Delivery, Told
from .intake import Intake
from .keeping import REST_SECONDS, forget_old, put, shrink
from .lookups import Lookups
from .rows import gap_of, job_of, plan_of, plan_row, summary_of
from .tables import BRIEF, ended_batches, job_plans, jobs, problems
from .turns import Turns, of


class DatabaseStore(Intake, Lookups):
    """Jobs and plans in tables."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._turns = Turns()

    @property
    def shared(self) -> bool:
        return self.database.shared

    def listen(self, on_change: Told) -> None:
        self.database.listen(on_change)

    def ping(self) -> None:
        self.database.ping()

    def close(self) -> None:
        self.database.close()

    def remove(self, id_: str) -> None:
        with self.write() as connection:
            connection.execute(delete(jobs).where(jobs.c.id == id_))

    def claim(
        self,
        id_: str | None = None,
        delivery: int | None = None,
        *,
        short: bool = False,
        look: bool = False,
        where: Where | None = None,
    ) -> Claim | None:
        if id_ is None and self._is_empty(where):
            return None
        with self.write() as connection:
            found = None
            while found is None:
                if id_ is None:
                    row = self._turns.next(connection, short=short, look=look, where=where)
                else:
                    row = self._delivered(connection, id_, delivery)
                if row is None:
                    return None
                found = self._sound_with_problem(connection, row)
            row, problem = found
            if delivery is not None and not look:
                self.database.begin(connection, delivery)
            values = {
                "state": JobState.RUNNING.value,
                "attempt": row.attempt + 1,
                "started": row.started or time.time(),
                "look": Look.BEGUN.value if look else None,
            }
            event = (EventKind.STATE, {"state": values["state"], "attempt": values["attempt"]})
            self._change(connection, row, values, event)
            return Claim(job_of(self._row(connection, row.id)), problem, self._best(connection, row.id))

    def _delivered(self, connection: Connection, id_: str, delivery: int | None) -> Row[Any] | None:
        """Return the queued job of this delivery. If none has the id, it may be damaged."""
        this = select(jobs).where(jobs.c.state == JobState.QUEUED.value, jobs.c.delivery == delivery).with_for_update()
        row = connection.execute(this.where(jobs.c.id == id_)).one_or_none()
        return connection.execute(this).one_or_none() if row is None and delivery is not None else row

    def _sound_with_problem(self, connection: Connection, row: Row[Any]) -> tuple[Row[Any], bytes] | None:
        """Return a job's row and its problem. If either is damaged the job is set aside: nobody can carry it out."""
        if not self._if_sound(connection, [row]):
            return None
        found = connection.execute(select(problems).where(problems.c.job == row.id)).one_or_none()
        if found is None:
            self._set_aside(connection, row, "its problem is not there")
            return None
        try:
            return row, sound(found.data, found.checksum)
        except StoreDamaged:
            self._set_aside(connection, row, "its problem is not what was written")
            return None

    def _best(self, connection: Connection, id_: str) -> bytes | None:
        """Return the best plan of an earlier attempt. One that is damaged is not missed."""
        row = connection.execute(select(job_plans).where(job_plans.c.job == id_)).one_or_none()
        try:
            return None if row is None else plan_of(row).data
        except StoreDamaged as damaged:
            self.database.noted(damaged)
            return None

    def _is_empty(self, where: Where | None) -> bool:
        """True if no job waits, as usual; finding that out must not keep others from writing."""
        queued = and_(jobs.c.state == JobState.QUEUED.value, of(where))
        with self.read() as connection:
            return connection.execute(select(jobs.c.id).where(queued).limit(1)).one_or_none() is None

    def improve(self, id_: str, attempt: int, best: int | None, bound: int | None, seconds: float) -> bool:
        with self.write() as connection:
            row = self._running(connection, id_, attempt)
            if row is None:
                return False
            # an earlier attempt may have come further than this one has so far
            best = min((value for value in (best, row.best) if value is not None), default=None)
            bound = max((value for value in (bound, row.bound) if value is not None), default=None)
            gap = gap_of(best, bound)
            events: list[tuple[EventKind, dict[str, Any]]] = []
            if best != row.best:
                events.append((EventKind.INCUMBENT, {"best": best, "gap": gap, "seconds": seconds}))
            if bound != row.bound:
                events.append((EventKind.BOUND, {"bound": bound, "gap": gap, "seconds": seconds}))
            if events:
                self._change(connection, row, {"best": best, "bound": bound, "gap": gap}, *events)
            return True

    def save(self, id_: str, attempt: int, plan: StoredPlan, points: Sequence[Mapping[str, Any]] = ()) -> bool:
        with self.write() as connection:
            row = self._running(connection, id_, attempt)
            if row is None:
                return False
            if not self._is_worse(connection, id_, plan.summary):
                self._put_plan(connection, id_, plan)
                connection.execute(update(jobs).where(jobs.c.id == id_).values(has_plan=True))
            if points:
                self._change(connection, row, {}, *((EventKind.POINT, point) for point in points))
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
            if row.cancelling:
                self._end_cancelled(connection, row)
            else:
                self._requeue(connection, row)
            return True

    def died(self, id_: str, attempt: int, why: str, most: int) -> Job | None:
        with self.write() as connection:
            row = self._running(connection, id_, attempt)
            return None if row is None else self._bury(connection, row, why, most)

    def redeliver(self, id_: str, delivery: int) -> bool:
        this = and_(jobs.c.id == id_, jobs.c.state == JobState.QUEUED.value, jobs.c.delivery == delivery)
        with self.write() as connection:
            row = self._one(connection, select(*BRIEF).where(this).with_for_update())
            if row is not None:
                again = self._deliver_again(connection, row)
                self._change(connection, row, {"delivery": again})
            return row is not None

    def recover(self, why: str, most: int) -> list[Job]:
        with self.write() as connection:
            running = select(*BRIEF).where(jobs.c.state == JobState.RUNNING.value)
            rows = self._sound(connection, running.with_for_update())
            return [self._bury(connection, row, why, most) for row in rows]

    def cancel(self, id_: str, owner: str) -> Job | None:
        with self.write() as connection:
            mine = select(jobs).where(jobs.c.id == id_, jobs.c.owner == owner)
            if connection.execute(mine.with_for_update()).one_or_none() is None:
                return None
            row = self._one(connection, mine)
            if row is not None:
                self._cancel(connection, row)
            return self._job(connection, id_)

    def _cancel(self, connection: Connection, row: Row[Any]) -> None:
        if row.state == JobState.QUEUED.value:
            self._end(connection, row, End(JobState.CANCELLED), has_plan=row.has_plan)
        elif row.state == JobState.RUNNING.value:
            self._change(connection, row, {"cancelling": True})
        if row.state in UNFINISHED:
            self.database.withdraw(connection, row.delivery)

    def end_batch(self, owner: str, batch: str) -> None:
        with self.write() as connection:
            self.database.wait_for_turn(connection, f"batch {batch}", shared=False)
            if not self._has_ended(connection, owner, batch):
                connection.execute(insert(ended_batches).values(owner=owner, batch=batch, created=time.time()))

    def cancel_lines(self, owner: str, batch: str, limit: int = 100) -> list[str]:
        mine = and_(jobs.c.owner == owner, jobs.c.batch == batch, jobs.c.state.in_(UNFINISHED), ~jobs.c.cancelling)
        with self.write() as connection:
            some = select(*BRIEF).where(mine).order_by(jobs.c.id).limit(limit).with_for_update()
            rows = self._sound(connection, some)
            for row in rows:
                self._cancel(connection, row)
            return [row.id for row in rows]

    def keep(self, kept: Sequence[Kept]) -> None:
        try:
            with self.write() as connection:
                put(connection, kept)
        except Collision:  # somebody else keeps one of them at this moment
            if len(kept) > 1:
                for each in kept:
                    self.keep([each])

    def prune(self, older_than: float, max_bytes: int) -> int:
        gone = 0
        while True:
            with self.write() as connection:
                if not self.database.is_alone(connection, "prune"):
                    return gone
                some = forget_old(connection, older_than) + shrink(connection, max_bytes)
            if not some:
                return gone
            gone += some
            time.sleep(REST_SECONDS)

    def _running(self, connection: Connection, id_: str, attempt: int) -> Row[Any] | None:
        """Return the job, if this attempt is still current."""
        mine = and_(jobs.c.id == id_, jobs.c.attempt == attempt, jobs.c.state == JobState.RUNNING.value)
        return self._one(connection, select(*BRIEF).where(mine).with_for_update())

    def _is_worse(self, connection: Connection, id_: str, summary: Summary) -> bool:
        """True if a better plan is kept already. A proven answer is never worse."""
        if summary.status in ("optimal", "infeasible"):
            return False
        row = connection.execute(select(job_plans.c.best).where(job_plans.c.job == id_)).one_or_none()
        if row is None or not isinstance(row.best, int):
            return False
        return summary.best is None or summary.best > row.best

    def _put_plan(self, connection: Connection, id_: str, plan: StoredPlan) -> None:
        connection.execute(delete(job_plans).where(job_plans.c.job == id_))
        connection.execute(insert(job_plans), plan_row(id_, plan))

    def _end_cancelled(self, connection: Connection, row: Row[Any]) -> None:
        self._end(connection, row, End(JobState.CANCELLED, self._summary(connection, row)), has_plan=row.has_plan)

    def _requeue(self, connection: Connection, row: Row[Any]) -> None:
        queued = {"state": JobState.QUEUED.value}
        delivery = self._deliver_again(connection, row)
        self._change(connection, row, {**queued, "delivery": delivery, "look": None}, (EventKind.STATE, queued))

    def _deliver_again(self, connection: Connection, row: Row[Any]) -> int | None:
        return self.database.deliver(connection, Delivery(row.id, row.owner, row.priority, before=row.delivery))

    def _bury(self, connection: Connection, row: Row[Any], why: str, most: int) -> Job:
        # A worker that does not stop in time is killed, which says nothing about the job.
        deaths = row.deaths + (not row.cancelling)
        connection.execute(update(jobs).where(jobs.c.id == row.id).values(deaths=deaths))
        if row.cancelling:
            self._end_cancelled(connection, row)
        elif deaths >= most:
            failure = {
                "status": 503,
                "code": "worker_died",
                "detail": f"its worker died {deaths} times, or the service with it, the last time because {why}; it is not tried again. "
                "If something else ended them, send it again; otherwise make it smaller, or give it less with memory_limit",
                "findings": [],
                "more": 0,
            }
            end = End(JobState.FAILED, self._summary(connection, row), failure=failure)
            self._end(connection, row, end, has_plan=row.has_plan)
        else:
            self._requeue(connection, row)
        return job_of(self._row(connection, row.id, BRIEF))

    def _summary(self, connection: Connection, row: Row[Any]) -> Summary | None:
        """Return the kept plan's summary, if there is one that is sound."""
        found = connection.execute(select(job_plans.c.summary).where(job_plans.c.job == row.id)).one_or_none()
        try:
            return None if found is None else summary_of(found.summary)
        except StoreDamaged as damaged:
            self.database.noted(damaged)
            return None


__all__ = ["DatabaseStore"]
