"""What choices cost at given prices, by their division: by where they have what is live at the fullest section, which decides the heights of pools.

At prices each class that is not live there is in its cheapest pool. So a division costs what its classes cost, and for each pool a function of its height:
that falls with a step wherever one more of a crowd fits. As long as only some are divided, the others are where they cost least, and each pool is as high as is
best for it. To make that less, heights are worth something to both sides: about what the function falls for a unit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from operator import getitem, mul

from ..program.program import Heights, Pools, Section
from .crowds import Priced


def least_of(units: Sequence[int], homes: Pools) -> int:
    """What a class takes where it takes least."""
    return min(units[pool] for pool in homes)


class DivisionBound:
    """A lower bound of one term that counts no peaks, in parts of a unit of cost, for each division of a section, some of which may be open."""

    def __init__(
        self,
        priced: Priced,
        homes: Sequence[Pools],
        section: Section,
        ends: Sequence[int],
        tops: Sequence[float],
        free: int,
        always: Sequence[int],
    ) -> None:
        """`section` is what is divided, in turn; `ends` are the greatest heights, and `tops` those where the bound should be good.

        `free` is how much higher all pools together may be than what is live there, each class where it takes least; `always` is what is in each pool in any case.
        """
        here = {group for group, _ in section}
        self._fixed = sum(min(priced.due(group).values()) for group in range(len(homes)) if group not in here)
        self._of_pools = [
            _OfHeight([(low, first, last) for low, _, (first, last) in priced.stretches(pool, 0, end)], end, top)
            for pool, (end, top) in enumerate(zip(ends, tops, strict=True))
        ]
        worth = [each.worth for each in self._of_pools]
        of_free = min(0, *worth)

        def costs_of(group: int, units: Sequence[int]) -> dict[int, int]:
            """By pool, with what it leaves less room free than where it takes least."""
            costs, least = priced.due(group), least_of(units, homes[group])
            return {p: costs[p] + units[p] * worth[p] - (units[p] - least) * of_free for p in homes[group]}

        self._due = [costs_of(*each) for each in section]
        self._fixed += free * of_free + sum(map(mul, always, worth))
        self._rest = [0]
        """By how many are open, what they cost at least."""
        for due in reversed(self._due):
            self._rest.append(self._rest[-1] + min(due.values()))

    def of(self, chosen: Pools, heights: Heights) -> int:
        """The bound with the first ones in these pools, which have heights in these ranges."""
        total = self._fixed + self._rest[len(self._due) - len(chosen)] + sum(map(getitem, self._due, chosen))
        for each, (low, high) in zip(self._of_pools, heights, strict=True):
            total += each.least(low, high)
        return total


class _OfHeight:
    """What a pool costs by its height, without what that is worth."""

    def __init__(self, parts: Sequence[tuple[int, int, int]], end: int, top: float) -> None:
        self.worth = _slope(parts, end, top)
        """What a unit of height costs: mostly less than nothing."""
        self._heights = [low for low, _, _ in parts]
        ends = [*self._heights[1:], end]
        slopes = [
            (last - first) // (upto - low) if upto > low else 0
            for (low, first, last), upto in zip(parts, ends, strict=True)
        ]
        self._lines = [
            (first - low * slope, slope - self.worth) for (low, first, _), slope in zip(parts, slopes, strict=True)
        ]
        """For each part what the pool would cost without height, and what each unit adds."""
        values = [first - low * self.worth for low, first, _ in parts]
        before = [values[0], *(last - upto * self.worth for (_, _, last), upto in zip(parts, ends, strict=True))]
        self._least = [list(map(min, values, before))]
        """For each power of two, the least value at so many steps from each one on."""
        width = 1
        while 2 * width <= len(parts):
            row = self._least[-1]
            self._least.append(list(map(min, row, row[width:])))
            width *= 2

    def least(self, low: int, high: int) -> int:
        """At heights in this range."""
        first, last = bisect_right(self._heights, low), bisect_right(self._heights, high)
        (value, slope), (other, of_other) = self._lines[first - 1], self._lines[last - 1]
        found = min(value + low * slope, other + high * of_other)
        if first < last:
            power = (last - first).bit_length() - 1
            row = self._least[power]
            return min(found, row[first], row[last - (1 << power)])
        return found


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
