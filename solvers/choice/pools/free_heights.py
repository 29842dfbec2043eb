"""Terms that the choice alone decides, heights being free up to the pools' ends."""

from __future__ import annotations

from dataclasses import replace

from ...model.errors import StopReason
from ...model.instance import Instance
from ...model.solver import Control, Task
from . import budget
from .cutting import Pieces
from .placed_choices import PlacedChoices
from .prices.crowds import Relaxed
from .program.program import Program
from .program.writing import pools_of_classes
from .questions.question import Answer, Question
from .searches.dearest_first import choose_dearest_first
from .searches.peaks import Choice


class FreeHeights(PlacedChoices):
    """What is known of one instance, with the search for choices where heights are free."""

    def __init__(self, instance: Instance, program: Program, task: Task, control: Control) -> None:
        super().__init__(instance, program, task, control)
        self.relaxed: dict[int, Relaxed | None] = {}
        """By term."""
        self.pieces: Pieces | None = None
        """Those that the first term's bound adds up."""

    def _question(self, index: int, stretch: tuple[int, ...], is_exact: bool) -> Question:
        """Is there a choice with less of this term than is known? `is_exact`: rows are as they are."""
        is_begun = is_exact and (index > 0 or self.has_found)
        return Question(
            index,
            held=() if self.value is None else self.value[:index],
            least=self._least_of_program(index) if is_exact else None,
            most=None if self.value is None else self.value[index],
            stretch=stretch,
            near=pools_of_classes(self.number, self.best) if is_begun and self.best is not None else None,
            clashes=self.clashes.found,
        )

    def _with_covers(self, question: Question, is_exact: bool) -> list[Choice]:
        """A better choice where heights are free. What is hard is asked again once covers are known: then it is answered far sooner."""
        # CP-SAT proves far less if limits on the value are among its constraints.
        asked, index = replace(question, least=None, most=None), question.term
        found = list[Choice]()
        if is_exact and index not in self.relaxed:
            is_small = self.program.entries <= budget.MOST_ENTRIES_COVERED_FIRST
            easy = budget.EASY_WITH_COVERS_PER_ENTRY if is_small else budget.EASY_PER_ENTRY
            if is_small:
                self._find_covers(index)
            found = self._better(question, self._ask(asked, is_exact, budget.WHOLE, easy * self.program.entries))
            if self.is_known or self._is_over():
                return found
            if not is_small:
                self.asked[index] = 0  # it says nothing of how hard the question is with covers
                self._find_covers(index)
        share = budget.QUESTION
        if question.near is None:
            share = budget.WITHOUT_START
            by_pieces = self._by_pieces(question, found) if is_exact else []
            found = by_pieces or self._dearest_first(question, found)
            is_packed = bool(found) and is_exact and self._pack_near(question, found[0])
            if by_pieces and self._is_close(index, found[0].value):  # packing and the next term need the rest
                return [] if is_packed else found
            if is_packed:
                question, found = self._question(index, question.stretch, is_exact), []
                asked = replace(question, least=None, most=None)
            elif found:
                asked = replace(asked, near=found[0].pools, clashes=self.clashes.found)
        further = self._better(question, self._ask(asked, is_exact, share))
        return sorted([*further, *found], key=lambda each: (not self.clashes.allow(each.pools), each.value))

    def _find_covers(self, index: int) -> None:
        most = self._some(budget.COVERS)
        self.relaxed[index] = self._relax_within(index, None, min(self.foreseen.get(index, most), most))

    def _by_pieces(self, question: Question, near: list[Choice]) -> list[Choice]:
        """A better choice by pieces of the program, which also bound it; none where there are too few of them."""
        relaxed, homes = self.relaxed.get(question.term), self.program.homes
        if question.term or relaxed is None or len(homes) < budget.LEAST_PIECES * budget.PIECE_OF_WHOLE:
            return []
        if self._some(budget.BY_PIECES) < budget.BY_PIECES_PER_ENTRY * self.program.entries:
            return []
        self.pieces = pieces = Pieces(
            self.program, self.asking, relaxed.of_rows, relaxed.of_crowds, budget.PIECE_OF_WHOLE
        )
        bound = pieces.bound(self._some(budget.BY_PIECES), near[0].pools if near else None)
        found = self._choice_by_pieces(pieces, bound)
        if bound is None or found is None:
            return []
        bound = pieces.improve(found.value, self._some(budget.BY_PIECES))
        again = self._choice_by_pieces(pieces, bound) if bound < found.value else None
        self._learn(0, Answer(None, None, bound, StopReason.WORK_LIMIT))
        return self._better(question, [found if again is None else min(found, again)])

    def _choice_by_pieces(self, pieces: Pieces, bound: int | None) -> Choice | None:
        self._learn(0, Answer(None, None, bound, StopReason.WORK_LIMIT))
        pools = None if bound is None else pieces.choice(self._some(budget.CHOICE_BY_PIECES))
        if pools is None:
            return None
        tops = self.program.least_tops(pools)
        return Choice(self.program.value(0, pools, tops), tops, pools)

    def _dearest_first(self, question: Question, found: list[Choice]) -> list[Choice]:
        """The same, with a better choice in front if there is one where the dearest classes are chosen first."""
        pools = choose_dearest_first(self.asking, self.program, question, self._some(budget.DEAREST_FIRST))
        if pools is None:
            return found
        tops = self.program.least_tops(pools)
        choice = Choice(self.program.value(question.term, pools, tops), tops, pools)
        most = found[0].value if found else question.most
        return found if most is not None and choice.value >= most else [choice, *found]
