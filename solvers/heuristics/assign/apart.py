"""Pools for classes that must be in different ones: each in turn takes the one that costs it least, and closes it to the others."""

from __future__ import annotations

import numpy as np

from ...bounds.prices.market import Floats
from ...model.instance import Instance, Ints
from ...model.linear_terms import peak_price

MOST_PAIRS = 1_000
"""With more of them nothing is tried: it would take longer than it counts."""


def kept_apart(pairs: Ints, costs: Floats) -> Floats | None:
    """(classes, P) the costs, infinite in pools that classes take from which one must be apart; None if one is left without a pool, or there are many pairs.

    Those that lose most elsewhere choose first.
    """
    if not len(pairs):
        return costs
    if len(pairs) > MOST_PAIRS or costs.shape[1] == 1:
        return None
    others: dict[int, list[int]] = {}
    for one, other in pairs.tolist():
        others.setdefault(one, []).append(other)
        others.setdefault(other, []).append(one)
    least, next_least = np.partition(costs, 1, axis=1)[:, :2].T
    loses = np.full(len(costs), np.inf)
    np.subtract(next_least, least, out=loses, where=np.isfinite(next_least))
    kept = costs.copy()
    for group in sorted(others, key=lambda group: (-loses[group], group)):
        pool = int(kept[group].argmin())
        if kept[group, pool] == np.inf:
            return None
        kept[others[group], pool] = np.inf
    return kept


def raising(instance: Instance, number: Ints, heights: Floats) -> Floats:
    """(classes, P) what it costs to make pools as high as the highest block of each class. At prices on room, which many share, that is hardly seen."""
    high = np.zeros(int(number.max()) + 1)
    np.maximum.at(high, number, instance.block_high)
    prices = np.array(
        [peak_price(instance, instance.terms[0]) * pool.cost for pool in instance.pools], dtype=np.float64
    )
    raised: Floats = np.maximum(high[:, None] - heights, 0.0) * prices
    return raised
