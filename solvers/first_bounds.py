"""What is proven of a whole instance before anybody searches: of each pool alone, and of all pools by what is live at one time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .bounds import busiest_section, pool_bound
from .instance import Instance, Term
from .outcome import Certificate, Value
from .pool_sharing import sharing_shortage


@dataclass(frozen=True, slots=True)
class FirstBounds:
    """Proofs, and what they add up to; in bytes."""

    pools: tuple[Certificate, ...]
    """Of single pools."""
    sharing: Certificate | None
    """Of all pools together; None where that says nothing of what is minimised."""
    shortage: tuple[Certificate, ...]
    """Those that prove that nothing fits."""
    value: Value
    """What the objective's first term cannot be below; of later terms nothing is known yet."""


def first_bounds(instance: Instance) -> FirstBounds:
    """The cheap bounds of an instance."""
    found = (pool_bound(instance, pool) for pool in range(len(instance.pools)))
    alone = tuple(certificate for certificate in found if certificate is not None)
    busiest = busiest_section(instance) if instance.has_choice else None
    sharing = busiest if instance.terms[0] is Term.SUM_OF_PEAKS else None
    return FirstBounds(alone, sharing, _shortage(instance, alone, busiest), _value(instance, alone, sharing))


def peaks_at_least(instance: Instance, certificates: Sequence[Certificate]) -> tuple[int, ...]:
    """What is proven of each pool's peak; 0 where nothing is."""
    bounds = [0] * len(instance.pools)
    for certificate in certificates:
        if certificate.pool is not None:
            bounds[certificate.pool] = max(bounds[certificate.pool], certificate.value)
    return tuple(bounds)


def _shortage(
    instance: Instance, alone: tuple[Certificate, ...], busiest: Certificate | None
) -> tuple[Certificate, ...]:
    capacity = [pool.capacity for pool in instance.pools]
    short = tuple(c for c in alone if c.pool is not None and (size := capacity[c.pool]) is not None and c.value > size)
    if short or busiest is None:
        return short
    missing = sharing_shortage(instance, busiest.weights)
    return (replace(busiest, value=missing),) if missing > 0 else ()


def _value(instance: Instance, alone: tuple[Certificate, ...], sharing: Certificate | None) -> Value:
    bounds = peaks_at_least(instance, alone)
    match instance.terms[0]:
        case Term.SUM_OF_PEAKS:
            together = 0 if sharing is None else sharing.value
            return (max(sum(p.cost * b for p, b in zip(instance.pools, bounds, strict=True)), together),)
        case Term.LARGEST_PEAK:
            return (max(bounds, default=0),)
        case Term.ACCESS_COST:
            cost = np.where(instance.allowed, instance.access_cost, np.iinfo(np.int64).max).min(axis=1)
            return (sum(cost.tolist()),)
        case Term.REUSE_COST:
            return (0,)
