"""Greedy behind the Solver protocol: makes many cheap placements and keeps the best, until the bound is met or every pass is made.

With one pool of which only the peak counts, a kernel makes the passes and every component keeps its own best placement.
Of very many blocks, those that a first pass leaves too high are placed again in windows of time, and moved: two passes over all are enough then.
If time does not suffice for the first pass, the kernel stacks what is left of it, and a placement by birth is usually better. Of many blocks
none is begun if there is no time at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...fitting.orders import PASSES, Fit
from ...kernels import active_for
from ...kernels.columns import columns
from ...kernels.selection import Origin
from ...model.errors import StopReason
from ...model.instance import ADDRESS_LIMIT, Instance, Ints, Placement
from ...model.linear_terms import peak_worth
from ...model.needs import is_one_pool
from ...model.objective import evaluate
from ...model.outcome import Outcome
from ...model.solver import Control, Feature, Goal, Solver, Task
from ..best import Best
from .by_birth import by_birth
from .squeaky_wheel import SqueakyWheel
from .windows import Windows

MANY = 100_000
"""With so many blocks, a pass takes longer than lowering what it left too high."""
FIRST, LAST = ("total_width_area", Fit.LOWEST), ("total_area_width", Fit.BEST)
"""The passes over all of them: one before, one after."""
LATE = 20_000
"""With fewer blocks a first pass takes less than the kernel allows it when time is up."""
MOVING_WORK = 100_000
"""The work of lowering, a tenth of a second, if a pass does not take longer."""
CEILING_WORK, LEAST_PASSES, MOST_PASSES = 300_000, 50, 1_000
"""Where no pass has a place for all, others are made with so much work, but at least and at most so many,"""
CEILING_PART = 8
"""and with one of so many parts of all work at most."""


class Greedy(Solver):
    """Tries many orders, each with lowest fit and best fit (fitting/orders.py)."""

    name: ClassVar[str] = "greedy"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        if is_one_pool(instance):
            return _solve_one_pool(instance, task, control)
        from .many_pools import solve_many_pools  # most problems do not need it

        return solve_many_pools(self.name, instance, task, control)


def _solve_one_pool(instance: Instance, task: Task, control: Control) -> Outcome:
    """Make passes until a placement is good enough; keep the best."""
    known = _Known(Greedy.name, instance, task, control)
    work = 0
    if instance.allowed.all() and not known.is_good_enough():
        passes = _Passes(known)
        if instance.blocks >= LATE:
            passes.make_up_for_haste()
        if instance.blocks >= MANY and passes.can_lower:
            passes.make((FIRST,))
            passes.make_up_for_haste()
            passes.lower()
            passes.make(PASSES if known.placement is None else (LAST,))
        else:
            passes.make(PASSES)
            passes.make_up_for_haste()
        passes.mind_ceilings()
        work = passes.work
    stop = StopReason.WORK_LIMIT
    if known.is_good_enough():
        stop = StopReason.GOAL_MET if task.goal is Goal.FIT else StopReason.PROVED
    else:
        stop = control.stopped() or stop
    return known.outcome(stop, work)


class _Passes:
    """The passes of the kernels over what is known."""

    def __init__(self, known: _Known) -> None:
        self._known, self._task = known, known.task
        self._columns = columns(known.instance)
        selected = active_for(known.instance)
        self._kernels = selected.kernels
        self.can_lower = selected.origin is Origin.NATIVE
        """In Python that takes longer than a pass."""
        self.work = 0
        """The work of lowering and of minding ceilings; the kernel's passes are not counted."""
        self._has_made_up = False

    def make(self, passes: Sequence[tuple[str, str]]) -> None:
        """Make these passes, unless the known placement is good enough; each component keeps its best."""
        if self._is_over:
            return
        best = self._kernels.greedy(
            sections=self._known.instance.sections,
            columns=self._columns,
            passes=passes,
            start=self._known.offset,
            enough=self._known.enough,
            threads=self._task.limits.workers,
            report=self._report,
        )
        if best is not None:
            self._known.offer_offset(best)

    def lower(self) -> None:
        """Place again what ends too high in windows of time, then move what is left; both for a while."""
        start, instance = self._known.offset, self._known.instance
        if start is None or self._is_over:
            return
        enough, seed = self._known.enough or 0, self._task.seed % (1 << 64)
        most, limit, windows = MOVING_WORK, self._task.limits.work, None
        if enough and not len(instance.conflicts) and not len(instance.exclusions):
            windows = Windows(instance, self._columns, self._kernels, lambda: self._report(None))
            most = max(most, windows.work_of_pass)
        most = most if limit is None else min(most, limit)
        if windows is not None:
            start, self.work = windows.lower(start, enough, seed, most)
            self._known.offer_offset(start)
        left = most - self.work
        if left and not self._is_over:
            best, moved = self._kernels.improve(
                instance.sections, self._columns, start, enough, seed, left, self._report
            )
            self._known.offer_offset(best)
            self.work += moved

    def mind_ceilings(self) -> None:
        """If no pass found a place for all, place those first that may not lie high, and then those that came too late."""
        if self._known.placement is not None or self._known.control.stopped() is not None:
            return
        seed, limit = self._task.seed % (1 << 64), self._task.limits.work
        wheel = SqueakyWheel(self._known.instance, self._columns, self._kernels, seed, lambda: self._report(None))
        most = min(max(CEILING_WORK, LEAST_PASSES * wheel.work_of_pass), MOST_PASSES * wheel.work_of_pass)
        offset = wheel.placed(most if limit is None else min(most, limit // CEILING_PART))
        if offset is not None:
            self._known.offer_offset(offset)
        self.work += wheel.done

    def make_up_for_haste(self) -> None:
        """If time is up, place by birth, once: a first pass was finished in haste, if it was made at all."""
        known = self._known
        if self._has_made_up or known.is_good_enough() or known.control.stopped() is None:
            return
        self._has_made_up = True
        offset = by_birth(known.instance)
        if offset is not None:
            known.offer_offset(offset)

    @property
    def _is_over(self) -> bool:
        """Is the known placement good enough, or all there is time for? A first one is made however late it is."""
        known = self._known
        return known.is_good_enough() or (known.placement is not None and known.control.stopped() is not None)

    def _report(self, offset: Ints | None) -> bool:
        if offset is not None:
            self._known.offer_offset(offset)
        return self._known.control.stopped() is not None


class _Known(Best):
    """The best placement of the whole, and the peak that is good enough."""

    def __init__(self, solver: str, instance: Instance, task: Task, control: Control) -> None:
        super().__init__(solver, instance, task, control)
        self.enough = ADDRESS_LIMIT if task.goal is Goal.FIT else peak_worth(instance, task.enough)
        """A component that ends no higher than this is good enough; None if no such peak is known."""

    def offer_offset(self, offset: Ints) -> None:
        """Keep the placement if it is no worse: of equal ones, more components are at their best in the last."""
        placement = Placement.in_one_pool(offset)
        value = evaluate(self.instance, placement)
        if self.is_above(value):
            self.keep(placement, value)
        elif value == self.value:
            self.placement = placement

    @property
    def offset(self) -> Ints | None:
        """The offsets of all blocks; None while one has no place."""
        return None if self.placement is None else np.ascontiguousarray(self.placement.offset)

    def is_good_enough(self) -> bool:
        if self.enough is None or self.placement is None:
            return False
        return self.instance.end_of(self.placement.offset) <= self.enough
