"""The weights of a certificate: what buffers weigh by them, which is their bytes at some times, each times the weight of a pool at that time."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from math import lcm
from typing import NamedTuple

from ...facts.intervals import merged
from ...facts.places import Places
from ...model.plan import PlanCertificate
from ...model.problem import Buffer

MOST_BITS = 1 << 12
"""Of a common denominator. With a longer one each sum takes longer than the argument can be worth."""


class Weights(NamedTuple):
    """Weights as whole numbers of one unit, which is 1 / denominator."""

    denominator: int
    totals: dict[str, int]
    """Of each pool."""
    moments: dict[int, dict[str, int]]
    """time -> pool -> weight"""


def read_weights(certificate: PlanCertificate) -> Weights | str:
    """The certificate's weights, or in words why they are none."""
    denominator = 1
    for each in {weight[3] for weight in certificate.weights}:
        if each <= 0:
            return "it has a weight below zero"
        denominator = lcm(denominator, each)
        if denominator.bit_length() > MOST_BITS:
            return f"the common denominator of its weights has more than {MOST_BITS} bits"
    totals: dict[str, int] = {}
    moments: dict[int, dict[str, int]] = {}
    for pool, time, numerator, part in certificate.weights:
        if numerator < 0:
            return "it has a weight below zero"
        weight = numerator * (denominator // part)
        totals[pool] = totals.get(pool, 0) + weight
        here = moments.setdefault(time, {})
        here[pool] = here.get(pool, 0) + weight
    return Weights(denominator, totals, moments)


def weigh(
    places: Places, certificate: PlanCertificate, moments: dict[int, dict[str, int]]
) -> dict[int, dict[str, int]]:
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
                mine[pool] = mine.get(pool, 0) + weight * height
    return weights


def _weigh_single(places: Places, buffers: list[int], moments: dict[int, dict[str, int]]) -> dict[int, dict[str, int]]:
    """Buffers that share their bytes with nobody: with the sums of all weights up to each time, one subtraction for each interval."""
    times = sorted(moments)
    found: dict[int, dict[str, int]] = {}
    for pool in sorted({pool for of_pool in moments.values() for pool in of_pool}):
        sums = [0, *accumulate(moments[time].get(pool, 0) for time in times)]
        for each in buffers:
            buffer = places.problem.buffers[each]
            weight = 0
            for start, end in merged(buffer.live or ()):
                weight += sums[bisect_left(times, end)] - sums[bisect_left(times, start)]
            if weight:
                mine = found.setdefault(places.tied(each)[0], {})
                mine[pool] = mine.get(pool, 0) + weight * buffer.size
    return found


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
