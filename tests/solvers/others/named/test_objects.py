"""Planners in which buffers share storage objects, laid out one after the other: exir's two and Relay's tokens."""

from __future__ import annotations

import pytest

from planner import Buffer, Pool
from planner.model.plan import PlanStatus
from tests.small.plans import inclusive, offsets, planned

SHARING = ("exir_naive", "exir_greedy", "relay_tokens")


def test_naive_shares_nothing_and_keeps_the_input_order() -> None:
    made = planned("exir_naive", inclusive((0, 0, 5), (9, 9, 20), (4, 4, 7), alignment=16))
    assert offsets(made) == [0, 16, 48]
    assert made.peak == 55


def test_exir_greedy_gives_a_free_object_to_the_next_smaller_buffer() -> None:
    made = planned("exir_greedy", inclusive((0, 1, 6), (2, 3, 9), (1, 2, 8)))
    assert offsets(made) == [0, 0, 9]


def test_exir_greedy_stacks_buffers_that_meet_within_an_object() -> None:
    # The buffer of 10 makes an object. When it is over, 5 and 4 lie above each other in it; 3 does not fit above them.
    made = planned("exir_greedy", inclusive((0, 1, 10), (2, 3, 4), (2, 3, 3), (2, 3, 5)))
    assert offsets(made) == [0, 5, 10, 0]


def test_exir_greedy_prefers_a_free_begin_to_room_above() -> None:
    made = planned("exir_greedy", inclusive((0, 1, 10), (0, 5, 9), (2, 3, 2), (1, 1, 1)))
    assert offsets(made)[:3] == [0, 10, 0]


def test_exir_greedy_takes_the_last_of_equal_sizes_first() -> None:
    assert offsets(planned("exir_greedy", inclusive((0, 0, 4), (0, 0, 4)))) == [4, 0]
    assert offsets(planned("exir_greedy", inclusive((0, 0, 17), (0, 0, 30), alignment=16))) == [32, 0]


def test_a_token_serves_one_after_the_other_and_grows() -> None:
    made = planned("relay_tokens", inclusive((0, 0, 4), (1, 1, 6), (1, 1, 3)))
    assert offsets(made) == [0, 0, 6]


def test_a_token_used_at_a_step_is_not_free_there() -> None:
    assert offsets(planned("relay_tokens", inclusive((0, 1, 4), (1, 2, 4), (2, 3, 4)))) == [0, 4, 0]


@pytest.mark.parametrize(
    ("freed", "wanted", "taken"),
    [
        ((100, 30), 20, 1),  # the smallest that is large enough
        ((319, 5), 20, 0),  # the larger one is less than 16 times as large
        ((320, 5), 20, 1),  # the larger one is 16 times as large: then the smaller one, which grows
        ((320, 1), 20, 1),
        ((10, 15), 20, 1),  # the largest of the smaller ones
        ((320, 1), 40, 0),
        ((1000, 1), 33, None),  # neither is near enough, so a new one is made
    ],
)
def test_the_best_suited_free_token_is_taken(freed: tuple[int, int], wanted: int, taken: int | None) -> None:
    made = planned("relay_tokens", inclusive((0, 0, freed[0]), (0, 0, freed[1]), (1, 1, wanted)))
    first, second, third = offsets(made)
    assert third == {0: first, 1: second, None: sum(freed)}[taken]


def test_the_first_freed_of_equal_tokens_is_taken() -> None:
    made = planned("relay_tokens", inclusive((0, 1, 8), (0, 0, 8), (2, 2, 8)))
    assert offsets(made) == [0, 8, 8]


def test_an_unused_result_is_freed_before_the_operands() -> None:
    made = planned("relay_tokens", inclusive((0, 1, 8), (1, 1, 8), (2, 2, 8)))
    assert offsets(made) == [0, 8, 8]


@pytest.mark.parametrize("solver", SHARING)
def test_objects_keep_to_base_addresses_and_alignments(solver: str) -> None:
    buffers = (Buffer("a", 3, 8, ((0, 1),)), Buffer("b", 9, 4, ((0, 1),)), Buffer("c", 5, 8, ((1, 2),)))
    made = planned(solver, buffers, Pool("arena", 60, base=20))
    assert all((20 + at) % buffer.alignment == 0 for at, buffer in zip(offsets(made), buffers, strict=True))


@pytest.mark.parametrize("solver", SHARING)
def test_the_buffer_that_does_not_fit_is_named(solver: str) -> None:
    buffers = (Buffer("six", 6, live=((0, 1),)), Buffer("five", 5, live=((1, 2),)), Buffer("four", 4, live=((1, 2),)))
    made = planned(solver, buffers, Pool("arena", 9))
    assert planned("auto", buffers, Pool("arena", 9)).status is PlanStatus.OPTIMAL
    assert made.status is PlanStatus.UNKNOWN
    lost = "five" if solver == "exir_naive" else "four"
    assert any(f"found no place for buffer '{lost}'" in warning for warning in made.warnings)
