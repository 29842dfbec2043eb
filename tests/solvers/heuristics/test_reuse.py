"""Local search over offsets where sharing addresses costs: its results are valid, and mostly the best there are."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import Options, plan, verify
from planner.checks import check
from planner.model.problem import Buffer, Constraints, Fixed, Pool, Problem, ReusePenalty
from planner.planning.placing.lowering import lower
from solvers.heuristics.reuse.search import Reuse
from solvers.heuristics.reuse.starts import MOST_STARTS, tables
from solvers.model.instance import Placement, Term
from solvers.model.objective import evaluate
from solvers.model.outcome import Proof
from solvers.model.solver import Limits, Silent, Task
from solvers.portfolio.execute import execute
from tests.small import oracle
from tests.small.strategies import effort, problems
from tests.solvers.bounds.test_must_share import crowded, kernel

ENOUGH = Limits(work=1_000_000)


@effort(20, 3000)
@given(problems(max_buffers=5), st.randoms(use_true_random=False))
def test_results_keep_the_rules_and_never_beat_the_optimum(problem: Problem, chance: random.Random) -> None:
    problem = crowded(problem, chance)
    if check(problem):
        return
    found = execute("reuse", lower(problem).instance, Task(ENOUGH), Silent())  # execute checks the rules
    truth = oracle.solve(problem).value
    if truth is not None and found.value is not None:
        assert found.value >= truth
    assert truth is not None or found.placement is None


def test_small_problems_are_solved_to_their_optimum() -> None:
    for seed in range(40):
        problem = kernel(seed)
        truth = oracle.solve(problem).value
        found = Reuse().solve(lower(problem).instance, Task(ENOUGH), Silent())
        assert found.value == truth, seed


@pytest.mark.parametrize("seed", range(20))
def test_the_addresses_in_the_tables_are_enough(seed: int) -> None:
    """For three buffers, the best combination of addresses in the tables is the optimum."""
    chance = random.Random(seed)
    buffers = tuple(
        Buffer(name, chance.choice((1, 3, 5)) * 400, chance.choice((1, 300, 500)), ((at, at + 1),))
        for at, name in enumerate("abc")
    )
    if seed % 2:
        buffers = (replace(buffers[0], fixed=Fixed("arena", chance.randrange(3) * 300)), *buffers[1:])
    problem = Problem(
        tuple(replace(buffer, alignment=1) if buffer.fixed else buffer for buffer in buffers),
        (Pool("arena", 2600, reserved=((300, 450),) if seed % 3 == 0 else ()),),
        Constraints(
            reuse_penalties=tuple(ReusePenalty(a, b, 1 + chance.randrange(3)) for a, b in combinations("abc", 2))
        ),
        (Term.REUSE_COST,),
    )
    if check(problem):
        return
    instance = lower(problem).instance
    known = tables(instance)
    assert known is not None
    # There are too many addresses to list, so the tables hold sums of sizes.
    assert int((instance.highest - instance.lowest).max()) > MOST_STARTS
    rows = [np.flatnonzero(row == 0) for row in known.own]
    values = [
        evaluate(instance, Placement.in_one_pool(known.base[range(3), [a, b, c]]))
        for a in rows[0]
        for b in rows[1]
        for c in rows[2]
    ]
    truth = oracle.solve(replace(problem)).value
    assert (min(values) if values else None) == truth


def unrolled() -> Problem:
    """A problem as compilers make it by unrolling loops: stages of one or two groups of tiles, which have two sizes."""
    groups = ((2, 4), (2,), (2, 4), (2,))  # for each stage, how many buffers each of its groups has
    buffers, ways = list[Buffer](), list[list[str]]()
    for stage, sizes in enumerate(groups):
        for count in sizes:
            names = [f"s{stage}w{len(ways)}b{number}" for number in range(count)]
            live = ((len(ways), len(ways) + 1),)
            buffers += [Buffer(name, 4 if number % 2 else 1, 1, live) for number, name in enumerate(names)]
            ways.append(names)
    of_stage = [stage for stage, sizes in enumerate(groups) for _ in sizes]
    penalties = tuple(
        ReusePenalty(a, b, 1)
        for (i, one), (j, other) in combinations(enumerate(ways), 2)
        if of_stage[i] != of_stage[j]
        for a in one
        for b in other
    )
    return Problem(tuple(buffers), (Pool("l1", 16),), Constraints(reuse_penalties=penalties), (Term.REUSE_COST,))


def test_bounds_of_several_lengths_prove_without_another_solver() -> None:
    problem = unrolled()
    made = plan(problem, Options(workers=1))
    assert (made.status, made.objective.value) == ("optimal", 7)
    assert not any(proof.proof is Proof.SEARCH for proof in made.certificates)
    assert verify(problem, made) == ()


def test_other_objectives_are_left_alone() -> None:
    problem = replace(kernel(3), terms=(Term.SUM_OF_PEAKS, Term.REUSE_COST))
    found = Reuse().solve(lower(problem).instance, Task(ENOUGH), Silent())
    assert (found.placement, found.work) == (None, 0)
