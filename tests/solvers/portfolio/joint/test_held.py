"""Costs that are ruled out: old places are held and pairs keep apart, and what remains is solved without them."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from planner import Buffer, Constraints, Options, Pool, Problem, plan
from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.model.problem import ReusePenalty, Was
from solvers.model.instance import Term
from solvers.portfolio import solve
from tests.small import oracle
from tests.small.judge import judge

OPTIONS = Options(workers=1, time_limit=None, work_limit=2_500_000)
WITHOUT_PROOFS = ("keep", "reuse")
"""Engines that prove nothing."""
MOVES_LATER = (Term.SUM_OF_PEAKS, Term.MOVED_BYTES)
MOVES_FIRST = (Term.MOVED_BYTES, Term.SUM_OF_PEAKS)


@pytest.fixture(scope="module")
def crowded() -> Problem:
    return replace(generate("random", Request(300, 41)), terms=(Term.SUM_OF_PEAKS,))


@pytest.mark.parametrize("terms", [(Term.STABILITY,), MOVES_FIRST, MOVES_LATER])
@pytest.mark.parametrize("workers", [1, 2])
def test_old_places_that_leave_room_for_the_least_peak_are_held(
    crowded: Problem, terms: tuple[Term, ...], workers: int
) -> None:
    """Where half of the buffers were in a plan with the least peak, made with another seed."""
    old = plan(crowded, replace(OPTIONS, seed=1234))
    draw = random.Random(8)
    was = tuple(Was(each.id, each.pool, each.offset) for each in old.placements if draw.random() < 0.5)
    found = plan(replace(crowded, terms=terms, was=was), replace(OPTIONS, workers=workers))
    assert found.status is PlanStatus.OPTIMAL
    assert found.peak == old.peak
    assert all(term.value == (0 if term.name is Term.MOVED_BYTES else old.peak) for term in found.objective.terms)


def test_a_plan_that_moves_nothing_is_found_without_counting_moves(crowded: Problem) -> None:
    """A fifth of the buffers held leaves a packing that is hard; without old places it is easy, and leaves them where they were."""
    old = plan(crowded, OPTIONS)
    draw = random.Random(41)
    was = tuple(Was(each.id, each.pool, each.offset) for each in old.placements if draw.random() < 0.2)
    found = plan(replace(crowded, terms=(Term.STABILITY,), was=was, peak_price=100), OPTIONS)
    assert old.peak is not None
    assert found.objective.terms[0].value == 100 * old.peak


@pytest.mark.parametrize("workers", [1, 2])
def test_pairs_that_need_not_share_keep_apart_at_the_least_peak(crowded: Problem, workers: int) -> None:
    draw = random.Random(3)
    pairs = (draw.sample(crowded.buffers, 2) for _ in range(1_000))
    far = {
        (one.id, other.id): None
        for one, other in pairs
        if one.live and other.live and one.live[-1][1] <= other.live[0][0]
    }
    costs = tuple(ReusePenalty(*pair, 1 + number % 7) for number, pair in enumerate(far))
    problem = replace(
        crowded,
        terms=(Term.SUM_OF_PEAKS, Term.REUSE_COST),
        constraints=replace(crowded.constraints, reuse_penalties=costs),
    )
    found = plan(problem, replace(OPTIONS, workers=workers))
    assert [term.value for term in found.objective.terms] == [plan(crowded, OPTIONS).peak, 0]
    assert found.status is PlanStatus.OPTIMAL


def drawn(seed: int) -> Problem:
    """A random problem of up to five buffers in one or two pools, some with old places, in which sharing addresses costs something."""
    draw = random.Random(seed)
    count, width = draw.randint(3, 5), draw.choice([1, 1, 2])
    buffers = tuple(
        Buffer(i, draw.randint(1, 6), live=((s := draw.randrange(5), s + draw.randint(1, 3)),)) for i in range(count)
    )
    pools = tuple(Pool(f"p{number}", draw.randint(8, 18)) for number in range(width))
    pairs = list(itertools.combinations(range(count), 2))
    penalties = tuple(ReusePenalty(*pair, draw.randint(0, 2)) for pair in pairs if draw.random() < 0.6)
    rules = Constraints(
        conflicts=tuple(pair for pair in pairs if draw.random() < 0.1),
        different_pool=tuple(pair for pair in pairs if width == 2 and draw.random() < 0.1),
        same_pool=tuple(pair for pair in pairs if width == 2 and draw.random() < 0.1),
        reuse_penalties=penalties,
    )
    was = tuple(Was(b.id, draw.choice(pools).name, draw.randint(0, 8)) for b in buffers if draw.random() < 0.7)
    terms = draw.choice(
        [
            (Term.STABILITY, Term.REUSE_COST),
            (Term.SUM_OF_PEAKS, Term.REUSE_COST),
            MOVES_FIRST,
            MOVES_LATER,
            (Term.REUSE_COST, Term.MOVED_BUFFERS, Term.LARGEST_PEAK),
            (Term.MOVED_BYTES,),
        ]
    )
    return Problem(buffers, pools, rules, terms, was=was, peak_price=draw.randint(1, 3))


def test_what_is_claimed_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "engines_of_auto", lambda _: WITHOUT_PROOFS)
    for seed in range(40):
        problem = drawn(seed)
        made = plan(problem, Options(workers=1, time_limit=None, work_limit=100_000))
        assert judge(problem, made, oracle.solve(problem)) == [], seed
