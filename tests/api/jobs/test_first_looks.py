"""The process that is left to short jobs takes a first look at long ones: what is over soon does not wait for what takes long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.store.records import JobState
from planner import Options, read_plan
from tests.api.jobs.rigs import EASY, FOREVER, SLOW, Rig, spied, with_rig


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
