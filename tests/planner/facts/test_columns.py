"""Columns compute as Python's integers do, whatever their size."""

from __future__ import annotations

import numpy as np
import pytest

from planner.facts.columns import SUMMABLE, column


@pytest.mark.parametrize("numbers", [[0, 5], [-SUMMABLE + 1, SUMMABLE - 1]])
def test_numbers_whose_sums_fit_are_int64(numbers: list[int]) -> None:
    found = column(numbers)
    assert found.dtype == np.int64
    assert (found + found).tolist() == [2 * n for n in numbers]


@pytest.mark.parametrize("numbers", [[], [SUMMABLE], [-SUMMABLE], [1 << 63], [1 << 64, 1], [-(1 << 70)], [2, 1.5]])
def test_others_stay_what_they_are(numbers: list[int]) -> None:
    found = column(numbers)
    assert (found + found).tolist() == [2 * n for n in numbers]
    assert (found[:1] + column([1])).tolist() == [n + 1 for n in numbers[:1]]
