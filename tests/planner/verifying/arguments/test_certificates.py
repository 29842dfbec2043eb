"""Certificates are computed again: a true one passes, and one that claims a byte more does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner import plan
from planner.facts.possible_places import Places
from planner.model.plan import PlanCertificate
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Pool, Problem, ReusePenalty, Was
from planner.verifying.arguments.certificates import objections, proves_infeasible
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from tests.small.oracle import solve
from tests.small.strategies import effort, problems

ARENA = (Pool("arena", None, 16),)
THREE = Problem((Buffer("a", 20, 1, ((0, 4),)), Buffer("b", 10, 1, ((2, 6),)), Buffer("c", 5, 1, ((3, 9),))), ARENA)


def live(value: int, time: int | None, *names: str, pool: str | None = "arena") -> PlanCertificate:
    return PlanCertificate(Proof.LIVE_TOGETHER, value, pool, time, names)


def clique(value: int, *names: str, pool: str | None = "arena") -> PlanCertificate:
    return PlanCertificate(Proof.CONFLICT_CLIQUE, value, pool, None, names)


def single(value: int, *names: str, pool: str | None = "arena") -> PlanCertificate:
    return PlanCertificate(Proof.SINGLE_BLOCK, value, pool, None, names)


def sharing(value: int, *weights: tuple[str, int, int, int], names: tuple[str, ...] = ()) -> PlanCertificate:
    return PlanCertificate(Proof.POOL_SHARING, value, buffers=names, weights=weights)


def why_not(problem: Problem, certificate: PlanCertificate) -> str | None:
    found = objections(Places(problem), [certificate])
    return found[0][1] if found else None


def most(problem: Problem, certificate: PlanCertificate) -> int:
    """Return the greatest value with which the certificate passes."""
    value = 0
    while why_not(problem, replace(certificate, value=value + 1)) is None:
        value += 1
        assert value < 10_000
    return value


def test_rounded_sizes_add_up_but_the_topmost_needs_no_padding() -> None:
    assert (
        most(THREE, live(0, 3, "a", "b", "c")) == 16 + 16 + 20
    )  # a is on top: below another buffer it would waste most


def test_a_base_off_the_alignment_shifts_the_lowest_start() -> None:
    problem = replace(
        THREE, pools=(Pool("arena", None, 4, base=8),), buffers=tuple(replace(b, alignment=16) for b in THREE.buffers)
    )
    assert most(problem, live(0, 3, "a", "b", "c")) == 8 + 16 + 16 + 20


def test_gaps_between_reserved_ranges_are_filled_first() -> None:
    problem = replace(THREE, pools=(Pool("arena", None, 16, reserved=((10, 16), (48, 64))),))
    assert most(problem, live(0, 3, "a", "b", "c")) == 64 + 5  # a in [16, 48), b in [0, 10), c above


def test_a_padding_that_a_gap_cuts_off_is_not_counted() -> None:
    problem = Problem(tuple(Buffer(name, 1, 16, ((0, 1),)) for name in "ab"), (Pool("arena", reserved=((1, 16),)),))
    assert most(problem, live(0, 0, "a", "b")) == 17
    assert solve(problem).value == (17,)


def test_fixed_buffers_are_obstacles() -> None:
    fixed = replace(THREE.buffers[1], fixed=Fixed("arena", 32))
    problem = replace(THREE, buffers=(THREE.buffers[0], fixed, THREE.buffers[2]))
    assert most(problem, live(0, 3, "a", "b", "c")) == 53
    assert most(problem, single(0, "b")) == 42


def test_members_of_one_group_stand_as_high_as_their_union() -> None:
    problem = Problem(
        (Buffer("whole", 10, 1, ((0, 2),)), Buffer("slice", 4, 1, ((1, 3),)), Buffer("x", 7, 1, ((1, 2),))),
        (Pool("arena"),),
        Constraints(colocations=(Colocation("slice", "whole", 8),)),
    )
    assert most(problem, live(0, 1, "whole", "slice", "x")) == 19
    assert most(problem, live(0, 1, "slice", "x")) == 19 - 7  # alone, the slice cannot end below 12


@pytest.mark.parametrize(
    ("certificate", "reason"),
    [
        (live(1, None, "a"), "no time"),
        (live(1, 5, "a"), "not live"),
        (live(1, 3, "a", pool=None), "no pool"),
        (live(1, 3, "a", pool="elsewhere"), "no pool 'elsewhere'"),
        (live(1, 3, "z"), "no buffer 'z'"),
        (live(1, 3, "a", "a"), "twice"),
        (clique(1, "a", "b", pool=None), "no pool"),
        (single(1), "no buffer"),
        (single(1, "a", pool=None), "does fit"),
        (single(21, "a"), "proves 20"),
        (sharing(1, ("arena", 3, -1, 1)), "below zero"),
        (sharing(1, ("arena", 3, 2, 1)), "unlimited"),
        (sharing(36, ("arena", 3, 1, 1)), "prove 35"),
    ],
)
def test_each_flaw_is_named(certificate: PlanCertificate, reason: str) -> None:
    text = why_not(THREE, certificate)
    assert text is not None
    assert reason in text


def test_an_excluded_pair_does_not_add_up() -> None:
    problem = replace(THREE, constraints=Constraints(exclusions=(("c", "a"),)))
    assert "never coexist" in str(why_not(problem, live(1, 3, "a", "c")))
    assert "may share" in str(why_not(problem, clique(1, "a", "c")))
    assert most(problem, sharing(0, ("arena", 3, 1, 1))) == 30


def test_buffers_that_never_meet_are_no_clique_unless_they_conflict() -> None:
    assert "may share" in str(
        why_not(
            replace(THREE, buffers=(THREE.buffers[0], replace(THREE.buffers[2], live=((7, 9),)))), clique(1, "a", "c")
        )
    )
    apart = Problem((Buffer("a", 3), Buffer("b", 4)), (Pool("arena"),), Constraints(conflicts=(("b", "a"),)))
    assert most(apart, clique(0, "a", "b")) == 7


def test_a_buffer_with_a_choice_proves_nothing_of_one_pool() -> None:
    problem = replace(THREE, pools=(*ARENA, Pool("other", 12)))
    assert why_not(problem, live(20, 3, "a")) is None  # a does not fit into the other pool
    assert "can also be in pool 'other'" in str(why_not(problem, live(26, 3, "a", "c")))


def test_pools_share_the_live_bytes() -> None:
    pools = (Pool("fast", 16), Pool("slow", None, cost=1))
    problem = replace(THREE, pools=pools)
    assert most(problem, sharing(0, ("fast", 3, 1, 1), ("slow", 3, 1, 1))) == 35
    dear = replace(problem, pools=(pools[0], Pool("slow", None, cost=3)))
    assert most(dear, sharing(0, ("fast", 3, 3, 1), ("slow", 3, 3, 1))) == 35 * 3 - 2 * 16


def test_values_are_recomputed_even_where_nothing_fits() -> None:
    small = replace(THREE, pools=(Pool("arena", 16), Pool("other", 8)))
    assert why_not(small, single(20, "a", pool=None)) is None
    assert "20 bytes high, no more" in str(why_not(small, single(21, "a", pool=None)))
    tight = replace(small, buffers=tuple(replace(b, size=10) for b in small.buffers))
    weighed = sharing(6, ("arena", 3, 1, 1), ("other", 3, 1, 1))
    proven = most(tight, weighed)
    assert proven < 100
    assert f"prove {proven}, no more" in str(why_not(tight, replace(weighed, value=10**9)))


def test_fixed_buffers_are_obstacles_even_where_nothing_fits() -> None:
    """In the unlimited arena b and c go above a; in the small one all three could lie only at 9. Both prove 25."""
    fixed = Buffer("a", 4, 1, ((0, 1),), fixed=Fixed("arena", 9))
    others = tuple(Buffer(name, 4, 3, ((0, 1),)) for name in "bc")
    for size in (None, 14):
        problem = Problem((fixed, *others), (Pool("arena", size, reserved=((0, 1), (6, 7))),))
        assert most(problem, live(0, 0, "a", "b", "c")) == 25
        assert plan(problem).status == ("optimal" if size is None else "infeasible")


def test_two_buffers_with_one_place_prove_the_height_of_both() -> None:
    """Each buffer alone fits only at 0. The proof that both do not fit is about a larger memory, with other offsets."""
    wide = (Buffer("a", 7, 1, ((0, 1),)), Buffer("b", 7, 3, ((0, 1),)), Buffer("in a", 1, 2, ((1, 2),)))
    tied = Constraints(colocations=(Colocation("in a", "a", 4),))
    problem = Problem(wide, (Pool("arena", 8),), tied)
    assert plan(problem).status == "infeasible"


def test_a_search_can_only_be_believed() -> None:
    assert why_not(THREE, PlanCertificate(Proof.SEARCH, 99, "arena", solver="cpsat")) is None
    assert "names no solver" in str(why_not(THREE, PlanCertificate(Proof.SEARCH, 99, "arena")))
    assert "names no solver" in str(why_not(THREE, PlanCertificate(Proof.SEARCH, 99, "arena", solver="")))
    assert "no pool 'elsewhere'" in str(why_not(THREE, PlanCertificate(Proof.SEARCH, 99, "elsewhere", solver="cpsat")))
    assert "no solver 'somebody'" in str(why_not(THREE, PlanCertificate(Proof.SEARCH, 99, "arena", solver="somebody")))
    assert "no solver 'greedy'" in str(why_not(THREE, PlanCertificate(Proof.SEARCH, 99, "arena", solver="greedy")))
    assert "neither a pool nor a term" in str(why_not(THREE, PlanCertificate(Proof.SEARCH, 99, solver="cpsat")))
    of_term = PlanCertificate(Proof.SEARCH, 99, solver="cpsat", term=Term.SUM_OF_PEAKS)
    assert why_not(THREE, of_term) is None
    assert "a pool and a term" in str(why_not(THREE, replace(of_term, pool="arena")))
    assert "can prove nothing" in str(why_not(THREE, replace(of_term, term=Term.REUSE_COST)))
    assert not proves_infeasible(Places(THREE), of_term)


def test_certificates_prove_infeasibility_only_above_the_capacity() -> None:
    small = replace(THREE, pools=(Pool("arena", 30),))
    searched = PlanCertificate(Proof.SEARCH, 0, solver="cpsat")
    assert proves_infeasible(Places(small), searched)
    assert not proves_infeasible(Places(small), replace(searched, value=30, pool="arena"))
    assert not proves_infeasible(Places(small), replace(searched, value=31, pool="elsewhere"))
    assert proves_infeasible(Places(small), live(31, 3, "a", "b", "c"))
    assert not proves_infeasible(Places(THREE), live(31, 3, "a", "b", "c"))  # the arena of THREE is unlimited
    assert proves_infeasible(Places(small), sharing(0, ("arena", 3, 1, 1)))
    assert not proves_infeasible(Places(small), sharing(0, ("arena", 2, 1, 1)))
    assert not proves_infeasible(Places(small), sharing(0, ("arena", 3, 1, 0)))
    assert not proves_infeasible(Places(small), single(0, "a", pool=None))
    assert proves_infeasible(Places(replace(THREE, pools=(Pool("arena", 19),))), single(0, "a", pool=None))


def test_a_sum_of_peaks_of_zero_needs_no_proof() -> None:
    free = replace(THREE, pools=(Pool("arena", None, cost=0),))
    assert why_not(free, sharing(0, ("arena", 3, 1, 1))) is None
    assert "unlimited" in str(why_not(free, sharing(1, ("arena", 3, 1, 1))))


def test_a_buffer_that_fits_nowhere_makes_no_sharing_true() -> None:
    nowhere = replace(THREE, pools=(Pool("arena", 19),))
    assert "prove" in str(why_not(nowhere, sharing(10**9, ("arena", 0, 1, 1))))


@pytest.mark.parametrize("certificate", [clique(0, "a", "b"), single(0, "a")])
def test_only_proofs_of_live_buffers_or_sharing_name_a_time(certificate: PlanCertificate) -> None:
    assert why_not(THREE, certificate) is None
    assert "names a time" in str(why_not(THREE, replace(certificate, time=3)))


def test_weights_with_too_long_a_common_denominator_prove_nothing() -> None:
    odd = [("arena", i, 1, 10**18 + 2 * i + 1) for i in range(500)]
    reason = why_not(THREE, sharing(1, *odd))
    assert reason is not None
    assert "common denominator" in reason


def test_pool_sharing_names_no_single_pool() -> None:
    assert "speaks of all" in str(why_not(THREE, replace(sharing(1, ("arena", 3, 1, 1)), pool="arena")))


class CountedPairs(tuple[tuple[str, str], ...]):
    """Pairs that count how often somebody goes through them all."""

    __slots__ = ()
    passes: ClassVar[int] = 0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        type(self).passes += 1
        return super().__iter__()


def passes(certificate: PlanCertificate, count: int) -> int:
    """Return how often all pairs of the problem are gone through to check so many of the certificate."""
    pairs = Constraints(
        conflicts=CountedPairs((("a", "d"),)),
        exclusions=CountedPairs((("b", "c"),)),
        different_pool=CountedPairs((("a", "b"),)),
        reuse_penalties=(ReusePenalty("a", "e", 7),),
    )
    buffers = tuple(Buffer(name, 4, 1, ((at, at + 3),)) for at, name in enumerate("abcde"))
    terms = (Term.SPILLED_BYTES, Term.SUM_OF_PEAKS, Term.REUSE_COST, Term.MOVED_BUFFERS)
    was = (Was("a", "arena", 0), Was("b", "arena", 0))
    problem = Problem(buffers, (Pool("arena", 64),), pairs, terms, was=was)
    CountedPairs.passes = 0
    objections(Places(problem), [certificate] * count)
    return CountedPairs.passes


SETS = ((("a", "b"), 1, 1),)


@pytest.mark.parametrize(
    "certificate",
    [
        live(1, 2, "b", "c"),
        clique(1, "a", "d"),
        sharing(1, ("arena", 2, 1, 1)),
        PlanCertificate(Proof.TOO_FEW_POOLS, 2, buffers=("a", "b")),
        PlanCertificate(Proof.MUST_SHARE, 1, term=Term.REUSE_COST, sets=SETS),
        PlanCertificate(Proof.MUST_MOVE, 1, term=Term.MOVED_BUFFERS, sets=SETS),
        PlanCertificate(Proof.PRICED_ROOM, 1, crowds=(("arena", 2, ("a",), (1,), 1, 1),)),
    ],
    ids=lambda each: str(each.proof),
)
def test_pairs_are_gone_through_once_for_all_certificates(certificate: PlanCertificate) -> None:
    assert passes(certificate, 5) == passes(certificate, 1) > 0


@st.composite
def certificates(draw: st.DrawFn, problem: Problem) -> PlanCertificate:
    proof = draw(st.sampled_from([p for p in Proof if p is not Proof.SEARCH]))
    names = [b.id for b in problem.buffers]
    pool = draw(st.sampled_from(problem.pools)).name
    time = draw(st.integers(-1, 7))
    chosen: list[int | str] = []
    if proof is Proof.LIVE_TOGETHER:
        chosen = [b.id for b in problem.buffers if any(s <= time < e for s, e in b.live or ())]
        chosen = [id_ for id_ in chosen if draw(st.integers(0, 4))]
    elif names:
        chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    weights: list[tuple[str, int, int, int]] = []
    if proof is Proof.POOL_SHARING:
        weights = [
            (p.name, t, draw(st.integers(0, 3)), draw(st.sampled_from((1, 1, 2))))
            for p in problem.pools
            for t in {time, draw(st.integers(-1, 7))}
        ]
    nowhere = proof is Proof.POOL_SHARING or (proof is Proof.SINGLE_BLOCK and draw(st.integers(0, 3)) == 0)
    when = time if proof in (Proof.LIVE_TOGETHER, Proof.POOL_SHARING) else None
    return PlanCertificate(proof, 0, None if nowhere else pool, when, tuple(chosen), tuple(weights))


@effort(15, 10_000)
@given(problems(max_buffers=5, plain_terms=True), st.data())
def test_no_certificate_proves_more_than_is_true(problem: Problem, data: st.DataObject) -> None:
    certificate = data.draw(certificates(problem))
    wanted = problem.pools
    if certificate.pool is not None:  # it bounds the peak of this pool only
        wanted = tuple(replace(p, cost=int(p.name == certificate.pool)) for p in problem.pools)
    truth = solve(replace(problem, pools=wanted, terms=(Term.SUM_OF_PEAKS,)))
    assume(truth.value is not None)
    assert truth.value is not None
    assert why_not(problem, replace(certificate, value=truth.value[0] + 1)) is not None


def crowd(value: int, *names: str) -> PlanCertificate:
    return PlanCertificate(Proof.TOO_FEW_POOLS, value, buffers=names)


CROWDED = Problem(
    tuple(Buffer(name, 4, 1, ((0, 4),)) for name in "abcd"),
    (Pool("fast", 8), Pool("slow", 8)),
    constraints=Constraints(different_pool=(("a", "b"), ("c", "b", "a")), same_pool=(("c", "d"),)),
)


def test_more_buffers_than_pools_prove_that_nothing_fits() -> None:
    holds = crowd(3, "a", "b", "d")  # d must be in c's pool
    assert why_not(CROWDED, holds) is None
    assert proves_infeasible(Places(CROWDED), holds)
    assert solve(CROWDED).value is None


@pytest.mark.parametrize(
    ("names", "reason"),
    [(("a", "b"), "have 2 pools to go to"), (("c", "d"), "have 2 pools to go to"), ((), "have 0 pools to go to")],
)
def test_false_crowds_are_refused(names: tuple[str, ...], reason: str) -> None:
    assert reason in (why_not(CROWDED, crowd(2, *names)) or "")


def test_buffers_that_may_share_a_pool_are_no_crowd() -> None:
    looser = replace(CROWDED, constraints=Constraints(different_pool=(("a", "b"), ("c", "b"))))
    assert "may share a pool" in (why_not(looser, crowd(3, "a", "b", "c")) or "")
    assert "need 3 pools" in (why_not(CROWDED, crowd(4, "a", "b", "c")) or "")
