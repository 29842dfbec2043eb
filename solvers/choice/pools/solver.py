"""First the pools, then the addresses, behind the Solver protocol.

A 0-1 program that forgets addresses says who goes to which pool; it is nearly exact, and what it proves holds for every placement. Each pool of
its answer is then packed. Where that fails, the program is asked again with the pool's rows stretched a little, so that less goes there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ...bounds.room_prices import costs_by_pool
from ...heuristics.assign.from_prices import settled
from ...model.errors import StopReason
from ...model.instance import Instance, Ints, Placement
from ...model.libraries import ORTOOLS, Library
from ...model.objective import evaluate, peaks
from ...model.outcome import Certificate, Outcome, Proof, Value
from ...model.solver import Control, Feature, Goal, Solver, Task
from .asking import Asking
from .packing import Packing
from .peaks import Choice, PeakSearch
from .program import Program, class_numbers, pools_of_classes, program_of
from .question import Answer, Question

STRETCHES = (1, 4, 15, 30, 60, 120)
"""By how many thousandths a pool's rows are stretched, step by step, after it could not be packed."""
MOST_BLOCKS = 4_000
"""With more, the program as a whole takes too long."""
WORK_OF_PACKING = 300_000
WORK_OF_PACKING_A_BLOCK = 300
SHARE = 2, 3
"""Of what is left a question may take so much: packing, and later questions, need some of it, too."""
SHARE_BESIDE_PEAKS = 1, 4
"""Where peaks are weighed, which is far harder, they are then searched for."""
MOST_WORK = 4_000_000
"""Where there is no limit."""


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

    def _share(self, part: int, of: int) -> int | None:
        """A part of what is left."""
        left = self._left()
        return None if left is None else left * part // of

    def _is_over(self) -> bool:
        if self.value is not None and (self.value <= self.task.enough or self.task.goal is Goal.FIT):
            return True
        left = self._left()
        return left == 0 or self.asking.stop is not None or self.control.stopped() is not None

    def _minimise(self, index: int) -> None:
        """Lower one term, with the earlier ones no worse than they are."""
        if index and self.value is None:
            return
        stretch = [0] * len(self.instance.pools)
        while not self._is_over() and not self._is_settled(index):
            choices = self._choices(index, tuple(stretch))
            missed = self._pack_best(index, choices)
            if not missed or not self._stretch(stretch, missed):
                return

    def _choices(self, index: int, stretch: tuple[int, ...]) -> list[Choice]:
        """The program's best choices of pools, best first, as far as they are better than what is known."""
        is_exact = not any(stretch) and self._is_proven(index)
        most = None if self.value is None else self.value[index]
        question = Question(
            index,
            held=() if self.value is None else self.value[:index],
            least=self.bound[index] if is_exact and len(self.bound) > index else None,
            most=most,
            stretch=stretch,
            near=pools_of_classes(self.number, self.best) if index and is_exact and self.best is not None else None,
        )
        terms = self.program.terms[: index + 1]
        weighs_peaks = any(any(term.of_peaks) for term in terms) and not any(term.is_largest for term in terms)
        answer = self.asking.ask(self.program, question, self._share(*(SHARE_BESIDE_PEAKS if weighs_peaks else SHARE)))
        if is_exact:
            self._learn(index, answer)
        found = []
        if answer.pools is not None and answer.value is not None and (most is None or answer.value < most):
            found.append(Choice(answer.value, self.program.least_tops(answer.pools), answer.pools))
        if answer.stopped is not None and weighs_peaks:
            found = self._with_given_peaks(question, found)
        return found

    def _with_given_peaks(self, question: Question, found: list[Choice]) -> list[Choice]:
        """The same where peaks are not weighed but searched for."""
        best = min((value for value in (question.most, *(c.value for c in found)) if value is not None), default=None)
        starts = [choice.tops for choice in found]
        relaxed = self.asking.peaks_of_relaxation(
            self.program, question.held, self._share(*SHARE_BESIDE_PEAKS) or MOST_WORK
        )
        if relaxed is not None:
            starts.append(relaxed)
        if self.best is not None:
            starts.append(peaks(self.instance, self.best))
        search = PeakSearch(
            self.program, self.asking, replace(question, near=None), best, self._share(*SHARE) or MOST_WORK
        )
        return [*search.run(starts), *found]

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

    def _pack_best(self, index: int, choices: list[Choice]) -> list[int]:
        """Pack them until none that is left can be better; the pools of the first that do not hold what the program gave them."""
        missed: list[int] = []
        for number, choice in enumerate(choices):
            if self.value is not None and len(self.value) > index and choice.value >= self.value[index] and number:
                break
            not_held = self._pack(index, choice)
            missed = missed if number else not_held
        return missed

    def _pack(self, index: int, choice: Choice) -> list[int]:
        """Pack the choice; the pools that do not hold what the program gave them, or end higher than it thought."""
        terms = self.program.terms[: index + 1]
        counted = [p for p in range(len(self.instance.pools)) if any(t.of_peaks[p] or t.is_largest for t in terms)]
        work = WORK_OF_PACKING + WORK_OF_PACKING_A_BLOCK * self.instance.blocks
        left = self._left()
        pools = np.array(choice.pools, dtype=np.int64)[self.number]
        placement, unfit = self.packing.pack(pools, frozenset(counted), work if left is None else min(work, left))
        if placement is None:
            self._take(self._with_room_elsewhere(pools))
            return unfit
        value = self._take(placement)
        if value[index] <= choice.value:
            return []
        return [p for p in counted if peaks(self.instance, placement)[p] > choice.tops[p]]

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
