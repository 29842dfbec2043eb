"""Which peak is worth no more than a given value?"""

from __future__ import annotations

from itertools import permutations, product

import pytest

from solvers.model.instance import ADDRESS_LIMIT, Instance, PoolSpec, Term
from solvers.model.linear_terms import peak_worth
from solvers.model.outcome import Value
from tests.small.instances import make_instance, plain

ORDERS = [terms for count in (1, 2, 3) for terms in permutations(Term, count)]
HIGHEST = 8


@pytest.mark.parametrize("cost", [0, 1, 3])
def test_it_is_the_greatest_one(cost: int) -> None:
    for terms in ORDERS:
        instance = make_instance([plain(0, 1, 4, access=[2])], pools=[PoolSpec(None, cost=cost)], terms=list(terms))
        values = [value(instance, peak) for peak in range(HIGHEST)]
        for worth in product(range(5), repeat=len(terms)):
            fine = [peak for peak in range(HIGHEST) if values[peak] <= worth]
            expected = None if not fine else ADDRESS_LIMIT if len(fine) == HIGHEST else fine[-1]
            assert peak_worth(instance, worth) == expected, (terms, worth)


def value(instance: Instance, peak: int) -> Value:
    of_peaks = instance.pools[0].cost * peak
    worth = {
        Term.ACCESS_COST: 2,
        Term.SUM_OF_PEAKS: of_peaks,
        Term.LARGEST_PEAK: peak,
        Term.SPILLED_BYTES: 0,
        Term.BALANCED: 2 + of_peaks,
        Term.REUSE_COST: 0,
        Term.MOVED_BUFFERS: 0,
        Term.MOVED_BYTES: 0,
        Term.STABILITY: of_peaks,
    }
    return tuple(worth[term] for term in instance.terms)
