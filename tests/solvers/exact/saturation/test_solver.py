"""What the search by saturation claims of small instances of every kind is true, and conflict graphs that had stayed open are proven."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from planner import Options, Plan, plan, verify
from scripts.measure.small import graphs
from solvers.exact.saturation.solver import Saturation
from solvers.geometry.rules import violation
from solvers.model.errors import StopReason
from solvers.model.objective import evaluate
from solvers.model.solver import Goal, Limits, Silent, Task
from solvers.portfolio.roster import ROSTER
from tests.small.instances import Block, make_instance
from tests.small.strategies import NIGHTLY
from tests.solvers.exact.search.small_instances import KINDS, brute_force, random_instance

CASES = 2_000 if NIGHTLY else 40
PLAIN = ("plain", "exclusions", "conflicts")


@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_above_the_optimum_and_plain_blocks_are_proven(kind: str) -> None:
    for seed in range(CASES):
        instance = random_instance(seed, kind)
        least = brute_force(instance)
        outcome = Saturation().solve(instance, Task(Limits(work=200_000), seed=seed), Silent())
        assert not outcome.infeasible or least is None, f"{kind} {seed}: the least peak is {least}"
        assert least is None or outcome.infeasible or outcome.bound <= (least,), f"{kind} {seed}"
        if outcome.placement is not None:
            assert violation(instance, outcome.placement) is None, f"{kind} {seed}"
            assert outcome.value == evaluate(instance, outcome.placement)
        if kind in PLAIN and least is not None:
            assert (outcome.stop, outcome.value, outcome.bound) == (StopReason.PROVED, (least,), (least,)), seed


def test_any_placement_is_enough_where_fitting_is_the_goal() -> None:
    for seed in range(CASES):
        instance = random_instance(seed, "conflicts")
        outcome = Saturation().solve(instance, Task(Limits(work=200_000), Goal.FIT, seed), Silent())
        assert (outcome.placement is None) == (brute_force(instance) is None)


def test_without_a_placement_nothing_is_proven_by_a_target_that_every_placement_reaches() -> None:
    for kind in KINDS:
        instance = random_instance(7, kind)
        outcome = Saturation().solve(instance, Task(Limits(work=200_000), target=(1_000,)), Silent())
        assert outcome.stop is not StopReason.PROVED or outcome.infeasible or outcome.placement is not None, kind


@pytest.mark.parametrize("work", [1_000, 10_000])
def test_a_question_that_takes_more_than_is_left_is_not_begun(work: int) -> None:
    rng = Random(1)
    pairs = [pair for pair in combinations(range(300), 2) if rng.random() < 0.5]
    instance = make_instance([Block([(0, 1, [])]) for _ in range(300)], conflicts=pairs)
    outcome = Saturation().solve(instance, Task(Limits(work=work)), Silent())
    assert outcome.stop is StopReason.WORK_LIMIT
    assert outcome.work <= work + 100


def made(seed: int) -> Plan:
    """The answer for a graph of 40 buffers of one size or two, which must be believed."""
    problem = graphs(40, seed)
    answer = plan(problem, Options(time_limit=None, work_limit=1_500_000, workers=1))
    assert not verify(problem, answer)
    return answer


@pytest.mark.parametrize(("seed", "peak"), [(71011, 512), (71003, 576)])
def test_graphs_that_had_stayed_open_are_proven(seed: int, peak: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = made(seed)
    assert (answer.status, answer.peak) == ("optimal", peak)
    assert replace(made(seed), run=answer.run) == answer
    monkeypatch.delitem(ROSTER, "saturation")
    assert made(seed).status == "feasible"
