"""Solvers that want an instance as the user wrote it: whole, in its order and its units. What can be proven of it is proven beside them."""

from __future__ import annotations

from dataclasses import replace

from ..bounds.first_bounds import first_bounds, peaks_at_least
from ..model.errors import SolverFailed, StopReason
from ..model.instance import Instance
from ..model.outcome import Outcome
from ..model.solver import Control, Task
from .execute import execute, failed


def solve_raw(name: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """The solver's own answer, and the cheap bounds, so that people see how good it is."""
    first = first_bounds(instance, control.stopped)
    pool_bounds = peaks_at_least(instance, first.pools)
    if first.shortage:
        return Outcome(StopReason.PROVED, pool_bounds=pool_bounds, certificates=first.shortage, infeasible=True)
    bound = max(task.bound, first.value)
    control.bound(bound)
    try:
        outcome = execute(name, instance, replace(task, bound=bound, pool_bounds=pool_bounds), control)
    except SolverFailed as error:
        outcome = failed(error)
    if outcome.infeasible:
        return outcome
    sharing = () if first.sharing is None or not first.sharing.value else (first.sharing,)
    return replace(
        outcome,
        bound=max(bound, outcome.bound),
        pool_bounds=outcome.pool_bounds or pool_bounds,
        certificates=(*first.pools, *sharing, *outcome.certificates),
    )
