"""Compares placements of equal cost: the one with less in the least preferred pools is better."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.instance import Instance, Placement, Term
from ..model.objective import peaks
from ..model.outcome import Value


def rank_tie(instance: Instance, placement: Placement) -> int:
    """The sum of the pools' peaks, each times the pool's position in the order of preference: less is better."""
    return sum(place * peak for place, peak in zip(_places(instance), peaks(instance, placement), strict=True))


def least_tie(instance: Instance, pool_bounds: tuple[int, ...]) -> int:
    """A lower bound on rank_tie over all placements with at least these peaks."""
    return sum(place * bound for place, bound in zip(_places(instance), pool_bounds, strict=True))


def can_tie(instance: Instance) -> bool:
    """True if only the sum of peaks counts and different pools may give the same sum."""
    return instance.has_choice and instance.terms == (Term.SUM_OF_PEAKS,)


def preferring(instance: Instance, value: Value) -> tuple[Instance, Value]:
    """The instance with pool costs that rank by the old cost first and by preference second, and a lower bound there for placements of this value."""
    places = _places(instance)
    weight = 1 + sum(place * most for place, most in zip(places, _highest_peaks(instance, value[0]), strict=True))
    pools = tuple(replace(p, cost=p.cost * weight + place) for p, place in zip(instance.pools, places, strict=True))
    return replace(instance, pools=pools), (value[0] * weight,)


def _places(instance: Instance) -> list[int]:
    by_rank = sorted(range(len(instance.pools)), key=lambda p: (instance.pools[p].rank, p))
    places = [0] * len(by_rank)
    for place, pool in enumerate(by_rank):
        places[pool] = place
    return places


def _highest_peaks(instance: Instance, value: int) -> list[int]:
    """An upper bound on each pool's peak in a placement of that value."""
    tops = np.where(instance.allowed, instance.highest + instance.block_high[:, None], 0).max(axis=0, initial=0)
    return [
        min(top, value // pool.cost) if pool.cost else top
        for pool, top in zip(instance.pools, tops.tolist(), strict=True)
    ]
