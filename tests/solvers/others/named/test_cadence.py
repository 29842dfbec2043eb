"""Cadence's two planners: the order of pins, the hierarchy of memories, rounded ends, gaps, and giving up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Buffer, Colocation, Constraints, Fixed, PlanStatus, Pool, StopReason
from tests.small.plans import inclusive, offsets, places, planned

BOTH = ("cadence_position", "cadence_best_fit")
FLOOR = (
    Buffer("a", 40, live=((0, 9),)),
    Buffer("long", 30, live=((0, 2),)),
    Buffer("b", 20, live=((0, 9),)),
    Buffer("short", 15, live=((0, 2),)),
    Buffer("c", 10, live=((0, 9),)),
)
"""Placed by size, these end at 40, 70, 90, 105 and 115. Later, long and short leave gaps of 30 and 15."""


@pytest.mark.parametrize("solver", BOTH)
def test_the_largest_buffer_comes_first_and_ties_in_input_order(solver: str) -> None:
    assert offsets(planned(solver, inclusive((0, 0, 4), (0, 0, 9), (0, 0, 4)))) == [9, 0, 13]


def test_position_takes_the_lowest_gap_and_best_fit_the_smallest() -> None:
    late = Buffer("late", 9, live=((5, 6),))
    assert offsets(planned("cadence_position", (*FLOOR, late)))[-1] == 40
    assert offsets(planned("cadence_best_fit", (*FLOOR, late)))[-1] == 90


def test_best_fit_takes_the_lowest_of_equal_gaps() -> None:
    short = replace(FLOOR[1], size=15)
    buffers = (FLOOR[0], short, *FLOOR[2:], Buffer("late", 9, live=((5, 6),)))
    assert offsets(planned("cadence_best_fit", buffers))[-1] == 60 + 15 - 15


@pytest.mark.parametrize("solver", BOTH)
def test_lifetimes_are_inclusive_at_both_ends(solver: str) -> None:
    assert offsets(planned(solver, inclusive((0, 3, 8), (3, 5, 6), (6, 7, 5)))) == [0, 8, 0]


@pytest.mark.parametrize("solver", BOTH)
def test_an_alignment_of_37_is_kept(solver: str) -> None:
    made = planned(solver, inclusive((0, 0, 40), (0, 0, 38), (0, 0, 1)), Pool("arena", None, alignment=37))
    assert offsets(made) == [0, 74, 148]


@pytest.mark.parametrize("solver", BOTH)
@pytest.mark.parametrize(("size", "home"), [(110, "slow"), (111, "fast")])
def test_a_buffer_fits_if_its_end_does_when_rounded_up(solver: str, size: int, home: str) -> None:
    pools = Pool("fast", size, alignment=37), Pool("slow", None, rank=1)
    assert places(planned(solver, inclusive((0, 0, 80)), *pools)) == {0: (home, 0)}


@pytest.mark.parametrize("solver", BOTH)
def test_buffers_that_do_not_fit_the_fast_memory_go_to_the_next(solver: str) -> None:
    pools = Pool("fast", 10), Pool("middle", 8, rank=1), Pool("slow", None, rank=2)
    made = planned(solver, inclusive((0, 0, 9), (0, 0, 8), (0, 0, 7), (1, 1, 6)), *pools)
    assert places(made) == {0: ("fast", 0), 1: ("middle", 0), 2: ("slow", 0), 3: ("fast", 0)}


@pytest.mark.parametrize("solver", BOTH)
def test_a_blocked_memory_is_passed_over(solver: str) -> None:
    pools = Pool("fast", 10), Pool("slow", None, rank=1)
    blocked = Buffer("x", 4, live=((0, 1),), pools=("slow",))
    assert places(planned(solver, (blocked,), *pools)) == {"x": ("slow", 0)}


@pytest.mark.parametrize("solver", BOTH)
def test_pinned_buffers_come_first_whatever_their_size(solver: str) -> None:
    pools = Pool("fast", 20), Pool("slow", None, rank=1)
    buffers = (
        Buffer("large", 18, live=((0, 1),)),
        Buffer("in the fast", 4, live=((0, 1),), fixed=Fixed("fast")),
        Buffer("in the slow", 3, live=((0, 1),), fixed=Fixed("slow")),
        Buffer("at 2", 1, live=((0, 1),), fixed=Fixed("fast", 2)),
    )
    made = planned(solver, buffers, *pools)
    assert places(made) == {
        "at 2": ("fast", 2),
        "in the fast": ("fast", 3),
        "in the slow": ("slow", 0),
        "large": ("slow", 3),
    }


@pytest.mark.parametrize("solver", BOTH)
def test_a_buffer_allowed_one_memory_only_is_not_pinned(solver: str) -> None:
    pools = Pool("fast", 20), Pool("slow", None, rank=1)
    buffers = (Buffer("large", 18, live=((0, 1),)), Buffer("small", 2, live=((0, 1),), pools=("fast",)))
    assert places(planned(solver, buffers, *pools)) == {"large": ("fast", 0), "small": ("fast", 18)}


@pytest.mark.parametrize("solver", BOTH)
def test_a_source_lives_as_long_as_its_views(solver: str) -> None:
    buffers = (
        Buffer("source", 12, live=((0, 2),)),
        Buffer("view", 4, live=((4, 6),)),
        Buffer("between", 9, live=((2, 4),)),
    )
    views = Constraints(colocations=(Colocation("view", "source", 8),))
    assert offsets(planned(solver, buffers, constraints=views)) == [0, 8, 12]


@pytest.mark.parametrize("solver", BOTH)
def test_the_buffer_that_fits_nowhere_is_named(solver: str) -> None:
    # 4 and 3 would fill fast beside 5 in slow, but the planners put 5 into fast and 4 into slow.
    pools = Pool("fast", 7), Pool("slow", 5, rank=1)
    buffers = (Buffer("four", 4, live=((0, 2),)), Buffer("three", 3, live=((0, 2),)), Buffer("five", 5, live=((0, 2),)))
    made = planned(solver, buffers, *pools)
    assert made.status is PlanStatus.UNKNOWN
    assert made.stop is StopReason.WORK_LIMIT
    assert made.reproducible
    assert any("'three'" in warning and "3 bytes" in warning for warning in made.warnings)
    assert planned("auto", buffers, *pools).status is PlanStatus.OPTIMAL


@pytest.mark.parametrize("solver", BOTH)
def test_a_base_address_shifts_the_alignment(solver: str) -> None:
    made = planned(solver, inclusive((0, 0, 9), (0, 0, 8), alignment=8), Pool("arena", 40, base=20))
    assert offsets(made) == [4, 20]
