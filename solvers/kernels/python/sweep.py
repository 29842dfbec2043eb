"""Sweeps over time: the largest sum of weights that are live together, and whether a placement has overlaps."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from ...model.instance import Ints
from ..interface import BadKernelInput
from .input import exact_sum

TOTAL_LIMIT = 1 << 62


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


def apart(starts: Ints, ends: Ints, pools: Ints, lows: Ints, highs: Ints) -> bool:
    """True if no two rects of a pool cover the same address at the same time. Empty rects cover nothing."""
    if not len(starts) == len(ends) == len(pools) == len(lows) == len(highs):
        raise BadKernelInput("starts, ends, pools, lows and highs differ in length")
    some = (starts < ends) & (lows < highs)
    pool, low, high = pools[some].tolist(), lows[some].tolist(), highs[some].tolist()
    number = np.arange(len(pool))
    times = np.concatenate([ends[some], starts[some]])
    order = np.lexsort((np.repeat([False, True], len(pool)), times))  # ends before begins of the same time
    live: dict[int, tuple[list[int], list[int]]] = {p: ([], []) for p in pool}
    for event in np.concatenate([~number, number])[order].tolist():
        i = event if event >= 0 else ~event
        bottoms, tops = live[pool[i]]
        at = bisect_left(bottoms, low[i])
        if event < 0:
            del bottoms[at], tops[at]
        elif (at and tops[at - 1] > low[i]) or (at < len(bottoms) and bottoms[at] < high[i]):
            return False
        else:
            bottoms.insert(at, low[i])
            tops.insert(at, high[i])
    return True


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
    if exact_sum(weights) >= TOTAL_LIMIT:
        raise BadKernelInput("the weights add up to 2^62 or more")
