"""Parts that share no pool end as each does alone, and what is proven of them adds up."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from planner.generate import Request, generate
from planner.model.problem import Buffer, Constraints, Pool, Problem
from planner.planning.options.options import Options, Preference
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from planner.planning.placing.solving import plan
from planner.verifying.verify import verify
from solvers.model.instance import Term
from solvers.portfolio.joint.disjoint import parts_of
from tests.small.judge import judge
from tests.small.oracle import solve

SIDES = "AB"


def twice(problem: Problem) -> Problem:
    """The problem and its copy, in pools of its own."""
    every = tuple(pool.name for pool in problem.pools)
    pools = tuple(replace(pool, name=pool.name + side) for side in SIDES for pool in problem.pools)
    buffers = tuple(
        replace(buffer, id=f"{buffer.id}{side}", pools=tuple(name + side for name in buffer.pools or every))
        for side in SIDES
        for buffer in problem.buffers
    )
    return replace(problem, buffers=buffers, pools=pools)


@pytest.mark.parametrize("prefer", list(Preference))
def test_two_copies_end_as_one_does_alone(prefer: Preference) -> None:
    pytest.importorskip("ortools")
    problem = generate("pools", Request(100, 3))
    alone = plan(problem, Options(work_limit=300_000, workers=1, time_limit=None, prefer=prefer))
    both = twice(problem)
    made = plan(both, Options(work_limit=600_000, workers=1, time_limit=None, prefer=prefer))
    doubled = [2 * term.value for term in alone.objective.terms if term.value is not None]
    assert [term.value or 0 for term in made.objective.terms] <= doubled
    assert alone.objective.bound is not None
    assert made.objective.bound is not None
    assert made.objective.bound >= 0.998 * 2 * alone.objective.bound
    assert verify(with_preference(both, prefer), made) == ()


def small(seed: int) -> Problem:
    """Few buffers, each in pools of one of two sides, with rules within sides and across them."""
    draw = random.Random(seed)
    pools = tuple(
        Pool(f"{side}{n}", draw.choice([None, 5]), cost=draw.choice([1, 2]), rank=n) for side in SIDES for n in range(2)
    )
    buffers = []
    for n in range(6):
        side, start = SIDES[n % 2], draw.randrange(4)
        homes = draw.choice([(f"{side}0", f"{side}1"), (f"{side}0", f"{side}1"), (f"{side}1",)])
        live = ((start, start + draw.randint(1, 3)),)
        buffers.append(Buffer(n, draw.randint(1, 4), live=live, pools=homes, accesses=draw.randint(0, 3)))
    rule = draw.choice(["", "conflicts", "exclusions", "different_pool"])
    pair = tuple(draw.sample(range(6), 2))
    rules = Constraints(**{rule: (pair,)}) if rule else Constraints()  # type: ignore[arg-type]
    terms = draw.choice(
        [(Term.SUM_OF_PEAKS, Term.ACCESS_COST), (Term.ACCESS_COST, Term.SUM_OF_PEAKS), (Term.BALANCED,)]
    )
    return Problem(tuple(buffers), pools, rules, terms)


@pytest.mark.parametrize("seed", range(30))
def test_what_is_proven_of_parts_is_true_of_all(seed: int) -> None:
    problem = small(seed)
    made = plan(problem, Options(work_limit=50_000, workers=1, time_limit=None))
    assert judge(problem, made, solve(problem)) == []


def test_parts_share_no_pool() -> None:
    instance = lower(twice(generate("pools", Request(20, 1)))).instance
    parts = parts_of(instance)
    assert sorted(np.concatenate(parts).tolist()) == list(range(40))
    pools = [set(np.flatnonzero(instance.allowed[blocks].any(axis=0)).tolist()) for blocks in parts]
    assert [len(each) for each in pools] == [3, 3]
    assert not pools[0] & pools[1]


def test_the_largest_peak_is_no_sum() -> None:
    problem = replace(twice(generate("pools", Request(20, 1))), terms=(Term.LARGEST_PEAK,))
    assert len(parts_of(lower(problem).instance)) == 1
