"""The verifier finds nothing in right plans, and in a plan with one fault exactly this fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.model.plan import PlanCertificate
from planner.model.problem import Buffer, BufferId, Colocation, Constraints, Pool, Problem
from planner.verifying.findings import LISTED_PER_KIND, AddressRange, FindingKind
from planner.verifying.verify import verify
from solvers.model.outcome import Proof
from tests.planner.verifying.verified import (
    BASE,
    CHAIN,
    CHAIN_SPOTS,
    RICH,
    SPOTS,
    Kind,
    called_optimal,
    kinds,
    moved,
)
from tests.small.plans import infeasible_plan, make_plan, optimal_plan
from tests.small.strategies import NIGHTLY


def test_an_honest_plan_has_no_findings() -> None:
    assert verify(RICH, make_plan(RICH, SPOTS)) == ()
    assert verify(CHAIN, optimal_plan(CHAIN)) == ()
    assert verify(CHAIN, make_plan(CHAIN, CHAIN_SPOTS)) == ()


def test_an_empty_problem_has_an_empty_plan() -> None:
    assert verify(Problem(()), optimal_plan(Problem(()))) == ()


@pytest.mark.parametrize(
    ("kind", "spots"),
    [
        (Kind.OVERLAP, {"7": ("sram", 96)}),
        (Kind.MISALIGNED, {"then": ("dram", 106)}),
        (Kind.OUTSIDE_POOL, {"7": ("sram", 224)}),
        (Kind.IN_RESERVED_RANGE, {"then": ("sram", 200)}),
        (Kind.WRONG_POOL, {"weights": ("sram", 104)}),
        (Kind.FIXED_MOVED, {"input": ("sram", 48)}),
        (Kind.ABOVE_MAX_OFFSET, {"whole": ("sram", 208), "view": ("sram", 224), "7": ("sram", 32)}),
        (Kind.COLOCATION_BROKEN, {"view": ("sram", 104)}),
        (Kind.SEPARATION_BROKEN, {"7": ("sram", 56)}),
        (Kind.SAME_POOL_BROKEN, {"whole": ("dram", 128), "view": ("dram", 144)}),
        (Kind.DIFFERENT_POOL_BROKEN, {"weights": ("sram", 104)}),
        (Kind.UNKNOWN_POOL, {"then": ("flash", 0)}),
    ],
)
def test_a_spoilt_placement_is_found(kind: FindingKind, spots: dict[BufferId, tuple[str, int]]) -> None:
    assert kind in kinds(RICH, moved(spots))


@pytest.mark.parametrize(
    ("kind", "spots"),
    [
        (Kind.MISALIGNED, {"then": ("dram", 106)}),
        (Kind.OUTSIDE_POOL, {"7": ("sram", 224)}),
        (Kind.IN_RESERVED_RANGE, {"then": ("sram", 200)}),
        (Kind.ABOVE_MAX_OFFSET, {"whole": ("sram", 208), "view": ("sram", 224), "7": ("sram", 96)}),
        (Kind.OUTSIDE_POOL, {"nothing": ("sram", 264)}),
        (Kind.OVERLAP, {"7": ("sram", 96)}),
    ],
)
def test_only_the_one_fault_is_found(kind: FindingKind, spots: dict[BufferId, tuple[str, int]]) -> None:
    assert kinds(RICH, moved(spots)) == {kind}


def test_a_buffer_below_its_pool_is_outside() -> None:
    plan = make_plan(CHAIN, {**CHAIN_SPOTS, "c": ("only", -10)})
    assert kinds(CHAIN, plan) == {Kind.OUTSIDE_POOL}


def test_an_overlap_names_both_buffers_and_their_addresses() -> None:
    plan = make_plan(CHAIN, {**CHAIN_SPOTS, "b": ("only", 5)})
    findings = [f for f in verify(CHAIN, plan) if f.kind is Kind.OVERLAP]
    assert [f.buffers for f in findings] == [("a", "b"), ("b", "c")]
    assert findings[0].ranges == (AddressRange("only", 0, 10), AddressRange("only", 5, 15))
    assert "'a' at [0, 10) of pool 'only'" in findings[0].message


def test_placements_that_break_a_rule_show_nothing_about_certificates() -> None:
    """84 bytes are live together; that two of them overlap does not make 80 possible."""
    problem = Problem(
        (Buffer("image", 64, 1, ((0, 2),)), Buffer("edges", 20, 4, ((1, 3),))), (Pool("arena", None, 16),)
    )
    plan = optimal_plan(problem)
    assert verify(problem, plan) == ()
    wrong = replace(plan, placements=tuple(replace(p, offset=p.offset and 60) for p in plan.placements))
    found = {finding.kind: finding.message for finding in verify(problem, wrong)}
    assert Kind.OVERLAP in found
    assert found[Kind.MISALIGNED].endswith("not aligned to the pool's 16")
    assert Kind.WRONG_CERTIFICATE not in found


def test_overlaps_are_found_only_within_one_pool() -> None:
    buffers = (*(Buffer(i, 8, 1, ((0, 9),)) for i in range(600)), Buffer("late", 8, 1, ((9, 12),)))
    problem = Problem(buffers, tuple(Pool(f"p{i}", 64, rank=i) for i in range(300)))
    spots = {buffer.id: (f"p{i // 2}", 8 * (i % 2)) for i, buffer in enumerate(buffers[:600])} | {"late": ("p7", 0)}
    assert Kind.OVERLAP not in kinds(problem, make_plan(problem, spots))
    wrong = make_plan(problem, {**spots, 40: ("p20", 4)})
    assert [f.buffers for f in verify(problem, wrong) if f.kind is Kind.OVERLAP] == [(40, 41)]


def test_alignment_counts_from_the_base() -> None:
    problem = Problem((Buffer("x", 3, 8, ((0, 1),)),), (Pool("p", 64, base=4),))
    assert kinds(problem, make_plan(problem, {"x": ("p", 4)})) == set()
    assert kinds(problem, make_plan(problem, {"x": ("p", 8)})) == {Kind.MISALIGNED}


def test_each_alignment_counts_that_of_the_pool_and_that_of_the_buffer() -> None:
    problem = Problem((Buffer("x", 3, 6, ((0, 1),)),), (Pool("p", 64, alignment=4),))
    assert [o for o in range(60) if not verify(problem, make_plan(problem, {"x": ("p", o)}))] == [0, 12, 24, 36, 48]


def test_the_overlaps_listed_are_limited() -> None:
    problem = Problem(tuple(Buffer(n, 1, 1, ((0, 1),)) for n in range(60)))
    plan = make_plan(problem, dict.fromkeys(range(60), ("default", 0)))
    assert len(verify(problem, plan)) == LISTED_PER_KIND


def test_group_members_and_excluded_pairs_may_share_addresses() -> None:
    assert verify(RICH, moved({})) == ()
    alone = replace(RICH, constraints=replace(RICH.constraints, exclusions=(), colocations=()))
    found = [f.buffers for f in verify(alone, make_plan(alone, SPOTS)) if f.kind is Kind.OVERLAP]
    assert found == [("view", "whole"), ("then", "else")]


MANY = 20_000 if NIGHTLY else 10_000


@pytest.mark.parametrize("live", [((0, 10),), None])
@pytest.mark.parametrize("chained", [False, True])
def test_groups_of_many_buffers_are_verified_fast(live: tuple[tuple[int, int], ...] | None, chained: bool) -> None:
    """Work that grows with the square of their number would take minutes here."""
    buffers = tuple(Buffer(n, 64, 1, live or ((n, n + 5),)) for n in range(MANY))
    ties = tuple(Colocation(n, n - 1 if chained else 0, 0) for n in range(1, MANY))
    problem = Problem(buffers, CHAIN.pools, Constraints(colocations=ties, same_pool=(tuple(range(MANY)),)))
    ids = tuple(range(MANY)) if live else (0, 1, 2, 3, 4)
    together = PlanCertificate(Proof.LIVE_TOGETHER, 64, "only", 4, ids)
    clique = PlanCertificate(Proof.CONFLICT_CLIQUE, 64, "only", buffers=tuple(range(MANY)))
    single = replace(clique, proof=Proof.SINGLE_BLOCK)
    sharing = PlanCertificate(Proof.POOL_SHARING, 64, weights=(("only", 4, 1, 1),))
    spots: dict[BufferId, tuple[str, int]] = dict.fromkeys(range(MANY), ("only", 0))
    plan = called_optimal(problem, spots, together, clique, single, sharing)
    assert verify(problem, replace(plan, bound=64)) == ()


def test_a_known_digest_is_not_computed_again() -> None:
    assert {f.kind for f in verify(CHAIN, BASE, digest="another")} == {Kind.WRONG_DIGEST}


def test_an_unproven_claim_of_infeasibility_is_found() -> None:
    empty = Problem(())
    assert kinds(empty, infeasible_plan(empty)) == {Kind.WRONG_STATUS, Kind.UNPROVEN_INFEASIBILITY}


def test_a_plan_of_another_problem_has_that_as_first_finding() -> None:
    found = verify(CHAIN, replace(BASE, problem_digest="0" * 64, placements=BASE.placements[1:]))
    assert len(found) > 1
    assert found[0].kind is Kind.WRONG_DIGEST
