"""The sweep finds the same pairs as a comparison of every pair."""

from __future__ import annotations

from itertools import combinations, product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.facts import sweep
from planner.facts.sweep import SUMMABLE, WORD, Piece, Pieces, RankSet, all_apart, exact_array, meetings
from planner.model import deadline
from tests.small.oracle import shares
from tests.small.strategies import effort


@st.composite
def pieces(draw: st.DrawFn) -> list[Piece]:
    numbers = st.integers(0, 12)
    lengths = st.integers(1, 5)
    rows = draw(st.lists(st.tuples(numbers, lengths, numbers, lengths, st.integers(0, 7)), max_size=12))
    return [(low, low + high, start, start + end, owner) for low, high, start, end, owner in rows]


def every_pair(those: list[Piece]) -> list[tuple[int, int]]:
    return [
        (min(a[4], b[4]), max(a[4], b[4]))
        for a, b in combinations(those, 2)
        if shares(a[:2], b[:2]) and shares(a[2:4], b[2:4])
    ]


@effort(40, 10_000)
@given(pieces())
def test_exactly_the_meetings_are_found(those: list[Piece]) -> None:
    assert set(meetings(Pieces.of(those))) == {pair for pair in every_pair(those) if pair[0] != pair[1]}


WAYS = {
    "by neighbours": (-1, 100),
    "by ranges": (-1, 0),
    "by pairs in time": (100, 0),
    "by few pairs of either kind": (1, 0),
}
"""Each way to look for pairs, with the PAIRS_PER_PIECE and PIECES_PER_RANGE that make the sweep take it."""


@effort(15, 3000)
@given(pieces())
def test_all_apart_agrees_with_comparing_every_pair(those: list[Piece]) -> None:
    wanted = not every_pair(those)
    for unit in (1, 1 << 58, 1 << 70):
        scaled = Pieces.of([(unit * low, unit * high, start, end, owner) for low, high, start, end, owner in those])
        for (way, (pairs, per_range)), at_once in product(WAYS.items(), (1, 4, 1 << 18)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sweep, "PAIRS_PER_PIECE", pairs)
                patch.setattr(sweep, "PIECES_PER_RANGE", per_range)
                patch.setattr(sweep, "PAIRS_AT_ONCE", at_once)
                assert all_apart(scaled) is wanted, (way, at_once, unit)


@effort(15, 3000)
@given(pieces(), st.integers(1, 3))
def test_all_apart_ignores_pairs_that_may_share(those: list[Piece], kinds: int) -> None:
    for at_once in 1, 1 << 18:
        with patch.object(sweep, "PAIRS_AT_ONCE", at_once):
            found = all_apart(Pieces.of(those), lambda first, second: first % kinds == second % kinds)
        assert found is all(a % kinds == b % kinds for a, b in every_pair(those))
    if every_pair(those):
        with patch.object(sweep, "PAIRS_PER_PIECE", 0):
            assert not all_apart(Pieces.of(those), lambda first, second: first == first)


def test_of_many_that_are_live_together_those_that_share_addresses_are_compared() -> None:
    count = 5 * sweep.PAIRS_PER_PIECE
    stairs = Pieces.of([(10 * n, 10 * n + 15, 0, 5, n) for n in range(count)])
    assert not all_apart(stairs)
    assert all_apart(stairs, lambda first, second: abs(first - second) == 1)
    assert not all_apart(stairs, lambda first, second: (abs(first - second) == 1) & (first != 7))


def test_touching_in_time_or_in_space_is_not_meeting() -> None:
    those = Pieces.of([(0, 4, 0, 2, 0), (0, 4, 2, 3, 1), (4, 8, 0, 2, 2)])
    assert all_apart(those)
    assert list(meetings(those)) == []


def test_an_empty_list_has_no_meetings() -> None:
    assert all_apart(Pieces.of([]))
    assert list(meetings(Pieces.of([]))) == []


def test_many_pieces_are_kept_apart_across_words() -> None:
    count = 3 * WORD
    stack = [(10 * n, 10 * n + 10, 0, 5, n) for n in range(count)]
    assert all_apart(Pieces.of(stack))
    met = meetings(Pieces.of([*stack, (10 * WORD - 5, 10 * WORD + 5, 4, 6, count)]))
    assert list(met) == [(WORD - 1, count), (WORD, count)]


def test_a_long_sweep_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(sweep, "PAIRS_PER_PIECE", -1)
    stack = [(10 * n, 10 * n + 10, 0, 5, n) for n in range(deadline.LOOK_EVERY + 1)]
    with deadline.time_limit(0.0, begun=-1e9), pytest.raises(deadline.OutOfTime):
        all_apart(Pieces.of(stack))


@pytest.mark.parametrize("size", [1, WORD - 1, WORD, WORD + 1, 3 * WORD])
def test_a_rank_set_knows_its_neighbours(size: int) -> None:
    members = sorted({size * n // 7 for n in range(7)})
    ranks = RankSet(size)
    for rank in members:
        ranks.add(rank)
    for rank in {0, size // 2, size - 1, *members}:
        assert ranks.before(rank) == max((m for m in members if m < rank), default=None)
        assert ranks.after(rank) == min((m for m in members if m > rank), default=None)
    for rank in members:
        ranks.discard(rank)
    assert ranks.before(size) is None
    assert ranks.after(0) is None


@pytest.mark.parametrize("numbers", [[0, 5], [-SUMMABLE + 1, SUMMABLE - 1]])
def test_numbers_whose_sums_fit_become_int64(numbers: list[int]) -> None:
    found = exact_array(numbers)
    assert found.dtype == np.int64
    assert (found + found).tolist() == [2 * n for n in numbers]


@pytest.mark.parametrize("numbers", [[], [SUMMABLE], [-SUMMABLE], [1 << 63], [1 << 64, 1], [-(1 << 70)], [2, 1.5]])
def test_numbers_with_larger_sums_stay_python_integers(numbers: list[int]) -> None:
    found = exact_array(numbers)
    assert (found + found).tolist() == [2 * n for n in numbers]
    assert (found[:1] + exact_array([1])).tolist() == [n + 1 for n in numbers[:1]]
