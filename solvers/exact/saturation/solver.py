"""The search by saturation as a solver: asks, for sizes as they are and rounded down to multiples of a length, whether there is room below a height.

Addresses rounded down to multiples of a length keep blocks apart that conflict, if sizes are rounded down, too. So if there is no room for sizes that
are rounded down, there is none for the blocks; and of few multiples that is soon known. There alignments, reserved ranges and limits count for nothing,
and blocks of several parts for their parts.
"""

from __future__ import annotations

from math import gcd
from typing import ClassVar

import numpy as np

from ...bounds.conflicts.weights import MOST_PAIRS, lengths_of
from ...model.conflicts import live_pair_count, part_pairs
from ...model.errors import StopReason, Unsupported
from ...model.instance import Instance, Placement
from ...model.linear_terms import least_peak_of, value_of_peak
from ...model.objective import evaluate
from ...model.outcome import Certificate, Outcome, Proof
from ...model.solver import ONE_PEAK, Control, Feature, Goal, Solver, Task
from .search import Found, place_below

MOST_CELLS = 16_384
"""With more addresses below the height operations on them take too long."""
OPERATIONS_PER_WORK = 3
WORK_PER_QUESTION = 50
LEAST_WORK = 200
FIRST_SHARE, GROWTH = 40, 3
"""Each question first gets such a part of the work, and so many times as much each time it comes again."""
WORK_OF_FIRST = 20_000
"""The same if there is no limit."""


class Saturation(Solver):
    """From the bound upwards for each length, and downwards from the best placement for sizes as they are."""

    name: ClassVar[str] = "saturation"
    features: ClassVar[frozenset[Feature]] = ONE_PEAK

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        if len(instance.pools) != 1 or instance.weighs_reuse or instance.weighs_moves:
            raise Unsupported(self.name, "it takes one pool and its peak alone")
        if live_pair_count(instance) + len(instance.conflicts) > MOST_PAIRS:
            raise Unsupported(self.name, f"more than {MOST_PAIRS} pairs conflict")
        if len(instance.apart) or not instance.allowed.all():
            return Outcome(StopReason.PROVED, infeasible=True, solver=self.name)
        return _Run(instance, task, control).run()


class _Run:
    """One run: what is known of the peak, and the work that is left."""

    def __init__(self, instance: Instance, task: Task, control: Control) -> None:
        self._instance, self._task, self._control = instance, task, control
        self._known = max(task.pool_bounds[0] if task.pool_bounds else 0, least_peak_of(instance, task.bound))
        self._bound = self._known
        self._best = task.start
        self._ceiling = int((instance.highest[:, 0] + instance.block_high).max(initial=0))
        self._peak = self._ceiling + 1 if task.start is None else instance.end_of(task.start.offset)
        """No placement is known below it."""
        self._left, self._work = task.limits.work, 0
        self._sizes = (instance.part_high - instance.part_low).tolist()
        self._unit = gcd(*self._sizes) or 1
        """Plain blocks need no other addresses than multiples of it."""
        self._rivals: list[list[int]] = [[] for _ in self._sizes]
        for a, b in part_pairs(instance).tolist():
            self._rivals[a].append(b)
            self._rivals[b].append(a)
        for others in self._rivals:
            others.sort()
        self._asked: dict[tuple[int, int], int | None] = {}
        """How much work each question had; None: there is room."""

    def run(self) -> Outcome:
        goal = max(self._known, least_peak_of(self._instance, self._task.target))
        lengths = lengths_of([size for size in self._sizes if size] or [1])
        share = WORK_OF_FIRST if self._left is None else max(self._left // FIRST_SHARE, LEAST_WORK)
        while not (stop := self._reason_to_stop(goal)):
            before = self._work
            for length in lengths:
                self._ask_upwards(length, share, goal)
            self._ask_downwards(share, goal)
            if self._work == before:
                stop = StopReason.WORK_LIMIT  # nothing is left to ask
                break
            share *= GROWTH
        return self._outcome(stop)

    def _reason_to_stop(self, goal: int) -> StopReason | None:
        if self._bound >= self._peak or (self._best is not None and self._peak <= goal):
            return StopReason.PROVED
        if self._task.goal is Goal.FIT and self._best is not None:
            return StopReason.GOAL_MET
        if self._left is not None and self._left - self._work < LEAST_WORK:
            return StopReason.WORK_LIMIT
        return self._control.stopped()

    def _ask_upwards(self, length: int, share: int, goal: int) -> None:
        """Refute heights from the bound upwards until there is room for sizes of this length, or the share is not enough."""
        while not self._reason_to_stop(goal):
            height = self._bound // length
            if height > (self._peak - 1) // length or self._ask(length, height, share) is not False:
                return

    def _ask_downwards(self, share: int, goal: int) -> None:
        """Look for lower and lower placements until the share is not enough."""
        while self._is_plain(self._peak - 1) and not self._reason_to_stop(goal):
            if self._ask(self._unit, (self._peak - 1) // self._unit, share) is not True:
                return

    def _ask(self, length: int, height: int, share: int) -> bool | None:
        """Is there room for the sizes below so many multiples of the length? None: unknown, or known before."""
        had = self._asked.get((length, height), 0)
        if had is None or had >= share or height > MOST_CELLS:
            return None
        most = share if self._left is None else min(share, self._left - self._work)
        sizes = [size // length for size in self._sizes]
        found = place_below(height, sizes, self._rivals, most * OPERATIONS_PER_WORK, self._control.stopped)
        self._work += WORK_PER_QUESTION + found.operations // OPERATIONS_PER_WORK
        self._asked[length, height] = share
        if not found.is_sure:
            return None
        if found.offsets is None:
            self._refute((height + 1) * length)
            return False
        self._asked[length, height] = None
        if length == self._unit and self._is_plain(height * length):
            self._take(found)
        return True

    def _is_plain(self, height: int) -> bool:
        """Are blocks single parts that may begin wherever they end below the height?"""
        it = self._instance
        return bool(
            len(it.part_block) == it.blocks
            and not len(it.pools[0].reserved)
            and (it.part_low == 0).all()
            and (it.modulus == 1).all()
            and (it.lowest <= 0).all()
            and ((it.highest[:, 0] + it.block_high) >= height).all()
        )

    def _take(self, found: Found) -> None:
        assert found.offsets is not None
        offset = np.zeros(self._instance.blocks, dtype=np.int64)
        offset[self._instance.part_block] = np.array(found.offsets, dtype=np.int64) * self._unit
        peak = self._instance.end_of(offset)
        if peak < self._peak:
            self._best, self._peak = Placement.in_one_pool(offset), peak
            self._control.incumbent(self._best)

    def _refute(self, bound: int) -> None:
        if bound > self._bound:
            self._bound = bound if self._best is None else min(bound, self._peak)
            self._control.bound(value_of_peak(self._instance, self._bound))

    def _outcome(self, stop: StopReason) -> Outcome:
        it, name = self._instance, Saturation.name
        if self._best is None and self._bound > self._ceiling:
            return Outcome(StopReason.PROVED, infeasible=True, solver=name, work=self._work)
        return Outcome(
            stop,
            placement=self._best,
            value=None if self._best is None else evaluate(it, self._best),
            bound=value_of_peak(it, self._bound),
            pool_bounds=(self._bound,),
            certificates=(Certificate(Proof.SEARCH, self._bound, pool=0, solver=name),)
            if self._bound > self._known
            else (),
            solver=name,
            work=self._work,
            reproducible=stop.is_repeatable,
        )
