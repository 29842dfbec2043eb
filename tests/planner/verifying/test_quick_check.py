"""The quick check accepts right plans of simple problems, and no plan in which `verify` finds a fault."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from planner import Buffer, Options, Plan, Pool, Problem, Session, Term, plan, verify
from planner.generate import Request, generate
from planner.model.columns.buffers import BufferColumns
from planner.model.columns.placements import PlacementColumns
from planner.model.plan import PlanCertificate, PlanStatus, without_proofs
from planner.model.problem import Colocation, Constraints, Fixed
from planner.verifying.quick_check import is_plainly_right
from solvers.model.errors import StopReason
from solvers.model.outcome import Proof
from tests.small.strategies import NIGHTLY

OPTIONS = Options(time_limit=None, work_limit=100_000, workers=1)
FAULTS = 600 if NIGHTLY else 40
"""The number of faults made in each plan."""


def problem_of(seed: int) -> Problem:
    chance = random.Random(seed)
    problem = generate("random", Request(8, seed))
    buffers = [
        replace(b, alignment=chance.choice((1, 1, 4)), live=(*(b.live or ()), (40, 40 + chance.randrange(3))))
        for b in problem.buffers
    ]
    pool = Pool("p", chance.choice((None, 1 << 20)), chance.choice((1, 8)), chance.choice((None, 64)))
    return replace(problem, buffers=(*buffers, Buffer("empty", 0, live=((0, 3),))), pools=(pool,))


def problem_with_rules(seed: int) -> Problem:
    """Return a problem with two pools and a given pool for each buffer; some are fixed, or have a greatest offset."""
    chance, problem = random.Random(seed), problem_of(seed)
    (pool,) = problem.pools
    usual = plan(problem, OPTIONS)
    buffers = []
    for buffer, place in zip(problem.buffers, usual.placements, strict=True):
        kind = chance.randrange(5)
        if kind == 0:
            buffer = replace(buffer, fixed=Fixed("p", place.offset))
        elif kind == 1:
            buffer = replace(buffer, pools=("p",), max_offset=place.offset + chance.randrange(9))
        else:
            buffer = replace(buffer, pools=(chance.choice("pq"),))
        buffers.append(buffer)
    return replace(problem, buffers=tuple(buffers), pools=(pool, Pool("q", chance.choice((None, 1 << 20)))))


def problem_with_views(seed: int) -> Problem:
    """Return a problem with views of parts of buffers, and views of views, live at the same times or later."""
    chance, problem = random.Random(seed), problem_of(seed)
    buffers, ties = list(problem.buffers), []
    for k in range(4):
        base = chance.choice([each for each in buffers if each.size])
        offset = 8 * chance.randrange(base.size // 8 + 1)
        size = chance.randrange(1, max(base.size - offset, 1) + 1)
        ((start, end), *_) = base.live or ((0, 1),)
        begin = chance.randrange(start, end + 1)
        buffers.append(Buffer(f"view {k}", size, live=((begin, begin + chance.randrange(1, 5)),)))
        ties.append(Colocation(f"view {k}", base.id, offset))
    return replace(problem, buffers=tuple(buffers), constraints=Constraints(colocations=tuple(ties)))


def problem_with_reserved_ranges(seed: int) -> Problem:
    """Return a problem with some ranges that no buffer may reach into, low enough to be in the way."""
    chance, problem = random.Random(seed), problem_of(seed)
    starts = sorted(chance.randrange(0, 60) * 8 for _ in range(3))
    ranges = tuple((start, start + 8 * chance.randint(1, 4)) for start in starts)
    return replace(problem, pools=(replace(problem.pools[0], reserved=ranges),))


def problem_with_conflicts(seed: int) -> Problem:
    """Return a problem with conflicts among some buffers, of which one in three has a view, and one has no lifetime."""
    chance, problem = random.Random(seed), problem_with_views(seed) if seed % 3 == 0 else problem_of(seed)
    some = chance.sample([each for each in problem.buffers if isinstance(each.id, int) and each.size], 4)
    pairs = tuple((one.id, other.id) for one, other in combinations(some, 2) if chance.random() < 0.9)
    never = replace(some[0], live=None)
    buffers = tuple(never if each is some[0] else each for each in problem.buffers)
    return replace(problem, buffers=buffers, constraints=replace(problem.constraints, conflicts=pairs))


def problem_of_conflicts(seed: int) -> Problem:
    """Return a problem without lifetimes: who meets whom is said by conflicts alone."""
    problem = problem_of(seed)
    live = {each.id: each.live or () for each in problem.buffers}
    pairs = tuple(
        (one, other)
        for one, other in combinations(live, 2)
        if any(a < d and c < b for a, b in live[one] for c, d in live[other])
    )
    buffers = tuple(replace(each, live=None) for each in problem.buffers)
    return replace(problem, buffers=buffers, constraints=Constraints(conflicts=pairs))


def problem_with_a_choice(seed: int) -> Problem:
    """Return a problem in which most buffers may be in either of two pools."""
    chance, problem = random.Random(seed), problem_of(seed)
    buffers = tuple(replace(each, alignment=1, pools=chance.choice((None, None, ("p",)))) for each in problem.buffers)
    return replace(problem, buffers=buffers, pools=(Pool("p", chance.choice((None, 1 << 20))), Pool("q")))


def problem_with_uses(seed: int) -> Problem:
    """Return a problem whose objective also counts uses; each buffer has a given pool of two, or all have one."""
    chance, problem = random.Random(seed), (problem_of if seed % 3 == 0 else problem_with_rules)(seed)
    pools = tuple(replace(pool, rank=p) for p, pool in enumerate(problem.pools, 1))
    buffers = tuple(replace(each, reads=chance.randrange(4)) for each in problem.buffers)
    terms = chance.choice(
        ((Term.ACCESS_COST, Term.SUM_OF_PEAKS), (Term.SUM_OF_PEAKS, Term.ACCESS_COST), (Term.BALANCED,))
    )
    return replace(problem, buffers=buffers, pools=pools, terms=terms, peak_price=3 if terms == (Term.BALANCED,) else 1)


def with_a_fault(plan: Plan, chance: random.Random) -> Plan:
    """Return the plan with one change; some changes leave it right."""
    places = list(plan.placements)
    i = chance.randrange(len(places))
    by = chance.choice((-8, -1, 1, 8))
    (proof, *proofs), (use, *uses), terms = plan.certificates, plan.pools, list(plan.objective.terms)
    k = chance.randrange(len(terms))
    terms[k] = chance.choice((replace(terms[k], bound=by), replace(terms[k], value=by)))
    places[i] = chance.choice(
        (
            replace(places[i], offset=places[i].offset + by),
            replace(places[i], size=places[i].size + by),
            replace(places[i], pool="q" if places[i].pool == "p" else "p"),
            replace(places[i], id="q"),
        )
    )
    assert plan.peak is not None
    return chance.choice(
        (
            replace(plan, placements=tuple(places)),
            replace(plan, placements=tuple(places)),
            replace(plan, placements=plan.placements[:-1]),
            replace(plan, placements=plan.placements[::-1]),
            replace(plan, peak=plan.peak + by),
            replace(plan, bound=plan.bound + by),
            replace(plan, gap=0.5),
            replace(plan, pools=(replace(use, peak=plan.peak + by), *uses)),
            replace(plan, pools=(replace(use, size=5), *uses)),
            replace(plan, objective=replace(plan.objective, terms=tuple(terms))),
            replace(plan, certificates=(replace(proof, value=proof.value + by), *proofs)),
            replace(plan, certificates=(replace(proof, time=None if by < 0 else (proof.time or 0) + by), *proofs)),
            replace(plan, certificates=(replace(proof, buffers=proof.buffers[1:]), *proofs)),
            replace(plan, certificates=(replace(proof, proof=Proof.SEARCH, time=None, buffers=()), *proofs)),
            replace(plan, certificates=()),
            replace(plan, status=PlanStatus.FEASIBLE),
            replace(plan, stop=StopReason.WORK_LIMIT),
            replace(plan, seed=-1),
            replace(plan, problem_digest="0"),
        )
    )


WITH_RULES = (
    problem_with_rules,
    problem_with_views,
    problem_with_reserved_ranges,
    problem_with_conflicts,
    problem_of_conflicts,
    problem_with_uses,
)


@pytest.mark.parametrize("seed", range(12))
def test_the_quick_check_accepts_no_wrong_plan(seed: int) -> None:
    chance, problem = random.Random(seed), problem_of(seed)
    right = plan(problem, OPTIONS)
    assert right.status is PlanStatus.OPTIMAL
    digest = right.problem_digest
    if right.certificates[0].proof is Proof.LIVE_TOGETHER:
        assert is_plainly_right(problem, right, digest)
    refused = 0
    for _ in range(FAULTS):
        found = with_a_fault(right, chance)
        if verify(problem, found):
            refused += 1
            assert not is_plainly_right(problem, found, digest)
    assert refused > FAULTS / 2


@pytest.mark.parametrize("make", WITH_RULES)
@pytest.mark.parametrize("seed", range(12 if NIGHTLY else 6))
def test_the_quick_check_accepts_no_wrong_plan_with_rules(seed: int, make: Callable[[int], Problem]) -> None:
    chance, problem = random.Random(seed), make(seed)
    right = plan(problem, OPTIONS)
    assert not verify(problem, right)
    refused = 0
    for _ in range(FAULTS // 2):
        found = with_a_fault(right, chance)
        if verify(problem, found):
            refused += 1
            assert not is_plainly_right(problem, found, right.problem_digest)
    assert refused > FAULTS / 4


@pytest.mark.parametrize("made_up", WITH_RULES)
def test_buffers_at_home_views_and_reserved_ranges_are_simple(made_up: Callable[[int], Problem]) -> None:
    accepted = 0
    for seed in range(12):
        problem = made_up(seed)
        made = plan(problem, OPTIONS)
        accepted += is_plainly_right(problem, made, made.problem_digest)
    assert accepted > 3


def test_what_lives_at_one_time_in_all_pools_is_simple() -> None:
    accepted = refused = 0
    for seed in range(12):
        problem, session = problem_with_a_choice(seed), Session()
        session.plan(problem, OPTIONS)
        buffers = (*problem.buffers[1:], replace(problem.buffers[0], size=problem.buffers[0].size + 8))
        problem = replace(problem, buffers=buffers)
        made = session.plan(problem, OPTIONS)
        assert not verify(problem, made)
        if [each.proof for each in made.certificates] != [Proof.POOL_SHARING]:
            continue
        accepted += is_plainly_right(problem, made, made.problem_digest)
        chance = random.Random(seed)
        for _ in range(FAULTS // 4):
            found = with_a_fault(made, chance)
            if verify(problem, found):
                refused += 1
                assert not is_plainly_right(problem, found, made.problem_digest)
    assert accepted > 6
    assert refused > accepted * FAULTS / 10


def test_empty_reserved_ranges_are_in_nobodys_way() -> None:
    pool = Pool("p", reserved=((4, 4), (8, 8)))
    problem = Problem((Buffer("a", 8, live=((0, 2),)), Buffer("b", 4, live=((1, 3),))), (pool,))
    made = plan(problem, OPTIONS)
    assert made.peak == 12
    assert is_plainly_right(problem, made, made.problem_digest)


def test_a_view_may_live_while_its_base_does_not() -> None:
    base, view = Buffer("base", 8, live=((0, 4),)), Buffer("view", 4, live=((1, 6),))
    ties = Constraints(colocations=(Colocation("view", "base", 4),))
    problem = Problem(buffers=(base, view, Buffer("later", 4, live=((4, 6),))), pools=(Pool("p"),), constraints=ties)
    made = plan(problem, OPTIONS)
    assert [each.offset for each in made.placements] == [0, 4, 0]
    assert is_plainly_right(problem, made, made.problem_digest)
    *others, later = made.placements
    assert not is_plainly_right(
        problem, replace(made, placements=(*others, replace(later, offset=4))), made.problem_digest
    )


def test_views_that_have_no_bytes_are_simple() -> None:
    base, view = Buffer("base", 8, live=((0, 4),)), Buffer("view", 0, live=((1, 6),))
    ties = Constraints(colocations=(Colocation("view", "base", 4),))
    problem = Problem((base, view), (Pool("p"),), constraints=ties)
    made = plan(problem, OPTIONS)
    assert is_plainly_right(problem, made, made.problem_digest)


def test_offsets_whose_sums_no_array_holds_are_not_accepted() -> None:
    number = np.arange(3)
    eight = np.full(3, 8)
    problem = Problem(BufferColumns(range(3), eight, number + 1, number, number + 1), (Pool("p"),))
    made = plan(problem, OPTIONS)
    for offset, is_right in (0, True), ((1 << 63) - 8, False), ((1 << 63) - 2, False):
        places = PlacementColumns(range(3), ["p"], np.zeros(3, dtype=np.int64), np.array([0, offset, 0]), eight)
        found = replace(made, placements=places)
        assert is_plainly_right(problem, found, made.problem_digest) == is_right
        assert (not verify(problem, found)) == is_right


def test_a_fixed_buffer_s_end_is_a_proof() -> None:
    fixed = Buffer("fixed", 8, live=((0, 2),), fixed=Fixed("p", 24))
    problem = Problem((Buffer("other", 4, live=((0, 2),)), fixed), (Pool("p"),))
    made = plan(problem, OPTIONS)
    proof = PlanCertificate(Proof.SINGLE_BLOCK, 32, "p", buffers=("fixed",))
    made = replace(made, certificates=(proof,))
    assert not verify(problem, made)
    assert is_plainly_right(problem, made, made.problem_digest)
    for wrong in (
        replace(proof, value=33),
        replace(proof, pool="q"),
        replace(proof, buffers=("other",)),
        replace(proof, buffers=("other", "fixed")),
    ):
        assert not is_plainly_right(problem, replace(made, certificates=(wrong,)), made.problem_digest)


def test_buffers_of_which_each_two_conflict_are_a_proof() -> None:
    """The first two are in conflict, and the third is live with both."""
    buffers = (Buffer("a", 8, live=((0, 2),)), Buffer("b", 8, live=((3, 5),)), Buffer("c", 4, live=((0, 5),)))
    problem = Problem((*buffers, Buffer("d", 8, live=((6, 7),))), (Pool("p"),), constraints=Constraints((("a", "b"),)))
    made = plan(problem, OPTIONS)
    proof = PlanCertificate(Proof.CONFLICT_CLIQUE, 20, "p", buffers=("a", "b", "c"))
    made = replace(made, certificates=(proof,))
    assert not verify(problem, made)
    assert is_plainly_right(problem, made, made.problem_digest)
    for wrong in (
        replace(proof, value=21),
        replace(proof, buffers=("a", "b", "d")),
        replace(proof, buffers=("a", "b", "b")),
        replace(proof, buffers=("a", "b", "x")),
    ):
        assert not is_plainly_right(problem, replace(made, certificates=(wrong,)), made.problem_digest)
    a, b, *others = made.placements
    places = (a, replace(b, offset=a.offset), *others)
    assert not is_plainly_right(problem, replace(made, placements=places), made.problem_digest)


def test_very_many_views_are_left_to_the_full_check() -> None:
    views = [Buffer(f"view {k}", 1, live=((0, 2),)) for k in range(10_000)]
    ties = Constraints(colocations=tuple(Colocation(view.id, "base", k) for k, view in enumerate(views)))
    problem = Problem((Buffer("base", 10_000, live=((0, 2),)), *views), (Pool("p"),), constraints=ties)
    made = plan(problem, OPTIONS)
    assert made.peak == 10_000
    assert not is_plainly_right(problem, made, made.problem_digest)


def test_other_problems_are_left_to_the_full_check() -> None:
    problem = problem_of(1)
    first, *others = problem.buffers
    (pool,) = problem.pools
    for other in (
        replace(problem, constraints=Constraints(exclusions=((first.id, others[0].id),))),
        replace(problem, pools=(replace(pool, cost=2),)),
        replace(problem, pools=(pool, Pool("q"))),
    ):
        made = plan(other, OPTIONS)
        assert not verify(other, made)
        assert not is_plainly_right(other, made, made.problem_digest)


def test_a_session_s_variations_are_checked_quickly_and_first_calls_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    first = generate("random", Request(20, 1))
    changed = replace(first.buffers[3], size=first.buffers[3].size + 64)
    other = replace(first, buffers=(*first.buffers[:3], changed, *first.buffers[4:]))
    session = Session(afresh=True)
    session.plan(first, OPTIONS)
    expected = plan(other, OPTIONS)

    def slow(*_: object, **__: object) -> None:
        pytest.fail("the full verification was asked")

    monkeypatch.setattr("planner.verifying.verify.check_claims", slow)
    found = session.plan(other, OPTIONS)
    assert replace(found, run=expected.run) == expected
    with pytest.raises(pytest.fail.Exception):
        plan(other, OPTIONS)


def test_a_plan_without_its_proofs_is_right() -> None:
    """It is returned where time ends before its proofs are verified."""
    problem = problem_of(1)
    made = plan(problem, OPTIONS)
    bare = replace(without_proofs(made, StopReason.TIME_LIMIT), reproducible=False)
    assert made.status is PlanStatus.OPTIMAL
    assert verify(problem, bare) == ()
    assert is_plainly_right(problem, bare, made.problem_digest)
    assert not is_plainly_right(problem, replace(bare, status=PlanStatus.OPTIMAL), made.problem_digest)
