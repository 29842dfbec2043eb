"""Packs a choice of pools, each pool on its own; what was packed once is known from then on."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...geometry.presolve import restrict
from ...model.errors import StopReason
from ...model.instance import Instance, Ints, Placement, Term
from ...model.outcome import Value
from ...model.solver import Control, Goal, Task
from ...portfolio.roster import PACKERS
from ...portfolio.separate_pools import solve_separate_pools


class Packed(NamedTuple):
    """What became of one pool's blocks."""

    offset: Ints | None
    """None: they were not packed within its capacity."""
    is_lowest: bool
    """Is it proven that they cannot be packed any lower?"""


class Packing:
    """Of one instance."""

    def __init__(self, instance: Instance, task: Task, control: Control) -> None:
        self.work = 0
        self._instance, self._task, self._control = instance, task, _Quietly(control)
        self._known: dict[tuple[int, bool, bytes], Packed] = {}

    def pack(self, pool: Ints, counted: frozenset[int], work: int) -> tuple[Placement | None, list[int]]:
        """The placement with these pools, and the pools that could not be packed. The peaks of those counted are to be low."""
        offset = np.zeros(self._instance.blocks, dtype=np.int64)
        unfit = []
        for p in np.unique(pool).tolist():
            blocks = np.flatnonzero(pool == p)
            found = self._packed(p, blocks, p in counted, work).offset
            if found is None:
                unfit.append(p)
            else:
                offset[blocks] = found
        return (None if unfit else Placement(pool, offset)), unfit

    def _packed(self, pool: int, blocks: Ints, low: bool, work: int) -> Packed:
        key = pool, low, blocks.tobytes()
        if key not in self._known:
            piece = restrict(self._instance, blocks, [pool]).instance
            alone = replace(piece, terms=(Term.SUM_OF_PEAKS,), apart=piece.apart[:0], penalties=piece.penalties[:0])
            task = Task(
                replace(self._task.limits, work=work, workers=1),
                Goal.MINIMISE if low else Goal.FIT,
                self._task.seed,
            )
            outcome = solve_separate_pools(alone, task, self._control, PACKERS, by_name=False)
            self.work += outcome.work
            offset = None if outcome.placement is None else outcome.placement.offset
            self._known[key] = Packed(offset, outcome.stop is StopReason.PROVED)
        return self._known[key]


class _Quietly:
    """What is found of one pool is nothing to report yet."""

    def __init__(self, control: Control) -> None:
        self.log, self.stopped = control.log, control.stopped

    def incumbent(self, placement: Placement) -> None: ...

    def bound(self, bound: Value) -> None: ...
