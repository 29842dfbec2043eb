"""Room that stays empty is taken for rectangles where it begins and ends alike."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.heuristics.mosaic.pieces import fillers


@pytest.mark.parametrize(
    ("free", "wanted"),
    [
        ([], []),
        ([0, 0], []),
        ([0, 3, 3, 0], [(1, 3, 3)]),
        ([3, 3], [(0, 2, 3)]),
        ([0, 2, 7, 2, 0], [(2, 3, 5), (1, 4, 2)]),
        ([0, 2, 7, 5, 0], [(1, 3, 2), (2, 4, 5)]),
        ([0, 7, 3, 0], []),
        ([3, 6, 4, 6, 3], [(1, 4, 3)]),
    ],
)
def test_what_begins_and_ends_alike_is_one(free: list[int], wanted: list[tuple[int, int, int]]) -> None:
    assert fillers(np.array(free, dtype=np.int64)) == wanted


@pytest.mark.parametrize("seed", range(5))
def test_rectangles_take_no_more_than_is_free(seed: int) -> None:
    free = np.random.default_rng(seed).integers(0, 4, 60)
    taken = np.zeros(60, dtype=np.int64)
    for begin, end, height in fillers(free):
        taken[begin:end] += height
    assert (taken <= free).all()
