"""Numbers of many buffers side by side, so that one comparison serves them all; exact whatever their size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Column: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]
"""Of int64, or of Python's own integers."""

SUMMABLE = 1 << 62
"""The sum or the difference of two numbers below this, either way from 0, fits into int64."""


def column(numbers: Sequence[int]) -> Column:
    """The numbers as int64 where the sum of any two fits too; else as Python's integers, which are slower and never overflow."""
    found = np.array(numbers)
    if found.dtype.kind == "i" and found.min() > -SUMMABLE and found.max() < SUMMABLE:
        return found.astype(np.int64, copy=False)
    return np.array(numbers, dtype=object)
