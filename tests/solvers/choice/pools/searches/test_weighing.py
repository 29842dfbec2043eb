"""Filling pools in turn, where peaks are weighed against the choice: with little work plans end near what prices on room prove."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from planner import Options, Preference, plan
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.bounds.prices.market import Market
from solvers.bounds.prices.priced_room import priced_value
from solvers.choice.pools.searches.weighing import Weighed, Weighing, weighed
from solvers.choice.pools.solver import PoolsFirst
from solvers.geometry.rules import violation
from solvers.heuristics.assign.from_prices import settled
from solvers.model.instance import Instance, PoolSpec, Term
from solvers.model.objective import evaluate, peaks
from solvers.model.solver import Goal, Limits, Silent, Task
from tests.small.instances import make_instance, plain

LITTLE = 60_000


@cache
def crowded(kind: str, seed: int, preference: Preference = Preference.BALANCED) -> Instance:
    problem = generate(kind, Request(300, seed, 1, {"live": 40}))
    return lower(with_preference(problem, preference)).instance


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["pools", "hot"])
def test_a_plan_with_little_work_is_near_what_prices_prove(kind: str, seed: int) -> None:
    instance = crowded(kind, seed)
    market = Market(instance)
    prices, _, _ = market.haggle(None, Task(Limits()), Silent())
    where_cheapest, _ = settled(instance, market.costs_at(prices))
    assert where_cheapest is not None
    found = PoolsFirst().solve(instance, Task(Limits(work=LITTLE), start=where_cheapest), Silent())
    assert found.placement is not None
    assert found.value is not None
    assert violation(instance, found.placement) is None
    assert found.value == evaluate(instance, found.placement)
    bound = priced_value(instance, market.weights(prices))
    assert found.value[0] - bound < 0.8 * (evaluate(instance, where_cheapest)[0] - bound)


def test_all_pools_but_the_last_end_at_most_where_they_are_to_end() -> None:
    instance = crowded("pools", 7)
    heights = np.array([2_000, 9_000, 0])
    found = Weighing(instance, Task(Limits()), Silent(), heights).run(LITTLE)
    assert found is not None
    assert violation(instance, found) is None
    assert all(peak <= most for peak, most in zip(peaks(instance, found)[:2], heights, strict=False))


def test_what_is_found_takes_about_as_much_work_as_is_given() -> None:
    instance = crowded("pools", 1)
    for work in (LITTLE, 2 * LITTLE):
        took = weighed(instance, Task(Limits()), Silent(), work).work
        assert took <= 2 * work


@pytest.mark.parametrize("preference", [Preference.SIZE, Preference.SPEED])
def test_nothing_is_filled_where_peaks_are_not_weighed(preference: Preference) -> None:
    assert weighed(crowded("pools", 1, preference), Task(Limits()), Silent(), LITTLE) == Weighed(None, 0)


def test_nothing_is_filled_where_any_plan_will_do() -> None:
    assert weighed(crowded("pools", 1), Task(Limits(), goal=Goal.FIT), Silent(), LITTLE) == Weighed(None, 0)


@pytest.mark.parametrize("kind", ["pools", "hot"])
def test_blocks_that_must_share_pools_or_be_apart_are_put_there_first(kind: str) -> None:
    """Nothing was filled then, as only blocks by themselves can come sooner or later."""
    instance = crowded(kind, 1)
    free = np.flatnonzero(instance.allowed.all(axis=1))[:20].reshape(-1, 2)
    pool_class = instance.pool_class.copy()
    pool_class[free[:5, 1]] = pool_class[free[:5, 0]]
    tied = replace(instance, pool_class=pool_class, apart=free[5:])
    found = weighed(tied, Task(Limits()), Silent(), LITTLE).placement
    assert found is not None
    assert violation(tied, found) is None


def test_what_just_fits_below_a_height_does_not_come_before_what_can_be_nowhere_else() -> None:
    """It was taken for fixed, as it can begin only there."""
    wide, forced = plain(0, 4, 8, access=(0, 1)), plain(1, 2, 5, access=(0, 9), pools=(0,))
    instance = make_instance([wide, forced], pools=[PoolSpec(9), PoolSpec(None)], terms=(Term.BALANCED,))
    found = Weighing(instance, Task(Limits()), Silent(), np.array([8, 8])).run(LITTLE)
    assert found is not None
    assert found.pool.tolist() == [1, 0]


def test_no_pool_is_lower_than_what_can_be_nowhere_else() -> None:
    forced, other = plain(0, 2, 7, access=(0, 9), pools=(0,)), plain(0, 2, 5, access=(0, 1))
    instance = make_instance([forced, other], pools=[PoolSpec(9), PoolSpec(None)], terms=(Term.BALANCED,))
    found = Weighing(instance, Task(Limits()), Silent(), np.array([2, 8])).run(LITTLE)
    assert found is not None
    assert found.pool.tolist() == [0, 1]


def test_where_nothing_is_accessed_balanced_goes_as_the_sum_of_peaks() -> None:
    """Taken for peaks weighed against the choice, it ended 7 % above that."""
    problem = with_preference(generate("hot", Request(150, 3)), Preference.BALANCED)
    unused = replace(problem, buffers=tuple(replace(each, reads=0, writes=0, accesses=0) for each in problem.buffers))
    options = Options(time_limit=None, work_limit=50_000, workers=1)
    balanced, peaks_alone = (
        plan(replace(unused, terms=(term,)), options) for term in (Term.BALANCED, Term.SUM_OF_PEAKS)
    )
    assert balanced.placements == peaks_alone.placements
    assert balanced.run.work == peaks_alone.run.work
