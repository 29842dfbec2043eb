"""Where the choice of pools costs something first, those that save most for their room and time come first."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.geometry.rules import violation
from solvers.heuristics.greedy.by_density import POWERS, by_density
from solvers.heuristics.greedy.solver import Greedy
from solvers.model.instance import Instance, PoolSpec, Term
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain

SIZES, COSTS = (8, 4, 4), ((0, 10), (0, 9), (0, 8))


def three(terms: tuple[Term, ...] = (Term.ACCESS_COST,), classes: tuple[int, ...] = (0, 1, 2)) -> Instance:
    """Three blocks, live together: the largest saves most, but the two others are as large together, and save more."""
    blocks = [
        plain(0, 2, size, access=cost, pool_class=group)
        for size, cost, group in zip(SIZES, COSTS, classes, strict=True)
    ]
    return make_instance(blocks, pools=[PoolSpec(9), PoolSpec(None)], terms=terms)


def orders_of(instance: Instance) -> dict[float, list[int]]:
    found = by_density(instance)
    assert found is not None
    return dict(zip(POWERS, (order.tolist() for order in found[1]), strict=True))


def test_the_orders_differ_in_what_room_and_time_count() -> None:
    orders = orders_of(three())
    assert orders[1.0] == [1, 2, 0]
    assert orders[0.0] == [0, 1, 2]


def test_blocks_that_share_a_pool_save_together_and_follow_each_other() -> None:
    assert orders_of(three(classes=(0, 1, 0)))[0.0] == [0, 2, 1]


@pytest.mark.parametrize("first", [Term.SUM_OF_PEAKS, Term.LARGEST_PEAK, Term.BALANCED])
def test_there_are_none_where_peaks_count_first(first: Term) -> None:
    assert by_density(three((first, Term.ACCESS_COST))) is None


def test_everybody_prefers_where_it_costs_least() -> None:
    blocks = [plain(0, 2, 4, access=cost) for cost in ((5, 3, 9), (1, 1, 0))]
    found = by_density(make_instance(blocks, pools=[PoolSpec(8)] * 3, terms=(Term.ACCESS_COST,)))
    assert found is not None
    assert np.argsort(found[0].preference, axis=1).tolist() == [[1, 0, 2], [2, 0, 1]]


def test_greedy_places_two_where_every_other_order_places_one() -> None:
    instance = three()
    outcome = Greedy().solve(instance, Task(Limits(work=1_000_000)), Silent())
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert outcome.value == (10,)
