"""Bounds of a whole instance before any search: of each pool alone, and of all pools by the section with the most live bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

import numpy as np

from ..model.instance import LINEAR_TERMS, Instance, Term
from ..model.interruption import GivenUp, give_up, interrupted_by
from ..model.linear_terms import least_choice_cost, peak_price
from ..model.outcome import Certificate, Proof, Value
from ..model.solver import never
from .one_pool import pool_bound
from .prices.priced_room import priced_value
from .weighted_sections import Least, peaks_beside_free, shortage_by, weigh_busiest


@dataclass(frozen=True, slots=True)
class FirstBounds:
    """The proofs, and the bound that they give; in bytes."""

    pools: tuple[Certificate, ...]
    """Proofs about single pools."""
    of_several: Certificate | None
    """The proof about all pools together; None if it bounds nothing that is minimised."""
    priced: Certificate | None
    """The proof about the largest peak of several pools, if it comes first."""
    shortage: tuple[Certificate, ...]
    """Proofs that nothing fits."""
    value: Value
    """A lower bound on the objective's first term."""


def first_bounds(instance: Instance, stopped: Callable[[], object] = never) -> FirstBounds:
    """The cheap bounds of an instance, for as many pools as time allows."""
    try:
        with interrupted_by(partial(give_up, stopped)):
            return _bounds(instance, stopped)
    except GivenUp:
        return FirstBounds((), None, None, (), (least_of_term(instance, instance.terms[0], (), None),))


def _bounds(instance: Instance, stopped: Callable[[], object]) -> FirstBounds:
    settled = instance.has_one_home
    some = np.flatnonzero((instance.allowed & settled[:, None]).any(axis=0)).tolist()
    found = (pool_bound(instance, pool, settled) for pool in takewhile(lambda _: not stopped(), some))
    of_pools = tuple(certificate for certificate in found if certificate is not None)
    busiest = weigh_busiest(instance) if instance.has_choice and not stopped() else None
    counts_peaks = any(peak_price(instance, term) or term is Term.LARGEST_PEAK for term in instance.terms)
    of_several = busiest[0] if busiest and counts_peaks else None
    priced = largest_by_busiest(instance, busiest[0]) if busiest else None
    return FirstBounds(
        of_pools,
        of_several,
        priced,
        _shortage(instance, of_pools, busiest),
        _value(instance, of_pools, of_several, priced),
    )


def largest_by_busiest(instance: Instance, busiest: Certificate) -> Certificate | None:
    """The bound of the largest peak from the busiest section; None if another term comes first.

    If the bytes there fill all pools to one height, or up to their capacity, room has the same price in all that are not full, and what the pools share.
    """
    if instance.terms[0] is not Term.LARGEST_PEAK or busiest.section is None:
        return None
    best: Certificate | None = None
    for count in range(1, len(instance.pools) + 1):
        weights = tuple((p, busiest.section, 1, count) for p in range(len(instance.pools)))
        value = priced_value(instance, weights)
        if value > (0 if best is None else best.value):
            best = Certificate(Proof.PRICED_ROOM, value, weights=weights)
    return best


def peaks_at_least(instance: Instance, certificates: Sequence[Certificate]) -> tuple[int, ...]:
    """The proven lower bound on each pool's peak; 0 if there is none."""
    bounds = [0] * len(instance.pools)
    for certificate in certificates:
        if certificate.pool is not None:
            bounds[certificate.pool] = max(bounds[certificate.pool], certificate.value)
    return tuple(bounds)


def _shortage(
    instance: Instance, of_pools: tuple[Certificate, ...], busiest: tuple[Certificate, Least] | None
) -> tuple[Certificate, ...]:
    capacity = [pool.capacity for pool in instance.pools]
    short = tuple(
        c for c in of_pools if c.pool is not None and (size := capacity[c.pool]) is not None and c.value > size
    )
    if short or busiest is None:
        return short
    missing = shortage_by(instance, busiest[1])
    return (replace(busiest[0], value=missing),) if missing > 0 else ()


def _value(
    instance: Instance,
    of_pools: tuple[Certificate, ...],
    of_several: Certificate | None,
    priced: Certificate | None,
) -> Value:
    by_term = least_of_term(instance, instance.terms[0], of_pools, of_several)
    return (by_term if priced is None else max(by_term, priced.value),)


def least_of_term(
    instance: Instance, term: Term, of_pools: Sequence[Certificate], of_several: Certificate | None
) -> int:
    """A lower bound on this term alone."""
    bounds = peaks_at_least(instance, of_pools)
    if term is Term.LARGEST_PEAK:
        return max(bounds, default=0)
    if term is Term.REUSE_COST:
        return max((c.value for c in of_pools if c.proof is Proof.MUST_SHARE), default=0)
    together = 0 if of_several is None else of_several.value
    of_peaks = max(sum(p.cost * b for p, b in zip(instance.pools, bounds, strict=True)), together)
    moves = [
        c.value
        for c in of_pools
        if c.proof is Proof.MUST_MOVE and LINEAR_TERMS[term].moved is LINEAR_TERMS[c.term or term].moved
    ]
    return least_choice_cost(instance, term) + peak_price(instance, term) * of_peaks + max(moves, default=0)


def least_beside_free(instance: Instance, term: Term) -> int:
    """A lower bound on this term alone, by what has no room in pools that cost nothing."""
    price = peak_price(instance, term)
    return least_choice_cost(instance, term) + (price * peaks_beside_free(instance) if price else 0)
