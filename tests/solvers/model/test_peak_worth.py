"""Which peak is worth no more than a given value?"""

from __future__ import annotations

from itertools import permutations, product

import pytest

from planner.model.problem import Buffer, Pool, Problem
from solvers.model.instance import ADDRESS_LIMIT, Instance, PoolSpec, Term
from solvers.model.linear_terms import peak_worth
from solvers.model.outcome import Value
from tests.small.instances import make_instance, plain
from tests.small.oracle import Counted, worth

ORDERS = [terms for count in (1, 2, 3) for terms in permutations(Term, count)]
HIGHEST = 8


@pytest.mark.parametrize("cost", [0, 1, 3])
def test_it_is_the_greatest_one(cost: int) -> None:
    for terms in ORDERS:
        instance = make_instance(
            [plain(0, 1, 4, access=[2])], pools=[PoolSpec(None, cost=cost, rank=1)], terms=list(terms)
        )
        values = [value(instance, peak) for peak in range(HIGHEST)]
        for most in product(range(5), repeat=len(terms)):
            fine = [peak for peak in range(HIGHEST) if values[peak] <= most]
            expected = None if not fine else ADDRESS_LIMIT if len(fine) == HIGHEST else fine[-1]
            assert peak_worth(instance, most) == expected, (terms, most)


def value(instance: Instance, peak: int) -> Value:
    """Of a buffer that is used twice, in a pool of rank 1."""
    buffer = Buffer("a", 4, accesses=2)
    pool = Pool("p", cost=instance.pools[0].cost, rank=1)
    counted = Counted([peak], [(buffer, pool)])
    return tuple(worth(Problem((buffer,), (pool,)), counted, term) for term in instance.terms)
