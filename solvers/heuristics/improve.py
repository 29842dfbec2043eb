"""Kernels that lower the peak of a known placement, behind the Solver protocol: one pool, no proofs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np

from ..kernels import Selection, active_for
from ..kernels.columns import Columns, columns
from ..kernels.interface import Report
from ..model.conflicts import live_pair_count
from ..model.errors import StopReason, Unsupported
from ..model.instance import Instance, Ints, Placement
from ..model.linear_terms import peak_worth
from ..model.needs import is_one_pool, is_torn
from ..model.objective import evaluate, peaks
from ..model.outcome import Outcome
from ..model.solver import ONE_PEAK, Control, Feature, Goal, Solver, Task
from .greedy.squeaky_wheel import SqueakyWheel
from .layout import lives
from .relaxed.solver import Relaxed

Lowering: TypeAlias = Callable[[int, Columns, Ints, int, int, int, Report], tuple[Ints, int]]
"""Takes sections, columns, a start, a peak that is low enough, seed, work and a report function; returns offsets and the work done."""

NO_LIMIT = 1 << 53
"""More work than can ever be done."""
PARTS_OF_PEAK, PARTS_IF_PAIRS = 128, 64
"""Where bounds lie far below what can be reached, one of so many parts of the peak is aimed for at a time; the second if most pairs conflict that no lifetimes say."""


class Improver(Solver, ABC):
    """A solver that only improves a known placement, of one pool whose peak alone counts."""

    name: ClassVar[str]
    features: ClassVar[frozenset[Feature]]

    @abstractmethod
    def kernel(self, instance: Instance, selection: Selection) -> Lowering | None:
        """The kernel for this instance; None if it does not suit it."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """Improve the start; nothing without one, since other solvers make first placements."""
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
                control.incumbent(Placement.in_one_pool(offset))
            return control.stopped() is not None

        kernel = self.kernel(instance, active_for(instance))
        if kernel is None:
            return self._outcome(instance, task, StopReason.WORK_LIMIT, task.start, 0)
        start = np.ascontiguousarray(task.start.offset, dtype=np.int64)
        work = NO_LIMIT if task.limits.work is None else task.limits.work
        seed = task.seed % (1 << 64)
        offset, done = kernel(instance.sections, columns(instance), start, enough, seed, work, report)
        placement = Placement.in_one_pool(offset)
        is_enough = peaks(instance, placement)[0] <= enough
        stop = StopReason.PROVED if is_enough else control.stopped() or StopReason.WORK_LIMIT
        return self._outcome(instance, task, stop, placement, done)

    def _outcome(
        self, instance: Instance, task: Task, stop: StopReason, placement: Placement | None, work: int
    ) -> Outcome:
        value = None if placement is None else evaluate(instance, placement)
        return task.outcome(stop, placement, value, self.name if work else None, work)


class Improve(Improver):
    """Moves blocks that end too high elsewhere; what stands there is thrown out if need be, and moved in its turn.

    Cheap even with very many blocks.
    """

    name: ClassVar[str] = "improve"
    features: ClassVar[frozenset[Feature]] = ONE_PEAK

    def kernel(self, instance: Instance, selection: Selection) -> Lowering | None:
        most, conflicts, improve = selection.sizes.improve_pairs, len(instance.conflicts), selection.kernels.improve
        if most is not None and live_pair_count(instance) + conflicts > most:
            return None
        if is_torn(instance) or len(instance.exclusions):
            return _step_by_step(improve, instance, PARTS_OF_PEAK)
        if not conflicts or conflicts <= live_pair_count(instance):  # which takes a while with a million blocks
            return improve
        return _step_by_step(improve, instance, PARTS_IF_PAIRS)


def _step_by_step(improve: Lowering, instance: Instance, parts: int) -> Lowering:
    """The same by small steps, each one of so many parts of the peak: its own are parts of the distance to the bound, too large where that lies far below."""

    def lower(
        sections: int, given: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        offset, done, aim = start, 0, NO_LIMIT
        while enough < (peak := instance.end_of(offset)) <= aim and done < work:
            aim = max(enough, peak - 1 - peak // parts)
            offset, more = improve(sections, given, offset, aim, seed, work - done, report)
            done += more
        return offset, done

    return lower


class Beam(Improver):
    """Sweeps through time, both ways, with many partial placements side by side, each time aiming below the known peak.

    Strong where long-lived blocks leave little room for short ones.
    """

    name: ClassVar[str] = "beam"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY})

    def kernel(self, instance: Instance, selection: Selection) -> Lowering | None:
        most = selection.sizes.beam_blocks
        if not is_plain(instance) or (most is not None and instance.blocks > most):
            return None
        return selection.kernels.beam


class Gluing(Improver):
    """Joins pieces, on top of each other or one after the other, until one is left; below one height after the other.

    Strong where thousands of blocks leave hardly any room unused.
    """

    name: ClassVar[str] = "gluing"
    features: ClassVar[frozenset[Feature]] = ONE_PEAK - {Feature.RESERVED}

    def kernel(self, instance: Instance, selection: Selection) -> Lowering | None:
        if instance.pools[0].reserved:
            return None
        is_ruled = not is_plain(instance) or _ends_are_limited(instance)
        return Relaxed(instance, selection).lower if is_ruled else selection.kernels.gluing


class LateFirst(Improver):
    """Places all blocks again and again, those earlier that ended too high before.

    Strong where some must begin low and others need not.
    """

    name: ClassVar[str] = "late_first"
    features: ClassVar[frozenset[Feature]] = ONE_PEAK

    def kernel(self, instance: Instance, selection: Selection) -> Lowering | None:
        def lower(
            _sections: int, given: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
        ) -> tuple[Ints, int]:
            wheel = SqueakyWheel(instance, given, selection.kernels, seed, lambda: report(None))
            offset = wheel.lower(start, enough, work, report)
            return offset, wheel.done

        return lower


class Run:
    """One run of an improver that asks several kernels in turn: what it works on, and the work done so far."""

    def __init__(self, instance: Instance, selection: Selection) -> None:
        self.instance, self.kernels, self.most_pairs = instance, selection.kernels, selection.sizes.search_pairs
        self.birth, self.death = lives(instance)
        self.done = 0

    def peak(self, offset: Ints) -> int:
        return self.instance.end_of(offset)


def is_plain(instance: Instance) -> bool:
    """One rect a block, nothing fixed or reserved, no pairs: what is born into a full layout finds its place taken, if it has but one."""
    owner = instance.part_block[instance.rect_part]
    fixed = instance.lowest == instance.highest
    one_each = len(np.unique(owner)) == len(owner)
    return instance.is_plain and one_each and not fixed.any() and not instance.pools[0].reserved


def _ends_are_limited(instance: Instance) -> bool:
    """Must some block end below where others may?"""
    ends = instance.highest + instance.block_high[:, None] + instance.modulus
    return bool((ends <= int((instance.highest + instance.block_high[:, None]).max())).any())
