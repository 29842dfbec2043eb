"""Variants of problems whose objective counts which pool a buffer is in: planned again, they are as good as planned afresh."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from planner import Buffer, Options, Plan, Pool, Problem, Session, Speed, Term, plan, verify
from planner.model.plan import PlanStatus
from planner.model.problem import Fixed

OPTIONS = Options(time_limit=None, work_limit=1_000_000, workers=1)
QUICK = Speed(10**9, 16, 16, 2, 3, 16)
SLOW = Speed(10**9, 4, 2, 20, 30, 32)
POOLS: dict[str, tuple[Pool, ...]] = {
    "one": (Pool("only", 4_000, speed=SLOW),),
    "ranked": (Pool("quick", 160), Pool("slow", rank=1)),
    "of known speed": (Pool("quick", 160, alignment=8, speed=QUICK), Pool("slow", speed=SLOW, rank=1)),
    "three": (Pool("quick", 96), Pool("next", 128, rank=1), Pool("slow", rank=2)),
    "of different price": (Pool("dear", 200, cost=4), Pool("cheap", rank=1)),
}
TERMS: dict[str, tuple[Term, ...]] = {
    "speed": (Term.ACCESS_COST, Term.SUM_OF_PEAKS),
    "size": (Term.SUM_OF_PEAKS, Term.ACCESS_COST),
    "balanced": (Term.BALANCED,),
    "peaks": (Term.SUM_OF_PEAKS,),
    "spilled": (Term.SPILLED_BYTES, Term.SUM_OF_PEAKS),
}


def begun(seed: int, pools: tuple[Pool, ...], terms: tuple[Term, ...]) -> Problem:
    chance = random.Random(seed)
    buffers = []
    for i in range(14):
        start = chance.randrange(16)
        names = chance.choice((None, None, None, (pools[-1].name,)))
        fixed = Fixed(pools[-1].name) if chance.random() < 0.05 else None
        lives = ((start, start + chance.randint(1, 5)),) if i != 3 else ((start, start + 1), (start + 3, start + 4))
        listed = names if fixed is None else None
        size, reads, writes = 8 * chance.randint(1, 8), chance.randint(0, 4), chance.randint(0, 1)
        buffers.append(Buffer(i, size, live=lives, pools=listed, fixed=fixed, reads=reads, writes=writes))
    return Problem(tuple(buffers), pools, terms=terms, peak_price=3 if Term.BALANCED in terms else 1)


def changed(problem: Problem, chance: random.Random) -> Problem:
    i = chance.randrange(len(problem.buffers))
    one = problem.buffers[i]
    if chance.random() < 0.6:
        one = replace(one, size=max(one.size + chance.choice((-16, -8, 8, 16)), 0))
    else:
        one = replace(one, reads=chance.randint(0, 4))
    return replace(problem, buffers=(*problem.buffers[:i], one, *problem.buffers[i + 1 :]))


def figures(made: Plan) -> tuple[object, ...]:
    return made.status, [(term.name, term.value, term.bound) for term in made.objective.terms]


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("pools", POOLS)
def test_variants_are_planned_again_as_well_as_afresh(pools: str, terms: str) -> None:
    chance = random.Random(f"{pools} {terms}")
    session, problem, again = Session(), begun(5, POOLS[pools], TERMS[terms]), 0
    for _ in range(6):
        problem = changed(problem, chance)
        made, fresh = session.plan(problem, OPTIONS), plan(problem, OPTIONS)
        assert not verify(problem, made)
        if fresh.status is PlanStatus.OPTIMAL:
            assert figures(made) == figures(fresh)
        again += not made.reproducible
    assert again >= 2
