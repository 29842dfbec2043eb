"""One suite for every dispatcher: jobs are carried out once, can be stopped, and survive the deaths of workers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

import planner
from api.errors import Refusal
from api.jobs import dispatch
from api.jobs.attempt import Attempt, Posted
from api.jobs.dispatch import EmbeddedDispatcher
from api.jobs.processes.pool import Reply
from api.jobs.requests.options import as_document
from api.store import Store
from api.store.opening import open_store
from api.store.records import Claim, EventKind, JobState, NewJob
from planner import Options, read_plan, read_problem, read_sharing
from tests.api.jobs.rigs import EASY, FOREVER, OBJECTS_FOREVER, SECONDS, SLOW, Rig, Unreliable, add, spied, with_rig


def kinds(store: Store, id_: str) -> list[EventKind]:
    return [event.kind for event in store.events(id_, 0)]


def test_a_job_is_carried_out(url: str) -> None:
    async def work(made: Rig) -> None:
        job = made.add()
        now = await made.until(job, JobState.SUCCEEDED, JobState.FAILED)
        assert (now.state, now.status, now.attempt, now.deaths) == (JobState.SUCCEEDED, "optimal", 1, 0)
        assert kinds(made.store, job.id)[:2] == [EventKind.STATE, EventKind.STATE]
        assert kinds(made.store, job.id)[-1] is EventKind.DONE
        stored, kept = made.store.plan(job.id), made.store.kept("me", "key")
        assert stored is not None
        assert kept is not None
        plan = read_plan(stored.data)
        assert planner.verify(read_problem(EASY)[0], plan) == ()
        assert (plan.warnings[0], kept.data) == ("a note", stored.data)

    with_rig(url, work)


def test_jobs_queued_before_any_worker_began_are_carried_out(url: str) -> None:
    with contextlib.closing(open_store(url)) as store:
        jobs = [add(store) for _ in range(3)]

    async def work(made: Rig) -> None:
        for job in jobs:
            assert (await made.until(job, JobState.SUCCEEDED)).attempt == 1

    with_rig(url, work)


def test_an_impossible_job_fails_with_its_reason(url: str) -> None:
    async def work(made: Rig) -> None:
        job = await made.until(made.add(options=Options(solver="nonsense")), JobState.FAILED)
        assert job.failure is not None
        assert (job.failure["status"], job.failure["code"], job.attempt) == (422, "unknown_solver", 1)
        broken = await made.until(made.add(b"no problem at all"), JobState.FAILED)
        assert broken.failure is not None
        assert (await made.until(made.add(), JobState.SUCCEEDED)).status == "optimal", "and others go on"

    with_rig(url, work)


def test_a_running_job_is_stopped_and_keeps_its_best_plan(url: str) -> None:
    async def work(made: Rig) -> None:
        running = made.add(SLOW, FOREVER)
        await made.until(running, JobState.RUNNING)  # while it waits, short jobs would go first
        waiting = made.add()
        found = await made.until_there_is_a_plan(running)
        made.cancel(waiting)
        made.cancel(running)
        now = await made.until(running, JobState.CANCELLED)
        assert (now.stop, now.attempt, now.deaths) == ("cancelled", 1, 0)
        assert now.best is not None
        assert found.best is not None
        assert now.best <= found.best
        assert (await made.until(waiting, JobState.CANCELLED)).attempt == 0
        assert (await made.until(made.add(), JobState.SUCCEEDED)).attempt == 1

    with_rig(url, work)


def test_a_cancel_that_comes_while_a_job_is_taken_on_is_heeded(url: str) -> None:
    """The cancel comes between the claim of the job and the start of its attempt."""

    class Overtaken:
        """A store that cancels each job as soon as it is claimed."""

        def __init__(self, store: Store) -> None:
            self._store = store

        def __getattr__(self, name: str) -> Any:
            return getattr(self._store, name)

        def claim(self, *about: Any, **more: Any) -> Claim | None:
            found = self._store.claim(*about, **more)
            if found is not None:
                self._store.cancel(found.job.id, found.job.owner)
            return found

    async def work(made: Rig) -> None:
        assert (await made.until(made.add(SLOW, FOREVER), JobState.CANCELLED)).attempt == 1

    with_rig(url, work, Overtaken)


def test_a_job_whose_worker_dies_is_tried_again_and_given_up_after_three(url: str) -> None:
    async def work(made: Rig) -> None:
        job = made.add(SLOW, FOREVER)
        best = None
        for attempt in (1, 2, 3):
            await made.until(job, JobState.RUNNING, attempt=attempt)
            now = await made.until_there_is_a_plan(job)
            assert best is None or (now.best or 0) <= best
            best = now.best
            while not made.processes.pids:  # the job counts as running before the worker's successor is there
                await asyncio.sleep(0.01)
            for pid in made.processes.pids:
                os.kill(pid, signal.SIGKILL)
        now = await made.until(job, JobState.FAILED)
        assert (now.attempt, now.deaths, now.status) == (3, 3, "feasible")
        assert now.failure is not None
        assert now.failure["code"] == "worker_died"
        assert "killed by signal 9" in now.failure["detail"]
        assert kinds(made.store, job.id).count(EventKind.DONE) == 1
        assert (await made.until(made.add(), JobState.SUCCEEDED)).attempt == 1

    with_rig(url, work)


@pytest.mark.parametrize("objects", [False, True], ids=["plan", "sharing"])
def test_a_job_out_of_time_ends_with_its_best_and_is_not_repeated(
    url: str, objects: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut_short(self: Attempt, *arguments: Any) -> Reply:
        monkeypatch.setattr("api.jobs.processes.pool.LATE_SECONDS", 0.0)
        return await ends_early(self, *arguments)

    ends_early = Attempt._cut_short
    monkeypatch.setattr(Attempt, "_cut_short", cut_short)

    async def work(made: Rig) -> None:
        job = made.add(SLOW, OBJECTS_FOREVER if objects else FOREVER, objects=objects)
        await made.until_there_is_a_plan(job)
        monkeypatch.setattr("api.jobs.processes.pool.LATE_SECONDS", -600.0)  # as if the job's 600 seconds were over
        now = await made.until(job, JobState.SUCCEEDED)
        assert (now.attempt, now.deaths, now.status, now.stop) == (1, 0, "feasible", "time_limit")
        kept = made.store.plan(job.id)
        assert kept is not None
        problem = read_problem(SLOW)[0]
        if objects:
            assert planner.verify_sharing(problem, read_sharing(kept.data)) == ()
            return
        plan = read_plan(kept.data)
        assert plan.placements
        assert not planner.verify(problem, plan)
        assert any("the best that was known" in warning for warning in plan.warnings)

    with_rig(url, work)


@pytest.mark.parametrize("objects", [False, True], ids=["plan", "sharing"])
def test_a_job_out_of_memory_ends_with_its_best_and_is_not_repeated(url: str, objects: bool) -> None:
    async def work(made: Rig) -> None:
        job = made.add(SLOW, OBJECTS_FOREVER if objects else FOREVER, objects=objects)
        await made.until_there_is_a_plan(job)
        for pid in made.processes.pids:
            os.kill(pid, signal.SIGABRT)  # a process whose C++ cannot allocate ends like this
        now = await made.until(job, JobState.SUCCEEDED)
        assert (now.attempt, now.deaths, now.status, now.stop) == (1, 0, "feasible", "memory_limit")
        kept = made.store.plan(job.id)
        assert kept is not None
        assert b"ran out of memory" in kept.data
        problem = read_problem(SLOW)[0]
        wrong = (
            planner.verify_sharing(problem, read_sharing(kept.data))
            if objects
            else planner.verify(problem, read_plan(kept.data))
        )
        assert not wrong

    with_rig(url, work)


def test_a_job_out_of_memory_without_a_plan_says_so(url: str) -> None:
    async def work(made: Rig) -> None:
        for pid in made.processes.pids:
            os.kill(pid, signal.SIGSTOP)
        job = made.add(SLOW, FOREVER)
        await made.until(job, JobState.RUNNING)
        await asyncio.sleep(0.3)
        for pid in made.processes.pids:
            os.kill(pid, signal.SIGABRT)
            os.kill(pid, signal.SIGCONT)
        now = await made.until(job, JobState.FAILED)
        assert (now.attempt, now.deaths) == (1, 0)
        assert now.failure is not None
        assert (now.failure["status"], now.failure["code"]) == (413, "too_large")

    with_rig(url, work)


def test_a_job_out_of_time_without_a_plan_says_so(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.jobs.processes.pool.LATE_SECONDS", 1.0 - 600)

    async def work(made: Rig) -> None:
        for pid in made.processes.pids:
            os.kill(pid, signal.SIGSTOP)
        job = await made.until(made.add(SLOW, FOREVER), JobState.FAILED)
        assert (job.attempt, job.deaths) == (1, 0)
        assert job.failure is not None
        assert (job.failure["status"], job.failure["code"]) == (503, "no_plan_in_time")

    with_rig(url, work)


def test_a_stopping_runner_puts_its_job_back_with_the_best_plan(url: str) -> None:
    with contextlib.closing(open_store(url)) as store:
        job = add(store, SLOW, FOREVER)

        async def first(made: Rig) -> None:
            await made.until_there_is_a_plan(job)

        with_rig(url, first)
        now, plan = store.job(job.id), store.plan(job.id)
        assert now is not None
        assert plan is not None
        assert (now.state, now.attempt, now.deaths) == (JobState.QUEUED, 1, 0)
        parts: list[int] = []

        async def second(made: Rig) -> None:
            nonlocal parts
            parts = spied(made)
            again = await made.until(job, JobState.RUNNING, attempt=2)
            assert again.best == plan.summary.best
            made.cancel(job)
            now = await made.until(job, JobState.CANCELLED)
            assert (now.best or 0) <= (plan.summary.best or 0)

        with_rig(url, second)
        assert parts == [2], "the problem, and the plan to begin with"


def test_a_sharing_job_goes_on_from_its_best_when_its_worker_dies(url: str) -> None:
    async def work(made: Rig) -> None:
        job = made.add(SLOW, OBJECTS_FOREVER, objects=True)
        await made.until_there_is_a_plan(job)
        before, parts = made.store.plan(job.id), spied(made)
        assert before is not None
        assert planner.verify_sharing(read_problem(SLOW)[0], read_sharing(before.data)) == ()
        for pid in made.processes.pids:
            os.kill(pid, signal.SIGKILL)
        again = await made.until(job, JobState.RUNNING, attempt=2)
        assert (again.best or 0) <= (before.summary.best or 0)
        while not parts:
            await asyncio.sleep(0.01)
        assert parts == [2], "the problem, and the sharing to begin with"
        made.cancel(job)
        now = await made.until(job, JobState.CANCELLED)
        after = made.store.plan(job.id)
        assert after is not None
        assert (now.attempt, now.deaths, now.best) == (2, 1, read_sharing(after.data).total)
        assert (now.best or 0) <= (before.summary.best or 0)
        heard = kinds(made.store, job.id)
        assert (heard.count(EventKind.DONE), {EventKind.INCUMBENT, EventKind.BOUND} <= set(heard)) == (1, True)

    with_rig(url, work)


def test_the_end_of_a_job_is_not_lost_while_the_store_is_gone(url: str) -> None:
    async def work(made: Rig) -> None:
        now = await made.until(made.add(), JobState.SUCCEEDED)
        assert (now.attempt, now.status) == (1, "optimal")

    with_rig(url, work, Unreliable)


async def begun_at_once(made: Rig, new: NewJob, problem: bytes) -> Attempt:
    """Begin a job as soon as there is room: an earlier one's end is stored a moment before its process is free."""
    async with asyncio.timeout(SECONDS):
        while (attempt := made.dispatcher.at_once(new, problem)) is None:
            await asyncio.sleep(0.01)
    return attempt


def test_a_request_begun_at_once_has_its_answer_or_becomes_a_job(url: str) -> None:
    async def work(made: Rig) -> None:
        about = add(made.store).about
        await made.until(made.add(), JobState.SUCCEEDED)
        if made.store.shared:
            assert made.dispatcher.at_once(NewJob("me", about), EASY) is None, (
                "whoever shares the store leaves it to workers"
            )
            return
        attempt = await begun_at_once(made, NewJob("me", about), EASY)
        assert (await attempt.reply).header["status"] == "optimal"
        ended = await attempt.become_job()
        assert (await made.until(ended, JobState.SUCCEEDED)).status == "optimal"
        attempt = await begun_at_once(made, NewJob("me", replace(about, options=as_document(FOREVER))), SLOW)
        job = await attempt.become_job()
        await made.until_there_is_a_plan(job)
        made.cancel(job)
        assert (await made.until(job, JobState.CANCELLED)).attempt == 1

    with_rig(url, work)


def test_a_request_begun_unread_first_describes_its_problem(url: str) -> None:
    async def work(made: Rig) -> None:
        attempt = await made.dispatcher.unread(
            Posted("me", SLOW, None, "application/json", {"solver": "waiting", "time_limit": 600}, 60.0)
        )
        assert (attempt is None) == made.store.shared
        if attempt is None:
            return
        about = await attempt.about
        assert (about.buffers, attempt.task.seconds) == (400, 600)
        job = await attempt.become_job()
        assert job.about == about
        await made.until_there_is_a_plan(job)
        made.cancel(job)
        assert (await made.until(job, JobState.CANCELLED)).attempt == 1
        broken = Posted("me", b"{", None, "application/json", {}, 60.0)
        async with asyncio.timeout(30):  # a job's end is stored a moment before its process counts as free
            while (attempt := await made.dispatcher.unread(broken)) is None:
                await asyncio.sleep(0.01)
        with pytest.raises(Refusal):
            await attempt.about
        with pytest.raises(Refusal):
            await attempt.reply

    with_rig(url, work)


def test_waiting_clients_and_the_queue_take_turns(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "MOMENT_SECONDS", 60.0)  # turns alone decide, not how busy the machine is

    async def work(made: Rig) -> None:
        if made.store.shared:
            return
        jobs = [made.add(EASY, Options(seed=number)) for number in range(40)]
        posted = Posted("other", EASY, None, "application/json", {}, 60.0)
        for _ in range(10):
            attempt = await made.dispatcher.unread(posted)
            assert attempt is not None
            await attempt.reply
        left = [job for job in jobs if not (made.store.job(job.id) or job).state.is_final]
        assert left, "they need not wait until the queue is empty"
        assert len(left) < len(jobs), "and the queue does not wait for them"
        for job in jobs:
            await made.until(job, JobState.SUCCEEDED)

    with_rig(url, work)


def test_one_of_several_processes_is_left_to_short_jobs(url: str) -> None:
    async def work(made: Rig) -> None:
        long = [made.add(SLOW, replace(FOREVER, seed=number)) for number in range(3)]
        await made.until_there_is_a_plan(long[0])
        for _ in range(2):
            short = made.add()
            assert (await made.until(short, JobState.SUCCEEDED, JobState.FAILED)).state is JobState.SUCCEEDED
        for job in long[1:]:
            await made.until(job, JobState.QUEUED, attempt=1)  # after a first look
        assert (await made.until(long[0], JobState.RUNNING)).attempt == 1

    with_rig(url, work, size=2)


async def moments() -> tuple[list[object], EmbeddedDispatcher]:
    """What becomes of two waiting requests, of which the first gives up before it has heard of the free process."""
    waited = EmbeddedDispatcher(cast(Any, None), cast(Any, SimpleNamespace(size=1)))
    waiting = [asyncio.create_task(waited._a_moment()) for _ in range(2)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    waited._hand_on()
    return await asyncio.gather(*waiting, return_exceptions=True), waited


def test_a_request_that_gives_up_as_a_process_comes_free_is_passed_over() -> None:
    (first, second), waited = asyncio.run(moments())
    assert isinstance(first, asyncio.CancelledError)
    assert second is None
    assert (waited._promised, len(waited._waiting), waited._has_room) == (0, 0, True)
