"""The hill climber of Arm's Vela compiler: repeatedly swaps two buffers of an order that hold up the highest one."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from ...model.errors import StopReason
from ...model.instance import Instance
from ...model.libraries import VELA, Library, missing, require_available
from ...model.outcome import Outcome
from ...model.solver import Control, Feature, Input, Solver, Task
from .best import Best
from .boxes import Boxes, boxes_of

NO_WHEEL_SINCE = (3, 14)


class Vela(Solver):
    """Runs as in Vela: from its heuristic's order, with its seed, for at most its number of iterations."""

    name: ClassVar[str] = "vela"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY})
    wants: ClassVar[Input] = Input.AS_WRITTEN
    sandboxed: ClassVar[bool] = True
    libraries: ClassVar[tuple[Library, ...]] = (VELA,)

    def unavailable(self) -> str | None:
        """There is no package for newer interpreters yet."""
        reason = missing(self.libraries)
        if reason is not None and sys.version_info >= NO_WHEEL_SINCE:
            return "ethos-u-vela is not installed, and is to be had ready-made for Python 3.13 and older alone"
        return reason

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """See Solver."""
        require_available(self)
        return _Climb(boxes_of(self.name, instance), task, control).run()


class _Stop(Exception):  # not an error: it leads out of the climber's loop
    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


class _Climb:
    """One run, stopped from within, since the climber checks neither clock nor bound."""

    def __init__(self, boxes: Boxes, task: Task, control: Control) -> None:
        self._boxes = boxes
        self._best = Best(boxes, task, control)
        self._seen: int | None = None
        """The climber's best size when it was last checked."""

    def run(self) -> Outcome:
        stop = self._climb() if self._boxes.size else self._best.offer([])
        return self._best.outcome(Vela.name, stop or StopReason.WORK_LIMIT)

    def _climb(self) -> StopReason | None:
        from ethosu.vela.hillclimb_allocation import HillClimbAllocator

        climber = HillClimbAllocator(
            self._live_ranges(), HillClimbAllocator.MAX_ITERATIONS, memory_limit=self._best.enough or 0
        )
        swap = climber.attempt_bottleneck_fix

        def watched(*arguments: Any) -> None:
            stop = self._look(climber)
            if stop is not None:
                raise _Stop(stop)
            swap(*arguments)

        climber.attempt_bottleneck_fix = watched  # called before every swap
        try:
            climber.allocate()
        except _Stop as stop:
            return stop.reason
        return self._look(climber)

    def _live_ranges(self) -> list[Any]:
        """The boxes as Vela's live ranges, whose times include the last one."""
        from ethosu.vela.live_range import LiveRange

        made = []
        boxes = self._boxes
        for size, start, end, alignment in zip(boxes.size, boxes.start, boxes.end, boxes.alignment, strict=True):
            one = LiveRange(None, alignment)
            one.size, one.start_time, one.end_time = size, start, end - 1
            made.append(one)
        return made

    def _look(self, climber: Any) -> StopReason | None:
        if self._seen is not None and climber.best_size >= self._seen:
            return self._best.stopped()
        self._seen = climber.best_size
        return self._best.offer(climber.allocated_addresses)
