"""Vela's hill climb and DORY's two stacks."""

from __future__ import annotations

import pytest

from planner import Buffer, Options, PlanStatus, Pool, Problem, StopReason, plan
from tests.small.plans import inclusive, offsets, planned


def test_the_peak_equals_a_figure_of_vela_s_own_tests() -> None:
    rows = inclusive((0, 100, 8000), (0, 1, 8016), (100, 110, 2000), (108, 110, 4000), (109, 110, 6000))
    assert planned("vela_hill_climb", rows).peak == 16016


def test_the_climb_is_at_least_as_good_as_its_first_order_and_repeats_itself() -> None:
    rows = inclusive(*((n % 7, n % 7 + n % 5, 1 + n * 37 % 91) for n in range(40)))
    first, second = (planned("vela_hill_climb", rows) for _ in range(2))
    assert offsets(first) == offsets(second)
    assert first.reproducible
    none_left = plan(Problem(rows), Options(solver="vela_hill_climb", work_limit=1, workers=1))
    assert first.peak is not None
    assert none_left.peak is not None
    assert first.peak < none_left.peak
    assert none_left.stop is StopReason.WORK_LIMIT
    assert any("work limit ended" in warning for warning in none_left.warnings)


def test_urgency_comes_before_length_of_life() -> None:
    # The first and second buffers share the busiest step; the third lives longer, but at no such step.
    rows = inclusive((0, 0, 8), (0, 1, 9), (1, 50, 3))
    assert offsets(planned("vela_hill_climb", rows)) == [9, 0, 9]


def test_the_longest_life_comes_first_among_equal_urgency() -> None:
    rows = inclusive((0, 5, 4), (5, 100, 4), (1, 1, 1), (2, 2, 1), (3, 3, 1))
    assert offsets(planned("vela_hill_climb", rows))[:2] == [4, 0]


def test_vela_says_which_buffer_is_too_high() -> None:
    """Beside c, a must begin at 0, and beside b at 4."""
    rows = (Buffer("a", 5, 4, ((0, 2),)), Buffer("b", 4, 7, ((0, 1),)), Buffer("c", 5, 5, ((1, 2),)))
    made = planned("vela_hill_climb", rows, Pool("arena", 10))
    assert made.status is PlanStatus.UNKNOWN
    assert any("found no place for buffer 'b'" in warning for warning in made.warnings)


def test_layers_take_turns_between_the_ends() -> None:
    made = planned("two_ended", inclusive((0, 1, 10), (1, 2, 6), (2, 3, 8), (3, 3, 4)))
    assert made.peak == 16
    assert offsets(made) == [0, 10, 0, 12]


def test_buffers_that_begin_at_one_step_go_to_one_end() -> None:
    made = planned("two_ended", inclusive((0, 1, 3), (0, 1, 4), (1, 1, 5), (1, 1, 2)))
    assert offsets(made) == [0, 3, 9, 7]


def test_a_buffer_freed_out_of_turn_leaves_a_hole() -> None:
    made = planned("two_ended", inclusive((0, 0, 5), (0, 4, 3), (2, 4, 4), (4, 4, 1)))
    assert offsets(made)[1] == 5
    assert made.peak is not None
    assert made.peak > 8


@pytest.mark.parametrize("base", [0, 20])
def test_both_stacks_keep_to_alignments(base: int) -> None:
    buffers = tuple(Buffer(n, size, 8 if n % 2 else 4, ((n, n + 2),)) for n, size in enumerate((10, 6, 8, 4, 11)))
    made = planned("two_ended", buffers, Pool("arena", 80, base=base))
    assert all((base + at) % buffer.alignment == 0 for at, buffer in zip(offsets(made), buffers, strict=True))


def test_two_stacks_that_meet_name_the_buffer_that_did_not_fit() -> None:
    made = planned("two_ended", inclusive((0, 0, 5), (0, 4, 3), (2, 4, 4), (4, 4, 1)), Pool("arena", 9))
    assert made.status is PlanStatus.UNKNOWN
    assert any("found no place for buffer" in warning for warning in made.warnings)
