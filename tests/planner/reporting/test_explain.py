"""Certificates are explained in words: how much memory is missing, and why a peak cannot be lower."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from planner import Options, PlanStatus, Preference, plan, read_problem, verify
from planner.generate import Request, generate
from planner.model.plan import Objective, PlanCertificate, TermValue
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Pool, Problem
from planner.reporting.explain import explain_bound
from planner.verifying.arguments.shortage import NAMED, shortage
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from tests.small.plans import infeasible_plan, optimal_plan
from tests.small.strategies import effort, problems

GREEDY = Options(solver="greedy", workers=1)
TWO_MEMORIES = Path(__file__).resolve().parents[3] / "examples" / "two_memories.json"

TIGHT = Problem(
    (Buffer("a", 60, 1, ((0, 3),)), Buffer("b", 50, 1, ((2, 5),)), Buffer("c", 10, 1, ((4, 6),))),
    (Pool("sram", 100),),
)


def test_the_message_names_pool_bytes_time_and_buffers() -> None:
    why = plan(TIGHT, GREEDY).shortage
    assert why is not None
    assert why.message == (
        "pool 'sram' is 10 bytes too small: it has 100 bytes, but buffers 'a', 'b', which live together at time 2, need 110 bytes"
    )
    assert (why.pool, why.bytes_short, why.time, why.buffers) == ("sram", 10, 2, ("a", "b"))
    assert why.subset is None


def test_the_message_says_where_a_need_beyond_the_buffers_own_bytes_comes_from() -> None:
    alone = Problem((Buffer("a", 8, 1, ((0, 3),)),), (Pool("sram", 10, reserved=((2, 5),)),))
    said = "pool 'sram' is 3 bytes too small: it has 10 bytes, but buffer 'a', live at time 0, needs 13 bytes: 8 bytes, and what"
    why = plan(alone, GREEDY).shortage
    assert why is not None
    assert why.message == f"{said} alignments, reserved ranges and fixed places add"


def test_no_more_is_lacking_than_a_larger_pool_would_have_to_have() -> None:
    """In 15 bytes of the pool `b` can begin at 2 alone, and the others would end at 39 above it."""
    buffers = (
        Buffer("a", 0, 4),
        Buffer("b", 13, live=((1, 2),)),
        Buffer("c", 10, 2, ((1, 2),)),
        Buffer("d", 14, live=((1, 2),)),
    )
    problem = Problem(buffers, (Pool("sram", 15),), constraints=Constraints(colocations=(Colocation("a", "b", 2),)))
    short = plan(problem, GREEDY).shortage
    assert short is not None
    assert short.bytes_short == 37 - 15
    assert verify(problem, plan(problem, GREEDY)) == ()
    assert plan(replace(problem, pools=(Pool("sram", 37),)), Options(workers=1)).peak == 37


def test_memories_with_room_for_what_is_live_are_not_called_too_small_together() -> None:
    """A bound of all peaks says nothing of what is lacking where only a search shows that nothing fits."""
    held = Buffer("held", 14, 1, ((3, 8),), fixed=Fixed("b", 4))
    others = (Buffer("x", 12, 1, ((7, 10),)), Buffer("y", 8, 1, ((6, 9),)))
    problem = Problem((held, *others), (Pool("a", 16), Pool("b", 24)))
    made = plan(problem, Options(work_limit=200_000, time_limit=None, workers=1))
    assert {Proof.SEARCH, Proof.POOL_SHARING} <= {each.proof for each in made.certificates}
    assert made.shortage is not None
    assert made.shortage.message.startswith(
        "there is no way to place the 3 buffers where 'a' has 16 bytes, 'b' has 24 bytes"
    )
    assert verify(problem, made) == ()


def test_a_buffer_that_fits_nowhere_is_named_where_it_has_no_lifetime() -> None:
    pools = (Pool("a", 16, reserved=((8, 15),)), Pool("b", 27))
    problem = Problem((Buffer("x", 10, fixed=Fixed("a")), Buffer("y", 1, live=((8, 10),))), pools)
    made = plan(problem, Options(work_limit=200_000, time_limit=None, workers=1))
    assert made.shortage is not None
    assert made.shortage.message.startswith("buffer 'x' needs 10 bytes and fits nowhere, even alone")
    assert verify(problem, made) == ()


@pytest.mark.parametrize(
    ("term", "name"),
    [(Term.SPILLED_BYTES, "spilled bytes"), (Term.ACCESS_COST, "access cost"), (Term.SUM_OF_PEAKS, "sum of peaks")],
)
def test_the_possible_saving_is_that_of_the_objective(term: Term, name: str) -> None:
    """The saving is that of the objective's first term; a sum of peaks weighted by cost, say, is not the peak."""
    minimised = Objective(107, 100, (TermValue(term, 107, 100),))
    made = replace(plan(TIGHT, GREEDY), status=PlanStatus.FEASIBLE, peak=110, objective=minimised, certificates=())
    assert explain_bound(TIGHT, made) == f"The objective's first term, {name}, is 107: at most 7 could be saved."


def test_an_irreducible_subset_is_given_on_request() -> None:
    why = plan(TIGHT, replace(GREEDY, explain=True)).shortage
    assert why is not None
    assert (why.subset, why.irreducible) == (("a", "b"), True)


def test_a_subset_of_too_many_to_be_checked_was_not_cut_short() -> None:
    """More than 60 buffers are never checked one by one, on any machine, so the plan stays reproducible."""
    buffers = tuple(Buffer(i, 10, 1, ((0, 2),)) for i in range(61))
    made = plan(Problem(buffers, (Pool("sram", 605),)), replace(GREEDY, explain=True))
    assert made.shortage is not None
    assert (len(made.shortage.subset or ()), made.shortage.irreducible, made.reproducible) == (61, False, True)


def test_the_greatest_shortage_is_reported() -> None:
    two = [
        PlanCertificate(Proof.LIVE_TOGETHER, 110, "sram", 2, ("a", "b")),
        PlanCertificate(Proof.CONFLICT_CLIQUE, 120, "sram", None, ("a", "b", "c")),
        PlanCertificate(Proof.SINGLE_BLOCK, 90, "sram", None, ("c",)),
    ]
    why = shortage(TIGHT, two)
    assert why.bytes_short == 20
    assert "which all conflict with each other, need 120 bytes" in why.message


def test_a_buffer_that_ends_too_high_alone_is_explained() -> None:
    why = shortage(TIGHT, [PlanCertificate(Proof.SINGLE_BLOCK, 101, "sram", None, ("c",))])
    assert why.message.startswith("pool 'sram' is 1 byte too small")
    assert "buffer 'c' cannot end below 101 there" in why.message


def test_a_buffer_larger_than_every_allowed_pool_is_explained() -> None:
    problem = Problem((Buffer("x", 500, pools=("a", "b")),), (Pool("a", 100), Pool("b", 450), Pool("c", None)))
    why = plan(problem, GREEDY).shortage
    assert why is not None
    assert why.message == "buffer 'x' needs 500 bytes, 50 bytes more than the largest pool allowed, 'b', has"
    assert (why.pool, why.bytes_short, why.buffers) == ("b", 50, ("x",))


def test_a_buffer_that_fits_nowhere_is_explained() -> None:
    problem = Problem((Buffer("x", 8, max_offset=3),), (Pool("a", 100, reserved=((4, 90),)),))
    why = shortage(problem, [PlanCertificate(Proof.SINGLE_BLOCK, 8, buffers=("x",))])
    assert "buffer 'x' needs 8 bytes and fits nowhere, even alone" in why.message
    assert why.bytes_short is None


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (Buffer("y", 8, pools=("b",)), "buffers 'x', 'y' must share a pool, but no pool can take all of them"),
        (Buffer("y", 20), "buffer 'y' needs 20 bytes, 11 bytes more than the largest pool allowed, 'b', has"),
        (Buffer("y", 8, max_offset=0), "buffers 'x', 'y' must share a pool, but no pool can take all of them"),
    ],
)
def test_buffers_that_cannot_share_a_pool_are_not_said_to_fit_nowhere_alone(second: Buffer, said: str) -> None:
    pools = (Pool("a", 7), Pool("b", 9))
    problem = Problem((Buffer("x", 5, pools=("a",)), second), pools, Constraints(same_pool=(("x", "y"),)))
    made = plan(problem, GREEDY)
    assert made.shortage is not None
    assert made.shortage.message == said
    assert verify(problem, made) == ()


def test_a_group_that_moves_as_one_is_named_whole() -> None:
    problem = Problem(
        (Buffer("x", 8), Buffer("view", 8)), (Pool("a", 10),), Constraints(colocations=(Colocation("view", "x", 4),))
    )
    why = shortage(problem, [PlanCertificate(Proof.SINGLE_BLOCK, 12, buffers=("x",))])
    assert why.message.startswith("buffers 'x', 'view', which move as one, need 12 bytes, 2 bytes more than")


def test_pools_too_small_together_are_explained() -> None:
    problem = replace(TIGHT, pools=(Pool("a", 61), Pool("b", 45)))
    weights = (("a", 2, 1, 1), ("b", 2, 1, 1))
    why = shortage(problem, [PlanCertificate(Proof.POOL_SHARING, 4, buffers=("a", "b"), weights=weights)])
    assert (
        why.message == "pools 'a', 'b' are too small together (106 bytes) for what is live at time 2: buffers 'a', 'b'"
    )
    assert why.time == 2


def test_a_proof_by_search_is_named_as_such() -> None:
    why = shortage(TIGHT, [PlanCertificate(Proof.SEARCH, 101, "sram", solver="cpsat")])
    assert "there is no way to place the 3 buffers where 'sram' has 100 bytes (cpsat went through all)" in why.message


def test_a_shortage_without_a_certificate_is_explained() -> None:
    assert "no way to place" in shortage(TIGHT, []).message


def test_names_are_escaped_and_long_lists_cut() -> None:
    names = ["\x1b[31mred", *(f"b{n}" for n in range(40))]
    problem = Problem(tuple(Buffer(name, 9, 1, ((0, 1),)) for name in names), (Pool("sram", 100),))
    why = plan(problem, GREEDY).shortage
    assert why is not None
    assert "\x1b" not in why.message
    assert f"and {41 - NAMED} more" in why.message
    assert len(why.buffers) == 41


def test_a_bound_that_is_met_is_explained() -> None:
    roomy = replace(TIGHT, pools=(Pool("sram"),))
    made = plan(roomy, GREEDY)
    assert explain_bound(roomy, made) == (
        "The peak of pool 'sram' cannot be below 110: at time 2 these are live together, 110 bytes in all: 'a' (60), 'b' (50)\n"
        "The plan meets this, so no plan is better."
    )


def test_of_nothing_no_bound_is_told() -> None:
    nothing = Problem((), (Pool("sram"),))
    assert explain_bound(nothing, plan(nothing, GREEDY)) == "The plan's peak is 0 bytes, so no plan is better."
    fast = plan(nothing, replace(GREEDY, prefer=Preference.SPEED))
    assert explain_bound(nothing, fast) == "All that is minimised is 0, so no plan is better."


def test_a_bound_beyond_the_buffers_own_bytes_says_where_it_comes_from() -> None:
    beside = Problem((Buffer("a", 8, 1, ((0, 3),)), Buffer("b", 9, 1, ((0, 3),))), (Pool("sram", reserved=((7, 20),)),))
    assert explain_bound(beside, plan(beside, GREEDY)).splitlines()[0] == (
        "The peak of pool 'sram' cannot be below 37: at time 0 these are live together, 17 bytes in all, "
        "and what alignments, reserved ranges and fixed places add: 'a' (8), 'b' (9)"
    )


def test_weaker_bounds_are_not_told_and_each_term_is_named() -> None:
    """What holds whatever the access cost is, 4 000, is not what the plan meets."""
    buffers = (Buffer("a", 3_000, 1, ((0, 2),), reads=1), Buffer("b", 1_000, 1, ((1, 3),), reads=900))
    problem = Problem(
        (*buffers, Buffer("c", 3_000, 1, ((3, 5),), reads=100)), (Pool("sram", 3_000), Pool("dram", rank=1))
    )
    made = plan(problem, Options(prefer=Preference.SPEED))
    assert made.status is PlanStatus.OPTIMAL
    text = explain_bound(problem, made)
    assert "4000" not in text
    assert text.endswith("The plan meets the bound of the access cost and of the sum of peaks, so no plan is better.")


def test_an_unmet_bound_states_the_possible_saving() -> None:
    roomy = replace(TIGHT, pools=(Pool("sram"),))
    made = plan(roomy, GREEDY)
    worse = replace(made, status=PlanStatus.FEASIBLE, peak=120, objective=replace(made.objective, value=120))
    assert explain_bound(roomy, worse).endswith("The plan's peak is 120 bytes: at most 10 bytes could be saved.")


def test_every_kind_of_proof_has_words() -> None:
    certificates = (
        PlanCertificate(Proof.CONFLICT_CLIQUE, 110, "sram", None, ("a", "b")),
        PlanCertificate(Proof.SINGLE_BLOCK, 110, "sram", None, ("a",)),
        PlanCertificate(Proof.POOL_SHARING, 110, weights=(("sram", 2, 1, 1),)),
        PlanCertificate(Proof.SEARCH, 110, None, solver="cbc"),
    )
    lines = explain_bound(TIGHT, replace(optimal_plan(TIGHT), certificates=certificates)).splitlines()
    assert "conflict with each other" in lines[0]
    assert "'a' (60) cannot end lower, even alone" in lines[1]
    assert lines[2].startswith("The sum of the pools' peaks, each times its cost, cannot be below 110")
    assert "cbc tried every placement below it" in lines[3]


def test_an_infeasible_plan_ends_with_its_shortage() -> None:
    made = replace(infeasible_plan(TIGHT), shortage=shortage(TIGHT, []))
    assert explain_bound(TIGHT, made).startswith("So nothing fits: there is no way")


def test_a_fixed_place_that_is_too_high_is_explained() -> None:
    problem = Problem((Buffer("x", 8, fixed=Fixed("a", 96)), Buffer("y", 4)), (Pool("a"),))
    text = explain_bound(problem, plan(problem, GREEDY))
    assert "cannot be below 104: 'x' (8) cannot end lower, even alone" in text


@effort(15, 2000)
@given(problems())
def test_every_plan_of_a_random_problem_can_be_explained(problem: Problem) -> None:
    made = plan(problem, GREEDY)
    text = explain_bound(problem, made)
    assert len(text.splitlines()) >= len(made.certificates)
    if made.status is PlanStatus.INFEASIBLE:
        assert made.shortage is not None
        assert made.shortage.message in text


def test_each_bound_names_its_term() -> None:
    problem = read_problem(TWO_MEMORIES.read_bytes())[0]
    text = explain_bound(problem, plan(problem, Options(prefer=Preference.SPEED)))
    assert "The access cost cannot be below 4283126: search tried every placement below it\n" in text
    assert "The sum of the pools' peaks, each times its cost, cannot be below 5000" in text


def test_a_bound_of_a_later_term_says_what_it_presumes() -> None:
    problem = generate("pools", Request(60, 55511))
    made = plan(problem, Options(time_limit=None, work_limit=1_000_000, workers=1, prefer=Preference.SPEED))
    first, second = made.objective.terms
    assert second.value is not None
    text = explain_bound(problem, made)
    assert f"The sum of peaks cannot be below {second.value}: not all that would gain by it has room" in text
    assert f", with access cost at most {first.value}\n" in text
    searched = PlanCertificate(Proof.SEARCH, second.value, term=second.name, solver="pools_first")
    others = (each for each in made.certificates if each.term is not second.name or each.proof is not Proof.PRICED_ROOM)
    text = explain_bound(problem, replace(made, certificates=(*others, searched)))
    assert (
        f"The sum of peaks cannot be below {second.value}: pools_first tried every placement below it, the terms before"
        in text
    )


def test_a_part_that_contradicts_itself_does_not_fit() -> None:
    """Tied to the third, the first two may be in no pool; without it they may, but there no address is aligned for both."""
    buffers = (
        Buffer("a", 1, 4, ((3, 6),), pools=("p",)),
        Buffer("b", 1, live=((6, 9),), pools=("q",)),
        Buffer("c", 7, 4, ((3, 7),)),
    )
    ties = Constraints(colocations=(Colocation("c", "a", 1), Colocation("a", "b", 0)))
    problem = Problem(buffers, (Pool("p"), Pool("q")), ties)
    made = plan(problem, Options(workers=1, explain=True))
    assert made.status is PlanStatus.INFEASIBLE
    assert made.shortage is not None
    assert made.shortage.subset is not None
    assert not verify(problem, made)
