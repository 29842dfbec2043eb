"""Adding jobs to a store: each of them once, within the limits."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, and_, func, insert, select

from ..protocol import CHANGED, BatchEnded, Collision, KeyReused, QueueFull, StoreDamaged, StoreUnavailable, checksum
from ..records import UNFINISHED, Added, End, EventKind, Job, JobState, Look, NewJob, Once, QueueLimits
from .columns import Damaged
from .databases.database import Database, Delivery
from .rows import job_of, plan_row, values_of
from .tables import BRIEF, events, job_plans, jobs, length, once, problems
from .transactions import Part

SHARE = 64
"""Of the counted room, one part in this many is taken at once and filled without counting again: other processes fill it as well."""
COUNTED_SECONDS = 1.0
"""After this long it is counted again anyway."""
PATIENCE = 5.0
"""In seconds: how long one waits for another that counts."""


@dataclass(slots=True)
class _Places:
    left: int
    until: float
    """On time.monotonic()."""


class Room:
    """What this process may still add without counting: for one owner, and for all together.

    Counting thousands takes longer than adding one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._places: dict[tuple[str | None, QueueLimits], _Places] = {}
        self._taken: Counter[str] = Counter()
        """Places of each owner whose jobs are being written, or about to be: they are not counted among the existing ones."""

    @contextmanager
    def place(
        self, owner: str, limits: QueueLimits, count: Callable[[str, QueueLimits, int, int], tuple[int, int]]
    ) -> Iterator[None]:
        """Have a place for a job until it is written.

        `count` takes places for the owner and for all, beside so many that are taken already, and returns how many. Raises QueueFull.
        """
        if not self._take(owner, limits):
            self._count(owner, limits, count)
        try:
            yield
        finally:
            with self._lock:
                self._taken[owner] -= 1
                self._taken += Counter()  # without owners that have none

    def _take(self, owner: str, limits: QueueLimits) -> bool:
        """Take a place. False: it is unknown whether there is one."""
        with self._lock:
            now = time.monotonic()
            found = [self._places.get((whose, limits)) for whose in (owner, None)]
            if any(places is None or places.left < 1 or places.until < now for places in found):
                return False
            for places in found:
                assert places is not None
                places.left -= 1
            self._taken[owner] += 1
            return True

    def _count(
        self, owner: str, limits: QueueLimits, count: Callable[[str, QueueLimits, int, int], tuple[int, int]]
    ) -> None:
        """Take a place after counting. Nobody else of this process takes any meanwhile."""
        if not self._counting.acquire(timeout=PATIENCE):
            raise StoreUnavailable("the store has too much to do")
        try:
            if self._take(owner, limits):
                return
            until = time.monotonic() + COUNTED_SECONDS
            with self._lock:
                self._places.pop((None, limits), None)
                mine, everybody = self._taken[owner], self._taken.total()
            mine, everybody = count(owner, limits, mine, everybody)
            with self._lock:
                self._places[owner, limits] = _Places(mine - 1, until)
                self._places[None, limits] = _Places(everybody - 1, until)
                self._taken[owner] += 1
        finally:
            self._counting.release()


SMALL = 1 << 16
"""Problems up to this size are limited only by their number."""


class Intake(Part):
    """New jobs: queued, already begun, or answered from what is kept."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._room = Room()

    def add(
        self,
        new: NewJob,
        problem: bytes | bytearray,
        limits: QueueLimits,
        once: Once | None = None,
        end: End | None = None,
    ) -> Added:
        try:
            return self._add(new, problem, limits, once, end)
        except Collision:  # the same key at the same moment, and the other one was first
            return self._add(new, problem, limits, once, end)

    def _add(
        self,
        new: NewJob,
        problem: bytes | bytearray,
        limits: QueueLimits,
        once: Once | None,
        end: End | None,
    ) -> Added:
        full: QueueFull | None = None
        with ExitStack() as stack:
            if end is None:
                try:
                    stack.enter_context(self._room.place(new.owner, limits, self._places))
                except QueueFull as error:
                    full = error
            connection = stack.enter_context(self.write())
            if new.batch is not None:
                self._require_open(connection, new.owner, new.batch)
            known = None if once is None else self._known(connection, new.owner, once)
            if known is not None:
                return Added(known, is_new=False)
            if full is not None:
                raise full
            if end is None:
                self._require_bytes(connection, len(problem), limits)
            job = self._insert(
                connection, new, problem, {"state": JobState.QUEUED.value}, limits if end is None else None
            )
            if once is not None:
                self._note_once(connection, new.owner, once, job.id)
            if end is None:
                self.database.fill_place(connection, new.owner)
                return Added(job, is_new=True)
            if end.plan is not None:
                connection.execute(insert(job_plans), plan_row(job.id, end.plan))
            self._end(connection, self._row(connection, job.id, BRIEF), end, has_plan=end.plan is not None)
            return Added(job_of(self._row(connection, job.id)), is_new=True)

    def add_running(self, new: NewJob, problem: bytes | bytearray) -> Job:
        with self.write() as connection:
            facts = {"state": JobState.RUNNING.value, "attempt": 1, "started": time.time()}
            return self._insert(connection, new, problem, facts, None)

    def _insert(
        self,
        connection: Connection,
        new: NewJob,
        problem: bytes | bytearray,
        facts: dict[str, Any],
        limits: QueueLimits | None,
    ) -> Job:
        """Insert a new job with its first event; with `limits`, those of the queue, it is delivered to a worker."""
        self.database.require_room(connection, len(problem))
        values = values_of(new) | facts | {"events": 1}
        if limits is not None:
            delivery = Delivery(
                values["id"],
                values["owner"],
                values["priority"],
                look=values["look"] is not None,
                has_several_owners=limits.has_several_owners,
            )
            values["delivery"] = self.database.deliver(connection, delivery)
        else:
            values["look"] = None
        event = {name: values[name] for name in ("state", "attempt") if name in facts}
        connection.execute(insert(jobs).values(**values))
        # Compiled statements are cached with the values in them, so these are not.
        connection.execute(
            insert(problems),
            {"job": values["id"], "data": problem, "size": len(problem), "checksum": checksum(problem)},
        )
        connection.execute(insert(events).values(job=values["id"], number=1, kind=EventKind.STATE.value, data=event))
        return job_of(SimpleNamespace(**values))

    def _known(self, connection: Connection, owner: str, idempotency: Once) -> Job | None:
        row = connection.execute(select(once).where(once.c.owner == owner, once.c.key == idempotency.key)).one_or_none()
        if row is None:
            return None
        if isinstance(row.fingerprint, Damaged) or isinstance(row.job, Damaged):
            raise StoreDamaged(CHANGED)
        if connection.execute(select(jobs.c.id).where(jobs.c.id == row.job)).one_or_none() is None:
            raise StoreDamaged(CHANGED)
        if row.fingerprint != idempotency.fingerprint:
            raise KeyReused
        return self._job(connection, row.job)

    def _note_once(self, connection: Connection, owner: str, idempotency: Once, id_: str) -> None:
        connection.execute(
            insert(once).values(owner=owner, key=idempotency.key, fingerprint=idempotency.fingerprint, job=id_)
        )

    def _require_open(self, connection: Connection, owner: str, batch: str) -> None:
        """Raise BatchEnded if it has ended. Otherwise it cannot end before the line is in, and the line ends with it."""
        self.database.wait_for_turn(connection, f"batch {batch}", shared=True)
        if self._has_ended(connection, owner, batch):
            raise BatchEnded

    def _require_bytes(self, connection: Connection, size: int, limits: QueueLimits) -> None:
        if size > SMALL:
            held = connection.execute(select(func.coalesce(func.sum(length(problems)), 0))).scalar_one()
            if held + size > limits.bytes:
                raise QueueFull("the store is full")

    def _places(self, owner: str, limits: QueueLimits, mine: int, everybody: int) -> tuple[int, int]:
        """Take places for the owner and for all, beside those taken by this process and by others; return how many. Raises QueueFull."""
        with self.write() as connection:
            self.database.wait_for_turn(connection, "places", shared=False)
            waiting, unfinished = self._count(connection, owner)
            of_owner, of_all = self.database.others_places(connection, owner)
            free, free_for_owner = (
                limits.queued - waiting - of_all - everybody,
                limits.unfinished - unfinished - of_owner - mine,
            )
            if free < 1:
                raise QueueFull("too many jobs are waiting")
            if free_for_owner < 1:
                raise QueueFull("too many of your jobs are unfinished")
            found = max(free_for_owner // SHARE, 1), max(free // SHARE, 1)
            self.database.take_places(connection, owner, mine + found[0], everybody + found[1])
            return found

    def _count(self, connection: Connection, owner: str) -> tuple[int, int]:
        """Return how many jobs wait, and how many of the owner are unfinished. One in its first look may be put back, so it waits."""
        looked_at = and_(jobs.c.look == Look.BEGUN.value, jobs.c.state == JobState.RUNNING.value)
        queued = select(func.count()).select_from(jobs).where(jobs.c.state == JobState.QUEUED.value)
        in_look = select(func.count()).select_from(jobs).where(looked_at)
        mine = select(func.count()).select_from(jobs).where(jobs.c.state.in_(UNFINISHED), jobs.c.owner == owner)
        counts = select(queued.scalar_subquery() + in_look.scalar_subquery(), mine.scalar_subquery())
        waiting, unfinished = connection.execute(counts).one()
        return waiting, unfinished
