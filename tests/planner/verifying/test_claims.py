"""The claims of a plan are checked: its status, its bounds and its certificates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Options, plan
from planner.model.plan import Placement, Plan, PlanCertificate, PlanStatus, Shortage
from planner.model.problem import Buffer, BufferId, Constraints, Pool, Problem, ReusePenalty, Was
from planner.verifying.arguments.bounds import notes
from planner.verifying.findings import FindingKind
from planner.verifying.verify import verify
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from tests.planner.verifying.verified import (
    ACCESS,
    BASE,
    CHAIN,
    CHAIN_SPOTS,
    LARGEST,
    REUSE,
    RICH,
    SPOTS,
    SUM,
    Kind,
    called_optimal,
    kinds,
)
from tests.small.plans import infeasible_plan, make_plan, optimal_plan

BEST = optimal_plan(CHAIN)


def with_placements(*placements: Placement) -> Plan:
    return replace(BASE, placements=placements)


P = BASE.placements


@pytest.mark.parametrize(
    ("kind", "plan"),
    [
        (Kind.MISSING_BUFFER, with_placements(*P[:2])),
        (Kind.UNKNOWN_BUFFER, with_placements(*P, Placement("z", "only", 0, 1))),
        (Kind.DUPLICATE_PLACEMENT, with_placements(*P, P[0])),
        (Kind.WRONG_ORDER, with_placements(P[1], P[0], P[2])),
        (Kind.WRONG_SIZE, with_placements(replace(P[0], size=9), *P[1:])),
        (Kind.WRONG_STATUS, replace(BASE, status=PlanStatus.UNKNOWN)),
        (Kind.WRONG_STATUS, replace(BASE, status=PlanStatus.INFEASIBLE)),
        (Kind.WRONG_STATUS, replace(infeasible_plan(CHAIN), stop=StopReason.TIME_LIMIT)),
        (Kind.WRONG_STATUS, replace(BEST, stop=StopReason.TIME_LIMIT)),
        (Kind.WRONG_STATUS, replace(infeasible_plan(CHAIN), status=PlanStatus.FEASIBLE)),
        (Kind.WRONG_POOL_USE, replace(BASE, pools=())),
        (Kind.WRONG_POOL_USE, replace(BASE, pools=(replace(BASE.pools[0], size=65),))),
        (Kind.WRONG_PEAK, replace(BASE, peak=19)),
        (Kind.WRONG_PEAK, replace(BASE, peak=None)),
        (Kind.WRONG_PEAK, replace(BASE, pools=(replace(BASE.pools[0], peak=21),))),
        (Kind.WRONG_PEAK, replace(infeasible_plan(CHAIN), peak=20)),
        (Kind.WRONG_OBJECTIVE, replace(BASE, objective=replace(BASE.objective, value=19))),
        (Kind.WRONG_OBJECTIVE, replace(BASE, objective=replace(BASE.objective, terms=()))),
        (Kind.WRONG_OBJECTIVE, replace(BEST, objective=replace(BEST.objective, bound=None))),
        (Kind.WRONG_GAP, replace(BASE, gap=0.5)),
        (Kind.WRONG_GAP, replace(BEST, gap=None)),
        (Kind.WRONG_GAP, replace(BEST, objective=replace(BEST.objective, bound=10))),
        (Kind.CLAIMED_OPTIMAL_ABOVE_BOUND, replace(BASE, status=PlanStatus.OPTIMAL)),
        (Kind.CLAIMED_OPTIMAL_ABOVE_BOUND, replace(BEST, bound=19)),
        (Kind.BOUND_ABOVE_PEAK, replace(BEST, bound=21)),
        (Kind.BOUND_ABOVE_PEAK, replace(BASE, pools=(replace(BASE.pools[0], bound=21),))),
        (Kind.UNPROVEN_BOUND, replace(BEST, certificates=())),
        (Kind.UNPROVEN_INFEASIBILITY, replace(infeasible_plan(CHAIN), certificates=())),
        (Kind.WRONG_CERTIFICATE, replace(BEST, certificates=(replace(BEST.certificates[0], solver=None),))),
        (Kind.WRONG_SEED, replace(BASE, seed=-1)),
        (Kind.WRONG_SHORTAGE, replace(BASE, shortage=Shortage("too small"))),
        (Kind.WRONG_SHORTAGE, replace(infeasible_plan(CHAIN), shortage=Shortage("too small", "elsewhere"))),
        (Kind.WRONG_SHORTAGE, replace(infeasible_plan(CHAIN), shortage=Shortage("too small", buffers=("z",)))),
        (Kind.WRONG_SHORTAGE, replace(infeasible_plan(CHAIN), shortage=Shortage("too small", subset=("a", "z")))),
        (Kind.WRONG_DIGEST, replace(BASE, problem_digest="0" * 64)),
        (
            Kind.WRONG_CERTIFICATE,
            replace(BASE, certificates=(PlanCertificate(Proof.LIVE_TOGETHER, 21, "only", 1, ("a", "b")),)),
        ),
    ],
)
def test_a_spoilt_claim_is_found(kind: FindingKind, plan: Plan) -> None:
    assert kind in kinds(CHAIN, plan)


def test_a_wrong_value_of_any_term_is_found() -> None:
    plan = make_plan(RICH, SPOTS)
    for n, term in enumerate(plan.objective.terms):
        assert term.value is not None
        terms = list(plan.objective.terms)
        terms[n] = replace(term, value=term.value + 1)
        spoilt = replace(plan, objective=replace(plan.objective, value=terms[0].value, terms=tuple(terms)))
        assert kinds(RICH, spoilt) == {Kind.WRONG_OBJECTIVE}


def test_a_later_terms_bound_is_no_higher_than_the_plan_s_own_value() -> None:
    """It holds for all plans whose earlier terms are no higher, and this is one of them."""
    searches = (searched(0, None, Term.ACCESS_COST), *(searched(10**6, None, term) for term in (SUM, LARGEST)))
    plan = replace(make_plan(RICH, SPOTS), certificates=searches)

    def with_bounds(*bounds: int | None) -> Plan:
        terms = tuple(replace(t, bound=b) for t, b in zip(plan.objective.terms, bounds, strict=True))
        return replace(plan, objective=replace(plan.objective, bound=bounds[0], terms=terms))

    accesses, total, largest, _ = (t.value or 0 for t in plan.objective.terms)
    assert Kind.BOUND_ABOVE_PEAK in kinds(RICH, with_bounds(accesses, total, largest + 1, None))
    assert Kind.BOUND_ABOVE_PEAK in kinds(RICH, with_bounds(accesses, total - 1, largest + 1, None))
    assert Kind.BOUND_ABOVE_PEAK in kinds(RICH, with_bounds(accesses, None, largest + 1, None))
    unsearched = replace(with_bounds(accesses, total - 1, largest, None), certificates=())
    assert Kind.BOUND_ABOVE_PEAK not in kinds(RICH, unsearched)


HIGH = Problem(tuple(replace(each, pools=("only",)) for each in CHAIN.buffers), (Pool("only", 64), Pool("other", 64)))


HIGH_SPOTS: dict[BufferId, tuple[str, int]] = {"a": ("only", 0), "b": ("only", 10), "c": ("only", 20)}


SHARED = PlanCertificate(Proof.POOL_SHARING, 20, weights=(("only", 1, 1, 1), ("other", 1, 1, 1)))


def searched(value: int, pool: str | None = None, term: Term = SUM) -> PlanCertificate:
    return PlanCertificate(Proof.SEARCH, value, pool, solver="search", term=term if pool is None else None)


@pytest.mark.parametrize("terms", [(SUM,), (LARGEST,), (SUM, LARGEST)])
def test_no_term_is_proven_beyond_the_certificates(terms: tuple[Term, ...]) -> None:
    problem = replace(HIGH, constraints=Constraints(conflicts=(("a", "c"),)), terms=terms)
    unproven = {Kind.UNPROVEN_BOUND}
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS)) == unproven
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, SHARED)) == unproven
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, searched(29, None, terms[0]))) == unproven
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, searched(29, "only"))) == unproven
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, *(searched(30, None, term) for term in terms))) == set()
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, searched(30, "only"))) == set()


def test_sharing_proves_the_sum_of_peaks_in_bytes_only_at_cost_one() -> None:
    spots = {**HIGH_SPOTS, "c": ("only", 0)}
    plan = called_optimal(HIGH, spots, SHARED)
    assert kinds(HIGH, replace(plan, bound=20)) == set()
    dear = replace(HIGH, pools=(replace(HIGH.pools[0], cost=2), HIGH.pools[1]))
    plan = called_optimal(dear, spots, searched(40))
    assert kinds(dear, plan) == set()
    assert kinds(dear, replace(plan, bound=20)) == {Kind.UNPROVEN_BOUND}


def test_fastest_pools_prove_access_costs_and_searches_reuse_costs() -> None:
    buffers = (Buffer("a", 10, 1, ((0, 1),), accesses=3), Buffer("b", 70, 1, ((0, 1),), accesses=5))
    pools = (Pool("fast", 64, rank=1), Pool("slow", rank=2))
    penalty = Constraints(reuse_penalties=(ReusePenalty("a", "b", 7),))
    problem = Problem(buffers, pools, penalty, (ACCESS,))
    best = called_optimal(problem, {"a": ("fast", 0), "b": ("slow", 0)})
    assert (best.objective.bound, kinds(problem, best)) == (3 * 1 + 5 * 2, set())
    worse = called_optimal(problem, {"a": ("slow", 70), "b": ("slow", 0)})
    assert kinds(problem, worse) == {Kind.UNPROVEN_BOUND}
    both = (replace(buffers[0], live=((1, 2),), pools=("slow",)), buffers[1])
    problem = replace(problem, buffers=both, pools=(pools[0], replace(pools[1], size=70)), terms=(REUSE,))
    shared: dict[BufferId, tuple[str, int]] = {"a": ("slow", 0), "b": ("slow", 0)}
    assert kinds(problem, called_optimal(problem, shared)) == {Kind.UNPROVEN_BOUND}
    assert kinds(problem, called_optimal(problem, shared, searched(7, None, REUSE))) == set()


def spread(count: int) -> Problem:
    """Return buffers of which two are live at a time, in two pools."""
    buffers = tuple(Buffer(n, 8 + n % 3, live=((n, n + 2),)) for n in range(count))
    return Problem(buffers, (Pool("fast", 40, rank=1), Pool("slow", rank=2)), terms=(SUM,))


@pytest.mark.parametrize("count", [3, 60, 900])
@pytest.mark.parametrize("claim", [(None, SUM), (None, LARGEST), (None, ACCESS), ("fast", SUM), ("slow", SUM)])
def test_what_a_simple_plan_reaches_is_no_result_of_a_search(count: int, claim: tuple[str | None, Term]) -> None:
    pool, term = claim
    problem = replace(spread(count), terms=(term,))
    spots: dict[BufferId, tuple[str, int]] = {n: (pool or "slow", 12 * n) for n in range(count)}
    if pool == "fast":
        problem = replace(problem, pools=(replace(problem.pools[0], size=None), problem.pools[1]))
    if term is ACCESS:
        problem = replace(problem, buffers=tuple(replace(each, accesses=1) for each in problem.buffers))
    stacked = make_plan(problem, spots)
    value = stacked.objective.value if pool is None else 12 * (count - 1)
    assert value is not None
    assert kinds(problem, replace(stacked, certificates=(searched(value, pool, term),))) == {Kind.BOUND_ABOVE_PEAK}
    assert kinds(problem, replace(stacked, certificates=(searched(0, pool, term),))) == set()


@pytest.mark.parametrize("count", [3, 60, 900])
@pytest.mark.parametrize("term", [Term.MOVED_BUFFERS, Term.MOVED_BYTES])
def test_no_search_shows_that_moves_are_needed_where_all_can_stay(count: int, term: Term) -> None:
    buffers = tuple(Buffer(n, 8, live=((n, n + 2),)) for n in range(count))
    was = tuple(Was(n, "only", 24 - 8 * (n % 3)) for n in range(count))
    problem = Problem(buffers, (Pool("only", 32),), terms=(term, SUM), was=was)
    moved = make_plan(problem, {n: ("only", 8 * (n % 3)) for n in range(count)})
    value = moved.objective.value
    assert value
    assert kinds(problem, replace(moved, certificates=(searched(value, None, term),))) == {Kind.BOUND_ABOVE_PEAK}
    shrunk = replace(problem, buffers=(replace(buffers[0], size=16), *buffers[1:]))  # then some must move
    most = make_plan(shrunk, {n: ("only", 16 * (n % 2)) for n in range(count)})
    claimed = replace(most, certificates=(searched(most.objective.value or 0, None, term),))
    assert kinds(shrunk, claimed) == {Kind.BOUND_ABOVE_PEAK}


@pytest.mark.parametrize("count", [3, 60, 900])
def test_that_nothing_fits_is_not_believed_if_a_simple_plan_fits(count: int) -> None:
    """Stacked, they would not; nor would they in the pool that comes first."""
    buffers = tuple(replace(each, size=8) for each in spread(count).buffers)
    problem = replace(spread(count), buffers=buffers, pools=(Pool("small", 8), Pool("large", 8)))
    assert Kind.UNPROVEN_INFEASIBILITY in kinds(problem, infeasible_plan(problem))
    one = replace(problem, pools=(Pool("only", 16),))
    assert Kind.UNPROVEN_INFEASIBILITY in kinds(one, infeasible_plan(one))


def test_a_bound_without_a_plan_needs_a_proof_too() -> None:
    nothing = replace(infeasible_plan(CHAIN), status=PlanStatus.UNKNOWN, stop=StopReason.TIME_LIMIT, certificates=())
    assert kinds(CHAIN, nothing) == {Kind.WRONG_STATUS}  # a run cut short by the clock is not reproducible
    nothing = replace(nothing, reproducible=False)
    assert verify(CHAIN, nothing) == ()
    assert kinds(CHAIN, replace(nothing, bound=1)) == {Kind.UNPROVEN_BOUND}


def test_claims_that_had_to_be_believed_are_noted() -> None:
    assert notes(make_plan(CHAIN, CHAIN_SPOTS)) == ()
    assert notes(BEST) == (
        "the bound of pool 'only' rests on an exhausted search by 'search' and was not checked again",
        "the bound of sum_of_peaks rests on an exhausted search by 'search' and was not checked again",
    )
    assert "that nothing fits rests on" in notes(infeasible_plan(CHAIN))[0]


def test_findings_have_no_words_of_programs() -> None:
    small = replace(CHAIN, pools=(replace(CHAIN.pools[0], size=18),))
    nothing_fits = plan(small, Options(solver="greedy", workers=1))
    said = "\n".join(finding.message for finding in verify(CHAIN, nothing_fits))
    assert "the shortage's bytes short: the plan says 2, the certificates say none" in said
    assert "the shortage's buffers: the plan says buffers 'a', 'b', the certificates say none" in said
    said += "\n".join(
        finding.message
        for finding in verify(CHAIN, replace(BEST, status=PlanStatus.INFEASIBLE, placements=(), gap=None))
    )
    assert "the gap is 0.0, the plan says none" in said
    assert "None" not in said
    assert "('" not in said
