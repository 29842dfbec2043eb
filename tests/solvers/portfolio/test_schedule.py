"""Workers of a round: the first unfinished part is never kept waiting, and all parts end at about the same time."""

from __future__ import annotations

import random
from math import inf

import pytest

from solvers.portfolio.schedule import GAIN_OF_A_HELPER, Job, Schedule

FOREVER = 1000


def round_of(*parts: tuple[str, float]) -> list[Job]:
    """The parts of one component, by name and work; only the search can use several workers."""
    return [Job(at, work, leads=at == 0, scales=name == "search") for at, (name, work) in enumerate(parts)]


def played(jobs: list[Job], workers: int) -> tuple[float, dict[int, float]]:
    """When the round ends, and when each part begins, if each takes the work it was granted."""
    schedule, now = Schedule(jobs, workers), 0.0
    begun: dict[int, float] = {}
    left = {job.number: job.work for job in jobs}
    for _ in range(FOREVER):
        begun |= {job.number: now for job in schedule.give(now)}
        at_work = [job for job in jobs if job.has_begun and not job.has_finished]
        assert schedule.is_over == (not at_work)
        if not at_work:
            return now, begun
        assert next(job for job in jobs if not job.has_finished) in at_work
        assert sum(int(job.active_threads[0]) for job in at_work) <= workers
        step = min(schedule.look_again - now, *(left[job.number] / job.speed for job in at_work), inf)
        now += step
        for job in at_work:
            left[job.number] -= step * job.speed
            if left[job.number] <= 1e-6:
                schedule.finish(job)
    raise AssertionError("the round does not end")


def test_one_worker_takes_the_parts_in_their_order() -> None:
    end, begun = played(round_of(("search", 60_000), ("beam", 10_000), ("gluing", 20_000)), 1)
    assert (end, begun) == (90_000, {0: 0, 1: 60_000, 2: 70_000})


def test_a_second_worker_helps_the_first_part() -> None:
    end, begun = played(round_of(("search", 70_000), ("gluing", 60_000), ("gluing", 60_000)), 2)
    assert begun == {0: 0, 1: 40_000, 2: 40_000}
    assert end == 100_000


def test_the_helper_leaves_where_the_rest_could_not_be_divided() -> None:
    end, _ = played(round_of(("search", 60_000), ("beam", 10_000), ("gluing", 20_000)), 2)
    alone = 10_000  # what the search does while the other worker is ahead with gluing
    assert end == pytest.approx((60_000 - alone) / (1 + GAIN_OF_A_HELPER) + 20_000)


def test_further_workers_begin_with_most_work() -> None:
    parts = [("improve", 10_000), ("search", 60_000), ("beam", 10_000), ("gluing", 40_000), ("gluing", 60_000)]
    schedule = Schedule(round_of(*parts), 4)
    assert [job.number for job in schedule.give(0)] == [0, 1, 4, 3]


def test_a_second_worker_begins_another_component() -> None:
    jobs = [Job(at, 10_000, leads=at % 2 == 0, scales=at % 2 == 0) for at in range(6)]
    schedule = Schedule(jobs, 2)
    assert [job.number for job in schedule.give(0)] == [0, 2]
    schedule.finish(jobs[2])
    assert [job.number for job in schedule.give(5_000)] == [4]


def test_nothing_begins_once_closed() -> None:
    jobs = round_of(("search", 60_000), ("beam", 10_000))
    schedule = Schedule(jobs, 1)
    assert schedule.give(0) == jobs[:1]
    schedule.close()
    schedule.finish(jobs[0])
    assert schedule.give(1) == []
    assert schedule.is_over


@pytest.mark.parametrize("seed", range(30))
def test_no_part_begins_later_than_with_one_worker(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.choices(["search", "beam", "gluing"], k=rng.randint(1, 12))
    parts = [(name, rng.randint(1, 6) * 10_000) for name in names]
    alone, before = played(round_of(*parts), 1)
    for workers in (2, 3, 8):
        end, begun = played(round_of(*parts), workers)
        assert all(begun[number] <= before[number] + 1e-3 for number in before)
        assert end <= alone + 1e-3
