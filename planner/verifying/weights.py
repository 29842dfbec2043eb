"""A certificate's weights, and what buffers weigh by them: the bytes of each at some times, each times the weight of a pool at that time."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import TypeAlias

from ..facts.intervals import merged
from ..facts.places import Places
from ..plan import PlanCertificate
from ..problem import Buffer

Moments: TypeAlias = dict[int, dict[str, Fraction]]
"""time -> pool -> weight"""


def read_weights(certificate: PlanCertificate) -> tuple[dict[str, Fraction], Moments] | None:
    """Each pool's total, and the weights by time; None if one is below zero."""
    totals: dict[str, Fraction] = {}
    moments: Moments = {}
    for pool, time, numerator, denominator in certificate.weights:
        if denominator <= 0 or numerator < 0:
            return None
        weight = Fraction(numerator, denominator)
        totals[pool] = totals.get(pool, Fraction(0)) + weight
        here = moments.setdefault(time, {})
        here[pool] = here.get(pool, Fraction(0)) + weight
    return totals, moments


def weigh(places: Places, certificate: PlanCertificate, moments: Moments) -> dict[int, dict[str, Fraction]]:
    """What the named buffers (none named: all) weigh in each pool, by the first of those that must share a pool."""
    named = set(certificate.buffers) or set(places.index)
    excluded = {places.index[id_] for pair in places.problem.constraints.exclusions for id_ in pair}
    single, entangled = [], set()
    for number, each in enumerate(places.problem.buffers):
        if each.id in named:
            if number in excluded or len(places.group(number).members) > 1:
                entangled.add(each.id)
            else:
                single.append(number)
    weights = _weigh_single(places, single, moments)
    for time, of_pool in moments.items() if entangled else ():
        for buffer, height in _live_heights(places, entangled, time).items():
            mine = weights.setdefault(places.tied(buffer)[0], {})
            for pool, weight in of_pool.items():
                mine[pool] = mine.get(pool, Fraction(0)) + weight * height
    return weights


def _weigh_single(places: Places, buffers: list[int], moments: Moments) -> dict[int, dict[str, Fraction]]:
    """Buffers that share their bytes with nobody: with the sums of all weights up to each time, one subtraction for each interval."""
    times = sorted(moments)
    denominator = lcm(*(weight.denominator for of_pool in moments.values() for weight in of_pool.values()))
    whole: dict[int, dict[str, int]] = {}
    for pool in sorted({pool for of_pool in moments.values() for pool in of_pool}):
        sums = [0, *accumulate(int(moments[time].get(pool, Fraction(0)) * denominator) for time in times)]
        for each in buffers:
            buffer = places.problem.buffers[each]
            weight = 0
            for start, end in merged(buffer.live or ()):
                weight += sums[bisect_left(times, end)] - sums[bisect_left(times, start)]
            if weight:
                mine = whole.setdefault(places.tied(each)[0], {})
                mine[pool] = mine.get(pool, 0) + weight * buffer.size
    return {
        first: {pool: Fraction(number, denominator) for pool, number in mine.items()} for first, mine in whole.items()
    }


def _live_heights(places: Places, named: set[int | str], time: int) -> dict[int, int]:
    """How many bytes each group takes at the time, by its first member; of an excluded pair only the larger buffer counts."""
    buffers = places.problem.buffers
    live = {i for i, buffer in enumerate(buffers) if buffer.id in named and live_at(buffer, time)}
    for a, b in ((places.index[a], places.index[b]) for a, b in places.problem.constraints.exclusions):
        if a in live and b in live and not one_group(places, a, b):
            live.discard(b if buffers[a].size >= buffers[b].size else a)
    spans: dict[int, list[tuple[int, int]]] = {}
    for i in sorted(live):
        group = places.group(i)
        low = places.low(i)
        spans.setdefault(group.members[0], []).append((low, low + buffers[i].size))
    return {first: sum(high - low for low, high in merged(ranges)) for first, ranges in spans.items()}


def one_group(places: Places, a: int, b: int) -> bool:
    """True if the two move as one."""
    return places.group(a) is places.group(b)


def live_at(buffer: Buffer, time: int) -> bool:
    return any(start <= time < end for start, end in buffer.live or ())
