"""A lower bound for several pools at once, from weights on their sections: exact, whoever made the weights.

Let H[p] be the peak of pool p, and load[p, t] what is live in it at section t, so that H[p] >= load[p, t]. Any weights y[p, t] >= 0 give

    sum over p of Y[p] * H[p]  >=  sum over p, t of y[p, t] * load[p, t]  >=  Z,        with Y[p] = sum over t of y[p, t],

where Z adds up, for each group of blocks that share a pool, the least weight that it can have in any pool it may go to. Then, with
H[p] <= capacity[p], the cost of the peaks is at least `Z - sum of (Y[p] - cost[p]) * capacity[p]` over the pools where Y[p] exceeds the cost
(sharing_value); and if Z exceeds `sum of Y[p] * capacity[p]`, nothing fits at all (sharing_shortage). A linear program finds good weights, but
need not be trusted: both numbers are computed here, in fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import TypeAlias

import numpy as np

from .instance import Instance, Term
from .shape import union

Weights: TypeAlias = Sequence[tuple[int, int, int, int]]
"""(pool, section, numerator, denominator), as in a certificate."""


def live_heights(instance: Instance, section: int) -> dict[int, int]:
    """How much of a pool each block takes at a section: the union of its live parts, of an excluded pair only the larger part."""
    live = (instance.rect_start <= section) & (instance.rect_end > section)
    parts = set(np.unique(instance.rect_part[live]).tolist())
    size = instance.part_high - instance.part_low
    for a, b in instance.exclusions.tolist():
        if a in parts and b in parts and instance.part_block[a] != instance.part_block[b]:
            parts.discard(b if size[a] >= size[b] else a)
    ranges: dict[int, list[tuple[int, int]]] = {}
    for part in sorted(parts):
        ranges.setdefault(int(instance.part_block[part]), []).append(
            (int(instance.part_low[part]), int(instance.part_high[part]))
        )
    heights = {block: sum(high - low for low, high in union(spans)) for block, spans in ranges.items()}
    return {block: height for block, height in heights.items() if height}


def peak_sections(instance: Instance) -> list[int]:
    """The sections whose live set is contained in no neighbour's: only these can hold the most."""
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
    homes: dict[int, list[int]] = {}
    for group in np.unique(instance.pool_class).tolist():
        homes[group] = np.flatnonzero(instance.allowed[instance.pool_class == group].all(axis=0)).tolist()
    return homes


def sharing_value(instance: Instance, weights: Weights) -> int:
    """What the cost-weighted sum of peaks cannot be below, by these weights; exact. 0 if they prove nothing."""
    totals, least = _totals(instance, weights)
    bound = least
    for pool, total in totals.items():
        spec = instance.pools[pool]
        excess = total - spec.cost
        if excess > 0:
            if spec.capacity is None:
                return 0
            bound -= excess * spec.capacity
    return max(0, ceil(bound))


def sharing_shortage(instance: Instance, weights: Weights) -> int:
    """How far, by these weights, the pools' capacities fall short of what must be live in them; more than 0 proves that nothing fits."""
    totals, least = _totals(instance, weights)
    room = Fraction(0)
    for pool, total in totals.items():
        capacity = instance.pools[pool].capacity
        if total > 0 and capacity is None:
            return 0
        room += total * (capacity or 0)
    return max(0, ceil(least - room))


def proves_sum_of_peaks(instance: Instance) -> bool:
    """Is the cost-weighted sum of peaks what the instance minimises first?"""
    return instance.terms[:1] == (Term.SUM_OF_PEAKS,)


def _totals(instance: Instance, weights: Weights) -> tuple[dict[int, Fraction], Fraction]:
    """Y[p], and Z. Weights below zero count as none."""
    totals: dict[int, Fraction] = {}
    by_section: dict[int, dict[int, Fraction]] = {}
    for pool, section, numerator, denominator in weights:
        weight = Fraction(numerator, denominator)
        if weight > 0:
            totals[pool] = totals.get(pool, Fraction(0)) + weight
            here = by_section.setdefault(section, {})
            here[pool] = here.get(pool, Fraction(0)) + weight
    taken: dict[int, dict[int, Fraction]] = {}
    for section, of_pool in by_section.items():
        for block, height in live_heights(instance, section).items():
            mine = taken.setdefault(int(instance.pool_class[block]), {})
            for pool, weight in of_pool.items():
                mine[pool] = mine.get(pool, Fraction(0)) + weight * height
    homes = homes_of_classes(instance)
    least = Fraction(0)
    for group, mine in taken.items():
        least += min((mine.get(pool, Fraction(0)) for pool in homes[group]), default=Fraction(0))
    return totals, least
