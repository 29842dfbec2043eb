"""Local search over offsets of buffers that pay for sharing addresses: its results are valid, and mostly the best there are."""

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


@effort(32, 3000)
@given(problems(max_buffers=5), st.randoms(use_true_random=False))
def test_what_it_finds_keeps_the_rules_and_is_never_better_than_the_best(
    problem: Problem, chance: random.Random
) -> None:
    problem = crowded(problem, chance)
    if check(problem):
        return
    found = execute("reuse", lower(problem).instance, Task(ENOUGH), Silent())  # which checks the rules
    truth = oracle.solve(problem).value
    if truth is not None and found.value is not None:
        assert found.value >= truth
    assert truth is not None or found.placement is None


def test_mostly_it_finds_the_best() -> None:
    for seed in range(40):
        problem = kernel(seed)
        truth = oracle.solve(problem).value
        found = Reuse().solve(lower(problem).instance, Task(ENOUGH), Silent())
        assert found.value == truth, seed


@pytest.mark.parametrize("seed", range(20))
def test_the_addresses_of_its_tables_are_enough(seed: int) -> None:
    """All combinations of them, for three buffers: the best is the best of all."""
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
    assert int((instance.highest - instance.lowest).max()) > MOST_STARTS  # so that sums of sizes count
    rows = [np.flatnonzero(row == 0) for row in known.own]
    values = [
        evaluate(instance, Placement(np.zeros(3, dtype=np.int64), known.base[range(3), [a, b, c]]))
        for a in rows[0]
        for b in rows[1]
        for c in rows[2]
    ]
    truth = oracle.solve(replace(problem)).value
    assert (min(values) if values else None) == truth


def unrolled() -> Problem:
    """As compilers unroll loops: tiles of two sizes in groups, the groups of two stages of which either is needed."""
    groups = ((2, 4), (2,), (2, 4), (2,))  # stage, the buffers of each of its ways in pairs of a small and a large one
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


def test_with_bounds_of_several_lengths_no_solver_of_others_is_asked() -> None:
    problem = unrolled()
    made = plan(problem, Options(workers=1))
    assert (made.status, made.objective.value) == ("optimal", 7)
    assert not any(proof.proof is Proof.SEARCH for proof in made.certificates)
    assert verify(problem, made) == ()


def test_what_it_is_not_for_it_leaves_as_it_is() -> None:
    problem = replace(kernel(3), terms=(Term.SUM_OF_PEAKS, Term.REUSE_COST))
    found = Reuse().solve(lower(problem).instance, Task(ENOUGH), Silent())
    assert (found.placement, found.work) == (None, 0)
