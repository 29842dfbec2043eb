"""Problems that only say which buffers conflict are planned as well as with the lifetimes that the conflicts come from."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations, product

import pytest

from memplan import (
    Buffer,
    CannotSolve,
    Constraints,
    Options,
    PlanStatus,
    Pool,
    Preference,
    Problem,
    plan,
    verify,
    with_preference,
)
from memplan.generate import Request, generate
from planner.model.problem import BufferId
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from solvers.model.registry import OF_OTHERS, SOLVERS

WORK = Options(time_limit=None, work_limit=400_000, workers=1)


def pairs_of(buffers: Sequence[Buffer]) -> tuple[tuple[BufferId, BufferId], ...]:
    spans = [(buffer.id, *(buffer.live or ((0, 0),))[0]) for buffer in buffers]
    return tuple((a, b) for (a, x, y), (b, s, t) in combinations(spans, 2) if x < t and s < y)


def without_lifetimes(problem: Problem) -> Problem:
    buffers = tuple(replace(buffer, live=None) for buffer in problem.buffers)
    rules = replace(problem.constraints, conflicts=pairs_of(problem.buffers))
    return replace(problem, buffers=buffers, constraints=rules, steps=())


@pytest.mark.parametrize(
    ("kind", "count", "prefer"),
    [
        ("packing", 400, None),
        ("training", 300, None),
        ("pool_packing", 60, None),
        ("pools", 80, Preference.SPEED),
        ("hot", 80, Preference.SIZE),
        ("memories", 80, Preference.BALANCED),
    ],
)
def test_as_good_as_with_lifetimes(kind: str, count: int, prefer: Preference | None) -> None:
    timed = with_preference(generate(kind, Request(count, seed=11)), prefer)
    untimed = without_lifetimes(timed)
    right, made = plan(timed, WORK), plan(untimed, WORK)
    assert [term.value for term in made.objective.terms] == [term.value for term in right.objective.terms]
    assert made.status is right.status
    assert not made.warnings
    assert verify(untimed, made) == ()


@pytest.mark.parametrize(("kind", "count"), [("packing", 400), ("pool_packing", 60)])
def test_as_good_where_some_buffers_have_no_lifetimes(kind: str, count: int) -> None:
    timed = generate(kind, Request(count, seed=11))
    bare = {buffer.id for buffer in timed.buffers[::10]}
    buffers = tuple(replace(each, live=None) if each.id in bare else each for each in timed.buffers)
    rules = Constraints(conflicts=tuple(pair for pair in pairs_of(timed.buffers) if bare.intersection(pair)))
    mixed = replace(timed, buffers=buffers, constraints=rules)
    right, made = plan(timed, WORK), plan(mixed, WORK)
    assert (made.peak, made.status) == (right.peak, right.status)
    assert not made.warnings
    assert verify(mixed, made) == ()


def test_proofs_and_shortages_name_no_times_that_the_user_does_not_know() -> None:
    lives = [((n, n + 3),) for n in range(30)]
    buffers = [Buffer(n, 1 + n % 5, live=live) for n, live in enumerate(lives)]
    rules = Constraints(conflicts=pairs_of(buffers))
    problem = Problem(tuple(replace(each, live=None) for each in buffers), (Pool("a", 6), Pool("b", 5)), rules)
    made = plan(replace(problem, pools=(Pool("a"),)), WORK)
    assert made.status is PlanStatus.OPTIMAL
    assert [(each.proof, each.time) for each in made.certificates] == [(Proof.CONFLICT_CLIQUE, None)]
    short = plan(replace(problem, pools=(Pool("a", 6), Pool("b", 5))), WORK)
    assert short.status is PlanStatus.INFEASIBLE
    assert short.shortage is not None
    assert short.shortage.time is None
    assert "conflict" in short.shortage.message
    assert verify(problem, short) == ()


def test_proofs_about_buffers_with_lifetimes_name_their_time() -> None:
    buffers = (
        Buffer("a", 5, live=((0, 9),)),
        Buffer("b", 5, live=((7, 20),)),
        Buffer("c", 1, live=((12, 20),)),
        Buffer("u", 3),
    )
    problem = Problem(buffers, constraints=Constraints(conflicts=(("u", "c"), ("u", "b"))))
    made = plan(problem, WORK)
    assert [(each.proof, each.time) for each in made.certificates] == [(Proof.LIVE_TOGETHER, 7)]
    assert verify(problem, made) == ()


def test_planners_of_other_systems_are_given_what_the_user_gave() -> None:
    timed = generate("random", Request(20, seed=3))
    with_peers = [name for name, entry in SOLVERS.items() if entry.kind in OF_OTHERS]
    assert "relay_tokens" in with_peers
    untimed = without_lifetimes(timed)
    made = plan(untimed, replace(WORK, solver="usmp_by_size"))
    assert made.peak == plan(timed, replace(WORK, solver="usmp_by_size")).peak
    with pytest.raises(CannotSolve, match="does not take explicit conflicts"):
        plan(untimed, replace(WORK, solver="relay_tokens"))


@pytest.mark.parametrize("kind", ["hot", "pools"])
def test_conflicts_that_no_lifetimes_say_are_bounded_as_lifetimes_with_exclusions_are(kind: str) -> None:
    draw = random.Random(5)
    timed = with_preference(generate(kind, Request(60, seed=5)), Preference.SIZE)
    pairs = pairs_of(timed.buffers)
    apart = {pair for pair in pairs if draw.random() < 0.05}
    excluding = replace(timed, constraints=Constraints(exclusions=tuple(sorted(apart))))
    untimed = without_lifetimes(timed)
    rest = tuple(pair for pair in pairs if pair not in apart)
    conflicting = replace(untimed, constraints=Constraints(conflicts=rest))
    right, made = plan(excluding, WORK), plan(conflicting, WORK)
    assert made.objective.terms[0].bound is not None
    assert made.objective.terms[0].bound >= (right.objective.terms[0].bound or 0) > 0
    assert verify(conflicting, made) == ()


def least_sum(problem: Problem) -> int:
    """The least sum of two memories' peaks, by looking at everything."""
    sizes, count = [buffer.size for buffer in problem.buffers], len(problem.buffers)
    pairs = {*problem.constraints.conflicts}
    best = sum(sizes)
    for pools, order in product(product(range(2), repeat=count), permutations(range(count))):
        ends = [0] * count
        for at, n in enumerate(order):
            below = [m for m in order[:at] if pools[m] == pools[n] and ((m, n) in pairs or (n, m) in pairs)]
            ends[n] = max((ends[m] for m in below), default=0) + sizes[n]
        peaks = [max((ends[n] for n in range(count) if pools[n] == pool), default=0) for pool in range(2)]
        if peaks[0] <= (problem.pools[0].size or 0):
            best = min(best, sum(peaks))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_any_conflicts_in_several_memories_hold(seed: int) -> None:
    draw = random.Random(seed)
    pairs = [pair for pair in combinations(range(5), 2) if draw.random() < 0.6]
    buffers = tuple(Buffer(n, draw.randint(1, 9)) for n in range(5))
    terms = (Term.SUM_OF_PEAKS,)
    problem = Problem(buffers, (Pool("a", 12), Pool("b")), Constraints(conflicts=tuple(pairs)), terms=terms)
    made = plan(problem, WORK)
    assert made.status is PlanStatus.OPTIMAL
    assert made.objective.terms[0].value == least_sum(problem)
    assert verify(problem, made) == ()
