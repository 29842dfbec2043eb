"""Deliveries of jobs to workers, in Procrastinate's tables: written in the same transaction as the store's own, so that both always agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records import Where
from ..turns import is_short_at, where_of
from .database import Delivery
from .sqlstates import trouble

if TYPE_CHECKING:
    import psycopg

QUEUE = "memplan"
SHORT_QUEUE = "memplan_short"
"""Short jobs of the only owner, for which a process is reserved."""
FIRST_QUEUE = "memplan_first"
"""Jobs that are at most looked at so far: long ones, and with several owners all."""
CLUSTER_QUEUE = "memplan_cluster"
"""Jobs for a cluster: workers that have one leave them to it."""
QUEUES = (QUEUE, SHORT_QUEUE, FIRST_QUEUE, CLUSTER_QUEUE)
LOOKING = (SHORT_QUEUE, FIRST_QUEUE)
"""What a worker for short jobs takes: of the others it has a first look at each."""
SOLVE = "memplan.solve"
"""The only kind of task; its argument is the job's id."""
STEPS = "memplan_queue_steps"
"""The completed migrations of Procrastinate."""


class Deliveries:
    """A row for each attempt at a job, from queueing to its end."""

    def __init__(self) -> None:
        from procrastinate import SyncPsycopgConnector
        from procrastinate.manager import JobManager

        self._manager = JobManager(SyncPsycopgConnector())  # is never opened: every call brings its connection

    def add(self, connection: psycopg.Connection[Any], id_: str, queue: str, rank: int) -> int:
        """Have some worker of the queue take the job; return the number of this delivery."""
        from procrastinate.jobs import Job

        new = Job(
            queue=queue,
            task_name=SOLVE,
            task_kwargs={"id_": id_},
            priority=rank,
            lock=None,
            queueing_lock=None,
        )
        with _errors():
            number = self._manager.defer_job(new, connection).id
        assert number is not None
        return number

    def rank_now(self, connection: psycopg.Connection[Any], where: Where) -> int | None:
        """Return the rank of the last job taken, among those at work there, or of the next; there is an index for each."""
        those = "SELECT {}(priority) FROM procrastinate_jobs WHERE status = '{}' AND queue_name = ANY(%({})s)"
        at_work, waiting = those.format("min", "doing", "queues"), those.format("max", "todo", "all")
        queues = [CLUSTER_QUEUE] if where is Where.CLUSTER else [QUEUE, SHORT_QUEUE]
        # first looks are ahead of the line, and do not count as work
        values = {"queues": queues, "all": queues if where is Where.CLUSTER else [*queues, FIRST_QUEUE]}
        return self._number(connection, f"SELECT coalesce(({at_work}), ({waiting}))", values)

    def turn(self, connection: psycopg.Connection[Any], delivery: int) -> tuple[str, int] | None:
        """Return the queue and rank with which to deliver it again, without another first look."""
        wanted = "SELECT queue_name, priority FROM procrastinate_jobs WHERE id = %(id)s"
        with _errors():
            row = connection.execute(wanted, {"id": delivery}).fetchone()
        return None if row is None else (QUEUE if row[0] == FIRST_QUEUE else row[0], row[1])

    def least_rank(self, connection: psycopg.Connection[Any], deliveries: Sequence[int]) -> int | None:
        """Return the least rank of those that have not ended."""
        wanted = "SELECT min(priority) FROM procrastinate_jobs WHERE id = ANY(%(ids)s)"
        return self._number(connection, wanted, {"ids": list(deliveries)})

    def _number(self, connection: psycopg.Connection[Any], wanted: str, values: dict[str, Any]) -> int | None:
        with _errors():
            row = connection.execute(wanted, values).fetchone()
        return None if row is None else row[0]

    def begin(self, connection: psycopg.Connection[Any], delivery: int) -> None:
        """Count it among those at work."""
        with _errors():
            values = {"id": delivery, "queue": QUEUE, "first": FIRST_QUEUE}
            connection.execute(
                "UPDATE procrastinate_jobs SET queue_name = %(queue)s WHERE id = %(id)s AND queue_name = %(first)s",
                values,
            )

    def withdraw(self, connection: psycopg.Connection[Any], delivery: int) -> None:
        """Withdraw it; a worker that has it is told to stop."""
        with _errors():
            self._manager.cancel_job_by_id(delivery, abort=True, delete_job=True, connection=connection)

    def migrate(self, connection: psycopg.Connection[Any]) -> None:
        """Bring Procrastinate's tables to the installed version: all at once, or the additions of newer versions."""
        from procrastinate.schema import SchemaManager

        steps = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
        connection.execute(f"CREATE TABLE IF NOT EXISTS {STEPS} (name text PRIMARY KEY)")
        made = {name for (name,) in connection.execute(f"SELECT name FROM {STEPS}")}
        missing = [step for step in steps if step.name not in made]
        if not made:
            connection.execute(SchemaManager.get_schema())
        else:
            for step in missing:
                connection.execute(step.read_bytes())
        for step in missing:
            connection.execute(f"INSERT INTO {STEPS} VALUES (%s)", (step.name,))


def queue_of(delivery: Delivery) -> str:
    """Return where to deliver a job. Of several owners' jobs, short ones may not have a process whole: others would wait for it."""
    if where_of(delivery.priority) is Where.CLUSTER:
        return CLUSTER_QUEUE
    if is_short_at(delivery.priority) and not delivery.has_several_owners:
        return SHORT_QUEUE
    return FIRST_QUEUE if delivery.look else QUEUE


@contextmanager
def _errors() -> Iterator[None]:
    import psycopg
    from procrastinate.exceptions import ConnectorException

    try:
        yield
    except ConnectorException as error:
        raise trouble("the queue", error.__cause__) from error
    except psycopg.Error as error:
        raise trouble("the queue", error) from error
