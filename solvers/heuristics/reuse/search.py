"""Local search over where the blocks of one pool begin, behind the Solver protocol.

One block at a time begins elsewhere: where all pairs together then pay the least, though that may be more than before. It does not go back for a
while, unless that were better than all before (tabu search). Pairs that must not share may clash on the way, for more than all others can pay.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...model.errors import StopReason
from ...model.instance import Instance, Ints, Placement, Term
from ...model.outcome import Outcome
from ...model.solver import Control, Feature, Goal, Solver, Task
from ...model.splitmix import SplitMix64
from ..best import Best
from .starts import Tables, tables

PATIENCE = 100
"""The search ends after this many moves for each block without a gain: other engines find the rest sooner."""
ANEW = 20
"""After so many moves for each block without a gain, all start again at random addresses."""
LEAST_STAY, MORE_STAY = 5, 10
"""Moves before a block may go back, at least; and how many more may be drawn."""
NEVER = np.iinfo(np.int64).max
CHECK_EVERY = 16
"""Moves between two looks at the clock."""
WORK_OF_A_MOVE = 20
CELLS_PER_WORK = 200
"""Of the tables: so many are looked at in a microsecond."""


class Reuse(Solver):
    """Lowers the cost of reuse, where the objective asks for it first; proves nothing."""

    name: ClassVar[str] = "reuse"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best placement that moves lead to; the start, where something else comes first or there are too many addresses."""
        best = Best(self.name, instance, task, control)
        is_wanted = instance.weighs_reuse and instance.terms[0] is Term.REUSE_COST and task.goal is Goal.MINIMISE
        known = tables(instance) if is_wanted and not _is_enough(best) else None
        return best.outcome() if known is None else _Search(best, known).run()


def _is_enough(best: Best) -> bool:
    """Is the first term as low as need be?"""
    return best.value is not None and best.value[:1] <= best.task.enough[:1]


class _Search:
    """One run."""

    def __init__(self, best: Best, known: Tables) -> None:
        self.best, self.instance, self.task, self.tables = best, best.instance, best.task, known
        self.is_start = known.own == 0
        self.random = SplitMix64(best.task.seed)
        self.blocks = np.arange(best.instance.blocks)
        self.at, self.cost, self.total = self.blocks, known.own, 0
        """Where each block begins; (n, v) what a block pays if it begins there, with all others where they are; and what all pay."""
        self._set(self._first())
        self.freed = np.zeros_like(known.base)
        """(n, v) from which move on the block may begin there again."""

    def _first(self) -> Ints:
        """Each block where the start has it, or above: the start may lie between the addresses of the tables."""
        wanted = self.is_start
        if self.task.start is not None:
            above = wanted & (self.tables.base >= self.task.start.offset[:, None])
            wanted = np.where(above.any(axis=1)[:, None], above, wanted)
        first: Ints = wanted.argmax(axis=1)
        return first

    def _drawn(self) -> Ints:
        """Each block anywhere."""
        rows = map(np.flatnonzero, self.is_start)
        return np.array([row[self.random.below(len(row))] for row in rows], dtype=np.int64)

    def _set(self, at: Ints) -> None:
        known = self.tables
        self.at, self.cost = at, known.own + sum(known.pair[block, start] for block, start in enumerate(at))
        self.total = int(self.cost[self.blocks, at].sum()) // 2

    def run(self) -> Outcome:
        most, anew = PATIENCE * self.instance.blocks, ANEW * self.instance.blocks
        per_move = WORK_OF_A_MOVE + self.cost.size // CELLS_PER_WORK
        least = self.tables.clash
        if self.best.value is not None:
            least = min(least, self.best.value[0] - self._constant())
        stop, number, idle, work = None, 0, 0, self.tables.pair.size // CELLS_PER_WORK
        while stop is None:
            number, idle, work = number + 1, idle + 1, work + per_move
            if idle % anew:
                self._move(number, least - self.total)
            else:
                self._set(self._drawn())
            if self.total < least:
                least, idle = self.total, 0
                stop = self._keep()
            if stop is None and (idle > most or (self.task.limits.work or work) < work):
                stop = StopReason.WORK_LIMIT
            if stop is None and number % CHECK_EVERY == 0:
                stop = self.best.control.stopped()
        return self.best.outcome(stop, work)

    def _constant(self) -> int:
        """The cost between parts of one block, the same wherever it is; the tables leave it out."""
        block = self.instance.part_block
        low, high = self.instance.part_low, self.instance.part_high
        return sum(
            cost
            for a, b, cost in self.instance.penalties.tolist()
            if block[a] == block[b] and max(low[a], low[b]) < min(high[a], high[b])
        )

    def _move(self, number: int, gain: int) -> None:
        """Begin one block elsewhere. A gain of more than that much is always welcome."""
        change = self.cost - self.cost[self.blocks, self.at][:, None]
        is_free = (self.freed <= number) | (change < gain)
        is_free[self.blocks, self.at] = False
        if not is_free.any():
            return
        change = np.where(is_free, change, NEVER)
        equals = np.flatnonzero(change.reshape(-1) == change.min())
        block, start = divmod(int(equals[self.random.below(len(equals))]), change.shape[1])
        before = self.at[block]
        self.freed[block, before] = number + LEAST_STAY + self.random.below(MORE_STAY)
        self.cost += self.tables.pair[block, start] - self.tables.pair[block, before]
        self.at[block] = start
        self.total += int(change[block, start])

    def _keep(self) -> StopReason | None:
        """The best so far; a reason to stop if nobody needs a better one."""
        pool = np.zeros(self.instance.blocks, dtype=np.int64)
        self.best.offer(Placement(pool, self.tables.base[self.blocks, self.at]))
        return StopReason.PROVED if _is_enough(self.best) else None
