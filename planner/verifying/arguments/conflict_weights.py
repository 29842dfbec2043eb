"""The least height of a pool by weights of buffers, derived again from the Problem alone, in exact numbers.

Buffers that lie at one address do not conflict. If no buffers without a conflict weigh more than 1 together, each byte holds a weight of 1 at most, so
the pool has at least as many bytes as all sizes times their weights. The same holds of sizes rounded down to multiples of any length: where all addresses
are rounded down to multiples of it, buffers that conflict are still apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import gcd

from ...facts.intervals import merged
from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.deadline import tick
from ...model.plan import PlanCertificate
from ...model.problem import Pool
from .shared_addresses import amounts

MOST_BUFFERS = 256
"""With more, it could take very long to find out which may lie at one address."""
MOST_STEPS = 50_000
"""For that."""


def weighed_height(places: Places, certificate: PlanCertificate) -> int | str:
    """Return what the certificate's weights prove of its pool, or in words why they prove nothing."""
    assert certificate.pool is not None
    whole, counts = amounts(certificate)
    if isinstance(counts, str):
        return counts
    weight: dict[int, int] = {}
    for (ids, _, _), count in zip(certificate.sets, counts, strict=True):
        for id_ in ids:
            buffer = places.index[id_]
            weight[buffer] = weight.get(buffer, 0) + count
    if len(weight) > MOST_BUFFERS:
        return f"it weighs {len(weight)} buffers; more than {MOST_BUFFERS} are not looked at"
    chosen = sorted(weight)
    if any(places.spot(places.group(buffer), certificate.pool) is None for buffer in chosen):
        return certificate.value  # nothing fits, and every claim holds
    apart: dict[int, set[int]] = {buffer: set() for buffer in chosen}
    for a, b in combinations(chosen, 2):
        tick(VERIFYING)
        if places.group(a).members[0] != places.group(b).members[0] and places.partners.must_be_apart(a, b):
            apart[a].add(b)
            apart[b].add(a)
    together = _too_heavy(chosen, weight, apart, whole)
    if together is not None:
        return together
    return _height(places, certificate.pool, chosen, [weight[buffer] for buffer in chosen], whole)


def _too_heavy(chosen: Sequence[int], weight: dict[int, int], apart: dict[int, set[int]], whole: int) -> str | None:
    """Return objections if some buffers without a conflict may weigh more than the whole."""
    order = sorted((each for each in chosen if weight[each]), key=lambda each: (-len(apart[each]), each))
    weights = [weight[each] for each in order]
    bit = {each: 1 << place for place, each in enumerate(order)}
    rivals = [sum(bit[other] for other in apart[each] if other in bit) for each in order]
    steps = 0
    waiting: list[tuple[int, int]] = [((1 << len(order)) - 1, 0)]
    while waiting:
        steps += 1
        tick(VERIFYING, len(order))
        if steps > MOST_STEPS:
            return f"it takes more than {MOST_STEPS} steps to see which of its buffers may share an address"
        candidates, total = waiting.pop()
        if total > whole:
            return "buffers without a conflict weigh more than 1 together"
        for place, most in reversed(_limits(candidates, weights, rivals)):
            if total + most <= whole:
                break
            candidates ^= 1 << place
            waiting.append((candidates & ~rivals[place], total + weights[place]))
    return None


def _limits(candidates: int, weights: Sequence[int], rivals: Sequence[int]) -> list[tuple[int, int]]:
    """Return the candidates, and with each the most that it and those before it weigh at one address.

    Of buffers that all conflict one lies there. So a weight that they have in common counts once, and what they weigh beyond it is looked at again.
    """
    found: list[tuple[int, int]] = []
    rest, counted = list(weights), 0
    while candidates:
        group: list[int] = []
        open_ones = candidates
        while open_ones:
            group.append((open_ones & -open_ones).bit_length() - 1)
            open_ones &= rivals[group[-1]]
        common = min(rest[place] for place in group)
        counted += common
        for place in group:
            rest[place] -= common
            if not rest[place]:
                candidates ^= 1 << place
                found.append((place, counted))
    return found


def _height(places: Places, pool: str, buffers: Sequence[int], weights: Sequence[int], whole: int) -> int:
    """Return the least height of the pool that the weights prove."""
    here = places.pools[pool]
    sizes = [places.problem.buffers[buffer].size for buffer in buffers]
    grain = 1 if here.reserved else _grain(places, pool, buffers)
    cells = [-(-size // grain) for size in sizes]
    lengths = {length for length in {*cells, gcd(*cells)} if length}
    rounded = (
        length * -(-sum(cell // length * weight for cell, weight in zip(cells, weights, strict=True)) // whole)
        for length in lengths
    )
    height = max(rounded, default=0)
    if not height:
        return 0
    last = min((size - 1) % grain + 1 for size in sizes if size)
    return _above_ranges((height - 1) * grain + last, here)


def _grain(places: Places, pool: str, buffers: Sequence[int]) -> int:
    """Return a number of which all of these begin at multiples, if there is a plan."""
    grain = 0
    for buffer in buffers:
        spot = places.spot(places.group(buffer), pool)
        assert spot is not None
        grain = gcd(grain, spot.rule.modulus, spot.rule.residue + places.low(buffer))
    return grain or 1


def _above_ranges(height: int, pool: Pool) -> int:
    """Return the address below which so much is not reserved."""
    begin_of_free = 0
    for begin, end in merged(pool.reserved):
        if begin - begin_of_free >= height:
            break
        height -= begin - begin_of_free
        begin_of_free = end
    return begin_of_free + height
