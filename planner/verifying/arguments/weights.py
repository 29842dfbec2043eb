"""The weights of a certificate: a buffer weighs its bytes at some times, each times the weight of its pool at that time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate
from math import lcm
from typing import NamedTuple

import numpy as np

from ...facts.intervals import merged
from ...facts.possible_places import Places
from ...facts.sweep import SUMMABLE, VERIFYING, Integers, exact_array
from ...model.columns.buffers import BufferColumns
from ...model.deadline import in_time, look
from ...model.plan import PlanCertificate
from ...model.problem import Problem

MOST_BITS = 1 << 12
"""The longest common denominator; with a longer one, each sum takes longer than the argument is worth."""


class Weights(NamedTuple):
    """Weights as multiples of one unit, 1 / denominator."""

    denominator: int
    totals: dict[str, int]
    """By pool."""
    moments: dict[int, dict[str, int]]
    """time -> pool -> weight"""


def read_weights(certificate: PlanCertificate) -> Weights | str:
    """Return the certificate's weights, or in words why they are invalid."""
    denominator = common_denominator({weight[3] for weight in certificate.weights}, "weight")
    if isinstance(denominator, str):
        return denominator
    alike = _alike(certificate, denominator)
    if alike is not None:
        return alike
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


def _alike(certificate: PlanCertificate, denominator: int) -> Weights | None:
    """Return weights that are all the same, of different pools at one time, as most are; None for others."""
    if not certificate.weights:
        return None
    pools, *rest = zip(*certificate.weights, strict=True)
    if any(len({*column}) > 1 for column in rest):
        return None
    _, time, numerator, part = certificate.weights[0]
    totals = dict.fromkeys(pools, numerator * (denominator // part))
    return Weights(denominator, totals, {time: dict(totals)}) if len(totals) == len(pools) and numerator >= 0 else None


def common_denominator(denominators: Iterable[int], what: str, given: int = 1) -> int | str:
    """Return a common denominator of weights or prices, and of the given ones; or in words why they prove nothing."""
    for each in denominators:
        if each <= 0:
            return f"it has a {what} below zero"
        given = lcm(given, each)
        if given.bit_length() > MOST_BITS:
            return f"the common denominator of its {what}s has more than {MOST_BITS} bits"
    return given


def weigh(
    places: Places, certificate: PlanCertificate, moments: dict[int, dict[str, int]]
) -> dict[int, dict[str, int]]:
    """Return what the named buffers (default: all) weigh in each pool, by the first of the buffers that must share a pool."""
    index = places.index
    named = (
        sorted({index[id_] for id_ in certificate.buffers if id_ in index}) if certificate.buffers else index.values()
    )
    excluded = places.partners.exclusions
    entangled: list[int] = []
    if not excluded and not places.problem.constraints.colocations:
        single = list(named)
    else:
        single = []
        for number in in_time(named, VERIFYING):
            (entangled if number in excluded or len(places.group(number).members) > 1 else single).append(number)
    weights = _weigh_single(places, single, moments)
    for heights, of_pool in _heights(places, entangled, moments):
        for first, height in in_time(heights.items(), VERIFYING):
            mine = weights.setdefault(places.tied(first)[0], {})
            for pool, weight in of_pool.items():
                mine[pool] = mine.get(pool, 0) + weight * height
    return weights


def _weigh_single(places: Places, buffers: list[int], moments: dict[int, dict[str, int]]) -> dict[int, dict[str, int]]:
    """Weigh buffers that share no bytes: with prefix sums of the weights, one subtraction per lifetime."""
    found: dict[int, dict[str, int]] = {}
    if not buffers:
        return found
    size, owner, start, end = _figures(places.problem, buffers)
    times = sorted(moments)
    ranks = exact_array(times)
    first, last = np.searchsorted(ranks, start), np.searchsorted(ranks, end)
    for pool in sorted({pool for of_pool in moments.values() for pool in of_pool}):
        look(VERIFYING)
        sums = exact_array([0, *accumulate(moments[time].get(pool, 0) for time in times)])
        if int(sums[-1]) * int(size.max()) >= SUMMABLE:
            sums = sums.astype(object)
        weights = np.zeros(len(buffers), dtype=sums.dtype)
        np.add.at(weights, owner, sums[last] - sums[first])
        weights = weights * size
        there = np.flatnonzero(weights)
        for k, weight in zip(there.tolist(), weights[there].tolist(), strict=True):
            mine = found.setdefault(places.tied(buffers[k])[0], {})
            mine[pool] = mine.get(pool, 0) + weight
    return found


def _figures(problem: Problem, buffers: list[int]) -> tuple[Integers, Integers, Integers, Integers]:
    """Return the sizes of these buffers; and of each lifetime, which of them has it, its start and its end."""
    columns = problem.buffers
    if isinstance(columns, BufferColumns):
        start, end = columns.start[buffers], columns.end[buffers]
        owner = np.flatnonzero(start < end)
        return columns.size[buffers], owner, start[owner], end[owner]
    some = [columns[i] for i in buffers]
    lives = [(k, *live) for k, buffer in enumerate(some) for live in merged(buffer.live or ())]
    owners, starts, ends = zip(*lives, strict=True) if lives else ((), (), ())
    size = exact_array([buffer.size for buffer in some])
    return size, np.array(owners, dtype=np.int64), exact_array(starts), exact_array(ends)


def _heights(
    places: Places, entangled: list[int], moments: dict[int, dict[str, int]]
) -> Iterator[tuple[dict[int, int], dict[str, int]]]:
    """Yield the bytes of each group, by first member, and the weight of a byte, for each period with the same live buffers."""
    times = sorted(moments) if entangled else []
    begin: dict[int, list[int]] = {}
    end: dict[int, list[int]] = {}
    for i in entangled:
        for start, stop in merged(places.problem.buffers[i].live or ()):
            first, last = bisect_left(times, start), bisect_left(times, stop)
            if first < last:
                begin.setdefault(first, []).append(i)
                end.setdefault(last, []).append(i)
    live: set[int] = set()
    heights: dict[int, int] = {}
    total: dict[str, int] = {}
    for number, time in enumerate(times):
        if number in begin or number in end:
            if heights and total:
                yield heights, total
            look(VERIFYING)
            live.difference_update(end.get(number, ()))
            live.update(begin.get(number, ()))
            heights, total = _live_heights(places, live), {}
        for pool, weight in moments[time].items():
            total[pool] = total.get(pool, 0) + weight
    if heights and total:
        yield heights, total


def _live_heights(places: Places, live: set[int]) -> dict[int, int]:
    """Return the bytes of each group, by first member, while these are live; of an excluded pair only the larger counts."""
    buffers, exclusions = places.problem.buffers, places.problem.constraints.exclusions
    both: set[int] = set()
    for i in in_time(live, VERIFYING):
        partners = places.partners.exclusions.get(i, {})
        both.update(partners[other] for other in partners.keys() & live if not one_group(places, i, other))
    counted = set(live)
    for number in sorted(both):
        a, b = (places.index[id_] for id_ in exclusions[number])
        if a in counted and b in counted:
            counted.discard(b if buffers[a].size >= buffers[b].size else a)
    spans: dict[int, list[tuple[int, int]]] = {}
    for i in sorted(counted):
        group = places.group(i)
        low = places.low(i)
        spans.setdefault(group.members[0], []).append((low, low + buffers[i].size))
    return {first: sum(high - low for low, high in merged(ranges)) for first, ranges in spans.items()}


def one_group(places: Places, a: int, b: int) -> bool:
    """True if the two move as one."""
    return places.group(a) is places.group(b)
