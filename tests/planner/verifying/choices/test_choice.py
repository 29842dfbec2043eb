"""Verification finds a wrong choice of variants from the problem and the plan alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.formats import read_plan, write_plan
from planner.model.errors import BadInput
from planner.model.plan import Choice, ChoiceCertificate, ChoiceGoal, Plan, PlanCertificate, PlanStatus
from planner.model.problem import Alternative, Buffer, CostTerm, MoreLife, Pool, Problem, VariantGroup, Variants
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from planner.verifying.arguments.bounds import notes
from planner.verifying.findings import FindingKind as Kind
from planner.verifying.verify import verify
from solvers.model.errors import StopReason
from solvers.model.outcome import Proof

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


def without_choice(made: Plan, **changes: object) -> Plan:
    """Return an answer that no choice fits, or none was found."""
    nothing = replace(
        made,
        status=PlanStatus.INFEASIBLE,
        stop=StopReason.PROVED,
        peak=None,
        bound=0,
        gap=None,
        objective=replace(
            made.objective, value=None, bound=None, terms=(replace(made.objective.terms[0], value=None, bound=None),)
        ),
        pools=tuple(replace(use, peak=None, bound=0) for use in made.pools),
        placements=(),
        certificates=(),
        choice=None,
    )
    return replace(nothing, **changes)  # type: ignore[arg-type]


def test_what_a_simple_plan_of_another_choice_reaches_is_not_proven_impossible(made: Plan) -> None:
    """Whole, it costs 10 and takes 300 bytes; in stripes 13 and 150."""
    least = made.objective.value
    assert least == 150
    assert made.choice is not None
    dear = plan(PROBLEM, Options(workers=1, max_cost=12))
    assert (dear.choice is not None, dear.objective.value, verify(PROBLEM, dear)) == (True, 300, ())
    assert Kind.BOUND_ABOVE_PEAK in kinds(chosen(dear, most_cost=None))
    assert Kind.BOUND_ABOVE_PEAK in kinds(chosen(dear, most_cost=13))
    assert Kind.BOUND_ABOVE_PEAK in kinds(chosen(made, goal=ChoiceGoal.SPEED))
    for claim in (
        without_choice(made),
        without_choice(made, bound=10**9),
        without_choice(made, stop=StopReason.CANCELLED),
    ):
        assert kinds(claim) & {Kind.UNPROVEN_INFEASIBILITY, Kind.WRONG_STATUS}
    unknown = without_choice(made, status=PlanStatus.UNKNOWN, stop=StopReason.WORK_LIMIT)
    assert kinds(unknown) == set()
    assert Kind.UNPROVEN_BOUND in kinds(replace(unknown, bound=1))
    search = PlanCertificate(Proof.SEARCH, 0, solver="search")
    assert Kind.WRONG_CERTIFICATE in kinds(replace(unknown, certificates=(search,)))


def test_that_no_choice_fits_is_of_those_that_are_cheap_enough() -> None:
    small = replace(PROBLEM, pools=(Pool("default", 200),))
    for most, status in ((12, PlanStatus.INFEASIBLE), (None, PlanStatus.OPTIMAL)):
        found = plan(small, Options(workers=1, max_cost=most))
        assert (found.status, verify(small, found)) == (status, ())
        assert read_plan(write_plan(found)) == found
    found = plan(small, Options(workers=1, max_cost=12))
    why = found.shortage
    assert why is not None
    assert (why.most_cost, why.bytes_short, found.bound) == (12, 100, 300)
    for wrong in (
        {"shortage": replace(why, most_cost=None)},
        {"shortage": replace(why, most_cost=13)},
        {"shortage": replace(why, bytes_short=101)},
        {"shortage": replace(why, pool="nix")},
        {"shortage": replace(why, message="nonsense")},
        {"shortage": replace(why, message=why.message.replace("100", "101"))},
        {"shortage": replace(why, message=why.message.replace("12", "13"))},
        {"shortage": replace(why, time=1)},
        {"shortage": replace(why, subset=("in",), irreducible=True)},
        {"bound": 301},
        {"bound": 301, "shortage": replace(why, bytes_short=101)},
        {"seed": -1},
        {"peak": 0},
        {"pools": ()},
        {"gap": 0.5},
    ):
        assert verify(small, replace(found, **wrong)), wrong


def test_a_plan_has_few_certificates_of_all_choices(made: Plan) -> None:
    """Each may try a hundred million choices."""
    certificate = ChoiceCertificate(0, 0, 1)
    for count in (8, 9):
        assert made.choice is not None
        document = write_plan(replace(made, choice=replace(made.choice, certificates=(certificate,) * count)))
        if count == 8:
            assert read_plan(document).choice is not None
        else:
            with pytest.raises(BadInput, match="/choice/certificate: must have at most 8 items"):
                read_plan(document)
