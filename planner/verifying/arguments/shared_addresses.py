"""What sharing addresses must cost, derived again from the Problem alone, in exact numbers.

Take m buffers, any two of which must not share addresses or else pay. If at most k of them fit side by side in all pools that they may use,
k addresses hit every one of them: they fall into k heaps, and two in a heap share an address. The pairs in common heaps are fewest if the
heaps are as even as possible. So many pairs pay. Several sets together count of one pair at most its cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, gcd, lcm

from ...facts.intervals import merged
from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.deadline import look, tick
from ...model.errors import echo
from ...model.plan import PlanCertificate
from .weights import MOST_BITS


def shared_cost(places: Places, certificate: PlanCertificate) -> int | str:
    """Return what the certificate's sets prove, or in words why they prove nothing."""
    costs = places.partners.reuse_costs
    denominator, counts = amounts(certificate)
    if isinstance(counts, str):
        return counts
    counted: dict[frozenset[int], int] = {}
    total = 0
    for (ids, _, _), amount in zip(certificate.sets, counts, strict=True):
        chosen = [places.index[id_] for id_ in ids]
        for a, b in combinations(chosen, 2):
            look(VERIFYING)
            if places.partners.must_be_apart(a, b):
                continue
            pair = frozenset((a, b))
            counted[pair] = counted.get(pair, 0) + amount
            if counted[pair] > costs.get(a, {}).get(b, 0) * denominator:
                return f"it counts more for buffers {echo(ids[chosen.index(a)])} and {echo(ids[chosen.index(b)])} than their sharing costs"
        total += amount * _fewest_pairs(places, chosen)
    return ceil(Fraction(total, denominator))


def amounts(certificate: PlanCertificate) -> tuple[int, list[int] | str]:
    """Return the amount of each of the certificate's sets in units of 1 / the first number; or in words why that is invalid."""
    denominator = 1
    for _, numerator, under in certificate.sets:
        if numerator < 0 or under <= 0:
            return 1, "one of its sets counts less than nothing"
        denominator = lcm(denominator, under)
        if denominator.bit_length() > MOST_BITS:
            return 1, f"the common denominator of its sets has more than {MOST_BITS} bits"
    return denominator, [numerator * (denominator // under) for _, numerator, under in certificate.sets]


def _fewest_pairs(places: Places, buffers: Sequence[int]) -> int:
    """Return the least number of pairs of these buffers that share an address in any plan."""
    groups = {places.group(buffer).members[0] for buffer in buffers}
    if len(groups) < len(buffers) or not all(places.problem.buffers[buffer].size for buffer in buffers):
        return 0  # buffers that move as one, or take no room, need not pay
    if not all(places.possible_pools(buffer) for buffer in buffers):
        return len(buffers) * (len(buffers) - 1) // 2  # there is no plan, so every claim holds
    pools = {name for buffer in buffers for name in places.possible_pools(buffer)}
    heaps, of_lengths = 0, 0
    for pool in pools:
        stretch = _stretch(places, pool, [buffer for buffer in buffers if pool in places.possible_pools(buffer)])
        if stretch is None:
            return 0
        heaps += _side_by_side(*stretch)
        of_lengths = _pairs_by_length(*stretch) if len(pools) == 1 else 0
    return max(_pairs_in(len(buffers), max(heaps, 1)), of_lengths)


def _pairs_in(count: int, heaps: int) -> int:
    """Return the number of pairs in common heaps, if these are as even as possible."""
    each, more = divmod(count, heaps)
    return heaps * each * (each - 1) // 2 + more * each


def _pairs_by_length(lengths: list[int], room: int) -> int:
    """Return this number for buffers of one pool, given their lengths in ascending order.

    Call lengths from some border on large, the others small. If at most k large ones fit side by side, the large ones fall into k heaps. Small
    ones that share with no large one have the room left beside those k; of those that share with none at all only so many fit there, and each
    other one is in at least one further pair. This holds for any border and some k.
    """
    most = 0
    for border in sorted(set(lengths))[1:]:
        small = [length for length in lengths if length < border]
        large = lengths[len(small) :]
        fewest = None
        for heaps in range(1, _side_by_side(large, room) + 1):
            tick(VERIFYING, len(lengths))
            beside = _side_by_side(small, room - sum(large[:heaps]))
            pairs = _pairs_in(len(large), heaps) + len(small) - beside
            fewest = pairs if fewest is None else min(fewest, pairs)
        most = max(most, fewest or 0)
    return most


def _side_by_side(lengths: list[int], room: int) -> int:
    """Return how many of these ascending lengths fit into the room."""
    fit = 0
    while fit < len(lengths) and lengths[fit] <= room:
        room -= lengths[fit]
        fit += 1
    return fit


def _stretch(places: Places, pool: str, buffers: Sequence[int]) -> tuple[list[int], int] | None:
    """Return the buffers' ascending lengths, and the pool's room for buffers side by side; None: unlimited.

    Their starts are congruent modulo a common grain, so in each free range all but the topmost take a multiple of it.
    """
    size, reserved = places.pools[pool].size, merged(places.pools[pool].reserved)
    if size is None:
        return None
    starts, grain = [], 0
    for buffer in buffers:
        spot = places.spot(places.group(buffer), pool)
        if spot is None:
            continue
        starts.append(spot.least + places.low(buffer))
        if spot.fixed is None:
            grain = gcd(grain, spot.rule.modulus)
    if not starts:
        return [], 0
    grain = gcd(grain, *(start - starts[0] for start in starts))
    if not grain:
        return [1] * len(starts), 1
    lengths = [places.problem.buffers[buffer].size for buffer in buffers]
    padding = max(-length % grain for length in lengths)
    rounded = sorted(length + -length % grain for length in lengths)
    whole = gcd(*rounded)
    room, here = 0, min(starts)
    for begin, end in (*reserved, (size, size)):
        if min(begin, size) > here:
            room += (min(begin, size) - here + padding) // whole * whole
        if end > here:
            here = end + (starts[0] - end) % grain
    return rounded, room
