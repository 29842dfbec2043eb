"""Local search over layouts: one change after the other, each kept or undone.

Work is counted, and what is drawn depends on the seed alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from ..model.errors import StopReason
from ..model.instance import Instance, Placement
from ..model.objective import evaluate
from ..model.outcome import Outcome, Value
from ..model.solver import Control, Goal, Task
from ..model.splitmix import SplitMix64
from .layout import Layout, lives

CHECK_EVERY = 16
"""Changes between two looks at the clock."""
WORK_OF_LOOKING = 20
WORK_OF_A_BLOCK = 0.1
"""The work of evaluating a placement, for each block."""
WORK_OF_EVALUATING = 200


def unchanged(instance: Instance, task: Task) -> Outcome:
    """Of a solver that has nothing to change: the start, if there is one."""
    value = None if task.start is None else evaluate(instance, task.start)
    return task.outcome(StopReason.WORK_LIMIT, task.start, value, None, 0)


class LocalSearch(ABC):
    """One run of a solver from a start, which may be better than the task's."""

    solver: ClassVar[str]

    def __init__(self, instance: Instance, task: Task, start: Placement, control: Control) -> None:
        self.instance, self.task, self.control = instance, task, control
        self.layout = Layout(instance, start, self.hurries)
        self._hurries = False
        self.birth, self.death = lives(instance)
        self.best, self.value = start, evaluate(instance, start)
        self.current = self.value
        self.found_any = start is not task.start
        self.idle = 0
        """Changes since the last that was any good."""
        self.random = SplitMix64(task.seed)
        self.work = 0.0

    @abstractmethod
    def change(self, number: int) -> None:
        """Change the layout, or leave it as it is."""

    @abstractmethod
    def is_exhausted(self) -> bool:
        """True if no further change is worth its work."""

    @abstractmethod
    def is_acceptable(self, value: Value) -> bool:
        """Is a layout of this value worth going on from?"""

    def run(self, stop: StopReason | None = None) -> Outcome:
        """The best placement that changes lead to; with a reason to stop, the start."""
        number = 0
        while stop is None:
            number += 1
            self.idle += 1
            self.change(number)
            stop = self.finished(number)
        solver = self.solver if self.found_any else None
        return self.task.outcome(stop, self.best, self.value, solver, int(self.work))

    def finished(self, number: int) -> StopReason | None:
        """Is it time to stop, after so many changes?"""
        if self.task.goal is Goal.FIT:
            return StopReason.GOAL_MET
        if self.value <= self.task.enough:
            return StopReason.PROVED
        limit = self.task.limits.work
        if self.is_exhausted() or (limit is not None and self.work >= limit):
            return StopReason.WORK_LIMIT
        return self.control.stopped() if self._hurries or self.looks_at_clock(number) else None

    def looks_at_clock(self, number: int) -> bool:
        return number % CHECK_EVERY == 0

    def hurries(self) -> bool:
        """Is it time to stop? For changes of very many blocks, which are then undone."""
        self._hurries = self._hurries or self.control.stopped() is not None
        return self._hurries

    def accept(self) -> bool:
        """Is the layout worth going on from? The best is kept."""
        self.work += WORK_OF_A_BLOCK * self.instance.blocks + WORK_OF_EVALUATING
        value = evaluate(self.instance, Placement(self.layout.pool, self.layout.offset))
        if not self.is_acceptable(value):
            return False
        self.current = value
        if value < self.value:
            self.best, self.value, self.found_any = self.layout.placement, value, True
            self.idle = 0
            self.control.incumbent(self.best)
        return True
