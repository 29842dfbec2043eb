"""A lower bound for several pools at once, from weights on their sections: exact for any weights.

Let H[p] be the peak of pool p, and load[p, t] what is live in it at section t, so that H[p] >= load[p, t]. Any weights y[p, t] >= 0 give

    sum over p of Y[p] * H[p]  >=  sum over p, t of y[p, t] * load[p, t]  >=  Z,        with Y[p] = sum over t of y[p, t],

where Z adds up, for each group of blocks that share a pool, the least weight that it can have in any pool it may go to. Then, with
H[p] <= capacity[p], the cost of the peaks is at least `Z - sum of (Y[p] - cost[p]) * capacity[p]` over the pools where Y[p] exceeds the cost
(value_by); and if Z exceeds `sum of Y[p] * capacity[p]`, nothing fits at all (sharing_shortage). A linear program finds good weights, but
need not be trusted: both numbers are computed here, in fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil, lcm
from typing import NamedTuple, TypeAlias

import numpy as np

from ..geometry.presolve import restrict
from ..geometry.shape import outline, union
from ..model.instance import Bools, Instance, Ints
from ..model.interruption import check_interrupted, interruptible
from ..model.outcome import Certificate, Proof
from .beside_walls import Sums

Weights: TypeAlias = Sequence[tuple[int, int, int, int]]
"""(pool, section, numerator, denominator), as in a certificate."""
SECTIONS_BESIDE_FREE = 8
"""So many of the fullest sections are looked at."""


def live_by_section(instance: Instance) -> Ints:
    """What is live in each section, with all pools together."""
    shape = outline(instance)
    change = np.zeros(instance.sections + 1, dtype=np.int64)
    np.add.at(change, shape.start, shape.high - shape.low)
    np.subtract.at(change, shape.end, shape.high - shape.low)
    live: Ints = np.cumsum(change[:-1])
    return live


class LiveHeights:
    """The room that each block takes at a section: the union of its live parts. Of an excluded pair only the larger part counts."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._block = instance.part_block.tolist()
        self._low, self._high = instance.part_low.tolist(), instance.part_high.tolist()
        self._exclusions = [(a, b) for a, b in instance.exclusions.tolist() if self._block[a] != self._block[b]]
        self._of_part: dict[int, list[int]] = {}
        """By part: the numbers of the exclusions in which it comes first."""
        for number, (a, _) in enumerate(self._exclusions):
            self._of_part.setdefault(a, []).append(number)

    def at(self, section: int) -> dict[int, int]:
        """The heights by block; blocks that take nothing are left out."""
        i = self._instance
        return self._of(set(i.rect_part[(i.rect_start <= section) & (i.rect_end > section)].tolist()))

    def over(self, sections: Iterable[int]) -> Iterator[tuple[int, dict[int, int]]]:
        """The heights at many sections, in ascending order, by one sweep."""
        i = self._instance
        part, start, end = i.rect_part.tolist(), i.rect_start.tolist(), i.rect_end.tolist()
        begins, ends = np.argsort(i.rect_start).tolist(), np.argsort(i.rect_end).tolist()
        begun = ended = 0
        live: set[int] = set()
        for section in sections:
            while begun < len(begins) and start[begins[begun]] <= section:
                live.add(begins[begun])
                begun += 1
            while ended < len(ends) and end[ends[ended]] <= section:
                live.discard(ends[ended])
                ended += 1
            check_interrupted()
            yield section, self._of({part[rect] for rect in live})

    def _of(self, parts: set[int]) -> dict[int, int]:
        if self._of_part:
            for number in sorted(number for part in parts for number in self._of_part.get(part, ())):
                a, b = self._exclusions[number]
                if a in parts and b in parts:
                    parts.discard(b if self._high[a] - self._low[a] >= self._high[b] - self._low[b] else a)
        ranges: dict[int, list[tuple[int, int]]] = {}
        for part in sorted(parts):
            ranges.setdefault(self._block[part], []).append((self._low[part], self._high[part]))
        heights = {block: sum(high - low for low, high in union(spans)) for block, spans in ranges.items()}
        return {block: height for block, height in heights.items() if height}


def peak_sections(instance: Instance) -> list[int]:
    """The sections whose live set no neighbour's contains: only these can hold the most."""
    begins = np.bincount(instance.rect_start, minlength=instance.sections + 1) > 0
    ends = np.bincount(instance.rect_end, minlength=instance.sections + 1) > 0
    found = []
    grown = False
    for section in range(instance.sections):
        grown = grown or bool(begins[section])
        if grown and ends[section + 1]:
            found.append(section)
            grown = False
    return found


def homes_of_classes(instance: Instance) -> dict[int, list[int]]:
    """The pools that each class of blocks, which must share one, may go to."""
    classes, number = np.unique(instance.pool_class, return_inverse=True)
    common = np.ones((len(classes), len(instance.pools)), dtype=bool)
    np.logical_and.at(common, number.reshape(-1), instance.allowed)
    sets, number = np.unique(common, axis=0, return_inverse=True)  # few, so that their lists are shared
    listed = [np.flatnonzero(row).tolist() for row in sets]
    return dict(zip(classes.tolist(), map(listed.__getitem__, number.reshape(-1).tolist()), strict=True))


class Least(NamedTuple):
    """The sums over weights."""

    totals: dict[int, Fraction]
    """Y[p]"""
    taken: Fraction
    """Z"""


def least(instance: Instance, weights: Weights) -> Least:
    """Computes Y[p] and Z."""
    totals, taken, denominator = weigh(instance, weights)
    homes = homes_of_classes(instance)
    z = sum(min((mine.get(pool, 0) for pool in homes[group]), default=0) for group, mine in taken.items())
    return Least(totals, Fraction(z, denominator))


def value_by(instance: Instance, found: Least) -> int:
    """The lower bound on the cost-weighted sum of peaks from sums of weights; 0 if they prove nothing."""
    bound = found.taken
    for pool, total in found.totals.items():
        spec = instance.pools[pool]
        excess = total - spec.cost
        if excess > 0:
            if spec.capacity is None:
                return 0
            bound -= excess * spec.capacity
    return max(0, ceil(bound))


def sharing_shortage(instance: Instance, weights: Weights) -> int:
    """By how much the pools' weighted capacity falls short of what must be live in them; more than 0 proves that nothing fits."""
    return shortage_by(instance, least(instance, weights))


def shortage_by(instance: Instance, found: Least) -> int:
    """The shortage from sums of weights."""
    room = Fraction(0)
    for pool, total in found.totals.items():
        capacity = instance.pools[pool].capacity
        if total > 0 and capacity is None:
            return 0
        room += total * (capacity or 0)
    return max(0, ceil(found.taken - room))


def weigh(instance: Instance, weights: Weights) -> tuple[dict[int, Fraction], dict[int, dict[int, int]], int]:
    """Y[p], each class's weight in each pool, and the denominator of these weights. Negative weights are ignored."""
    weights = tuple(weight for weight in weights if weight[2] * weight[3] > 0)
    denominator = lcm(*(weight[3] for weight in weights))
    whole = [(pool, section, n * (denominator // d)) for pool, section, n, d in weights]
    totals: dict[int, int] = {}
    for pool, _, number in whole:
        totals[pool] = totals.get(pool, 0) + number
    has_exclusion = np.zeros(instance.blocks, dtype=bool)
    has_exclusion[instance.part_block[instance.exclusions]] = True
    taken = _weigh_all(instance, whole, ~has_exclusion)
    _weigh_one_by_one(instance, whole, np.flatnonzero(has_exclusion), taken)
    return {pool: Fraction(number, denominator) for pool, number in totals.items()}, taken, denominator


def _weigh_one_by_one(
    instance: Instance, weights: list[tuple[int, int, int]], blocks: Ints, taken: dict[int, dict[int, int]]
) -> None:
    """Add these blocks' weights, section by section: with exclusions, the parts that count depend on the others live."""
    if not len(blocks):
        return
    piece = restrict(instance, blocks, range(len(instance.pools)), squeeze=False).instance
    class_of = instance.pool_class[blocks].tolist()
    by_section: dict[int, dict[int, int]] = {}
    for pool, section, number in weights:
        here = by_section.setdefault(section, {})
        here[pool] = here.get(pool, 0) + number
    for section, heights in LiveHeights(piece).over(sorted(by_section)):
        of_pool = by_section[section]
        for block, height in heights.items():
            mine = taken.setdefault(class_of[block], {})
            for pool, weight in of_pool.items():
                mine[pool] = mine.get(pool, 0) + weight * height


def _weigh_all(instance: Instance, weights: list[tuple[int, int, int]], blocks: Bools) -> dict[int, dict[int, int]]:
    """These blocks' weights, rect by rect, with prefix sums of the weights."""
    shape = outline(instance)
    group, height = instance.pool_class[shape.block], shape.high - shape.low
    of_pool: dict[int, list[tuple[int, int]]] = {}
    for p, section, number in weights:
        of_pool.setdefault(p, []).append((section, number))
    alike: dict[tuple[tuple[int, int], ...], list[int]] = {}
    """Pools with the same weights at all sections."""
    for pool in sorted(of_pool):
        alike.setdefault(tuple(sorted(of_pool[pool])), []).append(pool)
    taken: dict[int, dict[int, int]] = {}
    for ordered, pools in alike.items():
        sections = np.array([section for section, _ in ordered], dtype=np.int64)
        sums = [0, *accumulate(number for _, number in ordered)]
        first, last = np.searchsorted(sections, shape.start), np.searchsorted(sections, shape.end)
        some = np.flatnonzero((first < last) & (height > 0) & blocks[shape.block])
        rows = zip(*(column[some].tolist() for column in (group, first, last, height)), strict=True)
        for its_class, before, after, high in interruptible(list(rows)):
            mine = taken.setdefault(its_class, {})
            weight = (sums[after] - sums[before]) * high
            for pool in pools:
                mine[pool] = mine.get(pool, 0) + weight
    return taken


def busiest_section(instance: Instance) -> Certificate | None:
    """The bound from the busiest section: wherever its live parts go, they need room for their sum, at the least cost of any pool."""
    found = weigh_busiest(instance)
    return None if found is None else found[0]


def weigh_busiest(instance: Instance) -> tuple[Certificate, Least] | None:
    """The certificate of busiest_section, and the sums of its weights."""
    live = live_by_section(instance)
    if not live.any():
        return None
    section = int(live.argmax())
    price = _price_of_unit(instance, int(live[section]))
    weights = tuple((p, section, price, 1) for p in range(len(instance.pools)))
    rects = (instance.rect_start <= section) & (instance.rect_end > section)
    parts = tuple(np.unique(instance.rect_part[rects]).tolist())
    found = least(instance, weights)
    value = value_by(instance, found)
    return Certificate(Proof.POOL_SHARING, value, section=section, parts=parts, weights=weights), found


def _price_of_unit(instance: Instance, live: int) -> int:
    """The price that bounds the cost of so much in pools best: what is in cheaper ones pays no more than what they hold."""
    pools = instance.pools
    dearest = min((pool.cost for pool in pools if pool.capacity is None), default=max(pool.cost for pool in pools))

    def bound(price: int) -> int:
        return price * live - sum((price - pool.cost) * (pool.capacity or 0) for pool in pools if pool.cost < price)

    return max((price for pool in pools if 0 < (price := pool.cost) <= dearest), key=bound, default=1)


def peaks_beside_free(instance: Instance) -> int:
    """A lower bound on the cost-weighted sum of peaks; 0 where no pool is free, or one of those has no end.

    With L for what is live at a section, and f(p) for the greatest sum of sizes of blocks that may be in the free pool p, and no more than its capacity,
    all other pools together hold at least L less the sum of f(p), and each unit of their peaks costs at least what the cheapest of them does.
    """
    free = [pool for pool, spec in enumerate(instance.pools) if not spec.cost]
    ends = [instance.pools[pool].capacity for pool in free]
    if not free or None in ends or len(free) == len(instance.pools) or len(instance.exclusions):
        return 0
    live, most = live_by_section(instance), 0
    fullest = sorted(peak_sections(instance), key=lambda section: -int(live[section]))[:SECTIONS_BESIDE_FREE]
    for _, heights in LiveHeights(instance).over(sorted(fullest)):
        rest = sum(heights.values())
        for pool, end in zip(free, ends, strict=True):
            rest -= Sums([size for block, size in heights.items() if instance.allowed[block, pool]]).largest(end or 0)
        most = max(most, rest)
    return most * min(spec.cost for spec in instance.pools if spec.cost)
