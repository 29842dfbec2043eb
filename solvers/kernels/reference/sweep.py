"""The largest sum of weights that are live together, by one sweep over the sections."""

from __future__ import annotations

import numpy as np

from ...instance import Ints
from ..errors import BadKernelInput

TOTAL_LIMIT = 1 << 62
LOW_BITS = 31


def max_live(starts: Ints, ends: Ints, weights: Ints, sections: int) -> tuple[int, int | None]:
    """The largest sum of weights live in one section, and the first section where it occurs; (0, None) without sections.

    Weight i counts in the sections starts[i] <= s < ends[i]. The weights must add up to less than 2^62, so that no sum overflows.
    """
    _check(starts, ends, weights, sections)
    if sections == 0:
        return 0, None
    change = np.zeros(sections + 1, dtype=np.int64)
    np.add.at(change, starts, weights)
    np.subtract.at(change, ends, weights)
    live = np.cumsum(change[:-1])
    section = int(np.argmax(live))
    return int(live[section]), section


def _check(starts: Ints, ends: Ints, weights: Ints, sections: int) -> None:
    if not len(starts) == len(ends) == len(weights):
        raise BadKernelInput("starts, ends and weights differ in length")
    if sections < 0:
        raise BadKernelInput("the number of sections is negative")
    if sections >= TOTAL_LIMIT:
        raise BadKernelInput("there are too many sections")
    if (starts < 0).any() or (starts > ends).any() or (ends > sections).any():
        raise BadKernelInput("a rect lies outside the sections, or ends before it starts")
    if (weights < 0).any():
        raise BadKernelInput("a weight is negative")
    if _exact_sum(weights) >= TOTAL_LIMIT:
        raise BadKernelInput("the weights add up to 2^62 or more")


def _exact_sum(weights: Ints) -> int:
    # The two halves are summed apart and put together as Python integers: a sum in int64 could wrap unseen.
    return (int((weights >> LOW_BITS).sum()) << LOW_BITS) + int((weights & ((1 << LOW_BITS) - 1)).sum())
