"""The improvement of a known placement behind the Solver protocol: one pool, no proofs, cheap where there are very many blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ...kernels import active_for
from ...kernels.columns import columns
from ...kernels.interface import Report
from ...model.conflicts import live_pair_count
from ...model.errors import StopReason, Unsupported
from ...model.instance import Instance, Ints, Placement
from ...model.linear_terms import peak_worth
from ...model.needs import is_one_pool
from ...model.objective import evaluate, peaks
from ...model.outcome import Outcome
from ...model.solver import Control, Feature, Goal, Solver, Task

NO_LIMIT = 1 << 53
"""More work than can be done."""


class Improver(Solver, ABC):
    """What only ever improves a known placement, of one pool whose peak alone counts."""

    name: ClassVar[str]
    features: ClassVar[frozenset[Feature]]

    @abstractmethod
    def lower(
        self, instance: Instance, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int] | None:
        """Offsets that are no worse than those of the start, and the work done; None if the instance is not for this one."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """Nothing without a start: a first placement is the business of others."""
        if not is_one_pool(instance):
            raise Unsupported(self.name, "it takes one pool at a time, and only its peak counts for it")
        if task.start is None or not instance.blocks:
            return self._outcome(instance, task, StopReason.WORK_LIMIT, task.start, 0)
        enough = peak_worth(instance, task.enough) or 0
        if task.goal is Goal.FIT:
            return self._outcome(instance, task, StopReason.GOAL_MET, task.start, 0)
        if peaks(instance, task.start)[0] <= enough:
            return self._outcome(instance, task, StopReason.PROVED, task.start, 0)

        def report(offset: Ints | None) -> bool:
            if offset is not None:
                control.incumbent(_placement(offset))
            return control.stopped() is not None

        start = np.ascontiguousarray(task.start.offset, dtype=np.int64)
        work = NO_LIMIT if task.limits.work is None else task.limits.work
        lowered = self.lower(instance, start, enough, task.seed % (1 << 64), work, report)
        if lowered is None:
            return self._outcome(instance, task, StopReason.WORK_LIMIT, task.start, 0)
        placement = _placement(lowered[0])
        done = peaks(instance, placement)[0] <= enough
        stop = StopReason.PROVED if done else control.stopped() or StopReason.WORK_LIMIT
        return self._outcome(instance, task, stop, placement, lowered[1])

    def _outcome(
        self, instance: Instance, task: Task, stop: StopReason, placement: Placement | None, work: int
    ) -> Outcome:
        return Outcome(
            stop,
            placement=placement,
            value=None if placement is None else evaluate(instance, placement),
            bound=task.bound,
            pool_bounds=task.pool_bounds,
            solver=self.name if work else None,
            work=work,
            reproducible=stop.is_repeatable,
        )


class Improve(Improver):
    """Puts what ends too high elsewhere; what stands there is thrown out if need be, and put elsewhere in its turn."""

    name: ClassVar[str] = "improve"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature) - {Feature.POOLS, Feature.TERMS}

    def lower(
        self, instance: Instance, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int] | None:
        chosen = active_for(instance)
        most = chosen.sizes.improve_pairs
        if most is not None and live_pair_count(instance) + len(instance.conflicts) > most:
            return None
        return chosen.kernels.improve(instance.sections, columns(instance), start, enough, seed, work, report)


def _placement(offset: Ints) -> Placement:
    return Placement(np.zeros(len(offset), dtype=np.int64), offset)
