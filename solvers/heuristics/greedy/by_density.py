"""Orders in which blocks have a right to the cheaper pools: those first that save most there, or most for the room and the time they take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...fitting.measures import measure
from ...model.instance import Instance, Ints
from ...model.linear_terms import choice_cost, peak_price

POWERS = (1.0, 0.5, 0.0)
"""What is saved is divided by these powers of room and time: where few blocks fill a pool, large ones that save much must come first."""


def by_density(instance: Instance) -> tuple[Instance, list[Ints]] | None:
    """The instance with every block preferring the pools where it costs least, and the orders; None unless the first term counts the choice of pools alone.

    Blocks that share a pool save together, and follow each other.
    """
    cost = choice_cost(instance, instance.terms[0]) if instance.terms else None
    if cost is None or peak_price(instance, instance.terms[0]) or not instance.has_choice:
        return None
    columns = np.arange(len(instance.pools))
    ranked = np.lexsort((np.broadcast_to(columns, cost.shape), instance.preference, cost), axis=1)
    preference = np.empty_like(instance.preference)
    np.put_along_axis(preference, ranked, np.broadcast_to(columns, cost.shape), axis=1)
    measures = measure(instance)
    number = instance.class_number
    saved = np.bincount(number, _spread(instance, cost))
    taken = np.bincount(number, measures.size.astype(np.float64) * measures.width)
    sizes, orders = -measures.size, list[Ints]()
    for power in POWERS:
        density = np.divide(saved, taken**power, out=np.full(len(saved), np.inf), where=taken > 0)[number]
        orders.append(np.lexsort((np.arange(instance.blocks), number, sizes, -density)))
    return replace(instance, preference=preference), orders


def _spread(instance: Instance, cost: Ints) -> Ints:
    """By how much the dearest pool that a block may be in costs more than the cheapest; nothing for those that may be nowhere."""
    most = np.where(instance.allowed, cost, 0).max(axis=1)
    least = np.where(instance.allowed, cost, np.iinfo(np.int64).max).min(axis=1)
    spread: Ints = np.where(instance.allowed.any(axis=1), most - least, 0)
    return spread
