"""Sweeps of problems with variants find the least cost that fits each size; trying every choice agrees."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from planner import BadInput, Buffer, Options, Pool, Problem, plan, sweep, verify, verify_sweep, with_capacity
from planner.facts.digest import digest
from planner.formats.answers.sweep import read_sweep_figures, read_sweep_json, write_sweep_json
from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.model.problem import Alternative, CostTerm, Fixed, VariantGroup, Variants
from planner.planning.options.capacity import planned_problem
from planner.planning.options.options import Preference
from planner.planning.sweeping import Sweep
from planner.planning.sweeping.answer import SmallestCapacity
from planner.planning.sweeping.carrying import Fact, Facts
from planner.planning.sweeping.sweep import least_capacity_problem
from tests.planner.planning.placing.variants.random_variants import every_choice, random_problem

OPTIONS = Options(time_limit=60, workers=1)


PROBLEMS = [problem for problem in map(random_problem, range(14)) if problem is not None][:5]


def small(seed: int) -> Problem:
    return generate("variants", Request(12, seed, parameters={"groups": 4, "alternatives": 3}))


def swept(problem: Problem, options: Options = OPTIONS) -> Sweep:
    (pool,) = problem.pools
    return sweep(problem, {pool.name: range(13000, 18000, 500)}, options, processes=1)


@pytest.mark.parametrize("problem", PROBLEMS, ids=range(len(PROBLEMS)))
def test_the_cost_at_every_size_agrees_with_trying_every_choice(problem: Problem) -> None:
    problem = replace(problem, pools=(replace(problem.pools[0], size=None),))
    known = every_choice(problem)
    found = sweep(problem, {"p": range(1, 40, 3)}, OPTIONS, processes=1)
    assert verify_sweep(problem, found) == ()
    for point in found.points:
        fitting = [each for each in known if each[1] <= point.capacity["p"]]
        assert point.status is (PlanStatus.OPTIMAL if fitting else PlanStatus.INFEASIBLE)
        assert point.value == min(fitting, default=None)
        assert point.value is None or point.bound == point.value
    least = min((memory for _, memory in known), default=None)
    assert found.smallest is not None
    assert found.smallest.capacity == least
    assert found.smallest.is_proven or least is None


def test_one_of_several_memories_is_swept() -> None:
    problem = small(1)
    (pool,) = problem.pools
    problem = replace(problem, pools=(pool, Pool("slow", 8000, cost=2, rank=1)))
    sizes = (9000, 14000, 16000, 24000)
    found = sweep(problem, {pool.name: sizes}, OPTIONS, processes=1)
    assert verify_sweep(problem, found) == ()
    for point in found.points:
        alone = plan(with_capacity(problem, point.capacity), replace(OPTIONS, prefer=Preference.SPEED))
        assert point.status in (alone.status, PlanStatus.OPTIMAL)
        if alone.status is PlanStatus.OPTIMAL:
            assert alone.choice is not None
            assert point.value == (alone.choice.cost, alone.objective.value)


def test_gaps_of_the_frontier_are_proven_for_no_size() -> None:
    """With little work the frontier lacks points; each size has a plan or none, and every claim holds."""
    problem = generate("variants", Request(40, 2, parameters={"groups": 12, "alternatives": 4}))
    (pool,) = problem.pools
    found = sweep(
        problem, {pool.name: range(8000, 40000, 4000)}, Options(time_limit=None, work_limit=400_000), processes=1
    )
    assert verify_sweep(problem, found) == ()
    assert any(point.status.has_plan for point in found.points)


def test_the_figures_begin_with_the_cost() -> None:
    found = swept(small(0))
    assert found.names == ("cost", "sum_of_peaks")
    again = read_sweep_figures(write_sweep_json(found))
    assert (again.names, again.chooses) == (found.names, True)
    assert [point.value for point in again.points] == [point.value for point in found.points]


def test_a_forged_sweep_fails_verification() -> None:
    problem = small(0)
    found = swept(problem)
    assert verify_sweep(problem, found) == ()
    k = next(i for i, point in enumerate(found.points) if point.value is not None)
    point = found.points[k]
    assert point.value is not None
    assert point.plan is not None
    assert point.plan.choice is not None
    cheaper = replace(point.plan, choice=replace(point.plan.choice, cost=point.value[0] - 1))
    for wrong in (
        replace(point, value=(point.value[0] - 1, *point.value[1:])),
        replace(point, plan=cheaper),
        replace(point, plan=None),
    ):
        assert verify_sweep(problem, replace(found, points=(*found.points[:k], wrong, *found.points[k + 1 :])))
    assert verify_sweep(problem, replace(found, chooses=False))


@pytest.mark.parametrize("prefer", [Preference.SIZE, Preference.BALANCED])
def test_preferences_against_the_least_cost_are_refused(prefer: Preference) -> None:
    with pytest.raises(BadInput) as refusal:
        swept(small(0), Options(prefer=prefer))
    assert refusal.value.findings[0].pointer == "/options/prefer"


def test_the_smallest_size_of_some_choices_is_not_claimed_for_all() -> None:
    """The smallest size of the cheapest choices, or of those within a cost limit, proves nothing about the others."""
    large = Alternative("large", (1,), (Buffer("l", 10, live=((0, 1),)),))
    small = Alternative("small", (2,), (Buffer("s", 5, live=((0, 1),)),))
    variants = Variants((VariantGroup("g", (large, small)),), (CostTerm("cycles"),))
    problem = Problem((), (Pool("p", 100),), variants=variants)
    found = sweep(problem, {"p": (8,)}, OPTIONS, processes=1)
    assert found.smallest is not None
    assert found.smallest.capacity == 5
    alone = least_capacity_problem(problem, "p")
    (point,) = found.points
    wrong = replace(point, status=PlanStatus.INFEASIBLE, plan=None, value=None, bound=(), peaks=None)
    wrong = replace(wrong, access_cost=None, spilled_bytes=None)
    cheap = replace(OPTIONS, max_cost=1)
    assert verify_sweep(problem, sweep(problem, {"p": (8, 10)}, cheap, processes=1)) == ()
    for options in (replace(OPTIONS, prefer=Preference.SPEED), cheap):
        least = SmallestCapacity("p", 10, 10, plan(alone, options))
        assert verify_sweep(problem, replace(found, points=(wrong,), smallest=least)) != ()


def two_ways(low: Alternative, high: Alternative, pools: tuple[Pool, ...]) -> Problem:
    variants = Variants((VariantGroup("g", (low, high)),), (CostTerm("cycles"),))
    return Problem((), pools, variants=variants)


def test_an_alternative_without_a_place_leaves_the_others() -> None:
    """A buffer fixed beyond a small size makes only its own alternative impossible there."""
    far = Alternative("far", (1,), (Buffer("f", 2, live=((0, 1),), fixed=Fixed("p", 10)),))
    near = Alternative("near", (2,), (Buffer("n", 3, live=((0, 1),)),))
    for pools in ((Pool("p", 12),), (Pool("p", 12), Pool("q", 1, rank=1))):
        problem = two_ways(far, near, pools)
        found = sweep(problem, {"p": (2, 3, 11, 12)}, OPTIONS, processes=1)
        assert [point.value and point.value[0] for point in found.points] == [None, 2, 2, 1]
        assert all(point.status is not PlanStatus.UNKNOWN for point in found.points)
        assert verify_sweep(problem, found) == ()


def test_an_alternative_that_requires_one_without_a_place_is_left_out_too() -> None:
    far = Alternative("far", (1,), (Buffer("f", 2, live=((0, 1),), fixed=Fixed("p", 10)),))
    near = Alternative("near", (2,), (Buffer("n", 3, live=((0, 1),)),))
    needs_far, needs_none = Alternative("a", (0,)), Alternative("b", (4,))
    groups = (VariantGroup("g", (far, near)), VariantGroup("h", (needs_far, needs_none)))
    rules = ((("h", "a"), ("g", "far")),)
    problem = Problem((), (Pool("p", 12),), variants=Variants(groups, (CostTerm("cycles"),), requires=rules))
    found = sweep(problem, {"p": (5, 12)}, OPTIONS, processes=1)
    assert [point.value for point in found.points] == [(6, 3), (1, 12)]
    assert verify_sweep(problem, found) == ()


def test_a_sweep_within_a_cost_that_no_choice_has_passes_verification() -> None:
    problem = two_ways(Alternative("x", (5,)), Alternative("y", (7,)), (Pool("p", 9),))
    found = sweep(problem, {"p": (3, 9)}, replace(OPTIONS, max_cost=4), processes=1)
    assert all(point.status is PlanStatus.INFEASIBLE for point in found.points)
    again = read_sweep_json(write_sweep_json(found, with_plans=True))
    assert again.most_cost == 4
    for each in (found, again):
        assert verify_sweep(problem, each) == ()
    document = json.loads(write_sweep_json(found, with_plans=True))
    for most in (None, 7, 10):
        document["max_cost"] = most
        assert verify_sweep(problem, read_sweep_json(json.dumps(document).encode()))


def test_the_least_memory_beside_a_small_memory_is_not_claimed_beside_a_large_one() -> None:
    """Beside less of one memory, no choice of the least cost needs less of all; beside more of it, one may."""
    buffers = (Buffer("a", 4, live=((0, 1),)), Buffer("b", 3, live=((1, 2),)), Buffer("c", 2, live=((0, 2),)))
    pools = (Pool("p", 8), Pool("q", 8, cost=3, rank=1))
    ways = (Alternative("x", (1,), (Buffer("x", 1, live=((0, 1),)),)), Alternative("y", (1,)))
    variants = Variants((VariantGroup("g", ways),), (CostTerm("cycles"),))
    problem = Problem(buffers, pools, variants=variants)
    small, large = (with_capacity(problem, {"p": size}) for size in (2, 8))
    speed = replace(OPTIONS, prefer=Preference.SPEED)
    best, proof = plan(small, speed), plan(large, speed)
    assert best.status is PlanStatus.OPTIMAL
    assert (best.objective.bound or 0) > (proof.objective.value or 0)
    facts = Facts(digest, lambda _: 0)
    facts.add(Fact({"p": 2}, best))
    facts.add(Fact({"p": 8}, replace(proof, status=PlanStatus.UNKNOWN, placements=())))
    carried = facts.carried({"p": 8}, large)
    assert carried is not None
    assert carried.status is PlanStatus.FEASIBLE
    assert (carried.objective.bound or 0) <= (proof.objective.value or 0)
    assert carried.bound <= (proof.peak or 0)


@pytest.mark.parametrize("known_options", [Options(prefer=Preference.SPEED), Options(max_cost=1), Options(max_cost=0)])
def test_known_plans_of_other_choices_decide_nothing(known_options: Options) -> None:
    large = Alternative("large", (1,), (Buffer("l", 10, live=((0, 1),)),))
    small = Alternative("small", (2,), (Buffer("s", 5, live=((0, 1),)),))
    problem = two_ways(large, small, (Pool("p"),))
    start = [plan(each, known_options) for each in (problem, with_capacity(problem, 8), with_capacity(problem, 20))]
    for sizes in ((8,), (8, 20)):
        found = sweep(problem, {"p": sizes}, OPTIONS, processes=1, start=start)
        assert [point.value for point in found.points] == [(2, 5), (1, 10)][: len(sizes)]
        assert found.smallest is not None
        assert (found.smallest.capacity, found.smallest.bound) == (5, 5)
        assert verify_sweep(problem, found) == ()


def test_a_plan_of_a_size_that_leaves_an_alternative_no_place_is_verified_with_the_sweep_s_options() -> None:
    far = Alternative("far", (1,), (Buffer("f", 30, live=((0, 1),), fixed=Fixed("p", 120)),))
    near = Alternative("near", (2,), (Buffer("n", 40, live=((0, 1),)),))
    variants = Variants((VariantGroup("g", (far, near)),), (CostTerm("cycles"),))
    problem = Problem((), (Pool("p", 200),), variants=variants)
    found = sweep(problem, {"p": (80, 200)}, replace(OPTIONS, prefer=Preference.SPEED), processes=1)
    made = found.points[0].plan
    assert made is not None
    assert verify(planned_problem(problem, 80, Preference.SPEED), made) == ()
