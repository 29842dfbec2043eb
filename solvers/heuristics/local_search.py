"""Local search over layouts: one change after the other, each kept or undone.

Work is counted, and what is drawn depends on the seed alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..model.errors import StopReason
from ..model.instance import Placement
from ..model.objective import evaluate
from ..model.outcome import Outcome, Value
from ..model.splitmix import SplitMix64
from .best import Best
from .layout import Layout, lives

CHECK_EVERY = 16
"""Changes between two looks at the clock."""
WORK_OF_LOOKING = 20
WORK_OF_A_BLOCK = 0.1
"""The work of evaluating a placement, for each block."""
WORK_OF_EVALUATING = 200


class LocalSearch(ABC):
    """One run of a solver, from the best placement that is known."""

    def __init__(self, best: Best) -> None:
        self.instance, self.task, self.control = best.instance, best.task, best.control
        assert best.placement is not None
        assert best.value is not None
        self.best, self.current = best, best.value
        self.layout = Layout(best.instance, best.placement, self.hurries)
        self._hurries = False
        self.birth, self.death = lives(best.instance)
        self.idle = 0
        """Changes since the last that was any good."""
        self.random = SplitMix64(best.task.seed)
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
        return self.best.outcome(stop, int(self.work))

    def finished(self, number: int) -> StopReason | None:
        """Is it time to stop, after so many changes?"""
        stop = self.best.finished()
        if stop is not None:
            return stop
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
        if self.best.is_above(value):
            self.best.keep(self.layout.placement, value)
            self.idle = 0
        return True
