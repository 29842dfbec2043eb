"""What is known in one run: the best placement, what is proven, and how much of the work is left."""

from __future__ import annotations

from ....bounds.prices.priced_room import can_price, proof_of
from ....model.errors import StopReason
from ....model.instance import Instance, Placement
from ....model.objective import evaluate
from ....model.outcome import Certificate, Outcome, Proof, Value
from ....model.solver import Control, Goal, Task
from .. import budget
from ..budget import Share
from ..placing.clashes import Clashes
from ..placing.packing import Packing
from ..prices.crowds import Relaxed
from ..prices.fullest_rows import FullestRows, SomeRows
from ..prices.proving import certificate_of
from ..prices.relaxation import bound_of
from ..program.program import Program
from ..questions.asking import Asking
from ..questions.question import Answer, Question
from ..searches.boxes import BoxSearch
from ..searches.peaks import Choice, are_peaks_after_choice

NAME = "pools_first"


class Standing:
    """Of one instance and its program."""

    def __init__(self, instance: Instance, program: Program, task: Task, control: Control) -> None:
        self.instance, self.program, self.task, self.control = instance, program, task, control
        self.asking = Asking(task.limits, task.seed, control)
        self.asking.left = self._left
        self.packing = Packing(instance, task, control)
        self.packing.work += budget.PROGRAM_PER_ENTRY * self.asking.joined(program)
        self.best: Placement | None = task.start
        self.value: Value | None = None if task.start is None else evaluate(instance, task.start)
        self.bound: Value = task.bound
        self.infeasible = False
        self.has_found = self.has_proven = False
        self.has_chosen = False
        """Did what is best come of a choice, so that questions may begin with it?"""
        self.number = instance.class_number
        self.clashes = Clashes(program, self.number, self.asking, self.packing)
        self.priced = dict[int, Certificate]()
        """The best proof by prices, by term; of later terms with the earlier ones no higher than they were then."""
        self.proven = dict[int, tuple[Value, int]]()
        """What the program proves of each term: the earlier ones' values then, and the bound where they are no higher."""
        self.foreseen = dict[int, int]()
        """The work that the linear program of a term gets at least if it is needed for a proof."""
        self.asked = dict[int, int]()
        """The work of questions about the program as a whole, by term."""
        self.in_some_pools = set[int]()
        """The terms for which all in some of many pools was chosen again."""
        self.kept = 0
        """The work that is kept for what comes at the end."""
        self.is_known = False
        """Was the last question answered in full?"""

    @property
    def work(self) -> int:
        return self.asking.work + self.packing.work

    def _left(self) -> int | None:
        return None if self.task.limits.work is None else max(self.task.limits.work - self.work - self.kept, 0)

    def _share(self, share: Share) -> int | None:
        """A part of what is left; never 0, so that it is not taken for no limit."""
        left = self._left()
        return None if left is None else max(left * share.part // share.of, 1)

    def _some(self, share: Share) -> int:
        """The same; where there is no limit, so much that it ends."""
        work = self._share(share)
        return budget.WITHOUT_LIMIT if work is None else work

    def _earlier(self, index: int) -> Value:
        """The values of the terms before this one."""
        return () if self.value is None else self.value[:index]

    def _is_over(self) -> bool:
        return self._is_stopped() or self._left() == 0

    def _is_stopped(self) -> bool:
        """Is it over, whatever is left of the work?"""
        if self.value is not None and (self.value <= self.task.enough or self.task.goal is Goal.FIT):
            return True
        return self.asking.stop is not None or self.control.stopped() is not None

    def _is_settled(self, index: int) -> bool:
        return self.value is not None and self.bound[: index + 1] == self.value[: index + 1]

    def _is_finished(self, index: int) -> bool:
        """Is the term at its least, or so close that what is left of the work is better spent on the next one?"""
        if self._is_settled(index):
            return True
        left = self._left()
        if self.value is None or left is None or not self._has_floors(index + 1):
            return False
        return self._is_close(index, self.value[index]) and left * budget.KEPT_FOR_FLOORS <= (
            self.task.limits.work or 0
        )

    def _is_close(self, index: int, value: int) -> bool:
        """Is such a value of the term hardly above what is proven of it?"""
        return self._is_within(index, value, budget.CLOSE)

    def _is_within(self, index: int, value: int, parts: int) -> bool:
        """Is such a value above what is proven of the term by no more than one part in so many?"""
        known = self._known(index)
        return known is not None and (value - known) * parts <= known

    def _is_reached(self, index: int, parts: int) -> bool:
        """Is the best placement's value so near to what is proven of the term?"""
        return self.value is not None and self._is_within(index, self.value[index], parts)

    def _is_near(self, index: int) -> bool:
        """Is little open of this term, and the next one bounded pool by pool?"""
        if self.value is None or not self._has_floors(index + 1):
            return False
        return self._is_within(index, self.value[index], budget.NEARLY)

    def _has_floors(self, index: int) -> bool:
        """Is this a term that is bounded pool by pool?"""
        return False

    def _are_peaks_after_choice(self, index: int) -> bool:
        """Is this a term of peaks alone after one that the choice decides?"""
        return index < len(self.program.terms) and are_peaks_after_choice(self.program, index)

    def _known(self, index: int) -> int | None:
        """The bound of the term where the earlier ones are no higher than they are; None: nothing is proven."""
        earlier = self._earlier(index)
        if self._is_bounded(index, earlier):
            return self.bound[index]
        return self._least_of_program(index)

    def _is_bounded(self, index: int, earlier: Value) -> bool:
        """Is the bound one of this term, too, with the earlier ones at these values?"""
        return self.bound[:index] == earlier and len(self.bound) > index

    def _least_of_program(self, index: int) -> int | None:
        """The same, by the program alone: its choices may well be below other bounds, since it knows no addresses."""
        held, proven = self.proven.get(index, ((), None))
        earlier = self._earlier(index)
        is_held = all(value <= most for value, most in zip(earlier, held, strict=False))
        return proven if is_held and len(held) == index else None

    @staticmethod
    def _better(question: Question, found: list[Choice]) -> list[Choice]:
        """Those that are better than what is known."""
        return [choice for choice in found if question.most is None or choice.value < question.most]

    def _ask(self, question: Question, is_exact: bool, share: Share, most: int | None = None) -> list[Choice]:
        """The program's answer within that part of the work, and this much, if it is better than what is known."""
        before = self.asking.work
        work = min((each for each in (self._share(share), most) if each is not None), default=None)
        question, upto = self._within_heights(question)
        answer = self.asking.ask(self.program, question, work)
        self.asked[question.term] = self.asked.get(question.term, 0) + self.asking.work - before
        self.is_known = answer.stopped is None
        if is_exact:
            self._learn(question.term, answer, upto)
        if (
            answer.pools is None
            or answer.value is None
            or (question.most is not None and answer.value >= question.most)
        ):
            return []
        return [Choice(answer.value, self.program.least_tops(answer.pools), answer.pools)]

    def _relax(self, index: int, rounds: int | None, share: Share) -> Relaxed | None:
        """The linear program, within its share of the work, and what its prices prove of the term, if the earlier ones are at their least."""
        return self._relax_within(index, rounds, self._some(share))

    def _relax_within(self, index: int, rounds: int | None, work: int) -> Relaxed | None:
        held = self._earlier(index)
        found = self.asking.relax(self.program, held, work, rounds)
        if found is not None:
            self._learn_prices(index, found, held)
        return found

    def _relax_some(self, index: int, rows: SomeRows, rounds: int | None, work: int) -> Relaxed | None:
        """The same with some rows alone."""
        self.packing.work += self.program.entries // budget.SETTLED_A_UNIT
        held = self._earlier(index)
        found = self.asking.relax(rows.program, held, work, rounds)
        if found is not None:
            self._learn_prices(index, rows.in_whole(found), held)
        return found

    def _learn_prices(self, index: int, relaxed: Relaxed, held: Value) -> None:
        """What the prices of a linear program prove of the term, with the earlier ones no higher than they are held."""
        if self._takes_prices(index):
            self._keep(index, certificate_of(self.instance, self.program, self.number, relaxed, held))
        self._learn_bound(index, bound_of(self.program, relaxed, held))

    def _keep_for_second(self) -> None:
        """Keep work for the bound of a second term of peaks alone, even if hardly any is left."""
        if self._are_peaks_after_choice(1):
            part, of = budget.SECOND
            most = (self.task.limits.work or budget.WITHOUT_LIMIT) * part // of
            self.kept = min(most, budget.SECOND_PER_ENTRY * self.program.entries)

    def _bound_second(self, relaxed: Relaxed | None) -> None:
        """Bound such a term where the first one, whose linear program this is, is no greater than it is; with what was kept for that."""
        work, self.kept = self.kept, 0
        if not work or relaxed is None or self.value is None or self._is_stopped() or self._is_settled(1):
            return
        held, rows = self.value[:1], FullestRows(self.program, relaxed)
        self.packing.work += self.program.entries // budget.SETTLED_A_UNIT
        found = self.asking.relax_at_once(rows.program, held, rows.crowds, work)
        if found is not None:
            self._learn_prices(1, rows.in_whole(found), held)

    def _takes_prices(self, index: int) -> bool:
        """Can prices with crowds prove something of the term?"""
        return index > 0 or (can_price(self.instance) and proof_of(self.instance) is Proof.PRICED_ROOM)

    def _price_proofs(self) -> None:
        """Look for prices where only a solver's word says that a term is at its least: anybody can add them up again."""
        most = max(self.work, budget.PROOF_PER_ENTRY * self.program.entries)
        for index, term in enumerate(self.program.terms):
            if term.is_largest or self.value is None or not self._is_settled(index) or self._is_over():
                return
            known = self.priced.get(index)
            is_open = known is None or not self._is_well_priced(index, known.value)
            if self.value[index] and is_open and self._takes_prices(index):
                foreseen = min(self.foreseen.get(index, 0), self._some(budget.WHOLE))
                self._relax_within(index, None, max(min(self._some(budget.PROOF), most), foreseen))

    def _is_well_priced(self, index: int, known: int) -> bool:
        """Is what prices prove of the term so good that no better ones are looked for?"""
        return self.value is not None and known >= self.value[index]

    def _foresee_prices(self, index: int) -> None:
        """Another worker may solve the linear program that is needed for covers, or in the end for a proof."""
        is_settled = not index or self._is_settled(index - 1)
        if is_settled and not self.program.terms[index].is_largest and self._takes_prices(index):
            work = min(self._some(budget.PROOF), budget.PROOF_PER_ENTRY * self.program.entries)
            self.foreseen[index] = work
            held = self._earlier(index)
            if work > budget.RELAXATION_PER_ENTRY * self.program.entries:
                self.asking.foresee_relaxed(self.program, held, work)

    def _can_look_at_boxes(self, relaxed: Relaxed | None, least: int) -> bool:
        """Is there work for at least so many, and is the height of what is live the peak itself?"""
        left = self._left()
        is_small = relaxed is not None and (left is None or relaxed.work * least <= left)
        return is_small and not any(room.reserved for room in self.program.rooms)

    def _look_at_boxes(self, best: int, relaxed: Relaxed | None, work: int) -> list[Choice]:
        """Choices below the best one, and what is proven of the first term, range by range of heights."""
        search = BoxSearch(self.program, self.asking, Question(0), best, work)
        bound = search.run(self._least_of_program(0) or 0, relaxed)
        self._learn_bound(0, bound)
        return search.found

    def _keep(self, index: int, proof: Certificate) -> None:
        known = self.priced.get(index)
        is_alike = known is not None and [each[:2] for each in known.held] == [each[:2] for each in proof.held]
        if proof.value > 0 and (known is None or not is_alike or proof.value > known.value):
            self.priced[index] = proof

    def _within_heights(self, question: Question) -> tuple[Question, int | None]:
        """The same for those heights alone that choices cheaper than some value have, and that value; None: all."""
        return question, None

    def _learn(self, index: int, answer: Answer, upto: int | None = None) -> None:
        """What the answer proves of the term, the earlier ones being no higher than they are; of what costs less than `upto`."""
        bound = answer.bound
        if answer.is_impossible and self.value is None:
            self.infeasible = True
        elif answer.is_impossible and self.value is not None:
            bound = self.value[index]  # nothing is better
        self._learn_bound(index, bound if bound is None or upto is None else min(bound, upto))

    def _learn_bound(self, index: int, bound: int | None, *, is_of_program: bool = True) -> None:
        """A bound of the term, the earlier ones being no higher than they are; None: nothing was proven.

        The program is not asked for peaks as high as another bound may say: it knows no addresses, and would say that there is no choice.
        """
        if bound is None:
            return
        proven = bound if self.value is None else min(bound, self.value[index])
        earlier = self._earlier(index)
        known = self._least_of_program(index)
        can_ask = is_of_program or not self.program.terms[index].counts_peaks
        if can_ask and (known is None or proven > known):
            self.proven[index] = earlier, proven
        if self.bound[:index] != earlier:
            return
        found = (*earlier, proven)
        if found > self.bound:
            self.bound, self.has_proven = found, True
            self.control.bound(found)

    def _take(self, placement: Placement | None) -> Value:
        """Keep it if it is better; what it is worth."""
        if placement is None:
            return ()
        value = evaluate(self.instance, placement)
        if self.value is None or value < self.value:
            self.best, self.value, self.has_found, self.has_chosen = placement, value, True, True
            self.control.incumbent(placement)
        return value

    def outcome(self) -> Outcome:
        stop = StopReason.WORK_LIMIT
        if self.infeasible or (self.value is not None and self.value == self.bound):
            stop = StopReason.PROVED
        elif self.value is not None and self.task.goal is Goal.FIT:
            stop = StopReason.GOAL_MET
        elif (cut := self.control.stopped() or self.asking.stop) is not None:
            stop = cut
        proof = Certificate(Proof.SEARCH, self.bound[0] if self.bound else 0, solver=NAME)
        terms = self.instance.terms
        searched = (
            Certificate(
                Proof.SEARCH,
                proven,
                term=terms[index],
                solver=NAME,
                held=tuple((term, most, 0, 1) for term, most in zip(terms, earlier, strict=False)),
            )
            for index, (earlier, proven) in self.proven.items()
            if not self._is_bounded(index, earlier)
        )
        return Outcome(
            stop=stop,
            placement=self.best,
            value=self.value,
            bound=self.bound,
            certificates=(*((proof,) if self.has_proven else ()), *self.priced.values(), *searched),
            infeasible=self.infeasible,
            solver=NAME if self.has_found or self.infeasible else None,
            work=self.work,
            reproducible=stop.is_repeatable and self.asking.stop is None,
            notes=() if self.asking.fault is None else (self.asking.fault,),
        )
