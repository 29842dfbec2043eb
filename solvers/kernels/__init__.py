"""The inner loops, each written twice: in C++ for speed, and in Python for machines without a compiler and as the oracle of the tests.

Which of the two runs is decided on first use (see selection.py); the answers are the same.
"""

from __future__ import annotations

from ..model.instance import Ints
from .selection import Kind, Selection, active

__all__ = ["Kind", "Selection", "active", "max_live"]


def max_live(starts: Ints, ends: Ints, weights: Ints, sections: int) -> tuple[int, int | None]:
    """The largest sum of weights live in one section, and the first section where it occurs; (0, None) without sections.

    Weight i counts in the sections starts[i] <= s < ends[i]. The weights must add up to less than 2^62, so that no sum overflows.
    """
    return active().kernels.max_live(starts, ends, weights, sections)
