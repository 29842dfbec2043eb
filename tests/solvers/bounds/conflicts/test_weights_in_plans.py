"""Bounds by weights of conflicts in whole plans: beside proofs of a search, below reserved ranges, and as hard to check as to find."""

from __future__ import annotations

import pytest

from planner import Options, plan, verify
from planner.facts.possible_places import Places
from planner.model.plan import PlanCertificate
from planner.model.problem import Buffer, Constraints, Pool, Problem
from planner.planning.placing.lowering import lower
from planner.verifying.arguments.certificates import objections
from solvers.bounds.conflicts.weights import weighed_conflicts
from solvers.bounds.one_pool import pool_bound
from solvers.model.outcome import Proof
from solvers.model.solver import Limits, Silent, Task
from solvers.portfolio.separate import solve_separate_pools


def circulant(count: int, steps: set[int], sizes: list[int], pool: Pool, limit: int | None = None) -> Problem:
    """Blocks in a ring, of which those conflict that are so many steps from each other."""
    pairs = tuple((a, b) for b in range(count) for a in range(b) if {b - a, count + a - b} & steps)
    buffers = tuple(Buffer(n, sizes[n], max_offset=limit) for n in range(count))
    return Problem(buffers, (pool,), Constraints(conflicts=pairs))


@pytest.mark.parametrize("limit", [8, 15])
def test_weights_do_not_take_the_place_of_a_search_that_proves_more(limit: int) -> None:
    problem = circulant(5, {1}, [8] * 5, Pool("m"), limit)
    answer = plan(problem, Options(work_limit=30_000, workers=1))
    assert (answer.status, answer.warnings) == ("infeasible", ())
    assert [each.proof for each in answer.certificates] == [Proof.SEARCH]
    assert verify(problem, answer) == ()


def test_weights_that_prove_that_all_is_not_below_a_range_stay_the_proof() -> None:
    problem = circulant(21, {*range(2, 11)}, [1] * 21, Pool("m", reserved=((10, 11),)))
    task = Task(limits=Limits(work=400_000))
    outcome = solve_separate_pools(lower(problem).instance, task, Silent(), ("improve",), by_name=False)
    [proof] = outcome.certificates
    assert (proof.proof, proof.value, outcome.value, outcome.bound) == (Proof.CONFLICT_WEIGHTS, 12, (12,), (12,))


def test_what_is_seen_in_few_steps_is_believed() -> None:
    sizes = [
        *map(
            int,
            "11111112121121122212212222212221221211222222212111211222121112221222121121112212111111212211121222122112212211",
        )
    ]
    problem = circulant(110, {12, 44, 52, 55}, sizes, Pool("m"))
    instance = lower(problem).instance
    known = pool_bound(instance, 0)
    assert known is not None
    found, _ = weighed_conflicts(instance, 0, known.value, None, 1_000_000)
    assert found is not None
    certificate = PlanCertificate(Proof.CONFLICT_WEIGHTS, found.value, "m", sets=found.sets)
    assert objections(Places(problem), [certificate]) == []


def test_no_more_weights_are_looked_for_once_it_is_stopped() -> None:
    problem = circulant(128, {1, 5, 20}, [1 + n % 2 for n in range(128)], Pool("m"))
    found, spent = weighed_conflicts(lower(problem).instance, 0, 0, None, 1_000_000, lambda: True)
    assert found is None
    assert spent < 10_000
