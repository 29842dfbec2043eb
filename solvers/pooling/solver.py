"""First the pools, then the addresses, behind the Solver protocol.

A 0-1 program that forgets addresses says who goes to which pool; it is nearly exact, and what it proves holds for every placement. Each pool of
its answer is then packed. Where that fails, the program is asked again with the pool's rows stretched a little, so that less goes there.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..bounds.room_prices import costs_by_pool
from ..heuristics.assign.from_prices import settled
from ..model.errors import StopReason
from ..model.instance import Instance, Ints, Placement
from ..model.libraries import ORTOOLS, Library
from ..model.objective import evaluate, peaks
from ..model.outcome import Certificate, Outcome, Proof, Value
from ..model.solver import Control, Feature, Goal, Solver, Task
from .asking import Asking
from .packing import Packing
from .program import Pools, Program, class_numbers, pools_of_classes, program_of
from .question import Answer, Question

STRETCHES = (1, 4, 15, 30, 60, 120)
"""By how many thousandths a pool's rows are stretched, step by step, after it could not be packed."""
MOST_BLOCKS = 4_000
"""With more, the program as a whole takes too long."""
WORK_OF_PACKING = 300_000
WORK_OF_PACKING_A_BLOCK = 300
FIRST_WORK = 400_000


class PoolsFirst(Solver):
    """Chooses pools without addresses, proves how good any choice can be, and packs what it chose."""

    name: ClassVar[str] = "pools_first"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    libraries: ClassVar[tuple[Library, ...]] = (ORTOOLS,)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best placement within the limits; nothing where there is no choice of pools."""
        if not instance.has_choice or instance.blocks > MOST_BLOCKS:
            value = None if task.start is None else evaluate(instance, task.start)
            return Outcome(StopReason.WORK_LIMIT, task.start, value, task.bound)
        run = _Run(instance, task, control)
        try:
            return run.run()
        finally:
            run.asking.close()


class _Run:
    """One run."""

    def __init__(self, instance: Instance, task: Task, control: Control) -> None:
        self.instance, self.task, self.control = instance, task, control
        self.program: Program = program_of(instance)
        self.asking = Asking(task.limits, task.seed, control)
        self.packing = Packing(instance, task, control)
        self.best: Placement | None = task.start
        self.value: Value | None = None if task.start is None else evaluate(instance, task.start)
        self.bound: Value = task.bound
        self.infeasible = False
        self.has_found = self.has_proven = False
        self.number = class_numbers(instance)

    def run(self) -> Outcome:
        for index in range(len(self.program.terms)):
            self._minimise(index)
            if self.infeasible or self._is_over():
                break
        return self._outcome()

    @property
    def work(self) -> int:
        return self.asking.work + self.packing.work

    def _left(self) -> int | None:
        return None if self.task.limits.work is None else max(self.task.limits.work - self.work, 0)

    def _work_to_ask(self) -> int | None:
        """Packing, and later questions, need some of it, too."""
        left = self._left()
        return None if left is None else left * 2 // 3

    def _is_over(self) -> bool:
        if self.value is not None and (self.value <= self.task.enough or self.task.goal is Goal.FIT):
            return True
        left = self._left()
        return left == 0 or self.asking.stop is not None or self.control.stopped() is not None

    def _minimise(self, index: int) -> None:
        """Lower one term, with the earlier ones no worse than they are."""
        held = () if self.value is None else self.value[:index]
        if len(held) < index:
            return
        stretch = [0] * len(self.instance.pools)
        while not self._is_over() and not self._is_settled(index):
            is_exact = not any(stretch) and self._is_proven(index)
            most = None if self.value is None else self.value[index]
            least = self.bound[index] if is_exact and len(self.bound) > index else None
            near = pools_of_classes(self.number, self.best) if index and is_exact and self.best is not None else None
            question = Question(index, held, least, most, tuple(stretch), near=near)
            answer = self.asking.ask(self.program, question, self._work_to_ask())
            if is_exact:
                self._learn(index, answer)
            if answer.pools is None or answer.value is None or (most is not None and answer.value >= most):
                return
            pools = np.array(answer.pools, dtype=np.int64)[self.number]
            missed = self._pack(index, answer, pools)
            if not missed or not self._stretch(stretch, missed):
                return

    def _is_proven(self, index: int) -> bool:
        """Are the earlier terms at their least?"""
        return index == 0 or (self.value is not None and self.bound[:index] == self.value[:index])

    def _is_settled(self, index: int) -> bool:
        return self.value is not None and self.bound[: index + 1] == self.value[: index + 1]

    def _learn(self, index: int, answer: Answer) -> None:
        """What the answer proves of the term, the earlier ones being at their least."""
        if answer.is_impossible:
            if self.value is None:
                self.infeasible = True
                return
            proven = self.value[index]  # nothing is better
        elif answer.bound is None:
            return
        else:
            proven = answer.bound
        if self.value is not None:
            proven = min(proven, self.value[index])
        bound = (*(() if self.value is None else self.value[:index]), proven)
        if bound > self.bound:
            self.bound, self.has_proven = bound, True
            self.control.bound(bound)

    def _pack(self, index: int, answer: Answer, pools: Ints) -> list[int]:
        """Pack the answer; the pools that do not hold what the program gave them, or end higher than it thought."""
        terms = self.program.terms[: index + 1]
        counted = [p for p in range(len(self.instance.pools)) if any(t.of_peaks[p] or t.is_largest for t in terms)]
        work = WORK_OF_PACKING + WORK_OF_PACKING_A_BLOCK * self.instance.blocks
        left = self._left()
        placement, unfit = self.packing.pack(pools, frozenset(counted), work if left is None else min(work, left))
        if placement is None:
            self._take(self._with_room_elsewhere(pools))
            return unfit
        value = self._take(placement)
        if answer.value is not None and value[index] <= answer.value:
            return []
        loads = self._loads(answer.pools or ())
        return [p for p in counted if peaks(self.instance, placement)[p] > loads[p]]

    def _take(self, placement: Placement | None) -> Value:
        """Keep it if it is better; what it is worth."""
        if placement is None:
            return ()
        value = evaluate(self.instance, placement)
        if self.value is None or value < self.value:
            self.best, self.value, self.has_found = placement, value, True
            self.control.incumbent(placement)
        return value

    def _with_room_elsewhere(self, pools: Ints) -> Placement | None:
        """The choice as far as it can be packed at once; who finds no room goes where it costs least."""
        wanted = costs_by_pool(self.instance, self.number, len(self.program.homes))
        wanted[self.number, pools] = wanted.min(axis=1)[self.number] - 1.0
        placement, work = settled(self.instance, wanted)
        self.packing.work += work
        return placement

    def _loads(self, pools: Pools) -> list[int]:
        """Of each pool, the least peak that its rows allow."""
        loads = [room.lowest for room in self.program.rooms]
        for row in self.program.rows:
            total = row.always + sum(units for group, units in row.members if pools[group] == row.pool)
            loads[row.pool] = max(loads[row.pool], total - self.program.rooms[row.pool].spare)
        return loads

    def _stretch(self, stretch: list[int], missed: list[int]) -> bool:
        """The next step for these pools; False if there is none."""
        for p in missed:
            further = [step for step in STRETCHES if step > stretch[p]]
            if not further:
                return False
            stretch[p] = further[0]
        return True

    def _outcome(self) -> Outcome:
        stop = StopReason.WORK_LIMIT
        if self.infeasible or (self.value is not None and self.value == self.bound):
            stop = StopReason.PROVED
        elif self.value is not None and self.task.goal is Goal.FIT:
            stop = StopReason.GOAL_MET
        elif (cut := self.control.stopped() or self.asking.stop) is not None:
            stop = cut
        proof = Certificate(Proof.SEARCH, self.bound[0] if self.bound else 0, solver=PoolsFirst.name)
        return Outcome(
            stop=stop,
            placement=self.best,
            value=self.value,
            bound=self.bound,
            certificates=(proof,) if self.has_proven else (),
            infeasible=self.infeasible,
            solver=PoolsFirst.name if self.has_found or self.infeasible else None,
            work=self.work,
            reproducible=stop.is_repeatable,
        )
