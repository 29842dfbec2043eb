"""A lower bound for the sum of peaks where some pools cost nothing: at a full section they hold no more than a sum of the sizes that are live there.

With L for what is live at a section, and f(p) for the greatest sum of sizes of blocks that may be in the free pool p, and no more than its capacity, all
other pools together hold at least L less the sum of f(p), and each unit of their peaks costs at least what the cheapest of them does. The sums
are exact where so few blocks are live, or so small is the pool, that they can be listed; else f(p) is the capacity.
"""

from __future__ import annotations

import numpy as np

from ..geometry.shape import outline
from ..model.instance import Instance
from .weighted_sections import LiveHeights, peak_sections

SECTIONS = 8
"""So many of the fullest sections are looked at."""
MOST_UNITS = 1 << 20
"""The sums of sizes in larger pools are not listed."""


def peaks_beside_free(instance: Instance) -> int:
    """A lower bound on the cost-weighted sum of peaks; 0 where no pool is free, or one of those has no end."""
    free = [pool for pool, spec in enumerate(instance.pools) if not spec.cost]
    ends = [instance.pools[pool].capacity for pool in free]
    if not free or None in ends or len(free) == len(instance.pools) or len(instance.exclusions):
        return 0
    shape, most = outline(instance), 0
    load = np.zeros(instance.sections + 1, dtype=np.int64)
    np.add.at(load, shape.start, shape.high - shape.low)
    np.subtract.at(load, shape.end, shape.high - shape.low)
    live = np.cumsum(load)
    fullest = sorted(peak_sections(instance), key=lambda section: -int(live[section]))[:SECTIONS]
    for _, heights in LiveHeights(instance).over(sorted(fullest)):
        rest = sum(heights.values())
        for pool, end in zip(free, ends, strict=True):
            rest -= greatest_sum([size for block, size in heights.items() if instance.allowed[block, pool]], end or 0)
        most = max(most, rest)
    return most * min(spec.cost for spec in instance.pools if spec.cost)


def greatest_sum(sizes: list[int], most: int) -> int:
    """The greatest sum of some of these sizes that is no more than this, or a number above it where sums cannot be listed."""
    if sum(sizes) <= most or most > MOST_UNITS:
        return min(sum(sizes), most)
    reached, kept = 1, (1 << most + 1) - 1
    for size in sizes:
        reached |= reached << size & kept
    return reached.bit_length() - 1
