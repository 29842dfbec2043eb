"""How many jobs and bytes a store takes, and which jobs it forgets first."""

from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy

from api.store import KeyReused, QueueFull, Store
from api.store.opening import open_store
from api.store.records import (
    End,
    JobFilter,
    JobState,
    Kept,
    NewJob,
    Once,
    QueueLimits,
)
from api.store.sql import keeping
from api.store.sql.intake import COUNTED_SECONDS
from tests.api.store.conftest import ABOUT, NO_LIMITS, OPTIMAL, WORST, add, events_of, feasible


def succeeded(best: int) -> End:
    plan = feasible(best)
    return End(JobState.SUCCEEDED, plan.summary, plan)


def test_too_many_jobs_are_refused(store: Store) -> None:
    add(store)
    with pytest.raises(QueueFull, match="waiting"):
        store.add(NewJob("me", ABOUT), b"", QueueLimits(1, 10, WORST))
    with pytest.raises(QueueFull, match="your jobs"):
        store.add(NewJob("me", ABOUT), b"", QueueLimits(10, 1, WORST))
    store.add(NewJob("you", ABOUT), b"", QueueLimits(10, 1, WORST))
    answered = store.add(NewJob("me", ABOUT), b"", QueueLimits(1, 1, WORST), end=succeeded(9)).job
    assert (answered.state, answered.status, answered.has_plan) == (JobState.SUCCEEDED, "feasible", True)


def test_exactly_the_allowed_number_of_jobs_is_accepted(store: Store) -> None:
    limits = QueueLimits(60, 40, WORST)
    for owner, most in (("me", 40), ("you", 20)):
        for _ in range(most):
            store.add(NewJob(owner, ABOUT), b"", limits)
        with pytest.raises(QueueFull, match="your jobs" if owner == "me" else "waiting"):
            store.add(NewJob(owner, ABOUT), b"", limits)
    assert store.counts().queued == 60


def test_a_job_in_its_first_look_still_counts_as_waiting(store: Store) -> None:
    """It may be put back."""
    long = replace(ABOUT, options={"time_limit": 600.0})
    job = store.add(NewJob("me", long), b"", QueueLimits(1, 10, WORST)).job
    assert store.claim(job.id, job.delivery, look=True) is not None
    with pytest.raises(QueueFull, match="waiting"):
        store.add(NewJob("me", long), b"", QueueLimits(1, 10, WORST))
    store.release(job.id, 1)
    assert store.claim(job.id, store.job(job.id).delivery) is not None  # type: ignore[union-attr]
    store.add(NewJob("me", long), b"", QueueLimits(1, 10, WORST))


def test_a_job_whose_first_look_died_waits_and_runs_once(store: Store) -> None:
    long, limits = replace(ABOUT, options={"time_limit": 600.0}), QueueLimits(1, 10, WORST)
    job = store.add(NewJob("me", long), b"", limits).job
    assert store.claim(job.id, job.delivery, look=True) is not None
    now = store.died(job.id, 1, "it was killed", 3)
    assert now is not None
    assert (now.state, now.deaths) == (JobState.QUEUED, 1)
    with pytest.raises(QueueFull, match="waiting"):
        store.add(NewJob("me", long), b"", limits)
    assert store.claim(job.id, now.delivery) is not None
    assert store.claim(job.id, now.delivery) is None
    store.add(NewJob("me", long), b"", limits)


def test_no_more_than_allowed_are_accepted_at_once(store: Store) -> None:
    """Transactions of one process that do not see each other's jobs know of them."""
    limits = QueueLimits(1000, 40, WORST)
    start = threading.Barrier(8)

    def work(_: int) -> int:
        accepted = 0
        start.wait()
        with contextlib.suppress(QueueFull):
            while True:
                store.add(NewJob("me", ABOUT), b"x" * 10_000, limits)
                accepted += 1
        return accepted

    for _ in range(3):
        with ThreadPoolExecutor(8) as threads:
            assert sum(threads.map(work, range(8))) == 40
        for job in store.jobs(JobFilter("me", limit=100)):
            store.remove(job.id)
        time.sleep(COUNTED_SECONDS)


def test_problems_beyond_the_quota_are_refused(store: Store) -> None:
    add(store)
    limits = QueueLimits(10, 10, 200_000)
    store.add(NewJob("me", ABOUT), b"x" * 150_000, limits)
    with pytest.raises(QueueFull, match="full"):
        store.add(NewJob("me", ABOUT), b"x" * 70_000, limits)


def test_a_request_with_a_key_is_carried_out_once(store: Store) -> None:
    first = store.add(NewJob("me", ABOUT), b"", NO_LIMITS, Once("k", "f"))
    again = store.add(NewJob("me", ABOUT), b"", NO_LIMITS, Once("k", "f"))
    assert (first.is_new, again.is_new, again.job.id) == (True, False, first.job.id)
    with pytest.raises(KeyReused):
        store.add(NewJob("me", ABOUT), b"", NO_LIMITS, Once("k", "another"))
    assert store.add(NewJob("you", ABOUT), b"", NO_LIMITS, Once("k", "another")).is_new
    store.remove(first.job.id)
    assert store.add(NewJob("me", ABOUT), b"", NO_LIMITS, Once("k", "f")).is_new


def test_plans_are_kept_by_owner_and_key(store: Store) -> None:
    assert store.kept("me", "k") is None
    store.keep([Kept("me", "k", feasible(1))])
    store.keep([Kept("me", "k", feasible(2))])
    found = store.kept("me", "k")
    assert found is not None
    assert found.summary.best == 2
    assert store.kept("you", "k") is None
    store.keep([Kept("you", "k", feasible(3)), Kept("me", "k", feasible(4)), Kept("me", "k", feasible(5))])
    best = [None if plan is None else plan.summary.best for plan in (store.kept("you", "k"), store.kept("me", "k"))]
    assert best == [3, 5], "of several under one key the last"


def test_old_jobs_are_forgotten_but_never_unfinished_ones(store: Store) -> None:
    ended, queued = add(store), add(store)
    store.claim()
    store.finish(ended.id, 1, End(JobState.SUCCEEDED, OPTIMAL, feasible(3)))
    store.keep([Kept("me", "k", feasible(1))])
    assert store.prune(time.time() - 3600, WORST) == 0
    assert store.prune(time.time() + 3600, WORST) == 2
    assert (store.job(ended.id), store.plan(ended.id), store.kept("me", "k")) == (None, None, None)
    assert store.problem(ended.id) is None
    assert events_of(store, ended.id) == []
    assert store.job(queued.id) is not None


@pytest.mark.parametrize("quota", [(time.time() + 3600, WORST), (0.0, 0)])
def test_others_write_while_many_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: tuple[float, int]
) -> None:
    monkeypatch.setattr(keeping, "AT_A_TIME", 2)
    with contextlib.closing(open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")) as store:
        for number in range(7):
            job = store.add(NewJob("me", ABOUT), b"problem", NO_LIMITS, end=succeeded(1)).job
            store.keep([Kept("me", f"{number}", feasible(1))])
        left: list[int] = []

        @sqlalchemy.event.listens_for(store.database.engine, "commit")
        def _(_: sqlalchemy.Connection) -> None:
            left.append(len(store.jobs(JobFilter("me"))))

        assert store.prune(*quota) == 14
        assert store.job(job.id) is None
    assert all(before - after <= 2 for before, after in pairwise(left))
    assert left[0] == 7


def test_beyond_the_quota_plans_are_forgotten_before_finished_jobs(store: Store) -> None:
    ids = [add(store).id for _ in range(3)]
    for id_ in ids[:2]:
        store.claim()
        store.finish(id_, 1, End(JobState.SUCCEEDED, OPTIMAL, feasible(3, b"x" * 100_000)))
    store.keep([Kept("me", "k", feasible(1, b"x" * 100_000))])
    assert store.prune(0, 300_000) == 1
    assert store.kept("me", "k") is None
    assert store.prune(0, 120_000) == 1
    assert [store.job(id_) is None for id_ in ids] == [True, False, False]
    store.prune(0, 0)
    assert [store.job(id_) is None for id_ in ids] == [True, True, False]


def test_what_is_noted_of_jobs_counts_for_the_quota(store: Store) -> None:
    """Refused lines of batches have no problem and no plan, but what was wrong with each."""
    end = End(JobState.FAILED, failure={"code": "invalid_value", "detail": "x" * 5_000})
    for line in range(10):
        store.add(NewJob("me", ABOUT, batch="b", line=line), b"", NO_LIMITS, end=end)
    assert store.prune(0, 200_000) == 0
    assert store.prune(0, 60_000) in range(4, 7)


def test_long_options_are_in_a_job_and_not_in_lists(store: Store) -> None:
    options = {"time_limit": 5.0, "capacity": {f"p{n}": n for n in range(1000)}}
    job = store.add(NewJob("me", replace(ABOUT, options=options), batch="b", line=0), b"{}", NO_LIMITS).job
    (listed,) = store.jobs(JobFilter("me"))
    assert listed.about.options == {"time_limit": 5.0, "capacity": None}
    found, claim = store.job(job.id), store.claim()
    assert found is not None
    assert claim is not None
    assert job.about.options == found.about.options == claim.job.about.options == options
