"""Faults between workers and their queue: workers that vanish at any moment, broken connections, late messages."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from unittest.mock import Mock

import psycopg
import pytest
from procrastinate import App, PsycopgConnector
from procrastinate.jobs import Job as Delivery
from psycopg_pool import PoolTimeout
from structlog.testing import capture_logs

from api.jobs.queue.consumer import QueueWorker, together
from api.jobs.queue.patient_queue import pool
from api.store import Store, StoreUnavailable
from api.store.opening import open_store
from api.store.records import EventKind, JobState
from api.store.sql.databases.deliveries import QUEUES
from tests.api.jobs.rigs import FOREVER, SLOW, STALLED_SECONDS, Rig, add, rig, until, with_rig
from tests.running.postgresql import Server


@pytest.fixture
def url(postgresql: Server) -> str:
    return postgresql.new_database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with contextlib.closing(open_store(url)) as made:
        yield made


@asynccontextmanager
async def app(url: str) -> AsyncIterator[App]:
    """Open the queue as a worker sees it."""
    async with App(connector=PsycopgConnector(conninfo=url)).open_async() as made:
        yield made


async def fetch(made: App) -> Delivery:
    """Fetch a delivery as a worker that is silent from then on."""
    manager = made.job_manager
    delivery = await manager.fetch_job(list(QUEUES), await manager.register_worker())
    assert delivery is not None
    return delivery


def deliveries(url: str) -> list[tuple[str, int]]:
    with psycopg.connect(url) as connection:
        return list(connection.execute("SELECT status::text, id FROM procrastinate_jobs"))


async def until_tidy(url: str) -> None:
    """Wait until no deliveries of jobs are left."""
    async with asyncio.timeout(120):
        while deliveries(url):
            await asyncio.sleep(0.05)


def test_a_worker_lost_before_it_began_is_replaced_and_no_job_blamed(url: str, store: Store) -> None:
    async def work() -> None:
        job = add(store)
        async with app(url) as gone:
            await fetch(gone)
        async with rig(url, stalled_seconds=STALLED_SECONDS):
            now = await until(store, job, lambda now: now.state.is_final)
            assert (now.state, now.attempt, now.deaths) == (JobState.SUCCEEDED, 1, 0)
            await until_tidy(url)

    asyncio.run(work())


def test_a_worker_lost_amid_a_job_is_replaced_and_its_late_messages_ignored(url: str, store: Store) -> None:
    async def work() -> None:
        job = add(store)
        async with app(url) as gone:
            delivery = await fetch(gone)
            assert store.claim(job.id, delivery.id) is not None
            async with rig(url, stalled_seconds=STALLED_SECONDS):
                now = await until(store, job, lambda now: now.state.is_final)
                assert (now.state, now.attempt, now.deaths) == (JobState.SUCCEEDED, 2, 1)
                await until_tidy(url)
            assert store.claim(job.id, delivery.id) is None
            assert not store.improve(job.id, 1, 1, 1, 0.0)
            assert store.job(job.id) == now

    asyncio.run(work())


def test_a_job_with_which_three_workers_vanished_is_given_up(url: str, store: Store) -> None:
    async def work() -> None:
        job = add(store)
        for attempt in (1, 2):
            store.claim()
            store.died(job.id, attempt, "x", 3)
        async with app(url) as gone:
            delivery = await fetch(gone)
            assert store.claim(job.id, delivery.id) is None, "an old delivery"
            delivery = await fetch(gone)
            delivery = await fetch(gone)
            assert store.claim(job.id, delivery.id) is not None
        async with rig(url, stalled_seconds=STALLED_SECONDS):
            now = await until(store, job, lambda now: now.state.is_final)
            assert now.failure is not None
            assert (now.state, now.deaths, now.failure["code"]) == (JobState.FAILED, 3, "worker_died")
            assert "nothing was heard of it" in now.failure["detail"]
            await until_tidy(url)

    asyncio.run(work())


def test_a_job_that_was_to_stop_when_its_worker_vanished_is_not_begun_again(url: str, store: Store) -> None:
    async def work() -> None:
        job = add(store)
        async with app(url) as gone:
            delivery = await fetch(gone)
            store.claim(job.id, delivery.id)
            store.cancel(job.id, "me")
            await gone.job_manager.retry_job(delivery)  # no retry: as the job is to stop, its delivery counts as failed
        assert deliveries(url) == [("failed", delivery.id)]
        async with rig(url, stalled_seconds=STALLED_SECONDS):
            now = await until(store, job, lambda now: now.state.is_final)
            assert (now.state, now.attempt) == (JobState.CANCELLED, 1)
            await until_tidy(url)

    asyncio.run(work())


def test_a_worker_that_could_not_note_the_end_gets_the_job_once_more(url: str, store: Store) -> None:
    async def work() -> None:
        job = add(store)
        async with app(url) as late:
            delivery = await fetch(late)
            store.claim(job.id, delivery.id)
            await late.job_manager.retry_job(delivery)
        async with rig(url, stalled_seconds=STALLED_SECONDS):
            now = await until(store, job, lambda now: now.state.is_final)
            assert (now.state, now.attempt, now.deaths) == (JobState.SUCCEEDED, 2, 0)
            await until_tidy(url)

    asyncio.run(work())


def test_two_workers_share_the_jobs_and_do_none_twice(url: str, store: Store) -> None:
    jobs = [add(store) for _ in range(12)]

    async def work(one: Rig) -> None:
        async with rig(url):
            for job in jobs:
                now = await one.until(job, JobState.SUCCEEDED, JobState.FAILED)
                assert (now.state, now.attempt) == (JobState.SUCCEEDED, 1)
                kinds = [event.kind for event in store.events(job.id, 0)]
                assert (kinds[-1], kinds.count(EventKind.DONE)) == (EventKind.DONE, 1)
            await until_tidy(url)

    with_rig(url, work)


def test_broken_connections_lose_no_job(url: str, store: Store) -> None:
    async def work(made: Rig) -> None:
        job = made.add(SLOW, FOREVER)
        found = await made.until_there_is_a_plan(job)
        with psycopg.connect(url, autocommit=True) as other:
            for _ in range(5):
                mine = "datname = current_database() AND pid <> pg_backend_pid()"
                other.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {mine}")
                await asyncio.sleep(0.2)
        easy = add(store)
        made.cancel(job)
        now = await made.until(job, JobState.CANCELLED)
        assert (now.deaths, now.has_plan) == (0, True)
        assert (now.best or 0) <= (found.best or 0)
        assert (await made.until(easy, JobState.SUCCEEDED)).deaths == 0
        await until_tidy(url)

    with_rig(url, work)


@pytest.mark.parametrize("share", [0.5, 1.1, 2.0, 3.5])
def test_a_database_gone_for_long_loses_no_job(postgresql: Server, share: float) -> None:
    def worker(url: str) -> int:
        """Return the id of the only worker that is alive."""
        alive = f"last_heartbeat > now() - interval '{STALLED_SECONDS} seconds'"
        with psycopg.connect(url) as connection:
            (found,) = connection.execute(f"SELECT id FROM procrastinate_workers WHERE {alive}").fetchall()
            return int(found[0])

    with contextlib.closing(Server(postgresql.programs)) as own_server:
        url = own_server.new_database()

        async def work(made: Rig) -> None:
            job = made.add(SLOW, FOREVER)
            await made.until_there_is_a_plan(job)
            before = worker(url)
            own_server.stop()
            await asyncio.sleep(share * STALLED_SECONDS)
            own_server.start()
            await asyncio.sleep(2 * STALLED_SECONDS)
            now = await made.until(job, JobState.RUNNING)
            assert (now.attempt, now.deaths, worker(url)) == (1, 0, before)
            made.cancel(job)
            assert (await made.until(job, JobState.CANCELLED)).attempt == 1
            assert (await made.until(made.add(), JobState.SUCCEEDED)).attempt == 1

        with_rig(url, work, stalled_seconds=STALLED_SECONDS)


def test_a_queue_that_does_not_exist_yet_is_asked_repeatedly(postgresql: Server) -> None:
    with contextlib.closing(Server(postgresql.programs)) as own_server:
        url = own_server.new_database()
        own_server.stop()

        async def work() -> None:
            async with asyncio.timeout(120), pool(url, STALLED_SECONDS) as connections:
                await asyncio.sleep(2 * STALLED_SECONDS)  # by now the pool no longer tries by itself
                own_server.start()
                while True:
                    with contextlib.suppress(PoolTimeout):
                        async with connections.connection() as connection:
                            assert await (await connection.execute("SELECT 1")).fetchone() == (1,)
                            return

        asyncio.run(work())


def test_a_worker_wrongly_declared_dead_stops_its_job(url: str, store: Store) -> None:
    async def work(made: Rig) -> None:
        job = made.add(SLOW, FOREVER)
        await made.until_there_is_a_plan(job)
        store.died(job.id, 1, "somebody thought so", 3)
        now = await made.until(job, JobState.RUNNING, attempt=2)
        assert now.deaths == 1
        made.cancel(job)
        assert (await made.until(job, JobState.CANCELLED)).attempt == 2
        await until_tidy(url)

    with_rig(url, work, stalled_seconds=STALLED_SECONDS)  # the rig's worker does one job at a time


def test_owners_with_few_jobs_do_not_wait_for_those_with_many(url: str, store: Store) -> None:
    long = replace(FOREVER, time_limit=600)
    names = {add(store, options=long, owner="a").id: f"a{number}" for number in range(5)}
    names |= {add(store, options=long, owner="b").id: f"b{number}" for number in range(2)}
    names |= {add(store, owner="a").id: "a short"}

    async def order() -> list[str]:
        async with app(url) as made:
            return [names[str((await fetch(made)).task_kwargs["id_"])] for _ in names]

    assert asyncio.run(order()) == ["a short", "a0", "b0", "a1", "b1", "a2", "a3", "a4"]


def test_a_lost_store_is_told_alike_for_all_jobs_so_that_the_log_has_it_once_a_second() -> None:
    lost: dict[str, bool] = {}

    def claim(id_: str, *_: object, **__: object) -> object:
        if lost.setdefault(id_, True):
            lost[id_] = False
            raise StoreUnavailable("gone")
        return object()

    worker = QueueWorker("", Mock(claim=claim), Mock(), 1.0, 1.0)

    async def claim_all(*ids: str) -> None:
        await asyncio.gather(*(worker._claim(id_, 1, is_look=False) for id_ in ids))

    with capture_logs() as logged:
        asyncio.run(claim_all("a", "b", "c"))
    assert logged == [{"event": "no job can be taken on", "reason": "gone", "log_level": "error"}] * 3


def test_parts_of_a_worker_end_together() -> None:
    ended: list[str] = []

    async def part(name: str, seconds: float, *, fails: bool = False) -> None:
        try:
            await asyncio.sleep(seconds)
            if fails:
                raise PoolTimeout(name)
        finally:
            ended.append(name)

    async def fail() -> None:
        await together([part("a", 60), part("b", 0, fails=True)])

    async def cancel() -> None:
        task = asyncio.create_task(together([part("c", 60), part("d", 60)]))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(PoolTimeout):
        asyncio.run(fail())
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())
    asyncio.run(together([part("e", 0), part("f", 0)]))
    assert sorted(ended) == ["a", "b", "c", "d", "e", "f"]


def test_a_part_that_is_slow_to_end_is_waited_for() -> None:
    """If it were cut off, the queue would not learn that this worker is gone when another part ends first."""
    ended: list[str] = []

    async def part(name: str, seconds: float) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(seconds)
            ended.append(name)

    async def cancel() -> None:
        task = asyncio.create_task(together([part("slow", 0.05), part("fast", 0)]))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())
    assert ended == ["fast", "slow"]
