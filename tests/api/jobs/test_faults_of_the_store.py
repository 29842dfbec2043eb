"""Whatever a store raises about one job, and however long it takes, no job is lost and those of others are carried out."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.errors import HttpCode, Refusal
from api.jobs.dispatch import ClusterJobs
from api.store import Store, StoreDamaged
from api.store.opening import open_store
from api.store.records import About, Claim, JobState, NewJob, Where
from tests.api.jobs.rigs import EASY, FOREVER, LIMITS, SECONDS, SLOW, Rig, add, until, with_rig


class Failing:
    """A store of which one method fails once."""

    def __init__(self, store: Store, method: str, error: Exception) -> None:
        self._store, self._method, self._error = store, method, error
        self.failed = False

    def __getattr__(self, name: str) -> Any:
        if name != self._method or self.failed:
            return getattr(self._store, name)

        def fail(*_: Any, **__: Any) -> Any:
            self.failed = True
            raise self._error

        return fail


def test_a_fault_while_a_job_is_claimed_does_not_end_the_dispatcher(url: str) -> None:
    async def work(made: Rig) -> None:
        await made.until(made.add(), JobState.SUCCEEDED)

    with_rig(url, work, lambda store: Failing(store, "claim", TypeError("a fault")))


def test_a_fault_while_a_cluster_s_job_is_claimed_does_not_end_its_dispatcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.jobs.dispatch.LOOK_SECONDS", 0.05)

    async def refuse(_: Any) -> Any:
        raise Refusal(503, HttpCode.NO_PLAN, "this cluster plans nothing")

    async def work() -> None:
        with contextlib.closing(open_store(f"sqlite:///{tmp_path / 'jobs.sqlite'}")) as store:
            about = About("key", "digest", None, 5, {"time_limit": 600.0}, (), None)
            job = store.add(NewJob("me", about, where=Where.CLUSTER), EASY, LIMITS).job
            failing = cast(Store, Failing(store, "claim", TypeError("a fault")))
            jobs = ClusterJobs(failing, cast(Any, SimpleNamespace(size=1, do=refuse)))
            jobs.begin()
            await until(store, job, lambda now: now.state is JobState.FAILED)
            await jobs.close()

    asyncio.run(work())


class Slow:
    """A store that takes long for the claim of a job, which is running meanwhile."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.has_claimed, self.may_return = threading.Event(), threading.Event()

    def claim(self, *about: Any, **more: Any) -> Claim | None:
        found = self._store.claim(*about, **more)
        if found is not None:
            self.has_claimed.set()
            self.may_return.wait(SECONDS)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_job_that_is_being_claimed_as_the_dispatcher_closes_is_put_back(url: str) -> None:
    with contextlib.closing(open_store(url)) as store:
        job = add(store, SLOW, FOREVER)

        async def work(made: Rig) -> None:
            slow = cast(Slow, made.store)
            await asyncio.to_thread(slow.has_claimed.wait, SECONDS)
            asyncio.get_running_loop().call_later(0.3, slow.may_return.set)  # by then it closes

        with_rig(url, work, Slow)
        now = store.job(job.id)
        assert now is not None
        assert (now.state, now.attempt) == (JobState.QUEUED, 1)


def test_an_end_that_cannot_be_recorded_for_damage_frees_its_process(url: str) -> None:
    async def work(made: Rig) -> None:
        lost, next_ = made.add(), made.add()
        await made.until(next_, JobState.SUCCEEDED)
        await made.until(lost, JobState.RUNNING)

    with_rig(url, work, AlwaysDamaged)


class AlwaysDamaged:
    """A store that cannot record the end of its first job: there is damage where it would be written."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._first: str | None = None

    def finish(self, id_: str, *arguments: Any) -> bool:
        self._first = self._first or id_
        if id_ == self._first:
            raise StoreDamaged("damaged")
        return self._store.finish(id_, *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
