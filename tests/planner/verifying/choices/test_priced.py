"""Prices prove no more about all choices than is true of every one, and forged proofs are refuted."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from planner.formats import read_plan, write_plan
from planner.generate import Request, generate
from planner.model.errors import BadInput
from planner.model.plan import ChoiceCertificate, ChoiceGoal, Plan
from planner.model.problem import Pool, Problem
from planner.planning.options.options import Options, Preference
from planner.planning.placing.solving import pareto, plan
from planner.verifying.choices import swept
from planner.verifying.choices.choice import AllChoices, most_memory
from planner.verifying.choices.priced import PricedChoices
from planner.verifying.findings import FindingKind
from planner.verifying.verify import verify
from solvers.model.instance import Term
from tests.planner.planning.placing.variants.random_variants import (
    KINDS,
    every_choice,
    pinned_problem,
    random_problem_of_kind,
    sound_seeds,
)
from tests.planner.planning.placing.variants.test_apart import bridged_problem, tied_problem

ENOUGH = Options(time_limit=None, work_limit=4_000_000, workers=1)


def some_prices(problem: Problem, chance: random.Random) -> ChoiceCertificate:
    """Return prices of which some are as good as they can be: all room of a time for the price of memory."""
    memory, cost = chance.choice((0, 1, 4, 6)), chance.choice((0, 0, 1, 5))
    weights = tuple(
        (pool.name, chance.randrange(8), chance.randint(0, 4))
        for pool in problem.pools
        for _ in range(chance.randrange(4))
    )
    if chance.random() < 0.5:
        time, of_largest = chance.randrange(8), problem.terms == (Term.LARGEST_PEAK,)
        least = min(pool.cost for pool in problem.pools)
        price = memory * least if not of_largest else memory // len(problem.pools)
        weights = tuple((pool.name, time, price) for pool in problem.pools)
    return ChoiceCertificate(0, memory, cost, weights)


@pytest.mark.parametrize("kind", [*KINDS, "pinned", "tied", "bridged"])
def test_no_prices_prove_more_than_is_true_of_every_choice(kind: str, nightly: bool) -> None:
    def make(seed: int) -> Problem | None:
        if kind == "pinned":
            return pinned_problem(seed)
        if kind in ("tied", "bridged"):
            return (tied_problem if kind == "tied" else bridged_problem)(seed)
        return random_problem_of_kind(kind, seed)

    tight = 0
    for seed in sound_seeds(make, 150 if nightly else 3):
        problem = make(seed)
        assert problem is not None
        every = every_choice(problem)
        chance, priced = random.Random(seed), PricedChoices(problem)
        for _ in range(60):
            prices = some_prices(problem, chance)
            found = priced.least(prices)
            if isinstance(found, str) or not every:
                continue
            true = min(prices.memory * memory + prices.cost * cost for cost, memory in every)
            assert found <= true, (seed, prices)
            tight += found == true != 0
            assert priced.objection(replace(prices, value=found)) is None
            assert priced.objection(replace(prices, value=found + 1)) == f"its prices prove {found}, no more"
    assert tight


@pytest.mark.parametrize("kind", ["plain", "pools", "largest"])
def test_proofs_of_found_points_hold_for_every_choice(kind: str) -> None:
    for seed in sound_seeds(lambda seed: random_problem_of_kind(kind, seed), 3):
        problem = random_problem_of_kind(kind, seed)
        assert problem is not None
        every = every_choice(problem)
        for point in pareto(problem, ENOUGH).points:
            assert point.choice is not None
            assert point.choice.certificates
            assert point.objective.value is not None
            assert not verify(problem, point)
            least = min(memory for cost, memory in every if cost <= point.choice.cost)
            assert point.choice.least_memory() <= least
            cheapest = min(cost for cost, memory in every if memory <= point.objective.value)
            of_cost = point.choice.least_cost(point.objective.value)
            assert of_cost is not None
            assert of_cost <= cheapest


@pytest.fixture(scope="module")
def large() -> tuple[Problem, Plan]:
    """A problem that is large enough for its bounds to be of bytes that may be anywhere, and the first point of its frontier."""
    problem = generate("variants", Request(240, 5, parameters={"groups": 60, "alternatives": 6}))
    pools = (Pool("near", 16_384), Pool("far", None, cost=4))
    problem = replace(problem, pools=pools, terms=(Term.LARGEST_PEAK,))
    found = pareto(problem, Options(time_limit=None, work_limit=2_000_000, workers=1), 3)
    return problem, found.points[-1]


def test_the_largest_peak_of_a_large_problem_has_a_bound(large: tuple[Problem, Plan]) -> None:
    _, point = large
    assert point.choice is not None
    assert point.objective.bound
    assert point.peak is not None
    assert point.choice.least_memory() > point.peak // 2 * 8 // 10


def priced_at(problem: Problem, time: int) -> ChoiceCertificate:
    """Return what the price of half a byte of memory for each byte of two memories proves."""
    prices = ChoiceCertificate(0, 10, 3, tuple((pool.name, time, 5) for pool in problem.pools))
    found = PricedChoices(problem).least(prices)
    assert isinstance(found, int)
    return replace(prices, value=found)


def test_forged_prices_are_refuted(large: tuple[Problem, Plan]) -> None:
    problem, point = large
    assert point.choice is not None
    true = priced_at(problem, 101)
    (pool, time, price), *others = true.weights
    forged = [
        replace(true, value=(true.value or 0) + 1),
        replace(true, value=1 << 200),
        replace(true, value=None),
        replace(true, cost=2),
        replace(true, cost=1 << 62),
        replace(true, memory=-1),
        *(
            replace(true, weights=(weight, *others))
            for weight in ((pool, time, price - 1), (pool, time, 1 << 70), (pool, time, -1), ("nowhere", time, price))
        ),
        replace(true, weights=tuple((pool, 1 << 80, price) for pool, _, price in true.weights)),
    ]
    all_choices = AllChoices(problem)
    assert all_choices.objection(true) is None
    assert all(all_choices.objection(each) for each in forged)
    for certificate, kinds in ((true, set[FindingKind]()), (forged[0], {FindingKind.WRONG_CERTIFICATE})):
        said = replace(point, choice=replace(point.choice, certificates=(*point.choice.certificates, certificate)))
        assert {finding.kind for finding in verify(problem, said)} == kinds


def test_proofs_are_written_and_read_and_plans_without_them_stay_valid(large: tuple[Problem, Plan]) -> None:
    problem, point = large
    assert point.choice is not None
    proofs = (*point.choice.certificates, priced_at(problem, 101))
    point = replace(point, choice=replace(point.choice, certificates=proofs))
    written = write_plan(point)
    assert read_plan(written).choice == point.choice
    document = json.loads(written)
    for spoiled in (1 << 62, -1, 0.5, "1"):
        document["choice"]["certificate"][-1]["weights"][0]["price"] = spoiled
        with pytest.raises(BadInput):
            read_plan(json.dumps(document).encode())
    del document["choice"]["certificate"]
    old = read_plan(json.dumps(document).encode())
    assert old.choice is not None
    assert old.choice.certificates == ()


@pytest.mark.parametrize("prefer", [Preference.SIZE, Preference.SPEED])
def test_plans_have_proofs_of_what_they_were_asked_for(prefer: Preference) -> None:
    problem = generate("variants", Request(24, 3, parameters={"groups": 8, "alternatives": 3}))
    problem = replace(problem, pools=(replace(problem.pools[0], size=21_000),))
    made = plan(problem, replace(ENOUGH, prefer=prefer))
    choice = made.choice
    assert choice is not None
    assert made.objective.bound is not None
    assert choice.cost_bound is not None
    assert not verify(problem, made)
    if prefer is Preference.SIZE:
        assert (choice.goal, choice.least_cost(None)) == (ChoiceGoal.SIZE, None)
        assert choice.least_memory() == made.objective.bound == made.objective.value
    else:
        least = choice.least_cost(most_memory(problem))
        assert (choice.goal, choice.least_memory()) == (ChoiceGoal.SPEED, 0)
        assert least is not None
        assert least == choice.cost_bound == choice.cost


def test_prices_support_what_is_too_much_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swept, "MOST_CHOICES", 1)
    problem = generate("variants", Request(24, 3, parameters={"groups": 8, "alternatives": 3}))
    found = pareto(problem, ENOUGH)
    proofs = [each for point in found.points if point.choice is not None for each in point.choice.certificates]
    assert any(each.weights and each.cost and each.memory for each in proofs)
    for point in found.points:
        assert point.choice is not None
        assert not verify(problem, point)
        assert point.objective.bound is not None
        assert point.choice.least_memory() > point.objective.bound * 7 // 10
