"""What a price on room in each pool and section proves of the objective's first term: exact, whoever made the prices.

Let c[k, p] be what it costs in the first term to have the class of blocks k in pool p, and s what a unit of the cost-weighted sum of peaks
costs (0 for terms that do not count peaks). With prices y[p, t] >= 0 for what is live in pool p at section t, and Y[p] their sum, no placement
costs less than

    sum over k of    min over the pools p of k of   c[k, p] + sum over t of y[p, t] * (what k takes at t)
    minus sum over p of                             max(0, Y[p] - s * cost[p]) * capacity[p],

since what is live in p at t is no more than the peak, and the peak no more than the capacity. Good prices make pools with too many
takers dear; solvers.bounds.room_prices looks for them.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from ..model.instance import Instance, Term
from ..model.linear_terms import LINEAR, choice_cost, peak_price
from ..model.outcome import Proof
from .weighted_sections import Weights, homes_of_classes, weigh


def can_price(instance: Instance) -> bool:
    """Is the first term one that prices bound?"""
    return instance.terms[0] in LINEAR


def proof_of(instance: Instance) -> Proof:
    """What such a bound is called: of the sum of peaks alone it is one of pool sharing."""
    return Proof.POOL_SHARING if instance.terms[0] is Term.SUM_OF_PEAKS else Proof.PRICED_ROOM


def priced_value(instance: Instance, weights: Weights) -> int:
    """What the first term cannot be below, by these prices; 0 if they prove nothing."""
    if not can_price(instance):
        return 0
    totals, taken, denominator = weigh(instance, weights)
    price = peak_price(instance, instance.terms[0])
    bound = Fraction(0)
    for pool, total in totals.items():
        spec = instance.pools[pool]
        excess = total - price * spec.cost
        if excess > 0:
            if spec.capacity is None:
                return 0
            bound -= excess * spec.capacity
    costs = class_costs(instance)
    for group, homes in homes_of_classes(instance).items():
        mine, own = taken.get(group, {}), costs.get(group)
        least = min((mine.get(p, 0) + (0 if own is None else own[p] * denominator) for p in homes), default=0)
        bound += Fraction(least, denominator)
    return max(0, ceil(bound))


def class_costs(instance: Instance) -> dict[int, list[int]]:
    """By class of blocks: what it costs in each pool, in the first term; only where something costs."""
    cost = choice_cost(instance, instance.terms[0])
    if cost is None:
        return {}
    found: dict[int, list[int]] = {}
    for group, row in zip(instance.pool_class.tolist(), cost.tolist(), strict=True):
        if group in found:
            found[group] = [a + b for a, b in zip(found[group], row, strict=True)]
        else:
            found[group] = row
    return found
