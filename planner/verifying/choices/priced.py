"""What prices prove about all choices of alternatives at once, derived from the Problem alone, in exact numbers.

Let m be the price of a unit of memory (of the objective), w >= 0 the price of a unit of cost, and y[p, t] >= 0 the price of a byte that is live in pool p
at time t; Y[p] is the sum of p's prices. The live bytes in p never exceed its peak H[p] <= size[p]. So for every choice and all its placements

    m * memory + w * cost  >=  sum over what is always there of         min over its pools p of  sum over t of y[p, t] * (its bytes at t)
                               plus sum over groups of   min over alternatives of   w * cost + the same sum over what the alternative adds
                               plus min over all H of    m * memory(H) - sum over p of Y[p] * H[p].

Rules between alternatives are left out, which only lowers the sum, and so is what may share bytes with something else: of buffers that are tied together
by alternatives one counts, of two that are never there together one. Buffers that the same alternative (or the problem) ties together count as one block.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

import numpy as np

from solvers.model.instance import Term

from ...facts.sweep import SUMMABLE, VERIFYING, Integers, exact_array
from ...facts.variants import weighted_cost
from ...model.columns.pools import by_name
from ...model.deadline import in_time, look
from ...model.errors import echo
from ...model.plan import ChoiceCertificate
from ...model.problem import Problem
from ..arguments.prices import least_of_largest
from .payers import Owner, payers


class PricedChoices:
    """One problem with variants, in arrays: each certificate is then a few sums."""

    def __init__(self, problem: Problem) -> None:
        assert problem.variants is not None
        self._pools = by_name(problem.pools)
        self._is_largest = problem.terms == (Term.LARGEST_PEAK,)
        variants = problem.variants
        self._costs = [
            [weighted_cost(variants, each.costs) for each in group.alternatives]
            for group in in_time(variants.groups, VERIFYING)
        ]
        every = payers(problem)
        look(VERIFYING)
        picks = {(g, a): 0 for g, costs in enumerate(self._costs) for a in range(len(costs))}
        self._place: dict[Owner, int] = {pick: k for k, pick in enumerate(picks)} | {None: len(picks)}
        """Where each alternative's sum is; the last one is of what is always there."""
        self._owner = np.array([self._place[payer.owner] for payer in every], dtype=np.int64)
        self._open = {name: np.array([name in payer.pools for payer in every], dtype=np.bool_) for name in self._pools}
        spans = [(k, *span) for k, payer in enumerate(every) for span in payer.spans]
        payer, size, start, end = zip(*spans, strict=True) if spans else ((), (), (), ())
        self._payer, self._size = np.array(payer, dtype=np.int64), exact_array(size)
        self._start, self._end = exact_array(start), exact_array(end)

    def objection(self, certificate: ChoiceCertificate) -> str | None:
        """Return why the certificate does not hold; None if it does."""
        found = self.least(certificate)
        if isinstance(found, str):
            return found
        if certificate.value is None:
            return "it says that there is no choice, which prices do not prove"
        return None if certificate.value <= found else f"its prices prove {found}, no more"

    def least(self, certificate: ChoiceCertificate) -> int | str:
        """Return the least that memory and cost are worth together at these prices; or in words why they prove nothing."""
        price, of_cost = certificate.memory, certificate.cost
        every = [price, of_cost, *(each for *_, each in certificate.weights)]
        if min(every) < 0:
            return "it has a price below zero"
        if max(every) >= SUMMABLE:
            return "it has a price of more than 62 bits"
        prices: dict[str, dict[int, int]] = {}
        for pool, time, each in certificate.weights:
            if pool not in self._pools:
                return f"there is no pool {echo(pool)}"
            here = prices.setdefault(pool, {})
            here[time] = here.get(time, 0) + each
        rises = {name: -sum(each.values()) for name, each in prices.items()}
        of_peaks = self._of_peaks(price, rises)
        if isinstance(of_peaks, str):
            return of_peaks
        paid = self._paid(prices)
        total = of_peaks + int(paid[-1])
        at = 0
        for costs in self._costs:
            total += min(of_cost * cost + int(own) for cost, own in zip(costs, paid[at : at + len(costs)], strict=True))
            at += len(costs)
        return total

    def _of_peaks(self, price: int, rises: Mapping[str, int]) -> int | str:
        """Return the least that memory is worth, less the prices of all room below the peaks."""
        if not self._is_largest:
            rises = {name: price * self._pools[name].cost + rise for name, rise in rises.items()}
        beyond = [name for name, rise in rises.items() if rise < 0 and self._pools[name].size is None]
        if sum(-rises[name] for name in beyond) > (price if self._is_largest else 0):
            return f"it prices room in the unlimited pool {echo(beyond[0])} above what its peak is worth"
        sized = [(rise, self._pools[name].size) for name, rise in rises.items()]
        if self._is_largest:
            return least_of_largest(price, sized)
        return sum(min(rise, 0) * (size or 0) for rise, size in sized)

    def _paid(self, prices: Mapping[str, Mapping[int, int]]) -> Integers:
        """Return what each alternative pays, each part where it is cheapest, and at last what is always there."""
        count = len(self._owner)
        least: Integers | None = None
        for name, is_open in self._open.items():
            look(VERIFYING)
            of_time = prices.get(name, {})
            times = sorted(of_time)
            sums = exact_array([0, *accumulate(of_time[time] for time in times)])
            ranks = exact_array(times)
            weights = sums[np.searchsorted(ranks, self._end)] - sums[np.searchsorted(ranks, self._start)]
            most = int(sums[-1]) * int(self._size.max(initial=0)) * max(len(self._size), 1)
            if most >= SUMMABLE:
                weights = weights.astype(object)
            here = np.zeros(count, dtype=weights.dtype)
            np.add.at(here, self._payer, weights * self._size)
            here = np.where(is_open, here, _BEYOND if most >= SUMMABLE else SUMMABLE)
            least = here if least is None else np.minimum(least, here)
        assert least is not None, "a problem has a pool"
        paid = np.zeros(len(self._place), dtype=object)
        np.add.at(paid, self._owner, least.astype(object))
        return paid


_BEYOND = 1 << 400
"""More than anything that is paid."""
