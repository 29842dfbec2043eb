"""Each solver, without the greedy plan and the bounds that usually come before it, agrees with the optimum."""

from __future__ import annotations

import time
from dataclasses import replace

from hypothesis import given, note

from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from solvers.bounds.one_pool import homeless
from solvers.geometry.presolve import scaled, unit
from solvers.model import registry
from solvers.model.errors import StopReason, Unsupported
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome
from solvers.model.solver import Feature, Input, Limits, Silent, Task
from solvers.portfolio.execute import execute
from tests.small.oracle import Truth, solve
from tests.small.strategies import effort, problems

AVAILABLE = tuple(
    name
    for name in registry.names(registry.SolverKind.METHOD, registry.SolverKind.HEURISTIC, registry.SolverKind.IMPROVER)
    if registry.get(name).unavailable() is None and registry.get(name).wants is not Input.AS_WRITTEN
)
"""Without the planners of other systems, whose random problems are in tests/solvers/others/named."""
SANDBOXED = tuple(name for name in AVAILABLE if registry.get(name).sandboxed)
IN_PROCESS = tuple(name for name in AVAILABLE if name not in SANDBOXED)


def run(solver: str, problem: Problem) -> tuple[Outcome, tuple[int, ...]] | None:
    """Return the outcome and the value of its placement in bytes; None if the solver refused or has nothing to do."""
    instance = lower(problem).instance
    if not instance.blocks or homeless(instance) is not None:
        return None
    limits = Limits(time.monotonic() + 30.0, 10_000_000)
    try:
        outcome = execute(solver, scaled(instance, unit(instance)), Task(limits), Silent(limits))
    except Unsupported:
        assert registry.get(solver).features < frozenset(Feature)
        return None
    if outcome.placement is None:
        return outcome, ()
    placed = replace(outcome.placement, offset=outcome.placement.offset * unit(instance))
    return outcome, evaluate(instance, placed)


def check(solver: str, problem: Problem, truth: Truth) -> None:
    note(solver)
    answer = run(solver, problem)
    if answer is None:
        return
    outcome, value = answer
    if truth.value is None:
        assert outcome.placement is None
        assert outcome.infeasible or outcome.stop is not StopReason.PROVED
        return
    assert not outcome.infeasible
    if outcome.placement is not None:
        assert value >= truth.value
        assert outcome.value is not None
        assert outcome.bound <= outcome.value
        if outcome.is_optimal or outcome.stop is StopReason.PROVED:
            assert value == truth.value


@effort(15, 10_000)
@given(problems())
def test_solvers_in_this_process_agree_with_the_oracle(problem: Problem) -> None:
    truth = solve(problem)
    for solver in IN_PROCESS:
        check(solver, problem, truth)


@effort(6, 3_000)
@given(problems(max_buffers=5))
def test_solvers_in_child_processes_agree_with_the_oracle(problem: Problem) -> None:
    truth = solve(problem)
    for solver in SANDBOXED:
        check(solver, problem, truth)
