"""What prices of room prove about a term of the objective, derived again from the Problem alone, in exact numbers.

Let c[b, p] be the cost of having buffer b in pool p, and s the cost of a byte of the cost-weighted sum of peaks (0 for terms that do not
count peaks). Room in pool p at time t has the price y[p, t] >= 0, and Y[p] is the sum of p's prices. The live bytes in p never exceed its
peak H[p] <= size[p]. So the term is at least

    sum over what moves together of   min over its pools p of  c[b, p] + sum over t of y[p, t] * (bytes of b at t)
    plus sum over pools of            min over H[p] from 0 to size[p] of  (s * cost[p] - Y[p]) * H[p].

There may also be crowds: buffers that are live at one time, each with a number of votes, and a price w >= 0 of a vote in pool p, which they pay in the
first sum. Those that have room below H[p] have no more than N(H[p]) votes together, counted over all of them that have. So the second sum is reduced by
w * N(H[p]), at the H[p] that minimises the whole.

The largest peak M counts no c and s. With m for its price, the second sum is the least of m * M plus (s * cost[p] - Y[p]) * min(M, size[p]) over all
pools where that is negative; it is reached where M is 0 or the size of one of them. Crowds prove nothing of it.

Of a later term the bound holds for all plans whose earlier terms are at most what the certificate says. Each of these terms has a price z >= 0. What it
adds to c, s and m is z times what it adds to the earlier term, and z times what that term is at most is taken off the sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

from solvers.model.instance import LINEAR_TERMS, Term

from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.deadline import look
from ...model.errors import echo
from ...model.plan import PlanCertificate
from ..objective import can_be_priced, choice_cost, has_choice, price_of_peaks
from .crowds import read_crowds
from .weights import common_denominator, read_weights, weigh


def priced_bound(places: Places, certificate: PlanCertificate) -> Fraction | str:
    """Return the bound, or in words why nothing is proven."""
    first, *_ = places.problem.terms
    term = certificate.term or first
    if not _has_price(term) or (term is first and term in LINEAR_TERMS and not can_be_priced(term)):
        return f"the term {term} has no price"
    unit = common_denominator({under for *_, under in certificate.held}, "price")
    if isinstance(unit, str):
        return unit
    prices = read_weights(certificate)
    if isinstance(prices, str):
        return prices
    crowds = read_crowds(places, certificate, lcm(prices.denominator, unit))
    if isinstance(crowds, str):
        return crowds
    unit = crowds.denominator
    finer = unit // prices.denominator
    held = _held(places, certificate, unit)
    if isinstance(held, str):
        return held
    counted = [(term, unit), *held]
    bound = -sum(most * numerator * (unit // under) for _, most, numerator, under in certificate.held)
    bound += _of_buffers(places, counted, finer, weigh(places, certificate, prices.moments), crowds.due)
    linear = [(each, price) for each, price in counted if each in LINEAR_TERMS]
    of_peaks = sum(price * price_of_peaks(places.problem, each) for each, price in linear)
    of_largest = sum(price for each, price in counted if each is Term.LARGEST_PEAK)
    if of_largest and certificate.crowds:
        return "it has crowds, which prove nothing of the largest peak"
    rises = {
        name: of_peaks * places.pools[name].cost - finer * prices.totals.get(name, 0)
        for name in {**prices.totals, **crowds.steps}
    }
    beyond = [name for name, rise in rises.items() if rise < 0 and places.pools[name].size is None]
    if sum(-rises[name] for name in beyond) > of_largest:
        return f"it prices room in the unlimited pool {echo(beyond[0])} above what its peak costs"
    if of_largest:
        bound += least_of_largest(of_largest, [(rise, places.pools[name].size) for name, rise in rises.items()])
    else:
        bound += sum(
            _least_of_height(rise, crowds.steps.get(name, {}), places.pools[name].size) for name, rise in rises.items()
        )
    return Fraction(bound, unit)


def _of_buffers(
    places: Places,
    counted: Sequence[tuple[Term, int]],
    finer: int,
    weights: Mapping[int, Mapping[str, int]],
    due: Mapping[int, Mapping[str, int]],
) -> int:
    """Return the first sum. A buffer that fits nowhere counts in its dearest allowed pool: then every claim holds."""
    choices = [(each, price) for each, price in counted if has_choice(each)]
    total = 0
    for tied in dict.fromkeys(places.tied(number) for number in range(len(places.problem.buffers))):
        possible = places.possible_pools(tied[0])
        homes = list(possible or places.allowed_pools(tied))
        if not homes:
            continue
        look(VERIFYING)
        members = [places.problem.buffers[number] for number in tied]
        mine, also = weights.get(tied[0], {}), due.get(tied[0], {})
        total += (min if possible else max)(
            sum(price * choice_cost(buffer, places.pools[pool], each) for each, price in choices for buffer in members)
            + finer * mine.get(pool, 0)
            + also.get(pool, 0)
            for pool in homes
        )
    return total


def _has_price(term: Term) -> bool:
    return term in LINEAR_TERMS or term is Term.LARGEST_PEAK


def least_of_largest(price: int, pools: Sequence[tuple[int, int | None]]) -> int:
    """Return the least cost of pools, each with the cost of a byte of its height and its size, if each byte of the largest height costs `price`.

    What unlimited pools lose by each byte must be no more than that.
    """
    slope = price + sum(rise for rise, _ in pools if rise < 0)
    least = lower = value = 0
    for size, rise in sorted((size, rise) for rise, size in pools if rise < 0 and size is not None):
        value += slope * (size - lower)
        least, lower, slope = min(least, value), size, slope - rise
    return least


def _held(places: Places, certificate: PlanCertificate, unit: int) -> list[tuple[Term, int]] | str:
    """Return the earlier terms with their prices, or in words why these prove nothing."""
    terms = places.problem.terms
    earlier = terms[: terms.index(certificate.term or terms[0])]
    found: dict[Term, int] = {}
    for term, _, numerator, under in certificate.held:
        if term not in earlier or term in found:
            return f"it has a price of {term}, which is not one of the terms before"
        if not _has_price(term):
            return f"the term {term} has no price"
        if numerator < 0:
            return "it has a price below zero"
        found[term] = numerator * (unit // under)
    return [*found.items()]


def _least_of_height(rise: int, steps: dict[int, int], size: int | None) -> int:
    """Return the least cost of a pool, if each byte of height costs `rise`, and from each step on another payer has room."""
    least = counted = 0
    for height in sorted(steps):
        if size is not None and height > size:
            break
        least = min(least, rise * (height - 1) - counted)
        counted += steps[height]
        least = min(least, rise * height - counted)
    return least if size is None else min(least, rise * size - counted)
