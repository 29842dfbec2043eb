"""Greedy where there is one pool and only its peak counts: then every component keeps its own best placement.

Once with the native kernel, once in Python; the placements are the same. Of a component, the pass wins that ends lowest, where all ends
that are low enough for the caller are alike, and among equals the earlier one.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ..errors import StopReason
from ..instance import ADDRESS_LIMIT, Instance, Ints, Placement, Term
from ..objective import evaluate
from ..outcome import Outcome, Value
from ..presolve import components
from ..solver import Control, Goal, Task
from .gaps import Fit
from .native import GreedyKernel, columns, greedy_kernel
from .neighbours import neighbours
from .orders import orders
from .placing import Partial, place_components


def is_one_pool(instance: Instance) -> bool:
    """Is there nothing to decide but offsets, and nothing to minimise but the peak?"""
    wishes = Term.REUSE_COST in instance.terms and len(instance.penalties) > 0
    return len(instance.pools) == 1 and not len(instance.apart) and not wishes


def solve_one_pool(solver: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """The best that all orders with both fits find, or the first that is good enough."""
    known = _Known(instance, task, control)
    if instance.allowed.all() and not known.is_good_enough():
        kernel = greedy_kernel(instance)
        if kernel is None:
            _run_here(instance, known, control, task.limits.work)
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


def _run_native(kernel: GreedyKernel, instance: Instance, task: Task, known: _Known, control: Control) -> None:
    def report(offset: Ints | None) -> bool:
        if offset is not None:
            known.offer(offset)
        return control.stopped() is not None

    start = None if task.start is None else np.ascontiguousarray(task.start.offset)
    best = kernel.greedy(instance.sections, columns(instance), start, known.enough, task.limits.workers, report)
    if best is not None:
        known.offer(best)


def _run_here(instance: Instance, known: _Known, control: Control, limit: int | None) -> None:
    near = neighbours(instance)
    best = _PerComponent(instance, known)
    sequences = orders(instance).values()
    for number, (fit, sequence) in enumerate(product(Fit, sequences)):
        # However little time there is, the first pass is made: it hurries if it must.
        must = number == 0 and known.placement is None
        known.work = number * near.work
        spent = limit is not None and known.work >= limit
        if best.is_settled() or ((spent or control.stopped() is not None) and not must):
            return
        found = place_components(
            instance, sequence, near.fresh(), fit, best.component, lambda: control.stopped() is not None, finish=must
        )
        if found is not None and best.take(found) and best.placed.all():
            known.offer(best.offset)


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


class _PerComponent:
    """The best placement of each component."""

    def __init__(self, instance: Instance, known: _Known) -> None:
        roots, component = np.unique(components(instance), return_inverse=True)
        self.component: Ints = component.reshape(-1)
        self._high = instance.block_high
        self._count = len(roots)
        self._enough = -1 if known.enough is None else known.enough
        self.offset = np.zeros(instance.blocks, dtype=np.int64)
        self.placed = np.zeros(self._count, dtype=bool)
        self._score = np.zeros(self._count, dtype=np.int64)
        if known.placement is not None:
            self.take(Partial(known.placement.offset, np.ones(instance.blocks, dtype=bool)))

    def take(self, found: Partial) -> bool:
        """Keep what is better of it; was anything?"""
        whole = np.ones(self._count, dtype=bool)
        whole[self.component[~found.placed]] = False
        score = np.full(self._count, self._enough, dtype=np.int64)
        np.maximum.at(score, self.component, found.offset + self._high)
        better = whole & (~self.placed | (score < self._score))
        at = better[self.component]
        self.offset = np.where(at, found.offset, self.offset)
        self._score = np.where(better, score, self._score)
        self.placed |= better
        return bool(better.any())

    def is_settled(self) -> bool:
        return bool((self.placed & (self._score <= self._enough)).all())


def peak_worth(instance: Instance, worth: Value) -> int | None:
    """The greatest peak that is worth no more than this."""
    access = int(instance.access_cost.sum())

    def value(peak: int) -> Value:
        terms = {
            Term.ACCESS_COST: access,
            Term.SUM_OF_PEAKS: instance.pools[0].cost * peak,
            Term.LARGEST_PEAK: peak,
            Term.REUSE_COST: 0,
        }
        return tuple(terms[term] for term in instance.terms)

    if value(0) > worth:
        return None
    low, high = 0, ADDRESS_LIMIT
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if value(middle) <= worth else (low, middle - 1)
    return low
