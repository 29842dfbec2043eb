"""TensorFlow Lite Micro's planner: its own tests' figures, gaps, ties, and buffers that were planned offline."""

from __future__ import annotations

from planner import Buffer, Fixed, Pool
from tests.small.plans import inclusive, offsets, planned


def test_a_medium_plan_equals_that_of_tflm_s_own_tests() -> None:
    made = planned("tflm_greedy", inclusive((0, 1, 10), (1, 2, 20), (2, 3, 30), (3, 4, 40), (0, 1, 50)))
    assert offsets(made) == [50, 70, 40, 0, 0]
    assert made.peak == 90


def test_an_overlap_of_tflm_s_own_tests_is_avoided() -> None:
    assert planned("tflm_greedy", inclusive((0, 1, 100), (2, 3, 50), (1, 2, 20))).peak == 120


def test_equal_sizes_are_placed_in_input_order_or_the_last_first() -> None:
    rows = inclusive((0, 0, 4), (0, 0, 4), (0, 0, 6))
    assert offsets(planned("tflm_greedy", rows)) == [6, 10, 0]
    assert offsets(planned("tflm_greedy_last_first", rows)) == [10, 6, 0]


def test_sizes_equal_when_rounded_up_count_as_equal() -> None:
    rows = inclusive((0, 0, 17), (0, 0, 30), (0, 0, 5), alignment=16)
    assert offsets(planned("tflm_greedy", rows)) == [0, 32, 64]


def test_buffers_planned_offline_come_first_and_gaps_are_filled() -> None:
    buffers = (
        Buffer("large", 8, live=((0, 1),)),
        Buffer("pinned", 2, live=((0, 1),), fixed=Fixed("arena", 5)),
        Buffer("small", 5, live=((0, 1),)),
    )
    assert offsets(planned("tflm_greedy", buffers, Pool("arena", 40))) == [7, 5, 0]


def test_reserved_ranges_are_avoided() -> None:
    assert offsets(planned("tflm_greedy", inclusive((0, 0, 4)), Pool("arena", 40, reserved=((2, 7),)))) == [7]
