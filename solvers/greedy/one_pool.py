"""Greedy where there is one pool and only its peak counts: then every component keeps its own best placement.

With the native kernel, or without it in Python (one_pool_in_python.py); the placements are the same. Of a component, the pass wins that
ends lowest, where all ends that are low enough for the caller are alike, and among equals the earlier one.
"""

from __future__ import annotations

import numpy as np

from ..kernels.columns import columns
from ..model.errors import StopReason
from ..model.instance import ADDRESS_LIMIT, Instance, Ints, Placement, Term
from ..model.linear_terms import line_of_peak
from ..model.objective import evaluate
from ..model.outcome import Outcome, Value
from ..model.solver import Control, Goal, Task
from .native import GreedyKernel, greedy_kernel


def is_one_pool(instance: Instance) -> bool:
    """Is there nothing to decide but offsets, and nothing to minimise but the peak?"""
    wishes = Term.REUSE_COST in instance.terms and len(instance.penalties) > 0
    return len(instance.pools) == 1 and not len(instance.apart) and not wishes


def solve_one_pool(solver: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """The best that all orders with both fits find, or the first that is good enough."""
    known = Known(instance, task, control)
    if instance.allowed.all() and not known.is_good_enough():
        kernel = greedy_kernel(instance)
        if kernel is None:
            from .one_pool_in_python import run  # of no use where there is a kernel

            run(instance, known, control, task.limits.work)
        else:
            _run_native(kernel, instance, task, known, control)
    stop = StopReason.WORK_LIMIT
    if known.is_good_enough():
        stop = StopReason.GOAL_MET if task.goal is Goal.FIT else StopReason.PROVED
    else:
        stop = control.stopped() or stop
    return Outcome(
        stop=stop,
        placement=known.placement,
        value=known.value,
        bound=task.bound,
        pool_bounds=task.pool_bounds,
        solver=solver if known.found_any else None,
        work=known.work,
        reproducible=stop.is_repeatable,
    )


def _run_native(kernel: GreedyKernel, instance: Instance, task: Task, known: Known, control: Control) -> None:
    def report(offset: Ints | None) -> bool:
        if offset is not None:
            known.offer(offset)
        return control.stopped() is not None

    start = None if task.start is None else np.ascontiguousarray(task.start.offset)
    best = kernel.greedy(instance.sections, columns(instance), start, known.enough, task.limits.workers, report)
    if best is not None:
        known.offer(best)


class Known:
    """The best placement of the whole, and what would be good enough."""

    def __init__(self, instance: Instance, task: Task, control: Control) -> None:
        self.instance = instance
        self.control = control
        self.placement = task.start
        self.value: Value | None = None if task.start is None else evaluate(instance, task.start)
        self.enough = ADDRESS_LIMIT if task.goal is Goal.FIT else peak_worth(instance, task.enough)
        """A component that ends no higher is good as it is; None: nothing is known to be good enough."""
        self.found_any = False
        self.work = 0

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


def peak_worth(instance: Instance, worth: Value) -> int | None:
    """The greatest peak that is worth no more than this."""
    slopes = [line_of_peak(instance, term) for term in instance.terms]

    def value(peak: int) -> Value:
        return tuple(factor * peak + more for factor, more in slopes)

    if value(0) > worth:
        return None
    # The first term that grows decides, but for a peak at which it is just equal: that one the later terms may still rule out.
    for (factor, more), most in zip(slopes, worth, strict=False):
        if factor:
            peak = min((most - more) // factor, ADDRESS_LIMIT)
            return peak if value(peak) <= worth else peak - 1
        if more < most:
            break
    return ADDRESS_LIMIT
