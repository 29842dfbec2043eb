"""Adapters between storage objects and placements: an arrangement is passed as a placement of its objects, and read back."""

from __future__ import annotations

from typing import ClassVar

from ..model.errors import StopReason
from ..model.instance import Instance, Placement
from ..model.outcome import Outcome, Value
from ..model.solver import Control, Feature, Input, Task
from .arrangement import Arrangement, as_placement, from_placement, totals
from .solver import SharingControl, SharingOutcome, SharingSolver, SharingTask


class AsControl:
    """A Control for a solver of placements whose caller wants arrangements."""

    def __init__(self, instance: Instance, control: SharingControl) -> None:
        self._instance, self._control = instance, control

    def incumbent(self, placement: Placement) -> None:
        self._control.incumbent(from_placement(self._instance, placement))

    def bound(self, bound: Value) -> None:
        if bound:
            self._control.bound(bound[0])

    def log(self, line: str) -> None:
        self._control.log(line)

    def stopped(self) -> StopReason | None:
        return self._control.stopped()


class AsSharingControl:
    """A SharingControl for a solver of arrangements whose caller wants placements."""

    def __init__(self, instance: Instance, control: Control) -> None:
        self._instance, self._control = instance, control

    def incumbent(self, arrangement: Arrangement) -> None:
        self._control.incumbent(as_placement(self._instance, arrangement))

    def bound(self, bound: int) -> None:
        self._control.bound((bound,))

    def log(self, line: str) -> None:
        self._control.log(line)

    def stopped(self) -> StopReason | None:
        return self._control.stopped()


def as_task(instance: Instance, task: SharingTask) -> Task:
    """The task in terms of placements."""
    return Task(
        limits=task.limits,
        seed=task.seed,
        start=None if task.start is None else as_placement(instance, task.start),
        bound=(sum(task.bounds),) if task.bounds else (),
        pool_bounds=task.bounds,
        verbose=task.verbose,
    )


class AsSolver:
    """A solver of storage objects as a solver for the sandbox: a child process runs it, and its caller reads the answer back."""

    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    wants: ClassVar[Input] = Input.AS_WRITTEN
    sandboxed: ClassVar[bool] = True

    def __init__(self, solver: SharingSolver) -> None:
        self.name = solver.name
        self._solver = solver

    def unavailable(self) -> str | None:
        return self._solver.unavailable()

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """Runs in the child; returns the arrangement as a placement."""
        start = None if task.start is None else from_placement(instance, task.start)
        wanted = SharingTask(task.limits, task.seed, start, task.pool_bounds, verbose=task.verbose)
        found = self._solver.share(instance, wanted, AsSharingControl(instance, control))
        arrangement = found.arrangement
        return Outcome(
            stop=found.stop,
            placement=None if arrangement is None else as_placement(instance, arrangement),
            value=None if arrangement is None else (sum(totals(instance, arrangement)),),
            bound=(sum(found.bounds),) if found.bounds else (),
            pool_bounds=found.bounds,
            solver=found.solver,
            work=found.work,
            reproducible=found.reproducible,
            notes=found.notes,
        )


def run_sandboxed(
    path: str, solver: str, instance: Instance, task: SharingTask, control: SharingControl
) -> SharingOutcome:
    """The outcome of a solver in a process of its own; `path` is its AsSolver, as module:Class. The child's arrangements are checked as placements."""
    from ..sandbox import run

    found = run(path, instance, as_task(instance, task), AsControl(instance, control))
    arrangement = None if found.placement is None else from_placement(instance, found.placement)
    bounds = found.pool_bounds or task.bounds
    better = tuple(bound > given for bound, given in zip(bounds, task.bounds or (0,) * len(bounds), strict=True))
    return SharingOutcome(
        stop=found.stop,
        arrangement=arrangement,
        bounds=bounds,
        solver=None if arrangement is None else solver,
        work=found.work,
        reproducible=found.reproducible,
        took_part=(solver,),
        notes=found.notes,
        provers=tuple(solver if is_better else None for is_better in better),
    )
