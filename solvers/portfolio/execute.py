"""Running one solver on one instance, and believing of its answer only what can be checked."""

from __future__ import annotations

from dataclasses import replace

from ..geometry.rules import violation
from ..model.errors import SolverFailed, StopReason, Unavailable
from ..model.instance import Instance
from ..model.objective import evaluate
from ..model.outcome import Outcome
from ..model.registry import get
from ..model.solver import Control, Task


def execute(name: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """The solver's outcome, its placement checked and its value recomputed.

    Raises UnknownSolver, Unavailable and Unsupported; a solver that breaks or lies is SolverFailed.
    """
    solver = get(name)
    reason = solver.unavailable()
    if reason is not None:
        raise Unavailable(name, reason)
    if solver.sandboxed:
        from ..sandbox import run

        outcome = run(name, instance, task, control)
    else:
        outcome = solver.solve(instance, task, control)
    return replace(checked(name, instance, outcome), asked=(name,))


def checked(name: str, instance: Instance, outcome: Outcome) -> Outcome:
    """The same outcome with the value that its placement really has."""
    if outcome.placement is None:
        return outcome if outcome.value is None else replace(outcome, value=None)
    broken = violation(instance, outcome.placement)
    if broken is not None:
        raise SolverFailed(name, f"it returned a placement that breaks a rule: {broken}")
    value = evaluate(instance, outcome.placement)
    if outcome.infeasible or outcome.bound > value:
        raise SolverFailed(name, "it claims to have proven that the placement it returned is impossible")
    return replace(outcome, value=value)


def failed(error: SolverFailed) -> Outcome:
    """What remains of a run that broke."""
    return Outcome(stop=StopReason.SOLVER_FAILED, reproducible=False, notes=(str(error),))
