"""Operations on lists of half-open ranges agree with the same operations on sets of their points."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from planner.facts.intervals import first_meeting, merged, overlap

RANGES = st.lists(st.tuples(st.integers(-8, 8), st.integers(-8, 8)), max_size=5)


def points(ranges: object) -> set[int]:
    return {point for start, end in ranges for point in range(start, end)}  # type: ignore[attr-defined]


@given(RANGES)
def test_merged_ranges_are_the_same_points_in_as_few_ranges_as_possible(ranges: list[tuple[int, int]]) -> None:
    whole = merged(ranges)
    assert points(whole) == points(ranges)
    assert all(start < end for start, end in whole)
    assert all(before[1] < after[0] for before, after in pairwise(whole))


@given(RANGES, RANGES)
def test_overlap_means_a_common_point(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    assert overlap(merged(first), merged(second)) == bool(points(first) & points(second))


@given(RANGES, st.integers(-9, 9), st.integers(-9, 9))
def test_a_meeting_is_a_range_with_a_common_point(ranges: list[tuple[int, int]], start: int, end: int) -> None:
    hit = first_meeting(merged(ranges), start, end)
    assert (hit is not None) == bool(points(ranges) & points([(start, end)]))
    assert hit is None or points([hit]) & points([(start, end)])
