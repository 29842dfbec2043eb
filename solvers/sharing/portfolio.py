"""Finds the best arrangement of an instance: bounds first, then greedy, then the exact solver for what is left open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..model.errors import SolverFailed, StopReason, Unavailable, Unsupported
from ..model.instance import Instance
from ..model.libraries import require_available
from ..model.outcome import line_of_log
from .arrangement import Arrangement, Best, broken_rule, totals
from .bounds import Ranked, ranked
from .solver import AUTO, SharingControl, SharingOutcome, SharingSolver, SharingTask, get

EXACT = "cpsat"
FIRST = "greedy"
SHARE_OF_FIRST = 2
"""Half of the work is for greedy, which finds more on hard instances."""


@dataclass(frozen=True, slots=True)
class Shared:
    """The outcome, and the proof of each pool's bound."""

    outcome: SharingOutcome
    ranked: tuple[Ranked, ...]


def solve(
    instance: Instance,
    task: SharingTask,
    control: SharingControl,
    solver: str = AUTO,
    may_fit: Callable[[tuple[int, ...]], bool] = lambda totals: True,
) -> Shared:
    """The best arrangement that the solver (auto: greedy, then the exact one) finds within the limits, and its bounds.

    In no pool is it worse than the task's start. If `may_fit` says that objects with these totals cannot fit, nothing is searched.
    """
    chosen = None if solver == AUTO else get(solver)
    if chosen is not None:
        require_available(chosen)
    proven = tuple(ranked(instance, pool, lambda: control.stopped() is not None) for pool in range(len(instance.pools)))
    bounds = tuple(bound.value for bound in proven)
    control.bound(sum(bounds))
    if not instance.blocks:
        nothing = Arrangement(np.zeros(0, dtype=np.int64))
        return Shared(SharingOutcome(StopReason.PROVED, nothing, bounds), proven)
    if not may_fit(bounds):
        return Shared(SharingOutcome(StopReason.PROVED, None, bounds), proven)
    task = replace(task, bounds=bounds, least=tuple(bound.sizes for bound in proven))
    if task.start is not None:
        control.incumbent(task.start)
    return Shared(_from_start(instance, task, _search(instance, task, control, chosen)), proven)


def _search(
    instance: Instance, task: SharingTask, control: SharingControl, chosen: SharingSolver | None
) -> SharingOutcome:
    """The outcome of the chosen solver; None: greedy, then the exact one. Raises Unavailable, Unsupported and SolverFailed."""
    if chosen is not None and not chosen.sandboxed:
        return _execute(chosen.name, instance, task, control)
    first = _execute(FIRST, instance, _share(task), control)
    if first.stop is StopReason.PROVED or not first.stop.is_repeatable:
        return first
    try:
        second = _execute(EXACT, instance, _after(task, first), control)
    except (Unsupported, Unavailable) as refusal:
        if chosen is not None:
            raise
        return replace(first, notes=(*first.notes, str(refusal)))
    except SolverFailed as failure:
        failed = SharingOutcome(
            StopReason.SOLVER_FAILED, bounds=task.bounds, reproducible=False, took_part=(EXACT,), notes=(str(failure),)
        )
        return _together(instance, first, failed)
    return _together(instance, first, second)


def _from_start(instance: Instance, task: SharingTask, outcome: SharingOutcome) -> SharingOutcome:
    """For every pool the better of the start and the found arrangement; without a solver's name if nothing better was found."""
    if task.start is None:
        return outcome
    best = Best(instance, task.start)
    if outcome.arrangement is None or not best.offer(outcome.arrangement):
        return replace(outcome, arrangement=task.start, solver=None)
    return replace(outcome, arrangement=best.arrangement())


def _share(task: SharingTask) -> SharingTask:
    """Greedy's share of the task."""
    work = task.limits.work
    return replace(task, limits=replace(task.limits, work=None if work is None else work // SHARE_OF_FIRST))


def _after(task: SharingTask, first: SharingOutcome) -> SharingTask:
    """The task that is left after greedy."""
    work = task.limits.work
    left = None if work is None else max(work - first.work, 0)
    return replace(task, limits=replace(task.limits, work=left), start=first.arrangement)


def _execute(name: str, instance: Instance, task: SharingTask, control: SharingControl) -> SharingOutcome:
    """The solver's outcome, its arrangement checked. Raises Unavailable, Unsupported and SolverFailed."""
    solver = get(name)
    require_available(solver)
    if solver.sandboxed:
        from .cpsat import in_a_process_of_its_own

        outcome = in_a_process_of_its_own(instance, task, control)
    else:
        outcome = solver.share(instance, task, control)
    if outcome.arrangement is not None:
        broken = broken_rule(instance, outcome.arrangement)
        if broken is not None:
            raise SolverFailed(name, f"it returned an arrangement that breaks a rule: {broken}")
        if any(a < b for a, b in zip(totals(instance, outcome.arrangement), outcome.bounds, strict=True)):
            raise SolverFailed(name, "it claims to have proven that the arrangement it returned is impossible")
        control.incumbent(outcome.arrangement)
    if task.verbose:
        value = None if outcome.arrangement is None else totals(instance, outcome.arrangement)
        control.log(line_of_log(name, instance.blocks, outcome.work, value, outcome.bounds, outcome.stop))
    return outcome


def _together(instance: Instance, first: SharingOutcome, second: SharingOutcome) -> SharingOutcome:
    """The better arrangement of the two, the second's bounds, and all notes."""
    values = [None if each.arrangement is None else sum(totals(instance, each.arrangement)) for each in (first, second)]
    is_better = values[1] is not None and (values[0] is None or values[1] < values[0])
    found = second if is_better else first
    return replace(
        second,
        arrangement=found.arrangement,
        solver=found.solver,
        work=first.work + second.work,
        reproducible=first.reproducible and second.reproducible,
        took_part=(*first.took_part, *second.took_part),
        notes=(*first.notes, *second.notes),
    )
