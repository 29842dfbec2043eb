"""The values of a placement's objective."""

from __future__ import annotations

import numpy as np

from .instance import Instance, Ints, Placement, Term
from .linear_terms import choice_cost, moved_cost, peak_price
from .outcome import Value


def peaks(instance: Instance, placement: Placement) -> tuple[int, ...]:
    """The largest end in each pool, in whole steps of it; 0 if it is empty."""
    end = placement.offset + instance.block_high
    top = np.zeros(len(instance.pools), dtype=np.int64)
    np.maximum.at(top, placement.pool, end)
    return tuple(pool.whole(end) for pool, end in zip(instance.pools, top.tolist(), strict=True))


def value_of_peaks(instance: Instance, pool_peaks: tuple[int, ...]) -> int:
    """The cost-weighted sum of peaks."""
    return sum(pool.cost * peak for pool, peak in zip(instance.pools, pool_peaks, strict=True))


def evaluate(instance: Instance, placement: Placement) -> Value:
    """One integer per term of the instance's objective."""
    pool_peaks = peaks(instance, placement)
    return tuple(_term(instance, placement, pool_peaks, term) for term in instance.terms)


def _term(instance: Instance, placement: Placement, pool_peaks: tuple[int, ...], term: Term) -> int:
    match term:
        case Term.LARGEST_PEAK:
            return max(pool_peaks, default=0)
        case Term.REUSE_COST:
            shared = share_addresses(instance, placement, instance.penalties[:, :2])
            return sum(instance.penalties[shared, 2].tolist())
        case _:
            total = peak_price(instance, term) * value_of_peaks(instance, pool_peaks)
            total += moved_cost(instance, term, placement)
            cost = choice_cost(instance, term)
            return total if cost is None else total + sum(cost[np.arange(instance.blocks), placement.pool].tolist())


def share_addresses(
    instance: Instance, placement: Placement, pairs: Ints
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each pair of parts, true if they are in one pool and share an address."""
    low = placement.offset[instance.part_block] + instance.part_low
    high = placement.offset[instance.part_block] + instance.part_high
    pool = placement.pool[instance.part_block]
    a, b = pairs[:, 0], pairs[:, 1]
    common = np.minimum(high[a], high[b]) > np.maximum(low[a], low[b])
    shared: np.ndarray[tuple[int], np.dtype[np.bool_]] = (pool[a] == pool[b]) & common
    return shared
