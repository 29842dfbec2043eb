"""The best placement that one run of a solver knows: at first the start, if there is one."""

from __future__ import annotations

from ..model.errors import StopReason
from ..model.instance import Instance, Placement
from ..model.objective import evaluate
from ..model.outcome import Outcome, Value
from ..model.solver import Control, Goal, Task


class Best:
    """The placement and its value, both None while nothing is known."""

    def __init__(self, solver: str, instance: Instance, task: Task, control: Control) -> None:
        self.solver, self.instance, self.task, self.control = solver, instance, task, control
        self.placement = task.start
        self.value: Value | None = None if task.start is None else evaluate(instance, task.start)
        self.is_own = False
        """Did this run find it?"""

    def offer(self, placement: Placement) -> None:
        """Keep the placement if it is better."""
        value = evaluate(self.instance, placement)
        if self.is_above(value):
            self.keep(placement, value)

    def is_above(self, value: Value) -> bool:
        """Would a placement of this value be better?"""
        return self.value is None or value < self.value

    def keep(self, placement: Placement, value: Value) -> None:
        """Keep and report the placement, which is better."""
        self.placement, self.value, self.is_own = placement, value, True
        self.control.incumbent(placement)

    def finished(self) -> StopReason | None:
        """Why no better one is needed; None if it is."""
        if self.value is None:
            return None
        if self.task.goal is Goal.FIT:
            return StopReason.GOAL_MET
        return StopReason.PROVED if self.value <= self.task.enough else None

    def outcome(self, stop: StopReason = StopReason.WORK_LIMIT, work: int = 0) -> Outcome:
        """The outcome of the run, which proved nothing new; without arguments, of one that has nothing to do."""
        return self.task.outcome(stop, self.placement, self.value, self.solver if self.is_own else None, work)
