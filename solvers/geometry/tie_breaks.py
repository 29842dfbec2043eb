"""Placements of equal cost: the one with less in the pools to use last is the better one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.instance import Instance, Placement, Term
from ..model.objective import peaks
from ..model.outcome import Value


def rank_tie(instance: Instance, placement: Placement) -> int:
    """The pools' peaks, each times its pool's place in the order of preference: less is better."""
    return sum(place * peak for place, peak in zip(_places(instance), peaks(instance, placement), strict=True))


def least_tie(instance: Instance, pool_bounds: tuple[int, ...]) -> int:
    """A lower bound on the tie of all placements, each pool's peak being at least its bound."""
    return sum(place * bound for place, bound in zip(_places(instance), pool_bounds, strict=True))


def can_tie(instance: Instance) -> bool:
    """Is the sum of peaks all that counts, and may the same sum be had in other pools?"""
    return instance.has_choice and instance.terms == (Term.SUM_OF_PEAKS,)


def preferring(instance: Instance, value: Value) -> tuple[Instance, Value]:
    """The same instance with costs that are the old ones first and then the pools' places; and what a placement of this value costs there at least."""
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
