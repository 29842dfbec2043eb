"""The process that is left to short jobs takes a first look at long ones: what is over soon does not wait for what takes long."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from api.jobs.kinds.plans import PlanKind
from api.store.records import JobState
from planner import Options, read_plan
from planner.model.deadline import look
from tests.api.jobs.rigs import EASY, FOREVER, SLOW, Rig, spied, with_rig
from tests.running.postgresql import Server


async def one_runs_and_two_wait(made: Rig) -> None:
    """Occupy the only place for long jobs."""
    long = [made.add(SLOW, replace(FOREVER, seed=number)) for number in range(3)]
    await made.until_there_is_a_plan(long[0])


def test_a_job_that_is_over_soon_does_not_wait_for_long_ones(url: str) -> None:
    async def work(made: Rig) -> None:
        await one_runs_and_two_wait(made)
        job = made.add(EASY, Options(time_limit=60, workers=1))
        now = await made.until(job, JobState.SUCCEEDED)
        assert (now.status, now.attempt) == ("optimal", 1)

    with_rig(url, work, size=2)


def test_the_plan_is_the_same_with_and_without_a_first_look(url: str) -> None:
    """A look that leads to nothing leaves nothing, and the next attempt begins anew."""

    async def work(made: Rig) -> None:
        first = made.add(SLOW, FOREVER)
        await made.until_there_is_a_plan(first)
        looked = made.add(SLOW, replace(FOREVER, seed=1))
        now = await made.until(looked, JobState.QUEUED, attempt=1)
        assert (now.best, now.bound, now.has_plan, now.deaths) == (None, None, False, 0)
        assert made.store.plan(looked.id) is None
        parts = spied(made)
        made.cancel(first)
        await made.until(looked, JobState.RUNNING, attempt=2)
        await made.until_there_is_a_plan(looked)
        assert parts == [1], "the problem, without a plan to begin with"
        made.cancel(looked)
        stored = made.store.plan((await made.until(looked, JobState.CANCELLED)).id)
        assert stored is not None
        alone = made.add(SLOW, replace(FOREVER, seed=1))
        await made.until_there_is_a_plan(alone)
        made.cancel(alone)
        again = made.store.plan((await made.until(alone, JobState.CANCELLED)).id)
        assert again is not None
        assert read_plan(stored.data).placements == read_plan(again.data).placements

    with_rig(url, work, size=2)


def test_a_job_is_cancelled_during_its_first_look(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.jobs.attempt.FIRST_LOOK_SECONDS", 600.0)

    async def work(made: Rig) -> None:
        await made.until_there_is_a_plan(made.add(SLOW, FOREVER))
        looked = made.add(SLOW, replace(FOREVER, seed=1))
        await made.until(looked, JobState.RUNNING)
        made.cancel(looked)
        now = await made.until(looked, JobState.CANCELLED)
        assert (now.attempt, now.deaths) == (1, 0)

    with_rig(url, work, size=2)


ENDLESS = EASY.replace(b"{", b'{"name": "endless", ', 1)


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make workers read this problem for ever, as long as the clock allows."""
    read = PlanKind.read

    def reading(kind: PlanKind, row: Any, source: Any) -> Any:
        while b"endless" in source.data:
            time.sleep(0.01)
            look("reading")
        return read(kind, row, source)

    monkeypatch.setattr(PlanKind, "read", reading)


@pytest.mark.usefixtures("endless")
def test_a_look_at_what_is_still_read_ends_without_killing_its_process(url: str) -> None:
    async def work(made: Rig) -> None:
        await made.until_there_is_a_plan(made.add(SLOW, FOREVER))
        looked = made.add(ENDLESS, FOREVER)
        now = await made.until(looked, JobState.QUEUED, attempt=1)
        assert (now.deaths, made.processes.deaths) == (0, 0)

    with_rig(url, work, size=2)


@pytest.mark.usefixtures("endless")
def test_a_job_is_cancelled_while_it_is_read_without_killing_its_process(url: str) -> None:
    async def work(made: Rig) -> None:
        job = made.add(ENDLESS, FOREVER)
        await made.until(job, JobState.RUNNING)
        made.cancel(job)
        await made.until(job, JobState.CANCELLED)
        assert made.processes.deaths == 0

    with_rig(url, work)


def test_a_look_begins_as_soon_as_there_is_no_room_for_long_jobs(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only when the queue is asked again."""
    monkeypatch.setattr("api.jobs.queue.consumer.LOOK_SECONDS", 3600.0)

    async def work(made: Rig) -> None:
        long = [made.add(SLOW, replace(FOREVER, seed=number)) for number in range(3)]
        await made.until_there_is_a_plan(long[0])
        for job in long[1:]:
            await made.until(job, JobState.QUEUED, attempt=1)

    with_rig(postgresql.new_database(), work, size=2)
