"""The order of owners among jobs that PostgreSQL delivers to workers on other machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from api.store import Store
from api.store.opening import open_store
from api.store.records import About, End, JobState, NewJob, Where
from api.store.sql.databases.deliveries import FIRST_QUEUE, QUEUE, SHORT_QUEUE
from api.store.sql.turns import LOOKED_AT_BUFFERS
from tests.api.store.conftest import LIMITS
from tests.running.postgresql import Server


class Queue:
    """A store, and a worker that takes the next delivery."""

    def __init__(self, url: str) -> None:
        self.store: Store = open_store(url)
        self._line = psycopg.connect(url, autocommit=True)

    def add(
        self,
        owner: str,
        count: int,
        *,
        seconds: float = 600.0,
        urgent: bool = False,
        where: Where = Where.HERE,
        buffers: int = 3,
        has_several_owners: bool = False,
    ) -> None:
        about = About("key", "digest", owner, buffers, {"time_limit": seconds}, (), None)
        limits = replace(LIMITS, has_several_owners=has_several_owners)
        for _ in range(count):
            self.store.add(NewJob(owner, about, urgent, where=where), b"{}", limits)

    def take(self, count: int, *, ends: bool = True) -> str:
        """Take the next jobs and return their owners."""
        taken = ""
        for _ in range(count):
            found = self._line.execute(
                "UPDATE procrastinate_jobs SET status = 'doing' WHERE id = (SELECT id FROM procrastinate_jobs WHERE status = 'todo' "
                "ORDER BY priority DESC, id LIMIT 1) RETURNING id, args->>'id_'"
            ).fetchone()
            assert found is not None
            claim = self.store.claim(found[1], found[0])
            assert claim is not None
            taken += claim.job.owner
            if ends:
                assert self.store.finish(claim.job.id, claim.job.attempt, End(JobState.CANCELLED))
                self._line.execute("DELETE FROM procrastinate_jobs WHERE id = %s", (found[0],))
        return taken

    def put_back(self) -> None:
        """Have all that run delivered again."""
        for id_, number in self._line.execute("SELECT args->>'id_', id FROM procrastinate_jobs ORDER BY id").fetchall():
            job = self.store.job(id_)
            assert job is not None
            assert self.store.release(id_, job.attempt)
            self._line.execute("DELETE FROM procrastinate_jobs WHERE id = %s", (number,))

    def queues(self) -> list[str]:
        return [name for (name,) in self._line.execute("SELECT queue_name FROM procrastinate_jobs ORDER BY id")]

    def close(self) -> None:
        self._line.close()
        self.store.close()


@pytest.fixture
def queue(postgresql: Server) -> Iterator[Queue]:
    made = Queue(postgresql.new_database())
    yield made
    made.close()


def test_a_later_owner_takes_turns_with_one_who_has_many_jobs(queue: Queue) -> None:
    queue.add("a", 40)
    assert queue.take(20) == "a" * 20
    queue.add("b", 10)
    assert queue.take(20) in ("ab" * 10, "ba" * 10), "b passes no more than half of what a has waited with"
    queue.add("c", 1)
    assert "c" in queue.take(2), "and who has one waits for one of each other at most"
    assert queue.take(9) == "a" * 9


def test_jobs_added_later_wait_behind_their_owner_s_others(queue: Queue) -> None:
    for _ in range(5):
        queue.add("a", 2)
        queue.add("b", 1)
    assert sorted(queue.take(10)) == ["a"] * 5 + ["b"] * 5
    assert queue.take(5) == "a" * 5


def test_an_owner_with_running_jobs_waits_for_one_without(queue: Queue) -> None:
    queue.add("a", 4)
    assert queue.take(4, ends=False) == "aaaa"
    queue.add("a", 1)
    queue.add("b", 1)
    assert queue.take(2) == "ba"


def test_urgent_and_short_jobs_pass_their_owner_s_others(queue: Queue) -> None:
    queue.add("a", 3)
    queue.add("b", 1)
    queue.add("a", 1, seconds=2.0, urgent=True)
    assert queue.take(1) == "a"
    assert sorted(queue.take(2)) == ["a", "b"]


def test_what_cannot_be_over_in_a_look_is_not_delivered_for_one(queue: Queue) -> None:
    queue.add("a", 1)
    queue.add("a", 1, buffers=LOOKED_AT_BUFFERS + 1)
    assert queue.queues() == [FIRST_QUEUE, QUEUE]


def test_short_jobs_of_several_owners_have_no_worker_reserved(queue: Queue) -> None:
    """Their reserved worker only looks at them; what that does not end is carried out by the others, also when it is delivered again."""
    queue.add("a", 1, seconds=10.0)
    queue.add("a", 1, seconds=10.0, has_several_owners=True)
    queue.add("a", 1, seconds=10.0, has_several_owners=True, buffers=LOOKED_AT_BUFFERS + 1)
    assert queue.queues() == [SHORT_QUEUE, FIRST_QUEUE, QUEUE]
    assert queue.take(3, ends=False) == "aaa"
    queue.put_back()
    assert queue.queues() == [SHORT_QUEUE, QUEUE, QUEUE]


def test_jobs_for_a_cluster_have_turns_of_their_own(queue: Queue) -> None:
    queue.add("a", 30, where=Where.CLUSTER)
    queue.add("a", 1)
    queue.add("b", 1)
    assert sorted(queue.take(4)) in (["a", "a", "a", "b"], ["a", "a", "b"])
