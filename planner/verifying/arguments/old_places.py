"""What must have moved, derived again from the Problem alone, in exact numbers.

A buffer that cannot lie at its old place has moved. If any two of some buffers would overlap at their old places but must not share
addresses, all but one have moved. Several sets together count of one buffer at most its weight: 1, or its size.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import ceil

from solvers.model.instance import Term

from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.deadline import look
from ...model.errors import echo
from ...model.plan import PlanCertificate
from .shared_addresses import amounts


def moved_least(places: Places, certificate: PlanCertificate) -> int | str:
    """Return what the certificate's sets prove, or in words why they prove nothing."""
    denominator, counts = amounts(certificate)
    if isinstance(counts, str):
        return counts
    was = {places.index[old.buffer]: (old.pool, old.offset) for old in places.problem.was if old.buffer in places.index}
    counted: dict[int, int] = {}
    total = 0
    for (ids, _, _), amount in zip(certificate.sets, counts, strict=True):
        chosen = [places.index[id_] for id_ in ids]
        for buffer in chosen:
            if buffer not in was:
                return f"buffer {echo(places.problem.buffers[buffer].id)} was nowhere"
            weight = 1 if certificate.term is Term.MOVED_BUFFERS else places.problem.buffers[buffer].size
            counted[buffer] = counted.get(buffer, 0) + amount
            if counted[buffer] > weight * denominator:
                return f"it counts more for buffer {echo(places.problem.buffers[buffer].id)} than that it has moved"
        if len(chosen) == 1 and _may_stay(places, chosen[0], *was[chosen[0]]):
            return f"buffer {echo(ids[0])} can be where it was"
        for a, b in combinations(chosen, 2):
            look(VERIFYING)
            one, other = places.problem.buffers[a], places.problem.buffers[b]
            low = max(was[a][1], was[b][1])
            overlap = was[a][0] == was[b][0] and min(was[a][1] + one.size, was[b][1] + other.size) > low
            if (
                not (overlap and places.partners.must_be_apart(a, b))
                or places.group(a).members[0] == places.group(b).members[0]
            ):
                return f"buffers {echo(one.id)} and {echo(other.id)} may both be where they were"
        total += amount * max(len(chosen) - 1, min(len(chosen), 1))
    return ceil(Fraction(total, denominator))


def _may_stay(places: Places, buffer: int, pool: str, offset: int) -> bool:
    """True if the buffer on its own can be at its old place."""
    if pool not in places.possible_pools(buffer):
        return False
    group = places.group(buffer)
    spot = places.spot(group, pool)
    base = offset - places.low(buffer)
    if spot is None or base < spot.least or (spot.fixed is not None and base != spot.fixed):
        return False
    greatest = places.greatest(group, places.pools[pool])
    is_aligned = (base - spot.least) % spot.rule.modulus == 0
    return is_aligned and (greatest is None or base <= greatest)
