"""Verification finds a wrong choice of variants from the problem and the plan alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.model.plan import Choice, ChoiceGoal, Plan, PlanStatus
from planner.model.problem import Alternative, Buffer, CostTerm, MoreLife, Problem, VariantGroup, Variants
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from planner.verifying.arguments.bounds import notes
from planner.verifying.findings import FindingKind as Kind
from planner.verifying.verify import verify

PROBLEM = Problem(
    (Buffer("in", 100, live=((0, 2),)),),
    variants=Variants(
        (
            VariantGroup(
                "conv",
                (
                    Alternative("whole", (10,), (Buffer("out", 200, live=((1, 3),)),)),
                    Alternative(
                        "stripes", (13,), (Buffer("out", 50, live=((1, 3),)),), live=(MoreLife("in", ((2, 3),)),)
                    ),
                ),
            ),
            VariantGroup(
                "pool", (Alternative("in place", (0,)), Alternative("apart", (1,), (Buffer("p", 8, live=((2, 4),)),)))
            ),
        ),
        (CostTerm("cycles"),),
        forbids=((("conv", "stripes"), ("pool", "apart")),),
    ),
)


@pytest.fixture(scope="module")
def made() -> Plan:
    found = plan(PROBLEM, Options(workers=1))
    assert not verify(PROBLEM, found)
    return found


def chosen(made: Plan, **changes: object) -> Plan:
    assert isinstance(made.choice, Choice)
    return replace(made, choice=replace(made.choice, **changes))  # type: ignore[arg-type]


def kinds(bad: Plan) -> set[Kind]:
    return {finding.kind for finding in verify(PROBLEM, bad)}


def test_a_false_choice_is_found(made: Plan) -> None:
    for picks in (
        (),
        (("conv", "stripes"),),
        (("pool", "in place"), ("conv", "stripes")),
        (("conv", "stripes"), ("pool", "nix")),
        (("conv", "stripes"), ("conv", "whole")),
    ):
        assert kinds(chosen(made, alternatives=picks)) == {Kind.WRONG_CHOICE}
    assert kinds(replace(made, choice=None)) == {Kind.WRONG_CHOICE}


def test_a_choice_against_the_rules_is_found(made: Plan) -> None:
    bad = chosen(
        made, alternatives=(("conv", "stripes"), ("pool", "apart")), cost=14, costs=(("cycles", 14),), cost_bound=14
    )
    assert kinds(bad) == {Kind.WRONG_CHOICE}


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"cost": 12}, Kind.WRONG_CHOICE),
        ({"costs": (("cycles", 12),)}, Kind.WRONG_CHOICE),
        ({"costs": (("joules", 13),)}, Kind.WRONG_CHOICE),
        ({"most_cost": 12}, Kind.WRONG_CHOICE),
        ({"cost_bound": 14}, Kind.BOUND_ABOVE_PEAK),
        ({"cost_bound": 12}, Kind.CLAIMED_OPTIMAL_ABOVE_BOUND),
        ({"cost_bound": None}, Kind.CLAIMED_OPTIMAL_ABOVE_BOUND),
    ],
)
def test_wrong_costs_are_found(made: Plan, changes: dict[str, object], kind: Kind) -> None:
    assert kind in kinds(chosen(made, **changes))


def test_placements_are_checked_against_the_chosen_problem(made: Plan) -> None:
    """Verified as another choice, a buffer has the wrong size; with all buffers at 0, those of the choice overlap."""
    other = chosen(
        made, alternatives=(("conv", "whole"), ("pool", "in place")), cost=10, costs=(("cycles", 10),), cost_bound=10
    )
    assert Kind.WRONG_SIZE in kinds(other)
    moved = replace(made, placements=tuple(replace(place, offset=0) for place in made.placements))
    assert Kind.OVERLAP in kinds(moved)


def test_a_choice_without_variants_is_found(made: Plan) -> None:
    plain = Problem((Buffer("a", 8, live=((0, 1),)),))
    found = plan(plain, Options(workers=1))
    assert {each.kind for each in verify(plain, replace(found, choice=made.choice))} == {Kind.WRONG_CHOICE}


def test_a_choice_without_a_plan_is_found(made: Plan) -> None:
    assert Kind.WRONG_CHOICE in kinds(replace(made, status=PlanStatus.UNKNOWN))


def test_a_note_names_the_choices_that_the_bound_covers(made: Plan) -> None:
    """A note states which choices the bound covers: all, or those within the plan's own cost limit."""
    assert "all choices whatever they cost; only the plan says which were allowed" in notes(made)[0]
    limited = chosen(made, most_cost=40)
    assert not verify(PROBLEM, limited)
    assert "covers all choices that cost 40 at most" in notes(limited)[0]
    assert notes(chosen(limited, most_cost=None)) == notes(made)
    assert notes(chosen(made, goal=ChoiceGoal.SPEED)) == ()
