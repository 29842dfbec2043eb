"""One suite for every store: what it keeps, what it refuses, and that a late worker changes nothing."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from sqlalchemy import Engine
from sqlalchemy.event import listen, remove

from api.store import BatchEnded, Store, StoreUnavailable
from api.store.opening import open_store
from api.store.records import (
    End,
    EventKind,
    Job,
    JobFilter,
    JobState,
    NewJob,
    StoredPlan,
)
from tests.api.store.conftest import ABOUT, NO_LIMITS, OPTIMAL, WORST, Open, add, events_of, feasible


def test_a_job_goes_from_queued_to_its_answer(store: Store) -> None:
    job = add(store)
    assert (job.state, job.about, job.attempt, job.has_plan) == (JobState.QUEUED, ABOUT, 0, False)
    claim = store.claim()
    assert claim is not None
    assert (claim.job.id, claim.job.state, claim.job.attempt, claim.problem) == (
        job.id,
        JobState.RUNNING,
        1,
        b"problem",
    )
    assert store.claim() is None
    assert store.finish(job.id, 1, End(JobState.SUCCEEDED, OPTIMAL, StoredPlan(b"best", '"e"', OPTIMAL, 5.0)))
    ended = store.job(job.id)
    assert ended is not None
    assert (ended.state, ended.status, ended.best, ended.gap, ended.has_plan) == (
        JobState.SUCCEEDED,
        "optimal",
        84,
        0.0,
        True,
    )
    assert ended.created <= (ended.started or 0) <= (ended.finished or 0)
    assert store.problem(job.id) == b"problem"
    assert store.plan(job.id) == StoredPlan(b"best", '"e"', OPTIMAL, 5.0)
    assert events_of(store, job.id) == [(1, EventKind.STATE), (2, EventKind.STATE), (3, EventKind.DONE)]


def test_urgent_jobs_are_claimed_first_and_otherwise_the_oldest(store: Store) -> None:
    first, second, urgent = add(store), add(store), add(store, urgent=True)
    claimed = [store.claim() for _ in range(3)]
    assert [claim.job.id for claim in claimed if claim] == [urgent.id, first.id, second.id]


def test_each_step_of_progress_is_recorded_once(store: Store) -> None:
    job = add(store)
    store.claim()
    assert store.improve(job.id, 1, 100, None, 0.1)
    assert store.improve(job.id, 1, 100, 50, 0.2)
    assert store.improve(job.id, 1, 100, 50, 0.3)
    assert store.improve(job.id, 1, WORST, 10, 0.4), "an attempt that is not as far as one before it"
    now = store.job(job.id)
    assert now is not None
    assert (now.best, now.bound, now.gap) == (100, 50, 1.0)
    assert [kind for _, kind in events_of(store, job.id)][2:] == [EventKind.INCUMBENT, EventKind.BOUND]
    assert [event.number for event in store.events(job.id, 2, limit=1)] == [3]


def test_large_numbers_are_kept_exactly(store: Store) -> None:
    job = add(store)
    store.claim()
    store.improve(job.id, 1, WORST, WORST - 1, 0.0)
    now = store.job(job.id)
    assert now is not None
    assert (now.best, now.bound) == (WORST, WORST - 1)


def test_the_best_plan_so_far_is_kept_and_never_made_worse(store: Store) -> None:
    job = add(store)
    store.claim()
    for best in (100, 90, 95):
        assert store.save(job.id, 1, feasible(best, str(best).encode()))
    kept = store.plan(job.id)
    assert kept is not None
    assert kept.data == b"90"
    assert store.finish(job.id, 1, End(JobState.SUCCEEDED, feasible(97).summary, feasible(97, b"97")))
    ended, plan = store.job(job.id), store.plan(job.id)
    assert ended is not None
    assert plan is not None
    assert (ended.best, ended.status, plan.data) == (90, "feasible", b"90")


def test_a_late_worker_changes_nothing(store: Store) -> None:
    job = add(store)
    store.claim()
    assert store.release(job.id, 1)
    store.claim()
    for late in (1, 3):
        assert not store.improve(job.id, late, 1, 1, 0.0)
        assert not store.save(job.id, late, feasible(1))
        assert not store.finish(job.id, late, End(JobState.SUCCEEDED, OPTIMAL))
        assert not store.release(job.id, late)
        assert store.died(job.id, late, "x", 3) is None
    now = store.job(job.id)
    assert now is not None
    assert (now.state, now.best, now.attempt, now.has_plan) == (JobState.RUNNING, None, 2, False)
    assert store.finish(job.id, 2, End(JobState.SUCCEEDED, OPTIMAL))
    assert not store.finish(job.id, 2, End(JobState.FAILED)), "it has ended already"


def test_a_job_that_kills_three_workers_is_given_up_with_its_best_plan(store: Store) -> None:
    job = add(store)
    for attempt in (1, 2, 3):
        assert store.claim() is not None
        if attempt == 1:
            store.save(job.id, attempt, feasible(90))
        after = store.died(job.id, attempt, "killed by signal 9", 3)
        assert after is not None
        assert after.deaths == attempt
    assert store.claim() is None
    now = store.job(job.id)
    assert now is not None
    assert (now.state, now.status, now.best, now.has_plan) == (JobState.FAILED, "feasible", 90, True)
    assert now.failure is not None
    assert now.failure["code"] == "worker_died"
    assert "killed by signal 9" in now.failure["detail"]


def test_a_job_beside_which_the_service_is_killed_three_times_is_told_so(store: Store) -> None:
    job = add(store)
    for attempt in (1, 2, 3):
        assert store.claim() is not None
        (after,) = store.recover("the service was killed", 3)
        assert (after.id, after.deaths) == (job.id, attempt)
    now = store.job(job.id)
    assert now is not None
    assert now.failure is not None
    assert (now.state, now.failure["code"]) == (JobState.FAILED, "worker_died")
    for part in ("3 times", "the last time because the service was killed", "not tried again", "send it again"):
        assert part in now.failure["detail"]


def test_a_job_whose_worker_was_killed_for_not_stopping_is_not_blamed(store: Store) -> None:
    job = add(store)
    store.claim()
    store.cancel(job.id, job.owner)
    after = store.died(job.id, 1, "it did not stop when it was told to", 1)
    assert after is not None
    assert (after.state, after.deaths) == (JobState.CANCELLED, 0)


def test_a_job_that_was_put_back_is_not_blamed(store: Store) -> None:
    job = add(store)
    for attempt in range(1, 6):
        store.claim()
        assert store.release(job.id, attempt)
    now = store.job(job.id)
    assert now is not None
    assert (now.state, now.deaths, now.attempt) == (JobState.QUEUED, 0, 5)


def test_jobs_running_when_the_service_ended_run_again(store: Store, opened: Open) -> None:
    job, other = add(store), add(store)
    store.claim()
    store.save(job.id, 1, feasible(90))
    store.close()
    again = opened()
    assert [found.id for found in again.recover("the service ended", 3)] == [job.id]
    claim = again.claim()
    assert claim is not None
    assert (claim.job.id, claim.job.attempt, claim.job.deaths) == (job.id, 2, 1)
    plan = again.plan(job.id)
    assert plan is not None
    assert plan.summary.best == 90
    assert again.job(other.id) is not None
    again.close()


def test_a_queued_job_is_cancelled_at_once_and_a_running_one_is_marked(store: Store) -> None:
    queued, running = add(store), add(store, urgent=True)
    store.claim()
    assert store.cancel(queued.id, "somebody else") is None
    after = store.cancel(queued.id, "me")
    assert after is not None
    assert after.state is JobState.CANCELLED
    marked = store.cancel(running.id, "me")
    assert marked is not None
    assert (marked.state, marked.cancelling) == (JobState.RUNNING, True)
    dead = store.died(running.id, 1, "it was killed", 3)
    assert dead is not None
    assert dead.state is JobState.CANCELLED, "it is not tried again"
    again = store.cancel(running.id, "me")
    assert again is not None
    assert again.state is JobState.CANCELLED


def test_jobs_belong_to_their_owners(store: Store) -> None:
    job = add(store, "me")
    assert store.job(job.id, "me") is not None
    assert store.job(job.id, "you") is None
    assert store.jobs(JobFilter("you")) == []


def test_jobs_are_listed_in_pages_the_newest_first(store: Store) -> None:
    ids = [add(store).id for _ in range(5)]
    first = [job.id for job in store.jobs(JobFilter("me", limit=2))]
    second = [job.id for job in store.jobs(JobFilter("me", limit=2, before=first[-1]))]
    assert sorted(ids, reverse=True)[:4] == first + second
    store.claim()
    assert len(store.jobs(JobFilter("me", state=JobState.RUNNING))) == 1
    assert store.counts().by_state == {JobState.QUEUED: 4, JobState.RUNNING: 1}


def test_long_options_are_read_only_where_they_are_used(store: Store) -> None:
    long = replace(ABOUT, options={**ABOUT.options, "layout": {"text": "x" * 100_000}})
    first, second, third = (
        store.add(NewJob("me", long, batch="b", line=line), b"", NO_LIMITS).job.id for line in range(3)
    )
    statements: list[str] = []

    def noted(_: object, __: object, statement: str, *___: object) -> None:
        statements.append(statement)

    claim = store.claim()
    assert claim is not None
    assert claim.job.about.options == long.options
    listen(Engine, "before_cursor_execute", noted)
    try:
        assert store.improve(first, 1, 100, 50, 0.1)
        assert store.release(first, 1)
        assert [*store.cancel_lines("me", "b", 2)] == [first, second]
        assert [job.id for job in store.jobs(JobFilter("me"))] == [third, second, first]
    finally:
        remove(Engine, "before_cursor_execute", noted)
    assert any("FROM jobs" in each for each in statements)
    assert not [each for each in statements if "jobs.more" in each]
    cancelled = store.cancel(third, "me")
    assert cancelled is not None
    assert cancelled.about.options == long.options


def test_a_batch_that_has_ended_takes_no_more(store: Store) -> None:
    def add(owner: str, batch: str | None, line: int | None = None) -> str:
        return store.add(NewJob(owner, ABOUT, batch=batch, line=line), b"", NO_LIMITS).job.id

    lines = [add("me", "b", line) for line in range(5)]
    others = [add("me", "c", 0), add("me", None), add("you", "b", 0)]
    running = store.claim(lines[0], store_job(store, lines[0]).delivery)
    assert running is not None
    assert not store.has_ended("me", "b")
    store.end_batch("me", "b")
    store.end_batch("me", "b")
    assert store.has_ended("me", "b")
    assert not store.has_ended("you", "b")
    with pytest.raises(BatchEnded):
        add("me", "b", 5)
    assert len(store.cancel_lines("me", "b", 2)) == 2
    assert len(store.cancel_lines("me", "b", 100)) == 3
    assert store.cancel_lines("me", "b", 100) == []
    now = [store_job(store, id_) for id_ in lines]
    assert [job.state for job in now] == [JobState.RUNNING, *[JobState.CANCELLED] * 4]
    assert now[0].cancelling
    assert {store_job(store, id_).state for id_ in others} == {JobState.QUEUED}
    store.prune(time.time() + 1, 1 << 40)
    assert not store.has_ended("me", "b")


def store_job(store: Store, id_: str) -> Job:
    job = store.job(id_)
    assert job is not None
    return job


def test_a_batch_is_listed_by_itself(store: Store) -> None:
    add(store)
    for line in (0, 1):
        store.add(NewJob("me", ABOUT, batch="b", line=line), b"", NO_LIMITS)
    assert {job.line for job in store.jobs(JobFilter("me", batch="b"))} == {0, 1}


def test_a_job_claimed_again_comes_with_its_best_plan(store: Store) -> None:
    job = add(store)
    first = store.claim()
    assert first is not None
    assert first.best is None
    store.save(job.id, 1, feasible(90, b"ninety"))
    store.release(job.id, 1)
    again = store.claim()
    assert again is not None
    assert (again.job.attempt, again.best) == (2, b"ninety")


def test_a_store_opened_again_has_its_jobs(store: Store, opened: Open) -> None:
    job = add(store)
    store.close()
    again = opened()
    assert again.job(job.id) == job
    again.ping()
    again.close()


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "mysql" + "://x",
        "sqlite:////proc/nowhere/x.sqlite",
        "postgresql" + "://nobody@127.0.0.1:1/x",
        "postgresql" + "://nobody@127.0.0.1/x?sslmode=nonsense",
    ],
)
def test_a_store_that_cannot_be_opened_says_so(url: str) -> None:
    with pytest.raises(StoreUnavailable):
        open_store(url)


@pytest.mark.parametrize("size", [25_600, 1 << 20])
def test_problems_and_plans_are_read_in_pieces(store: Store, size: int) -> None:
    data = bytes(range(256)) * (size // 256)
    job = store.add(NewJob("me", ABOUT), data, NO_LIMITS).job
    assert store.plan_head(job.id) is None
    assert store.plan_piece(job.id, 0, 10) == b""
    store.claim()
    plan = feasible(90, data[::-1])
    store.save(job.id, 1, plan)
    head = store.plan_head(job.id)
    assert head is not None
    assert (head.etag, head.summary, head.created, head.size) == (plan.etag, plan.summary, plan.created, len(data))
    assert store.problem_size(job.id) == len(data)
    for start in (0, 1, 255, 20_000, size, size + 1):
        assert store.problem_piece(job.id, start, 1000) == data[start : start + 1000]
        assert store.plan_piece(job.id, start, 1000) == data[::-1][start : start + 1000]
    store.remove(job.id)
    assert (store.problem_size(job.id), store.problem_piece(job.id, 0, 10)) == (None, b"")
