"""The verifier finds nothing in honest plans, and in spoilt ones exactly what was spoilt."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.model.plan import Placement, Plan, PlanCertificate, PlanStatus, Shortage
from planner.model.problem import Buffer, BufferId, Colocation, Constraints, Fixed, Pool, Problem, ReusePenalty
from planner.verifying.arguments.bounds import notes
from planner.verifying.findings import LISTED_PER_KIND, AddressRange, FindingKind
from planner.verifying.verify import verify
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from tests.small.oracle import shares, solve
from tests.small.plans import infeasible_plan, make_plan, optimal_plan
from tests.small.strategies import effort, problems

Kind = FindingKind

RICH = Problem(
    buffers=(
        Buffer("input", 64, 16, ((0, 4),), fixed=Fixed("sram", 32)),
        Buffer("weights", 100, 4, None, pools=("dram",)),
        Buffer("view", 16, 8, ((2, 9),)),
        Buffer("whole", 48, 16, ((3, 6),), max_offset=200),
        Buffer(7, 40, 8, ((1, 2), (7, 9))),
        Buffer("7", 40, 8, ((5, 8),)),
        Buffer("then", 24, 8, ((0, 3),)),
        Buffer("else", 24, 8, ((0, 3),)),
        Buffer("nothing", 0, 4, ((0, 9),)),
    ),
    pools=(
        Pool("sram", 256, 8, base=64, reserved=((0, 32), (200, 208)), rank=0),
        Pool("dram", None, 4, cost=2, rank=1),
    ),
    constraints=Constraints(
        conflicts=(("input", "7"),),
        exclusions=(("then", "else"),),
        colocations=(Colocation("view", "whole", 16),),
        same_pool=(("input", "whole"),),
        different_pool=(("weights", "input"),),
        reuse_penalties=(ReusePenalty("whole", "then", 5),),
    ),
    terms=(Term.ACCESS_COST, Term.SUM_OF_PEAKS, Term.LARGEST_PEAK, Term.REUSE_COST),
)
SPOTS: dict[BufferId, tuple[str, int]] = {
    "input": ("sram", 32),
    "weights": ("dram", 0),
    "view": ("sram", 112),
    "whole": ("sram", 96),
    7: ("sram", 160),
    "7": ("sram", 208),
    "then": ("dram", 104),
    "else": ("dram", 104),
    "nothing": ("sram", 104),
}

CHAIN = Problem(
    tuple(Buffer(name, 10, 1, ((n, n + 2),)) for n, name in enumerate("abc")),
    (Pool("only", 64),),
)
CHAIN_SPOTS: dict[BufferId, tuple[str, int]] = {"a": ("only", 0), "b": ("only", 10), "c": ("only", 0)}


def kinds(problem: Problem, plan: Plan) -> set[FindingKind]:
    return {finding.kind for finding in verify(problem, plan)}


def moved(spots: dict[BufferId, tuple[str, int]]) -> Plan:
    """RICH with some buffers elsewhere, honest about the consequences."""
    return make_plan(RICH, {**SPOTS, **spots})


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
def test_nothing_else_is_found(kind: FindingKind, spots: dict[BufferId, tuple[str, int]]) -> None:
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


def test_an_overlap_is_found_in_one_of_many_pools_and_equal_addresses_in_several_are_none() -> None:
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


def test_time_shared_by_members_of_one_group_or_an_excluded_pair_is_no_overlap() -> None:
    assert verify(RICH, moved({})) == ()
    alone = replace(RICH, constraints=replace(RICH.constraints, exclusions=(), colocations=()))
    found = [f.buffers for f in verify(alone, make_plan(alone, SPOTS)) if f.kind is Kind.OVERLAP]
    assert found == [("view", "whole"), ("then", "else")]


BASE = make_plan(CHAIN, CHAIN_SPOTS)
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


def test_a_later_terms_bound_counts_only_where_the_earlier_ones_are_met() -> None:
    searches = (searched(0, None, Term.ACCESS_COST), *(searched(10**6, None, term) for term in (SUM, LARGEST)))
    plan = replace(make_plan(RICH, SPOTS), certificates=searches)

    def with_bounds(*bounds: int | None) -> Plan:
        terms = tuple(replace(t, bound=b) for t, b in zip(plan.objective.terms, bounds, strict=True))
        return replace(plan, objective=replace(plan.objective, bound=bounds[0], terms=terms))

    accesses, total, largest, _ = (t.value or 0 for t in plan.objective.terms)
    assert Kind.BOUND_ABOVE_PEAK in kinds(RICH, with_bounds(accesses, total, largest + 1, None))
    assert Kind.BOUND_ABOVE_PEAK not in kinds(RICH, with_bounds(accesses, total - 1, largest + 1, None))


HIGH = Problem(CHAIN.buffers, (Pool("only", 64), Pool("other", 64)))
HIGH_SPOTS: dict[BufferId, tuple[str, int]] = {"a": ("only", 0), "b": ("only", 10), "c": ("only", 20)}
SUM, LARGEST, ACCESS, REUSE = Term.SUM_OF_PEAKS, Term.LARGEST_PEAK, Term.ACCESS_COST, Term.REUSE_COST
SHARED = PlanCertificate(Proof.POOL_SHARING, 20, weights=(("only", 1, 1, 1), ("other", 1, 1, 1)))


def called_optimal(problem: Problem, spots: dict[BufferId, tuple[str, int]], *certificates: PlanCertificate) -> Plan:
    """A plan whose bounds are raised to its values, whatever the certificates prove."""
    plan = make_plan(problem, spots)
    terms = tuple(replace(term, bound=term.value) for term in plan.objective.terms)
    objective = replace(plan.objective, bound=terms[0].bound, terms=terms)
    gap = 0.0 if len(terms) == 1 and terms[0].bound else None
    raised = replace(plan, objective=objective, gap=gap, certificates=certificates)
    return replace(raised, status=PlanStatus.OPTIMAL, stop=StopReason.PROVED)


def searched(value: int, pool: str | None = None, term: Term = SUM) -> PlanCertificate:
    return PlanCertificate(Proof.SEARCH, value, pool, solver="search", term=term if pool is None else None)


@pytest.mark.parametrize("terms", [(SUM,), (LARGEST,), (SUM, LARGEST)])
def test_no_term_is_proven_beyond_the_certificates(terms: tuple[Term, ...]) -> None:
    problem = replace(HIGH, terms=terms)
    unproven = {Kind.UNPROVEN_BOUND}
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS)) == unproven
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, SHARED)) == unproven
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, searched(29, None, terms[0]))) == unproven
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, searched(29, "only"))) == unproven
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, *(searched(30, None, term) for term in terms))) == set()
    assert kinds(problem, called_optimal(problem, HIGH_SPOTS, searched(30, "only"))) == set()


def test_the_sum_of_peaks_is_proven_by_sharing_and_only_counts_as_bytes_where_a_byte_costs_one() -> None:
    spots = {**HIGH_SPOTS, "c": ("only", 0)}
    plan = called_optimal(HIGH, spots, SHARED)
    assert kinds(HIGH, replace(plan, bound=20)) == set()
    dear = replace(HIGH, pools=(replace(HIGH.pools[0], cost=2), HIGH.pools[1]))
    plan = called_optimal(dear, spots, searched(40))
    assert kinds(dear, plan) == set()
    assert kinds(dear, replace(plan, bound=20)) == {Kind.UNPROVEN_BOUND}


def test_access_costs_are_proven_by_the_fastest_pools_and_reuse_costs_by_a_search_alone() -> None:
    buffers = (Buffer("a", 10, 1, ((0, 1),), accesses=3), Buffer("b", 70, 1, ((0, 1),), accesses=5))
    pools = (Pool("fast", 64, rank=1), Pool("slow", rank=2))
    penalty = Constraints(reuse_penalties=(ReusePenalty("a", "b", 7),))
    problem = Problem(buffers, pools, penalty, (ACCESS,))
    best = called_optimal(problem, {"a": ("fast", 0), "b": ("slow", 0)})
    assert (best.objective.bound, kinds(problem, best)) == (3 * 1 + 5 * 2, set())
    worse = called_optimal(problem, {"a": ("slow", 70), "b": ("slow", 0)})
    assert kinds(problem, worse) == {Kind.UNPROVEN_BOUND}
    both = (replace(buffers[0], live=((1, 2),)), buffers[1])
    problem = replace(problem, buffers=both, terms=(REUSE,))
    shared: dict[BufferId, tuple[str, int]] = {"a": ("slow", 0), "b": ("slow", 0)}
    assert kinds(problem, called_optimal(problem, shared)) == {Kind.UNPROVEN_BOUND}
    assert kinds(problem, called_optimal(problem, shared, searched(7, None, REUSE))) == set()


def test_a_bound_without_a_plan_needs_a_proof_too() -> None:
    nothing = replace(infeasible_plan(CHAIN), status=PlanStatus.UNKNOWN, stop=StopReason.TIME_LIMIT, certificates=())
    assert kinds(CHAIN, nothing) == {Kind.WRONG_STATUS}  # what the clock cut short is not reproducible
    nothing = replace(nothing, reproducible=False)
    assert verify(CHAIN, nothing) == ()
    assert kinds(CHAIN, replace(nothing, bound=1)) == {Kind.UNPROVEN_BOUND}


def test_what_had_to_be_believed_is_noted() -> None:
    assert notes(make_plan(CHAIN, CHAIN_SPOTS)) == ()
    assert notes(BEST) == (
        "the bound of pool 'only' rests on an exhausted search by 'search' and was not checked again",
        "the bound of sum_of_peaks rests on an exhausted search by 'search' and was not checked again",
    )
    assert "that nothing fits rests on" in notes(infeasible_plan(CHAIN))[0]


MANY = 20_000


@pytest.mark.parametrize("live", [((0, 10),), None])
@pytest.mark.parametrize("chained", [False, True])
def test_many_buffers_that_move_as_one_are_no_trouble(live: tuple[tuple[int, int], ...] | None, chained: bool) -> None:
    """Anything quadratic in them would take minutes."""
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


def test_a_known_digest_is_taken_at_its_word() -> None:
    assert {f.kind for f in verify(CHAIN, BASE, digest="another")} == {Kind.WRONG_DIGEST}


def test_wherever_a_plan_contains_an_infeasible_claim_for_nothing_it_is_found() -> None:
    empty = Problem(())
    assert kinds(empty, infeasible_plan(empty)) == {Kind.WRONG_STATUS, Kind.UNPROVEN_INFEASIBILITY}


@effort(20, 3000)
@given(problems())
def test_what_exhaustion_finds_is_verified(problem: Problem) -> None:
    assert verify(problem, optimal_plan(problem)) == ()


@st.composite
def scattered(draw: st.DrawFn) -> tuple[Problem, Plan]:
    """A sound problem and buffers thrown anywhere."""
    problem = draw(problems())
    spots = {
        b.id: (draw(st.sampled_from(problem.pools)).name, draw(st.integers(0, 10) | st.integers(-1, 24)))
        for b in problem.buffers
    }
    return problem, make_plan(problem, spots)


PLACEMENT_KINDS = {
    Kind.OVERLAP,
    Kind.MISALIGNED,
    Kind.OUTSIDE_POOL,
    Kind.IN_RESERVED_RANGE,
    Kind.WRONG_POOL,
    Kind.FIXED_MOVED,
    Kind.ABOVE_MAX_OFFSET,
    Kind.COLOCATION_BROKEN,
    Kind.SEPARATION_BROKEN,
    Kind.SAME_POOL_BROKEN,
    Kind.DIFFERENT_POOL_BROKEN,
}


def naive_kinds(problem: Problem, plan: Plan) -> set[FindingKind]:
    """The same verdict on placements, spelled out pair by pair."""
    found = set()
    pools = {p.name: p for p in problem.pools}
    c = problem.constraints
    at = {p.id: (p.pool, p.offset, p.offset + p.size) for p in plan.placements}
    for buffer in problem.buffers:
        name, low, high = at[buffer.id]
        pool = pools[name]
        if low < 0 or (pool.size is not None and high > pool.size):
            found.add(Kind.OUTSIDE_POOL)
        if any(((pool.base or 0) + low) % a for a in (pool.alignment, buffer.alignment)):
            found.add(Kind.MISALIGNED)
        if any(shares((low, high), taken) for taken in pool.reserved):
            found.add(Kind.IN_RESERVED_RANGE)
        if buffer.pools is not None and name not in buffer.pools:
            found.add(Kind.WRONG_POOL)
        if buffer.fixed is not None and (name != buffer.fixed.pool or buffer.fixed.offset not in (None, low)):
            found.add(Kind.FIXED_MOVED)
        if buffer.max_offset is not None and low > buffer.max_offset:
            found.add(Kind.ABOVE_MAX_OFFSET)
    tied = {b.id: {b.id} for b in problem.buffers}
    for tie in c.colocations:
        if at[tie.buffer][:2] != (at[tie.base][0], at[tie.base][1] + tie.offset):
            found.add(Kind.COLOCATION_BROKEN)
        both = tied[tie.buffer] | tied[tie.base]
        for member in both:
            tied[member] = both
    for a, b in combinations(problem.buffers, 2):
        met = at[a.id][0] == at[b.id][0] and shares(at[a.id][1:], at[b.id][1:])
        pairs = ((a.id, b.id), (b.id, a.id))
        if met and any(pair in c.conflicts for pair in pairs):
            found.add(Kind.SEPARATION_BROKEN)
        together = any(shares(s, t) for s in a.live or () for t in b.live or ())
        permitted = (
            b.id in tied[a.id] or any(pair in c.exclusions for pair in pairs) or at[a.id][1] < 0 or at[b.id][1] < 0
        )
        if met and together and not permitted:
            found.add(Kind.OVERLAP)
    if any(len({at[i][0] for i in group}) > 1 for group in c.same_pool):
        found.add(Kind.SAME_POOL_BROKEN)
    if any(len({at[i][0] for i in group}) < len(group) for group in c.different_pool):
        found.add(Kind.DIFFERENT_POOL_BROKEN)
    return found


@effort(30, 10_000)
@given(scattered())
def test_the_verdict_is_that_of_looking_at_every_pair(case: tuple[Problem, Plan]) -> None:
    problem, plan = case
    assert kinds(problem, plan) == naive_kinds(problem, plan)
    assert naive_kinds(problem, plan) <= PLACEMENT_KINDS


HUGE = 1 << 62


@pytest.mark.parametrize("pool", ["big", "small"])
@pytest.mark.parametrize("offset", [HUGE - 2, HUGE - 1, HUGE, 2 * HUGE - 1, 2 * HUGE, 4 * HUGE])
def test_addresses_that_64_bits_cannot_hold_are_exact(pool: str, offset: int) -> None:
    problem = Problem(
        (Buffer("low", HUGE, live=((0, 1),)), Buffer("high", 2, live=((-HUGE, HUGE),))),
        (Pool("big", None, 2), Pool("small", HUGE, 2)),
    )
    plan = make_plan(problem, {"low": ("big", HUGE), "high": (pool, offset)})
    found = kinds(problem, plan)
    assert found == naive_kinds(problem, plan)
    assert (Kind.OVERLAP in found) is (pool == "big" and HUGE - 2 < offset < 2 * HUGE)


@effort(20, 3000)
@given(problems(max_buffers=4, max_pools=1, plain_terms=True), st.data())
def test_no_plan_that_beats_the_optimum_passes(problem: Problem, data: st.DataObject) -> None:
    truth = solve(problem)
    assume(truth.value is not None and truth.value[0] > 0 and problem.buffers)
    assert truth.value is not None
    top = truth.value[0] // max(problem.pools[0].cost, 1)
    spots = {}
    for b in problem.buffers:
        assume(b.size < top)
        spots[b.id] = (problem.pools[0].name, data.draw(st.integers(0, top - b.size - 1)))
    assert verify(problem, make_plan(problem, spots))


def test_of_a_plan_of_another_problem_that_is_said_first() -> None:
    found = verify(CHAIN, replace(BASE, problem_digest="0" * 64, placements=BASE.placements[1:]))
    assert len(found) > 1
    assert found[0].kind is Kind.WRONG_DIGEST
