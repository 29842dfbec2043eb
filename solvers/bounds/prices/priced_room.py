"""The bound on a term of the objective that prices on room in each pool and section prove: exact for any prices.

Let c[k, p] be the cost in the term of having the class of blocks k in pool p, and s the cost of a unit of the cost-weighted sum of peaks (0 for
terms that do not count peaks). With prices y[p, t] >= 0 for what is live in pool p at section t, and Y[p] their sum, no placement costs less than

    sum over k of    min over the pools p of k of   c[k, p] + sum over t of y[p, t] * (what k takes at t)
    plus sum over p of                              min over H from 0 to capacity[p] of  (s * cost[p] - Y[p]) * H,

since what is live in p at t is no more than the peak H, and the peak no more than the capacity. Good prices make overfull pools dear;
solvers.bounds.prices.market looks for them.

A crowd is a set of parts that are live together, each with a number of votes, and a price w on a vote in p, which their classes pay as well. Those that
fit below H have no more than N(H) votes together, so the second sum is less by w * N(H) (see solvers.choice.pools.prices.crowds).

The largest peak M is a term without costs c and s. With m for its price, the second sum is the least of m * M plus the pools' own costs at heights of
no more than M: where M is 0 or some capacity, since in between it changes evenly. Crowds prove nothing of it.

A later term is bounded with the earlier ones held: a price on a unit of such a term adds to c, s and m what it adds to the term, and the price times
what the term is at most is taken off the sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from ...kernels.votes import least_for_votes
from ...model.instance import Instance, Term
from ...model.interruption import interruptible
from ...model.linear_terms import LINEAR, choice_cost, peak_price
from ...model.outcome import Proof
from ..weighted_sections import Weights, homes_of_classes, weigh

Crowds: TypeAlias = Sequence[tuple[int, int, tuple[int, ...], tuple[int, ...], int, int]]
"""(pool, section, parts, votes, numerator, denominator), as in a certificate."""
Held: TypeAlias = Sequence[tuple[Term, int, int, int]]
"""(term, most, numerator, denominator), as in a certificate."""


def can_price(instance: Instance) -> bool:
    """True if prices bound the first term, and crowds may have prices too."""
    return instance.terms[0] in LINEAR


def can_price_room(instance: Instance) -> bool:
    """True if prices on room alone bound the first term."""
    return can_price(instance) or instance.terms[0] is Term.LARGEST_PEAK


def proof_of(instance: Instance) -> Proof:
    """The name of such a proof: for the sum of peaks alone it is pool sharing."""
    return Proof.POOL_SHARING if instance.terms[0] is Term.SUM_OF_PEAKS else Proof.PRICED_ROOM


def priced_value(
    instance: Instance, weights: Weights, crowds: Crowds = (), term: Term | None = None, held: Held = ()
) -> int:
    """The lower bound on the first term, or on a later one with earlier ones held, that these prices prove; 0 if they prove nothing."""
    term = term or instance.terms[0]
    of_largest = Term.LARGEST_PEAK in (term, *(earlier for earlier, *_ in held))
    if (term not in LINEAR and term is not Term.LARGEST_PEAK) or (of_largest and crowds):
        return 0
    totals, taken, of_weights = weigh(instance, weights)
    unit = lcm(of_weights, *(crowd[-1] for crowd in crowds), *(under for *_, under in held))
    counted = [(term, unit), *((earlier, over * (unit // under)) for earlier, _, over, under in held)]
    due = taken
    if unit != of_weights:
        due = {group: {p: number * (unit // of_weights) for p, number in mine.items()} for group, mine in taken.items()}
    steps: dict[int, dict[int, int]] = {}
    for pool, _, parts, votes, over, under in crowds:
        price, here = over * (unit // under), steps.setdefault(pool, {})
        sizes = [int(instance.part_high[part] - instance.part_low[part]) for part in parts]
        for height in least_for_votes(sizes, votes):
            here[height] = here.get(height, 0) + price
        for part, each in zip(parts, votes, strict=True):
            paid = due.setdefault(int(instance.pool_class[instance.part_block[part]]), {})
            paid[pool] = paid.get(pool, 0) + price * each
    price_of_peaks = sum(price * peak_price(instance, each) for each, price in counted)
    price_of_largest = sum(price for each, price in counted if each is Term.LARGEST_PEAK)
    bound = -sum(most * over * (unit // under) for _, most, over, under in held)
    rises = {
        pool: price_of_peaks * instance.pools[pool].cost - int(unit * totals.get(pool, Fraction(0)))
        for pool in {**totals, **steps}
    }
    free = -sum(rise for pool, rise in rises.items() if rise < 0 and instance.pools[pool].capacity is None)
    if free > price_of_largest:
        return 0
    if price_of_largest:
        bound += _least_of_largest(price_of_largest, [(rises[p], instance.pools[p].capacity) for p in rises])
    else:
        bound += sum(_least_of_height(rises[p], steps.get(p, {}), instance.pools[p].capacity) for p in rises)
    of_terms = [(class_costs(instance, each), price) for each, price in counted]
    costs, homes = [(of_term, price) for of_term, price in of_terms if of_term], homes_of_classes(instance)
    for group in interruptible(homes if costs else due):
        mine = due.get(group, {})
        bound += min(
            (mine.get(p, 0) + sum(of_term[group][p] * price for of_term, price in costs) for p in homes[group]),
            default=0,
        )
    return max(0, -(-bound // unit))


def _least_of_largest(price: int, pools: Sequence[tuple[int, int | None]]) -> int:
    """The least cost of pools (rise, capacity) whose largest height costs `price` for each unit."""
    slope = price + sum(rise for rise, _ in pools if rise < 0)
    least = lower = value = 0
    for capacity, rise in sorted((capacity, rise) for rise, capacity in pools if rise < 0 and capacity is not None):
        value += slope * (capacity - lower)
        least, lower, slope = min(least, value), capacity, slope - rise
    return least


def _least_of_height(rise: int, steps: Mapping[int, int], capacity: int | None) -> int:
    """The least cost of a pool if each unit of its height costs `rise` and each step, once reached, pays its amount."""
    least = counted = 0
    for height in sorted(steps):
        if capacity is not None and height > capacity:
            break
        least = min(least, rise * (height - 1) - counted)
        counted += steps[height]
        least = min(least, rise * height - counted)
    return least if capacity is None else min(least, rise * capacity - counted)


def class_costs(instance: Instance, term: Term | None = None) -> dict[int, list[int]]:
    """By class of blocks: its cost in each pool in the first term, or in this one; empty if the term has no such costs."""
    cost = choice_cost(instance, term or instance.terms[0])
    if cost is None:
        return {}
    found: dict[int, list[int]] = {}
    for group, row in zip(instance.pool_class.tolist(), cost.tolist(), strict=True):
        if group in found:
            found[group] = [a + b for a, b in zip(found[group], row, strict=True)]
        else:
            found[group] = row
    return found
