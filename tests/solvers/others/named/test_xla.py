"""XLA's heap simulator: its orders, its clock and its best fit."""

from __future__ import annotations

from planner import Buffer
from tests.small.plans import inclusive, offsets, planned


def traced(*rows: tuple[int, int, int]) -> tuple[Buffer, ...]:
    """Buffers from (allocated, freed, size), by XLA's clock."""
    return tuple(Buffer(n, size, live=((start, end),)) for n, (start, end, size) in enumerate(rows))


def test_buffers_are_placed_by_decreasing_size() -> None:
    made = planned("xla_heap_spatial", traced((0, 4, 10), (1, 5, 30), (2, 6, 20), (3, 7, 40)))
    assert offsets(made) == [90, 40, 70, 0]
    assert made.peak == 100


def test_the_smallest_gap_that_is_large_enough_is_taken() -> None:
    rows = traced((0, 9, 40), (0, 2, 30), (0, 9, 20), (0, 2, 15), (0, 9, 10), (5, 6, 9))
    assert offsets(planned("xla_heap_spatial", rows))[-1] == 90


def test_the_longest_life_comes_first_among_equal_sizes() -> None:
    assert offsets(planned("xla_heap_spatial", traced((0, 1, 5), (0, 3, 5), (2, 3, 5)))) == [5, 0, 5]


def test_temporal_goes_by_life_then_size() -> None:
    made = planned("xla_heap_temporal", traced((0, 9, 3), (0, 2, 8), (4, 6, 8)))
    assert offsets(made) == [0, 3, 3]


def test_a_life_is_as_long_as_the_events_in_it() -> None:
    # The second buffer lives for more steps of the user's time, but the first sees more allocations and releases.
    rows = traced((0, 10, 4), (10, 99, 4), (1, 2, 1), (3, 4, 1), (5, 6, 1), (9, 11, 4))
    assert offsets(planned("xla_heap_temporal", rows))[:2] == [0, 0]
    assert offsets(planned("xla_heap_spatial", rows))[5] == 4


def test_the_lower_of_both_placements_is_kept() -> None:
    rows = inclusive(*((n % 7, n % 7 + n % 5, 1 + n * 37 % 91) for n in range(40)))
    peaks = {solver: planned(solver, rows).peak for solver in ("xla_heap", "xla_heap_spatial", "xla_heap_temporal")}
    assert peaks["xla_heap"] == min(peak for peak in peaks.values() if peak is not None)
