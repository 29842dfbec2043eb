"""With `stability`, plans keep buffers where an earlier plan had them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from planner import (
    BadInput,
    CannotSolve,
    Options,
    Plan,
    PlanStatus,
    ShapedProblem,
    Stability,
    pareto,
    plan,
    plan_shapes,
    share,
    sweep,
    verify,
)
from planner.checks import check
from planner.facts.digest import digest
from planner.facts.part import only
from planner.generate import Request, generate
from planner.model.plan import TermValue
from planner.model.problem import Buffer, BufferId, Colocation, Constraints, Fixed, Pool, Problem, ReusePenalty, Was
from planner.planning.options.capacity import planned_problem
from planner.planning.options.stability import price_of_all_moves, with_stability
from solvers.model import registry
from solvers.model.instance import Term
from solvers.model.solver import Feature
from tests.small.judge import judge
from tests.small.oracle import solve
from tests.small.plans import make_plan
from tests.small.strategies import effort, problems

LIMITS = Options(time_limit=10.0, work_limit=1_000_000, workers=1)
OLD = Problem((Buffer("a", 4, live=((0, 2),)), Buffer("b", 3, live=((1, 3),)), Buffer("c", 4, live=((2, 4),))))
"""The best plan has b above the other two."""
NEW = replace(OLD, buffers=(*OLD.buffers[:2], Buffer("c", 6, live=((2, 4),)), Buffer("d", 1, live=((0, 4),))))
"""c has grown and b is in its way; d is new."""
BEFORE = make_plan(OLD, {"a": ("default", 0), "b": ("default", 4), "c": ("default", 0)})


@effort(8, 10_000)
@given(problems(max_buffers=5, moves=True))
def test_moves_are_proven_minimal(problem: Problem) -> None:
    made = plan(problem, LIMITS)
    assert judge(problem, made, solve(problem)) == []
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE), "five buffers are settled, one way or the other"


@effort(8, 3000)
@given(problems(moves=True))
def test_the_keeping_search_claims_only_what_is_true(problem: Problem) -> None:
    made = plan(problem, replace(LIMITS, solver="keep", work_limit=8_000))
    assert judge(problem, made, solve(problem)) == []


def stable(stability: Stability) -> tuple[Plan, dict[Term, int | None], set[BufferId]]:
    """Return the plan of NEW, the values of its terms, and the buffers that moved."""
    made = plan(NEW, replace(LIMITS, stability=stability), start=BEFORE)
    there = {place.id: place.offset for place in BEFORE.placements}
    moved = {place.id for place in made.placements if place.id in there and there[place.id] != place.offset}
    assert made.status is PlanStatus.OPTIMAL
    assert made.reproducible
    assert made.warnings == ()
    assert verify(planned_problem(NEW, None, None, stability, BEFORE), made) == ()
    return made, {term.name: term.value for term in made.objective.terms}, moved


def test_stability_of_ties_costs_no_peak() -> None:
    made, terms, moved = stable(Stability.TIES)
    assert (made.peak, terms, moved) == (10, {Term.SUM_OF_PEAKS: 10, Term.MOVED_BYTES: 3}, {"b"})


def test_stability_first_may_cost_peak() -> None:
    held = make_plan(OLD, {"a": ("default", 2), "b": ("default", 7), "c": ("default", 3)})
    made = plan(NEW, replace(LIMITS, stability=Stability.FIRST), start=held)
    assert made.objective.value == 3, "b and c meet, so one of them has to go, and b is smaller"
    ties = plan(NEW, replace(LIMITS, stability=Stability.TIES), start=held)
    assert ties.peak == 10
    assert (made.peak or 0) >= 10


def test_balanced_weighs_all_that_can_move_against_all_that_is_live() -> None:
    problem = with_stability(NEW, Stability.BALANCED, BEFORE)
    assert problem.terms == (Term.STABILITY,)
    assert problem.peak_price == price_of_all_moves(problem) == (4 + 3 + 6) // 10
    _made, terms, moved = stable(Stability.BALANCED)
    assert terms == {Term.STABILITY: 13}
    assert moved == {"b"}


@pytest.mark.parametrize("stability", Stability)
def test_stability_may_be_a_word_as_in_options(stability: Stability) -> None:
    assert with_stability(NEW, stability.value, BEFORE) == with_stability(NEW, stability, BEFORE)
    with pytest.raises(BadInput, match="'never' is not one of ties, balanced, first"):
        with_stability(NEW, "never", BEFORE)


def test_buffers_of_a_group_count_separately() -> None:
    buffers = (Buffer("a", 4, live=((0, 2),)), Buffer("b", 2, live=((0, 2),)), Buffer("c", 3, live=((0, 2),)))
    tied = Problem(
        buffers,
        constraints=Constraints(colocations=(Colocation("b", "a", 2),)),
        terms=(Term.MOVED_BUFFERS, Term.MOVED_BYTES),
        was=(Was("a", "default", 5), Was("b", "default", 9), Was("c", "default", 5)),
    )
    made = plan(tied, LIMITS)
    assert judge(tied, made, solve(tied)) == []
    assert made.objective.value == 2, "a, b and c want three places, of which they can have one"


def test_a_place_above_all_that_is_stacked_can_be_kept() -> None:
    alone = Problem((Buffer("a", 4, live=((0, 2),)),), terms=(Term.MOVED_BYTES,), was=(Was("a", "default", 1000),))
    made = plan(alone, LIMITS)
    assert (made.placements[0].offset, made.objective.value) == (1000, 0)


def test_no_buffer_moves_needlessly() -> None:
    problem = generate("convnet", Request(300, 1))
    before = plan(problem, replace(LIMITS, solver="greedy"))
    changed = replace(problem, buffers=(*problem.buffers, Buffer("new", 64, live=problem.buffers[7].live)))
    options = replace(LIMITS, solver="keep", work_limit=300_000, stability=Stability.FIRST)
    made = plan(changed, options, start=before)
    assert verify(with_stability(changed, Stability.FIRST, before), made) == ()
    assert made.objective.terms[0] == TermValue(Term.MOVED_BYTES, 0, None) or made.objective.value == 0


def test_a_plan_that_hides_moves_fails_verification() -> None:
    problem = with_stability(NEW, Stability.TIES, BEFORE)
    made = plan(problem, LIMITS)
    terms = (made.objective.terms[0], replace(made.objective.terms[1], value=0, bound=0))
    lying = replace(made, objective=replace(made.objective, terms=terms))
    assert any("moved_bytes" in finding.message for finding in verify(problem, lying))


def test_the_older_plan_may_have_other_buffers() -> None:
    pools = (Pool("sram", 20), Pool("dram"))
    here = replace(NEW, pools=pools)
    strange = make_plan(
        replace(OLD, pools=(Pool("gone"), Pool("sram"))), {"a": ("gone", 0), "b": ("sram", 4), "c": ("sram", 0)}
    )
    assert with_stability(here, Stability.TIES, strange).was == (Was("b", "sram", 4), Was("c", "sram", 0))


def test_stability_without_old_places_is_refused() -> None:
    with pytest.raises(BadInput, match="nothing says where"):
        plan(NEW, replace(LIMITS, stability=Stability.TIES))
    with pytest.raises(BadInput, match="nothing says where"):
        plan(
            NEW,
            replace(LIMITS, stability=Stability.TIES),
            start=make_plan(Problem((Buffer("x", 1),)), {"x": ("default", 0)}),
        )
    with pytest.raises(BadInput, match="balanced"):
        with_stability(replace(NEW, terms=(Term.BALANCED,)), Stability.BALANCED, BEFORE)


@pytest.mark.parametrize(
    "ask",
    [
        lambda options: share(NEW, options),
        lambda options: sweep(NEW, {"default": [10, 20]}, options),
        lambda options: pareto(NEW, options),
        lambda options: plan_shapes(ShapedProblem(NEW, {}, (), ()), options=options),
    ],
)
def test_stability_is_refused_except_for_single_plans(ask: Callable[[Options], object]) -> None:
    with pytest.raises(BadInput, match="single plans"):
        ask(replace(LIMITS, stability=Stability.TIES))


@pytest.mark.parametrize(
    "solver", [name for name in registry.names() if Feature.MOVES not in registry.get(name).features]
)
def test_solvers_that_do_not_count_moves_refuse_stability(solver: str) -> None:
    if registry.get(solver).unavailable() is not None:
        pytest.skip("not installed")
    with pytest.raises(CannotSolve, match=r"does not take .*moves"):
        plan(NEW, replace(LIMITS, solver=solver, stability=Stability.TIES), start=BEFORE)


def test_integer_programs_do_not_count_moves() -> None:
    assert all(Feature.MOVES not in registry.get(name).features for name in ("cbc", "highs"))


def test_old_places_in_a_file_count_without_the_option() -> None:
    problem = replace(NEW, terms=(Term.SUM_OF_PEAKS, Term.MOVED_BUFFERS), was=(Was("b", "default", 4),))
    again = plan(problem, replace(LIMITS, stability=Stability.TIES))
    assert [term.name for term in again.objective.terms][-1] is Term.MOVED_BYTES


def test_wrong_old_places_are_named() -> None:
    def found(*was: Was) -> list[tuple[str, str]]:
        return [(f.code.value, f.pointer) for f in check(replace(NEW, was=was, terms=(Term.MOVED_BYTES,)))]

    assert found(Was("a", "nowhere", 0)) == [("unknown_pool", "/objective/was/0/pool")]
    assert found(Was("z", "default", 0)) == [("unknown_buffer", "/objective/was/0/buffer")]
    assert found(Was("a", "default", 0), Was("a", "default", 4)) == [("duplicate_id", "/objective/was/1/buffer")]
    assert found(Was("a", "default", -1)) == [("out_of_range", "/objective/was/0/offset")]
    assert found(Was("a", "default", 1 << 62))[0][0] == "too_large"
    dear = replace(NEW, was=(Was("a", "default", 0),), terms=(Term.STABILITY,), peak_price=1 << 60)
    assert [f.pointer for f in check(dear)] == ["/objective/peak_price"]


def test_the_digest_counts_old_places_if_the_objective_does() -> None:
    places = (Was("a", "default", 0), Was("b", "default", 4))
    assert digest(replace(NEW, was=places)) == digest(NEW)
    weighed = replace(NEW, terms=(Term.MOVED_BYTES,), was=places)
    assert digest(weighed) == digest(replace(weighed, was=places[::-1])) != digest(replace(weighed, was=places[:1]))


def test_a_part_of_a_problem_keeps_its_own_old_places() -> None:
    problem = replace(NEW, terms=(Term.MOVED_BYTES,), was=(Was("a", "default", 0), Was("b", "default", 4)))
    assert only(problem, ("a", "d")).was == (Was("a", "default", 0),)


@pytest.mark.parametrize(
    "other",
    [
        {"constraints": Constraints(reuse_penalties=(ReusePenalty("a", "c", 2),)), "terms": (Term.REUSE_COST,)},
        {"pools": (Pool("default", 9), Pool("far", rank=5)), "terms": (Term.SPILLED_BYTES, Term.LARGEST_PEAK)},
        {"buffers": (*NEW.buffers[:3], Buffer("d", 1, live=((0, 4),), fixed=Fixed("default", 4)))},
    ],
)
@pytest.mark.parametrize("stability", Stability)
def test_stability_beside_other_terms_is_optimal(other: dict[str, Any], stability: Stability) -> None:
    problem = with_stability(replace(NEW, **other), stability, BEFORE)
    assert judge(problem, plan(problem, LIMITS), solve(problem)) == []
