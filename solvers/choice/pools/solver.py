"""First the pools, then the addresses, behind the Solver protocol.

A 0-1 program that forgets addresses says who goes to which pool; it is nearly exact, and what it proves holds for every placement. Each pool of
its answer is then packed. Where that fails, the program is asked again with the pool's rows stretched a little, so that less goes there.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ...bounds.priced_room import can_price
from ...bounds.room_prices import Market, costs_by_pool
from ...heuristics.assign.from_prices import settled
from ...model.errors import StopReason
from ...model.instance import Instance, Ints, Placement
from ...model.libraries import ORTOOLS, Library
from ...model.objective import evaluate, peaks
from ...model.outcome import Certificate, Outcome, Proof, Value
from ...model.solver import Control, Feature, Goal, Solver, Task
from .asking import Asking
from .boxes import BoxSearch
from .crowds import Priced, prices_of
from .cutting import Pieces, prices_of_rows
from .packing import Packing
from .peaks import Choice, PeakSearch
from .program import Program, class_numbers, pools_of_classes, program_of
from .question import Answer, Question, Relaxed
from .windows import Windows

STRETCHES = (1, 4, 15, 30, 60, 120)
"""By how many thousandths a pool's rows are stretched, step by step, after it could not be packed."""
LARGE = 4_000
"""With more, the program as a whole takes too long, and is cut in time."""
MOST_BLOCKS = 40_000
"""With more, even one sweep takes too long."""
SECONDS_PER_BLOCK = 2e-4
"""What making the program of a large one takes at most; who has less time is left alone."""
WORK_OF_PACKING = 300_000
WORK_OF_PACKING_A_BLOCK = 300
SHARE = 2, 3
"""Of what is left a question may take so much: packing, and later questions, need some of it, too."""
SHARE_BESIDE_PEAKS = 1, 4
"""Where peaks are weighed, which is far harder, they are then searched for."""
SHARE_AT_FIRST = 1, 16
"""Before that, all that is easy is done."""
ROUNDS_AT_FIRST = 2
"""Of the linear program: without crowds, and with those of one each. That shows what crowds are worth."""
SHARE_OF_CROWDS = 2, 5
SHARE_OF_BOXES = 4, 5
SHARE_BEFORE_BOXES = 1, 6
"""Of what is left that search gets so much where boxes come after it,"""
LEAST_BOXES = 4
"""which they do where the relaxation could be solved so many times."""
GAIN_OF_CROWDS = 0.01
"""Where crowds raise the bound by less, the program that weighs peaks is worth asking for longer."""
SHARE_OF_PRICES = 1, 8
SHARE_OF_WINDOWS = 3, 5
"""Of a large instance's work. The rest is the bound's, and then the windows' again."""
MOST_WORK = 4_000_000
"""Where there is no limit."""


class PoolsFirst(Solver):
    """Chooses pools without addresses, proves how good any choice can be, and packs what it chose."""

    name: ClassVar[str] = "pools_first"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    libraries: ClassVar[tuple[Library, ...]] = (ORTOOLS,)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best placement within the limits; nothing where there is no choice of pools."""
        is_late = _is_late(instance, task)
        if not instance.has_choice or instance.blocks > MOST_BLOCKS or is_late:
            value = None if task.start is None else evaluate(instance, task.start)
            stop = StopReason.TIME_LIMIT if is_late else StopReason.WORK_LIMIT
            return Outcome(stop, task.start, value, task.bound, reproducible=stop.is_repeatable)
        run = _Run(instance, task, control)
        try:
            return run.run()
        finally:
            run.asking.close()


def _is_late(instance: Instance, task: Task) -> bool:
    """Is there less time left than it takes to write down the program of a large instance?"""
    deadline = task.limits.deadline
    if deadline is None or instance.blocks <= LARGE:
        return False
    return deadline - time.monotonic() < SECONDS_PER_BLOCK * instance.blocks


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
        self.relaxed: dict[int, Relaxed | None] = {}
        """By term."""
        self.is_known = False
        """Was the last question answered in full?"""

    def run(self) -> Outcome:
        if self.instance.blocks > LARGE:
            self._by_windows()
            return self._outcome()
        for index in range(len(self.program.terms)):
            self._minimise(index)
            if self.infeasible or self._is_over():
                break
        return self._outcome()

    def _by_windows(self) -> None:
        """The first term's bound piece by piece, and every term lowered window by window."""
        program = self.program
        if not program.terms or not program.rows:
            return
        if can_price(self.instance):
            market = Market(self.instance)
            limits = replace(self.task.limits, work=self._share(*SHARE_OF_PRICES))
            prices, work, _ = market.haggle(None, replace(self.task, limits=limits), self.control)
            found, packing = settled(self.instance, market.asked(prices))
            self.packing.work += work + packing
            self._take(found)
            self._improve(0, self._share(*SHARE_OF_WINDOWS))
            if not self._is_over() and not any(program.terms[0].of_peaks):  # a peak is one of all pieces
                pieces = Pieces(program, self.asking, prices_of_rows(program, market.sections, prices))
                bound = pieces.bound(self._share(*SHARE) or MOST_WORK)
                stop = None if bound is None else self.asking.stop or StopReason.WORK_LIMIT
                self._learn(0, Answer(None, None, bound, stop))
        for index in range(len(program.terms)):
            self._improve(index, self._left())

    def _improve(self, index: int, work: int | None) -> None:
        """Window by window, as far as that goes: with the peaks as they are, nothing is to be gained where only they count."""
        if self.best is None or self._is_over() or not any(map(any, self.program.terms[index].of_homes)):
            return
        terms = self.program.terms[: index + 1]
        tops = tuple(
            peak if any(term.of_peaks[p] or term.is_largest for term in terms) else None
            for p, peak in enumerate(peaks(self.instance, self.best))
        )
        windows = Windows(self.instance, self.program, self.number, self.asking, self.packing, self.best)

        def better() -> bool:
            self._take(windows.placement)
            return not self._is_over()

        windows.improve(index, tops, MOST_WORK if work is None else work, better)

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
                break
        if not self._is_settled(index):
            self._improve(index, self._share(*SHARE_OF_WINDOWS))

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
        if not weighs_peaks:
            return self._asked(question, is_exact, *SHARE)
        found = self._asked(question, is_exact, *SHARE_AT_FIRST)
        if not self.is_known:
            relaxed = self._relaxed(index)
            has_crowds = relaxed is not None and relaxed.gain >= GAIN_OF_CROWDS
            has_boxes = has_crowds and is_exact and not index and self._can_look_at_boxes(relaxed)
            if not has_crowds:
                found = [*self._asked(question, is_exact, *SHARE_BESIDE_PEAKS), *found]
            if not self.is_known:
                share = self._share(*(SHARE_BEFORE_BOXES if has_boxes else SHARE))
                found = self._with_given_peaks(question, found, share)
                found = self._by_boxes(question, found) if has_boxes else found
        return found

    def _can_look_at_boxes(self, relaxed: Relaxed | None) -> bool:
        """Is there work for more than a few, and is the height of what is live the peak itself?"""
        left = self._left()
        is_small = relaxed is not None and (left is None or relaxed.work * LEAST_BOXES <= left)
        return is_small and not any(room.reserved for room in self.program.rooms)

    def _asked(self, question: Question, is_exact: bool, part: int, of: int) -> list[Choice]:
        """The program's answer within that part of the work, if it is better than what is known."""
        answer = self.asking.ask(self.program, question, self._share(part, of))
        self.is_known = answer.stopped is None
        if is_exact:
            self._learn(question.term, answer)
        if (
            answer.pools is None
            or answer.value is None
            or (question.most is not None and answer.value >= question.most)
        ):
            return []
        return [Choice(answer.value, self.program.least_tops(answer.pools), answer.pools)]

    def _relaxed(self, index: int) -> Relaxed | None:
        """The linear program, solved once for each term; where crowds gain much, with more work, for the bound."""
        if index not in self.relaxed:
            self.relaxed[index] = found = self._relax(index, ROUNDS_AT_FIRST)
            if found is not None and found.gain >= GAIN_OF_CROWDS and not index:
                further = self._relax(index, None)
                if further is not None:
                    self.relaxed[index] = replace(further, gain=found.gain)
        return self.relaxed[index]

    def _relax(self, index: int, rounds: int | None) -> Relaxed | None:
        """The linear program, within its share of the work, and what its prices prove of the first term."""
        held = () if self.value is None else self.value[:index]
        found = self.asking.relax(self.program, held, (), self._share(*SHARE_OF_CROWDS) or MOST_WORK, rounds)
        if found is not None and not index:
            bound = Priced(self.program, prices_of(found.of_rows, found.of_crowds)).bound
            self._learn(0, Answer(None, None, bound, StopReason.WORK_LIMIT))
        return found

    def _by_boxes(self, question: Question, found: list[Choice]) -> list[Choice]:
        """Better ones still, and what is proven of the first term, where heights and peaks are the same."""
        best = min((value for value in (question.most, *(c.value for c in found)) if value is not None), default=None)
        if best is None or self._is_over():
            return found
        work = self._share(*SHARE_OF_BOXES) or MOST_WORK
        search = BoxSearch(self.program, self.asking, replace(question, near=None), best, work)
        bound = search.run(self.bound[0] if self.bound else 0)
        self._learn(0, Answer(None, None, bound, StopReason.WORK_LIMIT))
        return [*search.found, *found]

    def _with_given_peaks(self, question: Question, found: list[Choice], work: int | None) -> list[Choice]:
        """The same where peaks are not weighed but searched for."""
        best = min((value for value in (question.most, *(c.value for c in found)) if value is not None), default=None)
        starts = [choice.tops for choice in found]
        relaxed = self._relaxed(question.term)
        if relaxed is not None:
            starts.append(relaxed.peaks)
        if self.best is not None:
            starts.append(peaks(self.instance, self.best))
        search = PeakSearch(self.program, self.asking, replace(question, near=None), best, work or MOST_WORK)
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
