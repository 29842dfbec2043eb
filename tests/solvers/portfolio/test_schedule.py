"""Workers of a round: the first unfinished part is never kept waiting, and all parts end at about the same time, for which some rest."""

from __future__ import annotations

import random
from math import inf

import pytest

from solvers.portfolio.schedule import GAIN_OF_A_HELPER, HEAD_START, LEAST_SPELL, MOST_BEGUN, Job, Schedule

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
        assert next(job for job in jobs if not job.has_finished).is_at_work
        assert sum(int(job.active_threads[0]) for job in at_work) <= workers
        step = min(schedule.look_again - now, *(left[job.number] / job.speed for job in at_work if job.is_at_work), inf)
        now += step
        for job in at_work:
            left[job.number] -= step * job.speed
            if left[job.number] <= 1e-6:
                schedule.finish(job)
    raise AssertionError("the round does not end")


def test_one_worker_takes_the_parts_in_their_order() -> None:
    end, begun = played(round_of(("search", 60_000), ("beam", 10_000), ("gluing", 20_000)), 1)
    assert (end, begun) == (90_000, {0: 0, 1: 60_000, 2: 70_000})


def test_a_second_worker_helps_the_first_part_at_first() -> None:
    _, begun = played(round_of(("search", 70_000), ("gluing", 60_000), ("gluing", 60_000)), 2)
    assert begun[0] == 0
    assert begun[1] == pytest.approx(HEAD_START * 70_000 / (1 + GAIN_OF_A_HELPER))


def test_it_stays_while_nothing_presses() -> None:
    _, begun = played(round_of(("search", 700_000), *[("beam", 10_000)] * 3), 2)
    left = 6 * 10_000 - 30_000  # of the search, once one of the others takes a sixth of all that is left
    assert begun[1] == pytest.approx((700_000 - left) / (1 + GAIN_OF_A_HELPER))


def test_what_can_use_several_workers_fills_the_gap_at_the_end() -> None:
    schedule = Schedule(jobs := round_of(("search", 60_000), ("gluing", 40_000)), 2)
    schedule.give(0)
    schedule.give(schedule.look_again)
    assert [int(job.active_threads[0]) for job in jobs] == [1, 1]
    schedule.finish(jobs[1])
    schedule.give(50_000)
    assert int(jobs[0].active_threads[0]) == 2


def test_a_part_rests_for_one_that_would_be_the_last_to_end() -> None:
    end, begun = played(round_of(*[("gluing", 300_000)] * 3), 2)
    assert begun[2] < 300_000
    assert end <= 450_000 + LEAST_SPELL


def test_a_part_that_cannot_rest_keeps_its_worker() -> None:
    jobs = [Job(at, 300_000, leads=at == 0, scales=False, rests=at != 1) for at in range(3)]
    end, begun = played(jobs, 2)
    assert (end, begun) == (600_000, {0: 0, 1: 0, 2: 300_000})


@pytest.mark.parametrize("seed", range(30))
def test_no_worker_idles_at_the_end_while_another_has_more_than_its_part_left(seed: int) -> None:
    rng = random.Random(seed)
    works = [rng.randint(1, 60) * 10_000 for _ in range(rng.randint(2, 9))]
    for workers in (2, 3, 8):
        end, _ = played(round_of(*[("gluing", work) for work in works]), workers)
        assert end <= max(*works, sum(works) / workers) + 2 * LEAST_SPELL


def test_other_workers_begin_what_presses() -> None:
    parts = [("improve", 10_000), ("search", 60_000), ("beam", 10_000), ("gluing", 40_000), ("gluing", 60_000)]
    schedule = Schedule(round_of(*parts), 3)
    assert [job.number for job in schedule.give(0)] == [0, 4, 3]


def test_of_two_workers_one_begins_the_search_before_what_presses() -> None:
    parts = [("mosaic", 40_000), ("search", 60_000), ("beam", 10_000), ("gluing", 200_000)]
    _, begun = played(round_of(*parts), 2)
    assert (begun[1], begun[3]) == (0, 40_000)


def test_a_second_worker_begins_another_component() -> None:
    jobs = [Job(at, 10_000, leads=at % 2 == 0, scales=at % 2 == 0) for at in range(6)]
    schedule = Schedule(jobs, 2)
    assert [job.number for job in schedule.give(0)] == [0, 2]
    schedule.finish(jobs[2])
    assert [job.number for job in schedule.give(5_000)] == [4]


def test_few_parts_have_begun_for_each_worker() -> None:
    jobs = [Job(at, 50_000, leads=at % 2 == 0, scales=at % 2 == 0) for at in range(200)]
    schedule = Schedule(jobs, 4)
    schedule.give(0)
    for job in jobs:
        now = 30_000 * (job.number + 1)
        schedule.give(now)
        begun = [each for each in jobs if each.has_begun and not each.has_finished]
        assert len(begun) <= MOST_BEGUN * 4
        assert begun[0] is job
        schedule.finish(job)
    assert schedule.is_over


def test_a_component_that_has_begun_does_not_rest_for_the_next_ones() -> None:
    jobs = [Job(at, 50_000, leads=True, scales=False) for at in range(20)]
    schedule = Schedule(jobs, 4)
    assert len(schedule.give(0)) == 4
    assert schedule.give(20_000) == []
    assert [int(job.active_threads[0]) for job in jobs[:5]] == [1, 1, 1, 1, 0]


def test_parts_that_take_longer_than_they_should_are_not_looked_at_all_the_time() -> None:
    schedule = Schedule(round_of(("beam", 100), ("search", 10_000), ("gluing", 1_600)), 2)
    looks = 0
    schedule.give(0)
    while schedule.look_again < 1_500_000:
        schedule.give(schedule.look_again)
        looks += 1
    assert looks <= 1_000


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
