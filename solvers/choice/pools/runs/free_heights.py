"""Terms that the choice alone decides, heights being free up to the pools' ends."""

from __future__ import annotations

from dataclasses import replace

from ....model.instance import Instance
from ....model.solver import Control, Task
from .. import budget
from ..pieces.cutting import Pieces
from ..prices.crowds import Relaxed
from ..program.program import Pools, Program
from ..program.writing import pools_of_classes
from ..questions.question import Question
from ..searches.core import CoreSearch, homes_of
from ..searches.peaks import Choice
from ..searches.stretches import CROWDED, FAR_TOO_CROWDED, StretchSearch, most_live
from .divided import Divided


class FreeHeights(Divided):
    """What is known of one instance, with the search for choices where heights are free."""

    def __init__(self, instance: Instance, program: Program, task: Task, control: Control) -> None:
        super().__init__(instance, program, task, control)
        self.relaxed: dict[int, Relaxed | None] = {}
        """By term."""
        self._cores = dict[int, CoreSearch]()
        """By term, too;"""
        self._has_room = set[int]()
        """and those for which choices that leave room for gaps were looked for."""
        self.pieces: Pieces | None = None
        """Those that the first term's bound adds up."""

    def _question(self, index: int, stretch: tuple[int, ...], is_exact: bool) -> Question:
        """Is there a choice with less of this term than is known? `is_exact`: rows are as they are."""
        is_begun = is_exact and (index > 0 or self.has_chosen)
        return Question(
            index,
            held=self._earlier(index),
            least=self._least_of_program(index) if is_exact else None,
            most=None if self.value is None else self.value[index],
            stretch=stretch,
            near=pools_of_classes(self.number, self.best) if is_begun and self.best is not None else None,
            clashes=self.clashes.found,
        )

    def _with_covers(self, question: Question, is_exact: bool) -> list[Choice]:
        """A better choice where heights are free. Covers come first: with them what is hard is answered far sooner. Nothing where one was packed on the way."""
        # CP-SAT proves far less if limits on the value are among its constraints.
        asked, index = replace(question, least=None, most=None), question.term
        found = list[Choice]()
        if is_exact and index not in self.relaxed:
            is_small = self._is_small()
            easy = budget.EASY_WITH_COVERS_PER_ENTRY if is_small else budget.EASY_PER_ENTRY
            self._find_covers(index)
            if not index:
                self._keep_for_second()
            if question.near is None and self._live(index) >= FAR_TOO_CROWDED and self._pack_with_room(question):
                return []
            found = self._better(question, self._ask(asked, is_exact, budget.WHOLE, easy * self.program.entries))
            if self.is_known or self._is_over():
                return found
        share = budget.QUESTION
        if question.near is None:
            share = budget.WITHOUT_START
            by_pieces = self._by_pieces(question, found) if is_exact else []
            found = by_pieces or found
            if by_pieces and found[0].value != self._known(index):
                found = [self._improved_by_core(question, found[0])]
            elif not (found and self._is_close(index, found[0].value)):
                found = self._from_core(question, found)
            is_packed = bool(found) and is_exact and self._pack_near(question, found[0])
            if is_exact and not is_packed and self._pack_once_with_room(question):
                return []
            if by_pieces and self._is_close(index, found[0].value):  # packing and the next term need the rest
                return [] if is_packed else found
            if is_packed:
                question, found = self._question(index, question.stretch, is_exact), []
                asked = replace(question, least=None, most=None)
            elif found:
                asked = replace(asked, near=found[0].pools, clashes=self.clashes.found)
        further = self._better(question, self._ask(asked, is_exact, share))
        return sorted([*further, *found], key=lambda each: (not self.clashes.allow(each.pools), each.value))

    def _weighs_peaks(self, index: int) -> bool:
        """Does this term or an earlier one count peaks, and none of them only the greatest?"""
        terms = self.program.terms[: index + 1]
        return any(any(term.of_peaks) for term in terms) and not any(term.is_largest for term in terms)

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
        self._learn_bound(0, bound)
        return self._better(question, [found if again is None else min(found, again)])

    def _choice_by_pieces(self, pieces: Pieces, bound: int | None) -> Choice | None:
        self._learn_bound(0, bound)
        pools = None if bound is None else pieces.choice(self._some(budget.CHOICE_BY_PIECES))
        return None if pools is None else self._choice(0, pools)

    def _core(self, index: int) -> CoreSearch | None:
        relaxed = self.relaxed.get(index)
        if relaxed is not None and index not in self._cores:
            self.packing.work += budget.WINDOW_PER_ENTRY * self.program.entries
            self._cores[index] = CoreSearch(self.asking, self.program, index, relaxed)
        return self._cores.get(index)

    def _from_core(self, question: Question, found: list[Choice]) -> list[Choice]:
        """The same, with a better choice in front if there is one where the linear program decides most."""
        core = self._core(question.term)
        pools = None if core is None else core.choice(question, self._some(budget.CORE))
        if core is None or pools is None:
            return found
        choice = self._choice(question.term, pools)
        if not self._is_close(question.term, choice.value):
            choice = self._improved_by_core(question, choice)
        most = found[0].value if found else question.most
        return found if most is not None and choice.value >= most else [choice, *found]

    def _improved_by_core(self, question: Question, choice: Choice) -> Choice:
        """The same or a better one, around what costs most more than at the linear program's prices."""
        core = self._core(question.term)
        if core is None:
            return choice
        pools = core.improved(question, choice.pools, self._some(budget.CORE))
        return min(choice, self._choice(question.term, pools))

    def _live(self, index: int) -> float:
        """How many blocks are live at a time in the most crowded pool that ends, as far as that is known."""
        relaxed = self.relaxed.get(index)
        if relaxed is None:
            return 0.0
        return most_live(self.packing, self.program, self.number, homes_of(self.program, relaxed))

    def _pack_with_room(self, question: Question) -> bool:
        """Pack a choice that leaves room for gaps; true if that was done. From what is best then, blocks take the places of others."""
        core = self._core(question.term)
        if core is None:
            return False
        self._has_room.add(question.term)
        displaces = not question.term
        share = budget.WITH_ROOM_BEFORE_DISPLACING if displaces else budget.WITH_ROOM
        search = StretchSearch(core, self.packing, self.program, self.number, question)
        is_packed = bool(self._take(search.run(self._some(share))))
        if displaces and self._is_crowded():
            self._displace(budget.DISPLACING_BESIDE_ROOM)
            self._keep_for_second()  # only windows follow, which hardly help here
        return is_packed

    def _pack_once_with_room(self, question: Question) -> bool:
        """The same where pools are crowded, unless that was tried for this term before."""
        index = question.term
        is_new = index not in self._has_room and not self._weighs_peaks(index)
        return is_new and self._live(index) >= CROWDED and self._pack_with_room(question)

    def _choice(self, index: int, pools: Pools) -> Choice:
        tops = self.program.least_tops(pools)
        return Choice(self.program.value(index, pools, tops), tops, pools)
