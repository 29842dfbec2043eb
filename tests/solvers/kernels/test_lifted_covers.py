"""Covers of rows, lifted, in C++ and in Python: the same crowds in the same order."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.kernels import BadKernelInput
from solvers.kernels.plain import MOST_HEIGHT, lifted_covers, native
from solvers.kernels.python.lifting import lifted_covers as reference

SHARES = st.one_of(st.sampled_from((0.0, 1e-7, 0.25, 0.5, 1 - 1e-7, 1.0)), st.floats(0, 1))
MEMBERS = st.tuples(st.one_of(st.integers(0, 9), st.integers(1, 1 << 40)), SHARES)


@given(st.lists(MEMBERS, max_size=40), st.floats(0, 1), st.integers(-2, 20))
def test_both_find_the_same(members: list[tuple[int, float]], part: float, more: int) -> None:
    compiled = native()
    if compiled is None:
        pytest.skip("no native kernels")
    units, shares = [each for each, _ in members], [share for _, share in members]
    room = int(part * sum(units)) + more
    assert compiled.lifted_covers(units, shares, room) == reference(units, shares, room)


def test_both_find_the_same_in_small_rows() -> None:
    """Where sizes just fit, and classes are just in the pool."""
    compiled = native()
    if compiled is None:
        pytest.skip("no native kernels")
    random = Random(5)
    for _ in range(3_000):
        units = [random.randint(0, 9) for _ in range(random.randint(0, 9))]
        shares = [random.choice((0.0, 1e-6, 0.25, 0.5, 0.75, 1 - 1e-7, 1.0)) for _ in units]
        room = random.randint(0, 20)
        assert compiled.lifted_covers(units, shares, room) == reference(units, shares, room)


def test_no_crowd_has_more_votes_than_are_counted() -> None:
    units, shares = [1] * 1_500, [0.9] * 1_500
    votes, least = lifted_covers(units, shares, 1_200)[0]
    assert len(votes) == len(least) == 999
    compiled = native()
    assert compiled is None or compiled.lifted_covers(units, shares, 1_200) == reference(units, shares, 1_200)


def test_what_is_too_large_is_left_to_python() -> None:
    units = [MOST_HEIGHT, MOST_HEIGHT]
    assert lifted_covers(units, [0.5, 0.5], MOST_HEIGHT + 1) == [([(0, 1), (1, 1)], [MOST_HEIGHT, 2 * MOST_HEIGHT])]
    assert lifted_covers([1, 1], [0.5, 0.5], 2 * MOST_HEIGHT) == []


@pytest.mark.parametrize(
    ("units", "shares", "room"),
    [([1], [], 0), ([-1], [0.5], 0), ([1], [2.5], 0), ([1], [float("nan")], 0), ([1], [0.5], 1 << 61)],
)
def test_a_broken_contract_is_refused(units: list[int], shares: list[float], room: int) -> None:
    compiled = native()
    if compiled is None:
        pytest.skip("no native kernels")
    with pytest.raises(BadKernelInput):
        compiled.lifted_covers(units, shares, room)
