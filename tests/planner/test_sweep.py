"""The sweep finds the pairs that looking at every pair finds."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.sweep import WORD, Piece, RankSet, all_apart, meetings
from tests.oracle import shares
from tests.strategies import effort


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


@effort(200, 10_000)
@given(pieces())
def test_all_meetings_are_found_and_no_other(those: list[Piece]) -> None:
    assert set(meetings(those)) == {pair for pair in every_pair(those) if pair[0] != pair[1]}


@effort(200, 10_000)
@given(pieces())
def test_all_apart_says_whether_there_is_any(those: list[Piece]) -> None:
    assert all_apart(those) is not bool(every_pair(those))


def test_touching_in_time_or_in_space_is_not_meeting() -> None:
    those = [(0, 4, 0, 2, 0), (0, 4, 2, 3, 1), (4, 8, 0, 2, 2)]
    assert all_apart(those)
    assert list(meetings(those)) == []


def test_nothing_meets_in_an_empty_list() -> None:
    assert all_apart([])
    assert list(meetings([])) == []


def test_many_pieces_are_kept_apart_across_words() -> None:
    count = 3 * WORD
    stack = [(10 * n, 10 * n + 10, 0, 5, n) for n in range(count)]
    assert all_apart(stack)
    assert list(meetings([*stack, (10 * WORD - 5, 10 * WORD + 5, 4, 6, count)])) == [(WORD - 1, count), (WORD, count)]


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
