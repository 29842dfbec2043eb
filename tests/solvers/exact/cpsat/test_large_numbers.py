"""What CP-SAT proves of large numbers is right: of sizes of gigabytes, and of costs that floating point does not tell apart."""

from __future__ import annotations

import random
from itertools import product

import pytest

from solvers import sandbox
from solvers.exact.cpsat import engine
from solvers.exact.cpsat.sums import Sums
from solvers.model.instance import PoolSpec, Term
from solvers.model.solver import Silent, Task
from tests.small.instances import make_instance, plain
from tests.small.strategies import NIGHTLY

BUDGET = engine.Budget(2_000_000, None, relaxations=engine.Relaxations.ALL)
SOLVERS = ("cpsat", "solvers.exact.cpsat:CpSatPeak")


def loads(seed: int, most: int) -> tuple[Sums, int | None]:
    """A model of items, some apart, that go to bins whose fullest moments are paid for; and the least cost of all choices."""
    chance = random.Random(seed)
    bins, items, moments = (range(chance.randint(*ends)) for ends in ((2, 3), (3, 7), (2, 5)))
    sizes = [chance.randint(1, most) for _ in items]
    live = [sorted(chance.choices(moments, k=2)) for _ in items]
    rooms = [sum(sizes) if chance.random() < 0.4 else chance.randint(sum(sizes) // 6, sum(sizes)) for _ in bins]
    prices = [chance.choice([1, 1, 2, 3]) for _ in bins]
    apart = [chance.sample(items, 2) for _ in range(chance.randint(0, 2))]
    model = Sums()
    chosen = [[model.variable(0, 1) for _ in bins] for _ in items]
    peaks = [model.variable(0, room) for room in rooms]
    for literals in chosen:
        model.exactly_one(literals)
    for (one, other), b in product(apart, bins):
        model.limit([(chosen[one][b], 1), (chosen[other][b], 1)], high=1)
    for b, moment in product(bins, moments):
        there = [i for i in items if live[i][0] <= moment <= live[i][1]]
        model.limit([*((chosen[i][b], sizes[i]) for i in there), (peaks[b], -1)], high=0)
    model.minimise(zip(peaks, prices, strict=True), 0)

    def cost(choice: tuple[int, ...]) -> int | None:
        full = [
            max(sum(sizes[i] for i in items if choice[i] == b and live[i][0] <= at <= live[i][1]) for at in moments)
            for b in bins
        ]
        fits = all(load <= room for load, room in zip(full, rooms, strict=True))
        fits = fits and all(choice[one] != choice[other] for one, other in apart)
        return sum(price * load for price, load in zip(prices, full, strict=True)) if fits else None

    costs = (cost(choice) for choice in product(bins, repeat=len(items)))
    return model, min((each for each in costs if each is not None), default=None)


def is_right(seed: int, most: int) -> bool:
    model, least = loads(seed, most)
    reply = engine.solve(model, BUDGET, Silent())
    if least is None:
        return reply.answer is engine.Answer.INFEASIBLE
    return (reply.answer, reply.bound) == (engine.Answer.OPTIMAL, least)


@pytest.mark.parametrize("most", [10**6, 10**9, 10**10, 10**11, 10**13])
def test_the_least_cost_of_loads_of_any_size_is_found(most: int) -> None:
    seeds = range(1_000) if NIGHTLY else range(85, 100)
    assert [seed for seed in seeds if not is_right(seed, most)] == []


GIGABYTES = make_instance(
    [
        (2, 4, 6964169681),
        (2, 4, 5532255039),
        (3, 4, 2164760763),
        (0, 4, 8716869377),
        (0, 3, 9282677783),
        (1, 2, 7056584561),
    ],
    pools=[PoolSpec(19670461784), PoolSpec(15965089748, cost=3)],
    apart=[(0, 1), (2, 5)],
)


@pytest.mark.parametrize("solver", SOLVERS)
def test_buffers_of_gigabytes_go_to_the_pools_where_they_cost_least(solver: str) -> None:
    outcome = sandbox.run(solver, GIGABYTES, Task(), Silent())
    assert outcome.value == outcome.bound == (60218252404,)


def test_the_highest_of_pools_of_many_gigabytes_is_as_low_as_it_can_be() -> None:
    """What was translated, but not simplified, was called impossible."""
    instance = make_instance(
        [(1, 4, 176833034526), (1, 4, 67936668352), (2, 3, 39515534214), (0, 2, 162234858040), (3, 4, 74709521884)],
        pools=[PoolSpec(None), PoolSpec(167343060064)],
        apart=[(4, 1), (2, 3)],
        terms=(Term.LARGEST_PEAK,),
    )
    outcome = sandbox.run("pools_first", instance, Task(), Silent())
    assert outcome.value == outcome.bound == (284285237092,)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_bound_that_was_rounded_is_not_above_the_value(solver: str) -> None:
    instance = make_instance(
        [plain(0, 2, 192946351257, pools=[1]), (1, 2, 196811310686), plain(1, 3, 64701053880, pools=[3])],
        pools=[PoolSpec(375841344195), PoolSpec(272191127264), PoolSpec(cost=3), PoolSpec(198462300782, cost=3)],
    )
    outcome = sandbox.run(solver, instance, Task(), Silent())
    assert outcome.value == outcome.bound == (583860823583,)


@pytest.mark.parametrize("seed", range(3))
def test_costs_beyond_floating_point_are_bounded_exactly(seed: int) -> None:
    chance = random.Random(seed)
    costs = [[chance.randint(1, 10**16) for _ in range(3)] for _ in range(7)]
    model, goal = Sums(), list[tuple[int, int]]()
    for of_bins in costs:
        literals = [model.variable(0, 1) for _ in of_bins]
        model.exactly_one(literals)
        goal += zip(literals, of_bins, strict=True)
    for b in range(3):
        model.limit([(3 * item + b, 1) for item in range(7)], high=3)
    model.minimise(goal, 0)
    least = min(
        sum(of_bins[b] for of_bins, b in zip(costs, choice, strict=True))
        for choice in product(range(3), repeat=7)
        if max(map(choice.count, range(3))) <= 3
    )
    reply = engine.solve(model, BUDGET, Silent())
    assert (reply.answer, reply.bound) == (engine.Answer.OPTIMAL, least)


def test_a_bound_between_rounded_numbers_is_below_them() -> None:
    assert engine.whole(583860823583.0001, 583860823583) == 583860823583
    assert engine.whole(6.0, 7) == 6
    assert engine.whole(5.5, 7) == 6
    assert engine.whole(1e16, 10**16) is None
