"""The best result of a peer in one run, and whether it may stop."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...model.errors import StopReason
from ...model.instance import Placement
from ...model.linear_terms import value_of_peak
from ...model.outcome import Certificate, Outcome, Proof
from ...model.solver import Control, Goal, Task
from .boxes import Boxes


class Best:
    """The best placement of one run."""

    def __init__(self, boxes: Boxes, task: Task, control: Control) -> None:
        self.placement: Placement | None = None
        """The best one within the capacity."""
        self._peak: int | None = None
        """The lowest peak so far, within the capacity or not."""
        self._boxes = boxes
        self._control = control
        self._capacity = boxes.instance.pools[0].capacity
        self._fit = task.goal is Goal.FIT
        self._bound = task.pool_bounds[0] if task.pool_bounds else 0
        self._deadline = deadline_of(task)

    @property
    def enough(self) -> int | None:
        """A peak that is low enough; None: any peak is."""
        return self._capacity if self._fit else self._bound

    def offer(self, offsets: Sequence[int]) -> StopReason | None:
        """Keeps and reports the boxes' offsets if they are better than before. Returns a reason to stop, or None."""
        peak = max((offset + size for offset, size in zip(offsets, self._boxes.size, strict=True)), default=0)
        if self._peak is None or peak < self._peak:
            self._peak = peak
            placement = self._boxes.placement(offsets)
            if placement is not None:
                self.placement = placement
                self._control.incumbent(placement)
        return self.stopped()

    def stopped(self) -> StopReason | None:
        """A reason to stop: good enough, or out of time; None if there is none."""
        if self.placement is not None and self._peak is not None:
            if self._peak <= self._bound:
                return StopReason.PROVED
            if self.enough is None or self._peak <= self.enough:
                return StopReason.GOAL_MET
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return StopReason.TIME_LIMIT
        return self._control.stopped()

    def outcome(self, solver: str, stop: StopReason, *, proven: int = 0, reproducible: bool = True) -> Outcome:
        """The outcome. `proven`: the solver claims to have searched all placements that end below this."""
        infeasible = self._capacity is not None and proven > self._capacity
        certificate = Certificate(Proof.SEARCH, proven, pool=0, solver=solver)
        least = max(proven, self._bound)
        return Outcome(
            StopReason.PROVED if infeasible else stop,
            placement=None if infeasible else self.placement,
            bound=value_of_peak(self._boxes.instance, least),
            pool_bounds=(least,),
            certificates=(certificate,) if proven else (),
            infeasible=infeasible,
            solver=solver,
            reproducible=reproducible and (infeasible or stop.is_repeatable),
        )


def deadline_of(task: Task) -> float | None:
    """When to end, on the clock of time.monotonic(). These planners do not count work, so a limit of work is taken as microseconds."""
    limits = task.limits
    if limits.deadline is not None or limits.work is None:
        return limits.deadline
    return time.monotonic() + limits.work * 1e-6
