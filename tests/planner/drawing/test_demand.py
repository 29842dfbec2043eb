"""Without a plan, maps show what is needed where: in one pool by what can be nowhere else, in several together by what can choose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Buffer, Constraints, Options, Plan, Pool, Problem, plan
from planner.drawing import memory_map
from planner.model.problem import Fixed, Lifetimes


def problem(*buffers: Buffer, pools: tuple[Pool, ...], constraints: Constraints | None = None) -> Problem:
    return Problem(buffers, pools, constraints or Constraints(), lifetimes=Lifetimes.HALF_OPEN)


def needs(problem: Problem, answer: Plan | None = None) -> list[tuple[str, int | None, int]]:
    """Return name, size and greatest need of each chart."""
    answer = answer or plan(problem, Options(workers=1, time_limit=5))
    assert not answer.placements
    return [(pool.name, pool.size, pool.needed) for pool in memory_map(problem, answer).pools]


def live(name: str, size: int, *pools: str, start: int = 0, end: int = 2) -> Buffer:
    return Buffer(name, size, live=((start, end),), pools=pools or None)


SRAM, DRAM = Pool("sram", 100), Pool("dram", 120)


def test_buffers_that_can_choose_are_needed_in_all_their_pools_together() -> None:
    choosing = [live("p", 90), live("q", 90), live("r", 90, start=1, end=3), live("only", 20, "sram", start=1, end=3)]
    assert needs(problem(*choosing, pools=(SRAM, DRAM))) == [
        ("sram and dram together", 220, 290),
        ("sram", 100, 20),
    ]


def test_what_does_not_fit_stands_first() -> None:
    tight = problem(live("a", 90, "dram"), live("b", 90, "dram"), live("c", 10, "sram"), pools=(SRAM, DRAM))
    assert needs(tight) == [("dram", 120, 180), ("sram", 100, 10)]


def test_a_buffer_chooses_only_among_pools_that_it_fits_into() -> None:
    tight = problem(live("a", 110), live("b", 110), live("c", 1), pools=(SRAM, DRAM))
    assert needs(tight) == [("dram", 120, 220), ("sram and dram together", 220, 221)]


def test_a_buffer_that_fits_nowhere_is_needed_where_it_is_allowed() -> None:
    assert needs(problem(live("a", 200, "sram"), pools=(SRAM, DRAM))) == [("sram", 100, 200)]
    assert needs(problem(live("a", 200), pools=(SRAM, DRAM))) == [("sram and dram together", 220, 200)]


def test_a_fixed_buffer_is_needed_in_its_pool() -> None:
    fixed = replace(live("a", 60), fixed=Fixed("dram", 0))
    assert needs(problem(fixed, live("b", 80, "dram"), pools=(SRAM, DRAM))) == [("dram", 120, 140)]


def test_buffers_that_must_share_a_pool_choose_as_one() -> None:
    tied = Constraints(same_pool=(("a", "b"),))
    tight = problem(live("a", 30), live("b", 80, "dram"), live("c", 20, "dram"), pools=(SRAM, DRAM), constraints=tied)
    assert needs(tight) == [("dram", 120, 130)]


def test_pools_between_which_nothing_can_choose_are_not_added_up() -> None:
    pools = (Pool("a", 10), Pool("b", 10), Pool("c", 10), Pool("d", 10), Pool("e", 10))
    tight = problem(
        *(live(f"ab{i}", 8, "a", "b") for i in range(3)),
        live("cd", 8, "c", "d"),
        live("de", 8, "d", "e"),
        live("e", 1, "e"),
        pools=pools,
    )
    assert needs(tight) == [("a and b together", 20, 24), ("e", 10, 1), ("c, d and e together", 30, 17)]


def test_many_pools_have_a_short_name_and_their_room_is_what_is_not_reserved() -> None:
    pools = (Pool("p0", 50, reserved=((0, 10), (5, 20), (45, 90))), *(Pool(f"p{i}", 50) for i in range(1, 6)))
    tight = problem(*(live(f"b{i}", 30) for i in range(7)), pools=pools)
    assert needs(tight) == [("p1, p2, p3 and 2 more together", 250, 210)]
    assert needs(problem(*(live(f"b{i}", 20) for i in range(15)), pools=pools)) == [
        ("p0, p1, p2 and 3 more together", 275, 300)
    ]


def test_pools_that_are_too_small_together_are_shown_if_others_have_room() -> None:
    pools = (Pool("a", 10), Pool("b", 10), Pool("c", 1000))
    tight = problem(*(live(f"ab{i}", 8, "a", "b") for i in range(3)), live("bc", 8, "b", "c"), pools=pools)
    assert needs(tight) == [("a and b together", 20, 24), ("a, b and c together", 1020, 32)]


@pytest.mark.parametrize("size", [None, 100])
def test_unlimited_pools_have_no_size_together(size: int | None) -> None:
    pools = (Pool("a", size), Pool("b"))
    some = problem(live("x", 8), live("y", 8), pools=pools)
    unknown = replace(plan(some), placements=(), pools=())
    assert needs(some, unknown) == [("a and b together", None, 16)]


def test_without_lifetimes_every_pool_is_there_and_empty() -> None:
    tight = Problem((Buffer("a", 200), Buffer("b", 200)), (SRAM, DRAM))
    assert needs(tight) == [("sram", 100, 0), ("dram", 120, 0)]
