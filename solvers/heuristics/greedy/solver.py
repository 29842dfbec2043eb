"""Greedy behind the Solver protocol: many cheap placements, the best one kept, until the bound is met or every pass has been made.

Where there is one pool and only its peak counts, every component keeps its own best placement, and the passes are a kernel's.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...fitting.orders import PASSES
from ...kernels import active_for
from ...kernels.columns import columns
from ...model.errors import StopReason
from ...model.instance import ADDRESS_LIMIT, Instance, Ints, Placement
from ...model.linear_terms import peak_worth
from ...model.needs import is_one_pool
from ...model.objective import evaluate
from ...model.outcome import Outcome, Value
from ...model.solver import Control, Feature, Goal, Solver, Task


class Greedy(Solver):
    """Tries many orders, each with lowest fit and best fit (fitting/orders.py)."""

    name: ClassVar[str] = "greedy"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        if is_one_pool(instance):
            return _solve_one_pool(instance, task, control)
        from .many_pools import solve_many_pools  # most problems do without

        return solve_many_pools(self.name, instance, task, control)


def _solve_one_pool(instance: Instance, task: Task, control: Control) -> Outcome:
    """The best that all passes find, or the first that is good enough."""
    known = _Known(instance, task, control)
    work = 0
    if instance.allowed.all() and not known.is_good_enough():

        def report(offset: Ints | None) -> bool:
            if offset is not None:
                known.offer(offset)
            return control.stopped() is not None

        best, work = active_for(instance).kernels.greedy(
            sections=instance.sections,
            columns=columns(instance),
            passes=PASSES,
            start=None if task.start is None else np.ascontiguousarray(task.start.offset),
            enough=known.enough,
            threads=task.limits.workers,
            work=task.limits.work,
            report=report,
        )
        if best is not None:
            known.offer(best)
    stop = StopReason.WORK_LIMIT
    if known.is_good_enough():
        stop = StopReason.GOAL_MET if task.goal is Goal.FIT else StopReason.PROVED
    else:
        stop = control.stopped() or stop
    return task.outcome(stop, known.placement, known.value, Greedy.name if known.found_any else None, work)


class _Known:
    """The best placement of the whole, and what would be good enough."""

    def __init__(self, instance: Instance, task: Task, control: Control) -> None:
        self.instance = instance
        self.control = control
        self.placement = task.start
        self.value: Value | None = None if task.start is None else evaluate(instance, task.start)
        self.enough = ADDRESS_LIMIT if task.goal is Goal.FIT else peak_worth(instance, task.enough)
        """A component that ends no higher is good as it is; None: nothing is known to be good enough."""
        self.found_any = False

    def offer(self, offset: Ints) -> None:
        placement = Placement(np.zeros(len(offset), dtype=np.int64), offset)
        value = evaluate(self.instance, placement)
        better = self.value is None or value < self.value
        if better or value == self.value:
            # Of equal ones the last: there, more of the components are at their best.
            self.placement, self.value = placement, value
        if better:
            self.found_any = True
            self.control.incumbent(placement)

    def is_good_enough(self) -> bool:
        if self.enough is None or self.placement is None:
            return False
        return int((self.placement.offset + self.instance.block_high).max(initial=0)) <= self.enough
