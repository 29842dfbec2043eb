"""What prices of room prove of the objective's first term, worked out again from the Problem alone and in exact numbers.

Let c[b, p] be what it costs to have buffer b in pool p, and s what a byte of the cost-weighted sum of peaks costs (0 for terms that do not
count peaks). Room in pool p at time t has the price y[p, t] >= 0, and Y[p] is the sum of p's prices. What lives in p at any time has no more
than its peak H[p] <= size[p]. So the term is at least

    sum over what moves together of   min over its pools p of  c[b, p] + sum over t of y[p, t] * (bytes of b at t)
    minus sum over pools of           max(0, Y[p] - s * cost[p]) * size[p].
"""

from __future__ import annotations

from fractions import Fraction

from ...facts.places import Places
from ...facts.sweep import VERIFYING
from ...model.deadline import look
from ...model.errors import echo
from ...model.plan import PlanCertificate
from ..objective import can_be_priced, choice_cost, price_of_peaks
from .weights import read_weights, weigh


def priced_bound(places: Places, certificate: PlanCertificate) -> Fraction | str:
    """The bound, or in words why nothing is proven. What fits nowhere costs as much as where it is allowed and dearest: then nothing fits, and every claim holds."""
    term = places.problem.terms[0]
    if not can_be_priced(term):
        return f"the objective's first term, {term}, has no price"
    prices = read_weights(certificate)
    if isinstance(prices, str):
        return prices
    unit = prices.denominator
    weights = weigh(places, certificate, prices.moments)
    bound = 0
    for tied in dict.fromkeys(places.tied(number) for number in range(len(places.problem.buffers))):
        possible = places.possible_pools(tied[0])
        homes = list(possible or places.allowed_pools(tied))
        if not homes:
            continue
        look(VERIFYING)
        members = [places.problem.buffers[number] for number in tied]
        mine = weights.get(tied[0], {})
        bound += (min if possible else max)(
            unit * sum(choice_cost(buffer, places.pools[pool], term) for buffer in members) + mine.get(pool, 0)
            for pool in homes
        )
    of_peaks = price_of_peaks(places.problem, term)
    for name, total in prices.totals.items():
        pool_ = places.pools[name]
        excess = total - unit * of_peaks * pool_.cost
        if excess > 0:
            if pool_.size is None:
                return f"it prices room in the unlimited pool {echo(name)} above what its peak costs"
            bound -= excess * pool_.size
    return Fraction(bound, unit)
