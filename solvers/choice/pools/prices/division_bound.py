"""What choices cost at given prices, by their division: by where they have what is live at the fullest section, which decides the heights of pools.

At prices each class that is not live there is in its cheapest pool. So a division costs what its classes cost, and for each pool a function of its height:
that falls with a step wherever one more of a crowd fits. As long as only some are divided, the others are where they cost least, and each pool is as high as is
best for it. To make that less, heights are worth something to both sides: about what the function falls for a unit, among the heights for which prices were found.
Beyond these it may fall by far more than anything costs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import mul
from typing import NamedTuple

from ....kernels.plain import PricedPool, PricedSection
from ..program.program import Pools, Section
from .crowds import Priced


class Solved(NamedTuple):
    """The heights of a pool for which a linear program was solved."""

    end: int
    """The greatest that it may have at all;"""
    top: float
    """the one that it has in the solution,"""
    within: tuple[int, int]
    """and the least and the greatest that were allowed there."""


def least_of(units: Sequence[int], homes: Pools) -> int:
    """What a class takes where it takes least."""
    return min(units[pool] for pool in homes)


def priced_section(
    priced: Priced,
    homes: Sequence[Pools],
    section: Section,
    pools: Sequence[Solved],
    free: int,
    always: Sequence[int],
) -> PricedSection:
    """A lower bound of one term that counts no peaks, in parts of a unit of cost, for each division of a section, some of which may be open.

    `section` is what is divided, in turn; `pools` are where the bound should be good.

    `free` is how much higher all pools together may be than what is live there, each class where it takes least; `always` is what is in each pool in any case.
    """
    here = {group for group, _ in section}
    fixed = sum(min(priced.due(group).values()) for group in range(len(homes)) if group not in here)
    of_heights = [
        _of_height([(low, first, last) for low, _, (first, last) in priced.stretches(number)], pool)
        for number, pool in enumerate(pools)
    ]
    worth = [each for _, each in of_heights]
    of_free = min(0, *worth)

    def costs_of(group: int, units: Sequence[int]) -> dict[int, int]:
        """By pool, with what it leaves less room free than where it takes least."""
        costs, least = priced.due(group), least_of(units, homes[group])
        return {p: costs[p] + units[p] * worth[p] - (units[p] - least) * of_free for p in homes[group]}

    due = [costs_of(*each) for each in section]
    fixed += free * of_free + sum(map(mul, always, worth))
    rest = accumulate((min(each.values()) for each in reversed(due)), initial=fixed)
    by_pool = [[each.get(pool, 0) for pool in range(len(pools))] for each in due]
    return PricedSection([*rest][::-1], by_pool, [each for each, _ in of_heights])


def _of_height(parts: Sequence[tuple[int, int, int]], solved: Solved) -> tuple[PricedPool, int]:
    """What a pool costs by its height, without what that is worth; and what a unit of height costs: mostly less than nothing."""
    heights, values = [low for low, _, _ in parts], [first for _, first, _ in parts]
    each = list(zip(parts, [*heights[1:], solved.end], strict=True))
    rises = [(last - first) // (upto - low) if upto > low else 0 for (low, first, last), upto in each]
    low, high = solved.within if solved.within[0] < solved.within[1] else (0, solved.end)  # one height has no slope

    def point(height: int) -> tuple[int, int]:
        part = bisect_right(heights, height) - 1
        return height, values[part] + (height - heights[part]) * rises[part]

    between = ((height, value) for height, value in zip(heights, values, strict=True) if low < height < high)
    worth = _slope([point(low), *between, point(high)], solved.top)
    before = [last - upto * worth for (_, _, last), upto in each]
    values = [value - height * worth for height, value in zip(heights, values, strict=True)]
    least = list(map(min, values, [values[0], *before]))
    return PricedPool(heights, values, [rise - worth for rise in rises], least), worth


def _slope(points: Sequence[tuple[int, int]], top: float) -> int:
    """The slope at this height of the line below all points."""
    hull = list[tuple[int, int]]()
    for point in points:
        if hull and point[0] == hull[-1][0]:
            continue
        while len(hull) > 1 and _is_above(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    for (low, value), (upto, after) in pairwise(hull):
        if top <= upto or upto == hull[-1][0]:
            return (after - value) // (upto - low)
    return 0


def _is_above(one: tuple[int, int], middle: tuple[int, int], other: tuple[int, int]) -> bool:
    return (middle[1] - one[1]) * (other[0] - one[0]) >= (other[1] - one[1]) * (middle[0] - one[0])
