"""The open divisions of a section, in Python (see ../plain.py)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush, nsmallest
from itertools import accumulate
from operator import ge, getitem
from typing import NamedTuple, TypeAlias

Ints: TypeAlias = Sequence[int]
Ranges: TypeAlias = tuple[tuple[int, int], ...]
Given: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...], int, int, bool, int]


class _Part(NamedTuple):
    bound: int
    order: int
    chosen: tuple[int, ...]
    loads: tuple[int, ...]
    seen: int
    last: int
    is_solved: bool = False
    note: int = 0

    @property
    def given(self) -> Given:
        return self[:1] + self[2:]


class OpenDivisions:
    """Those that cost less than enough."""

    def __init__(
        self,
        homes: Sequence[Ints],
        units: Sequence[Ints],
        ends: Ints,
        lowest: Ints,
        always: Ints,
        free: int,
        enough: int,
    ) -> None:
        self.work = self.since = 0
        self._homes, self._units, self._ends, self._lowest, self._enough = homes, units, ends, lowest, enough
        least = [min(map(each.__getitem__, pools)) for pools, each in zip(homes, units, strict=True)]
        self._rest = [[0] * len(ends)]
        """By how many are open, the most that they may take in each pool, each as little as anywhere."""
        for pools, size in zip(reversed(homes), reversed(least), strict=True):
            self._rest.append([most + size * (pool in pools) for pool, most in enumerate(self._rest[-1])])
        self._left = list(accumulate(least, initial=free + sum(always)))
        """By how many have a pool, the most that these may take together."""
        self._prices = list[_Prices]()
        self._open = list[_Part]()
        self._ahead = set[tuple[int, ...]]()
        self._number = 0

    def __len__(self) -> int:
        return len(self._open)

    def least(self) -> int:
        return self._open[0].bound if self._open else self._enough

    def add(self, rest: Ints, due: Sequence[Ints], pools: Sequence[tuple[Ints, Ints, Ints, Ints]]) -> None:
        self._prices.append(_Prices(rest, due, [_OfHeight(*each) for each in pools]))

    def push(self, bound: int, chosen: Ints, loads: Ints, seen: int, last: int, is_solved: bool, note: int) -> None:
        self._push(_Part(bound, 0, tuple(chosen), tuple(loads), seen, last, is_solved, note))

    def next(self, work: int, patience: int) -> Given | None:
        while self._open and self.work < work:
            part = heappop(self._open)
            is_whole = len(part.chosen) == len(self._homes)
            if part.seen < len(self._prices) and not (is_whole and part.is_solved):
                self._push(self._looked_at(part, self._enough))
            elif is_whole or self.since >= patience:
                return part.given
            else:
                self.divide(part.chosen, part.loads, part.bound, part.last)
        return None

    def divide(self, chosen: Ints, loads: Ints, bound: int, last: int) -> None:
        self.since += 1
        for each in self._divided(tuple(chosen), tuple(loads), bound, last):
            self._push(each)

    def ahead(self, width: int, work: int) -> Given | None:
        whole = len(self._homes)
        some = nsmallest(width, (part for part in self._open if len(part.chosen) < whole))
        while any(len(part.chosen) < whole for part in some):
            if self.work >= work:
                return None
            each = (other for part in some for other in (self._parts_of(part) if len(part.chosen) < whole else [part]))
            bounded = (self._looked_at(part, self._enough) for part in each)
            some = nsmallest(width, (part for part in bounded if part.bound < self._enough))
        if not some:
            return None
        self._ahead.add(some[0].chosen)
        return some[0].given

    def around(self, chosen: Ints, loads: Ints, below: int) -> Ranges:
        box = self.heights(chosen, loads)
        for other in self._open:
            if other.bound < below:
                self.work += 1
                box = _around(self.heights(other.chosen, other.loads), box)
        return box

    def heights(self, chosen: Ints, loads: Ints) -> Ranges:
        free = self._left[len(chosen)] - sum(loads)
        each = zip(loads, self._rest[len(self._homes) - len(chosen)], self._ends, strict=True)
        return tuple([(load, min(load + rest + free, end)) for load, rest, end in each])

    def heights_below(self, value: int, work: int) -> Ranges:
        box: Ranges = ()
        end, parts = self.work + work, sorted(self._open, reverse=True)
        while parts:
            part = parts.pop()
            heights = self.heights(part.chosen, part.loads)
            if _is_within(heights, box):
                continue
            is_over = self.work >= end
            part = part if is_over else self._looked_at(part, value)
            if part.bound >= value:
                continue
            if is_over or len(part.chosen) == len(self._homes):
                box = _around(heights, box)
            else:
                parts += sorted(self._parts_of(part), reverse=True)
        return box

    def _push(self, part: _Part) -> None:
        if part.bound < self._enough:
            self._number += 1
            heappush(self._open, part._replace(order=-(len(part.chosen) << 40) - self._number))

    def _looked_at(self, part: _Part, enough: int) -> _Part:
        """The part, bounded by all prices, or by some that prove that it costs enough."""
        bound, last = part.bound, part.last
        heights = self.heights(part.chosen, part.loads)
        for number in range(part.seen, len(self._prices)):
            if bound >= enough:
                break
            other = self._bound(number, part.chosen, heights)
            if other > bound:
                bound, last = other, number
        return part._replace(bound=bound, last=last, seen=len(self._prices))

    def _bound(self, number: int, chosen: tuple[int, ...], heights: Ranges) -> int:
        self.work += 1
        return self._prices[number].of(chosen, heights)

    def _parts_of(self, part: _Part) -> Iterator[_Part]:
        return self._divided(part.chosen, part.loads, part.bound, part.last)

    def _divided(self, chosen: tuple[int, ...], loads: tuple[int, ...], bound: int, last: int) -> Iterator[_Part]:
        """The next of the section in each pool that has room for it, as long as all pools can be as high as what is there in any case."""
        units = self._units[len(chosen)]
        for pool in self._homes[len(chosen)]:
            load = loads[pool] + units[pool]
            if load <= self._ends[pool]:
                after, upto = (*chosen, pool), (*loads[:pool], load, *loads[pool + 1 :])
                heights = self.heights(after, upto)
                is_within = sum(upto) <= self._left[len(after)] and all(
                    map(ge, (high for _, high in heights), self._lowest)
                )
                if after not in self._ahead and is_within:
                    least = max(bound, self._bound(last, after, heights)) if self._prices else bound
                    yield _Part(least, 0, after, upto, 0, last)


class _Prices:
    """Bound divisions, some of which may be open."""

    def __init__(self, rest: Ints, due: Sequence[Ints], pools: Sequence[_OfHeight]) -> None:
        self._rest, self._due, self._pools = rest, due, pools

    def of(self, chosen: tuple[int, ...], heights: Ranges) -> int:
        """The bound with the first ones in these pools, which have heights in these ranges."""
        total = self._rest[len(chosen)] + sum(map(getitem, self._due, chosen))
        for each, (low, high) in zip(self._pools, heights, strict=True):
            total += each.at_least(low, high)
        return total


class _OfHeight:
    """What a pool costs by its height."""

    def __init__(self, heights: Ints, values: Ints, slopes: Ints, least: Ints) -> None:
        self._heights, self._values, self._slopes = heights, values, slopes
        self._least = [list(least)]
        """For each power of two, the least value at so many steps from each one on."""
        width = 1
        while 2 * width <= len(least):
            row = self._least[-1]
            self._least.append(list(map(min, row, row[width:])))
            width *= 2

    def at_least(self, low: int, high: int) -> int:
        """The least cost at heights in this range."""
        first, last = bisect_right(self._heights, low), bisect_right(self._heights, high)
        found = min(self._at(first - 1, low), self._at(last - 1, high))
        if first < last:
            power = (last - first).bit_length() - 1
            row = self._least[power]
            return min(found, row[first], row[last - (1 << power)])
        return found

    def _at(self, number: int, height: int) -> int:
        return self._values[number] + (height - self._heights[number]) * self._slopes[number]


def _is_within(heights: Ranges, box: Ranges) -> bool:
    """Are they all in the box? In an empty one none is."""
    each = zip(heights, box, strict=False)
    return bool(box) and all(least <= low and high <= most for (low, high), (least, most) in each)


def _around(heights: Ranges, box: Ranges) -> Ranges:
    """The box with these heights."""
    each = zip(heights, box or heights, strict=True)
    return tuple((min(low, least), max(high, most)) for (low, high), (least, most) in each)
