"""What choices cost at given prices, by their division: by where they have what is live at the fullest section, which decides the heights of pools.

At prices each class that is not live there is in its cheapest pool. So a division costs what its classes cost, and for each pool a function of its height:
that falls with a step wherever one more of a crowd fits. As long as only some are divided, the others are where they cost least, and each pool is as high as is
best for it. To make that less, heights are worth something to both sides: about what the function falls for a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import mul

from ....kernels.plain import PricedPool, PricedSection
from ..program.program import Pools, Section
from .crowds import Priced


def least_of(units: Sequence[int], homes: Pools) -> int:
    """What a class takes where it takes least."""
    return min(units[pool] for pool in homes)


def priced_section(
    priced: Priced,
    homes: Sequence[Pools],
    section: Section,
    ends: Sequence[int],
    tops: Sequence[float],
    free: int,
    always: Sequence[int],
) -> PricedSection:
    """A lower bound of one term that counts no peaks, in parts of a unit of cost, for each division of a section, some of which may be open.

    `section` is what is divided, in turn; `ends` are the greatest heights, and `tops` those where the bound should be good.

    `free` is how much higher all pools together may be than what is live there, each class where it takes least; `always` is what is in each pool in any case.
    """
    here = {group for group, _ in section}
    fixed = sum(min(priced.due(group).values()) for group in range(len(homes)) if group not in here)
    of_heights = [
        _of_height([(low, first, last) for low, _, (first, last) in priced.stretches(pool)], end, top)
        for pool, (end, top) in enumerate(zip(ends, tops, strict=True))
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
    by_pool = [[each.get(pool, 0) for pool in range(len(ends))] for each in due]
    return PricedSection([*rest][::-1], by_pool, [each for each, _ in of_heights])


def _of_height(parts: Sequence[tuple[int, int, int]], end: int, top: float) -> tuple[PricedPool, int]:
    """What a pool costs by its height, without what that is worth; and what a unit of height costs: mostly less than nothing."""
    worth = _slope(parts, end, top)
    heights = [low for low, _, _ in parts]
    each = list(zip(parts, [*heights[1:], end], strict=True))
    slopes = [((last - first) // (upto - low) if upto > low else 0) - worth for (low, first, last), upto in each]
    values = [first - low * worth for low, first, _ in parts]
    before = [values[0], *(last - upto * worth for (_, _, last), upto in each)]
    return PricedPool(heights, values, slopes, list(map(min, values, before))), worth


def _slope(parts: Sequence[tuple[int, int, int]], end: int, top: float) -> int:
    """The slope at this height of the line below all values."""
    hull = list[tuple[int, int]]()
    for point in (*((low, first) for low, first, _ in parts), (end, parts[-1][2])):
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
