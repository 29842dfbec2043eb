"""Answers with alternatives: what is written can be read and is verified, and a changed field outside the plans is refused or claims less."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from planner import BadInput, Options, Problem, plan, sweep, verify, verify_sweep
from planner.formats import read_frontier, read_plan, write_frontier, write_plan
from planner.formats.answers.sweep import read_sweep_json, write_sweep_json
from planner.model.plan import Frontier, PlanStatus
from planner.planning.options.capacity import planned_problem
from planner.planning.options.options import Preference
from planner.planning.placing.solving import pareto
from planner.verifying.frontier import verify_frontier
from tests.planner.planning.placing.variants.random_variants import random_problem, sound_seeds
from tests.small.strategies import NIGHTLY

OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    0.5,
    1e300,
    10**30,
    10**400,
    "x",
    "proved",
    "work_limit",
    [],
    {},
)
SEEDS = sound_seeds(random_problem, 160 if NIGHTLY else 4)


def cases(seed: int) -> Iterator[tuple[Problem, Options]]:
    """Yield a problem that fits, one that hardly does, and one that is cut short."""
    problem, dice = random_problem(seed), Random(seed)
    assert problem is not None
    peak = plan(
        replace(problem, pools=tuple(replace(pool, size=None) for pool in problem.pools)), Options(workers=1)
    ).peak
    sizes = (None, peak, (peak or 1) - 1, 1)
    for size in dice.sample(sizes, 2 if NIGHTLY else 1):
        small = replace(problem, pools=tuple(replace(pool, size=size) for pool in problem.pools))
        for most in (None, dice.randrange(-2, 30)):
            work = dice.choice((None, 2_000))
            yield (
                small,
                Options(workers=1, time_limit=None, work_limit=work or (200_000 if NIGHTLY else 20_000), max_cost=most),
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_with_alternatives_can_be_read_and_are_verified(seed: int) -> None:
    for problem, options in cases(seed):
        for prefer in (None, Preference.SPEED):
            asked = replace(options, prefer=prefer)
            made = plan(problem, asked)
            data = write_plan(made)
            assert read_plan(data) == made
            assert verify(planned_problem(problem, None, prefer, None, None), read_plan(data)) == ()
        found = pareto(problem, options)
        again = read_frontier(write_frontier(found))
        assert again == replace(found, run=again.run)
        assert verify_frontier(problem, again) == ()
        swept = sweep(problem, {problem.pools[0].name: (1, 20, 200)}, options, processes=1)
        assert verify_sweep(problem, read_sweep_json(write_sweep_json(swept, with_plans=True))) == ()


def claims_less(before: Frontier, after: Frontier) -> bool:
    """True if it says nothing that it did not say, but may leave out what is proven of the whole."""
    if not after.points and not after.is_infeasible and not after.is_complete:
        return True
    less = replace(before, is_complete=False, within=None, reproducible=False, run=after.run)
    return less == replace(after, is_complete=False, within=None, reproducible=False) and not (
        (after.is_complete and not before.is_complete)
        or (after.reproducible and not before.reproducible)
        or after.within not in (None, before.within)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_no_field_of_a_frontier_can_be_forged(seed: int) -> None:
    for problem, options in cases(seed):
        found = pareto(problem, options)
        document = json.loads(write_frontier(found))
        for name in document.keys() - {"points", "run", "warnings", "format"}:
            for other in (*OTHERS, None):
                try:
                    forged = read_frontier(json.dumps({**document, name: other}).encode())
                except BadInput:
                    continue
                if name == "stop" and all(each.status is PlanStatus.OPTIMAL for each in found.points):
                    continue  # nobody can say what ended a run in which all points are proven
                if forged.within and forged.within != found.within:
                    continue  # it may be true, and is believed as searches are
                assert claims_less(found, forged) or verify_frontier(problem, forged), (name, other)
