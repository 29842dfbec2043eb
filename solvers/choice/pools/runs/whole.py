"""Programs that are asked about as a whole, term by term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....model.instance import Instance
from ....model.objective import peaks
from ....model.outcome import Outcome, Value
from ....model.solver import Control, Task
from .. import budget
from ..pieces.cutting import Pieces
from ..placing.lowering import Lowering
from ..placing.windows import stretched
from ..prices.crowds import Relaxed
from ..program.program import Program
from ..program.writing import pools_of_classes
from ..questions.question import Question
from ..searches.floors import FloorSearch
from ..searches.floors_of_pieces import Floors
from ..searches.fullest import FullestFirst
from ..searches.peaks import Choice, PeakSearch, are_peaks_after_choice, is_held_by_peaks
from .free_heights import FreeHeights
from .placed_choices import has_many_live

FIRST_STEP = 256
"""A pool's first floor is lower than its top by such a part of the term, where pieces bound it."""
STRETCHES = (1, 4, 15, 30, 60, 120)
"""By how many thousandths a pool's rows are stretched, step by step, after it could not be packed."""


class Whole(FreeHeights):
    """One run on a program that is asked about as a whole."""

    def __init__(self, instance: Instance, program: Program, task: Task, control: Control) -> None:
        super().__init__(instance, program, task, control)
        self.floored: Value | None = None
        """The earlier terms' values when a term was last bounded pool by pool,"""
        self.floors: Sequence[int] = ()
        """and what pieces then proved of each pool: it holds where less may be spent, too."""

    def run(self) -> Outcome:
        if not self._is_easy():
            self._displace_first()
        self._fill_first()
        for index in range(len(self.program.terms)):
            self._minimise(index)
            if self._is_settled(0):
                self.kept = 0  # as much can be found out of the next one by itself
            if self.infeasible or self._is_over():
                break
        self._price_proofs()
        self._bound_second(self.relaxed.get(0))
        return self.outcome()

    def _is_easy(self) -> bool:
        """Is the program so small, with few blocks live at a time and much work left, that the best choice is mostly found and packed at once?"""
        is_much = self._some(budget.WHOLE) >= budget.MUCH_PER_ENTRY * self.program.entries
        return is_much and self._is_small() and not has_many_live(self.instance, budget.LIVE_WHERE_DISPLACED)

    def _fill_first(self) -> None:
        """Fill pools in turn where some of them cost nothing: what is packed in one pool then mostly does not reach the least peaks."""
        if self._can_fill() and self._free_rooms() and not self._is_settled(0):
            self._fill(at_prices=True)

    def _minimise(self, index: int) -> None:
        """Lower one term, with the earlier ones no worse than they are."""
        if index and self.value is None:
            return
        self._learn_from_steps()
        self._foresee_prices(index)
        self._pack_as_chosen(index)
        self._pack_at_bound(index)
        self._bound_where_homes_are_left(index)
        self._choose_at_ends(index)
        stretch = [0] * len(self.instance.pools)
        while not self._is_over() and not self._is_finished(index):
            choices = self._choices(index, tuple(stretch))
            missed, is_known = self._pack_best(index, choices), self.is_known
            if missed and not index and not self._is_settled(0) and self._pack_together(choices[0]):
                missed = []
            if choices and not any(stretch) and self._goes_by_windows(index):
                clashes = self.clashes.found
                question = self._question(index, (), is_exact=True)
                if missed and not self._pack_near(question, choices[0]) and not self._pack_once_with_room(question):
                    self._displace_instead(index)
                    self._mend(index, choices[0])
                if is_known and self.clashes.found != clashes:
                    continue  # and ask for the best without them
                excess = choices[0].value if self.value is None else self.value[index] - choices[0].value
                if excess <= 0 and not is_known and not self._is_near(index):
                    continue  # and ask for what is better still
                if excess * budget.NEAR <= choices[0].value:
                    break
            if missed and choices and is_held_by_peaks(self.program, index):
                if not self._pack_near_below(index, choices[0]):
                    self._fill_instead(choices[0].tops, choices[0].pools)
                break  # pools are full to the last unit, so that longer rows would leave some of them empty
            if not missed or not stretched(stretch, missed, STRETCHES):
                break
        self._choose_at_ends(index)
        if not self._is_finished(index):
            self._displace_instead(index)
            if index not in self.in_some_pools:
                self._choose_in_some_pools(self._question(index, (), is_exact=True))
            self._improve(index, self._some(budget.WINDOWS_WHEN_NEAR if self._is_near(index) else budget.WINDOWS))

    def _pack_at_bound(self, index: int) -> None:
        """Pack all together, if that may settle a first term: no question need then be asked about it."""
        known = self._known(index)
        if not index and known is not None and self.best is not None and not self._is_settled(index):
            pools = pools_of_classes(self.number, self.best)
            self._pack_together(Choice(known, self.program.least_tops(pools), pools))

    def _has_floors(self, index: int) -> bool:
        return self._are_peaks_after_choice(index)

    def _goes_by_windows(self, index: int) -> bool:
        return not self._weighs_peaks(index) or are_peaks_after_choice(self.program, index)

    def _mend(self, index: int, choice: Choice) -> None:
        """Go over windows towards a choice that could not be packed."""
        if self.best is None or self._is_over():
            return
        if index and any(self.program.terms[index].of_peaks):
            windows = Lowering(self.instance, self.program, self.number, self.asking, self.packing, self.best)
            windows.lower(index, choice.tops, self._some(budget.LOWERING))
            self._take(windows.placement)
        self._improve(index, self._some(budget.MENDING))

    def _choices(self, index: int, stretch: tuple[int, ...]) -> list[Choice]:
        """The program's best choices of pools, best first, as far as they are better than what is known."""
        is_exact = not any(stretch)
        question = self._question(index, stretch, is_exact)
        if not self._weighs_peaks(index):
            return self._with_covers(question, is_exact)
        if is_exact and self._choose_in_some_pools(question):
            question = self._question(index, stretch, is_exact)
        if are_peaks_after_choice(self.program, index):
            return self._with_choice_held(question, is_exact)
        if is_held_by_peaks(self.program, index):
            return self._with_peaks_held(question, is_exact)
        found = self._ask(question, is_exact, budget.AT_FIRST)
        if not self.is_known:
            relaxed = self._relaxed(index)
            has_crowds = relaxed is not None and relaxed.gain >= budget.GAIN_OF_CROWDS
            if not has_crowds:
                found = [*self._ask(question, is_exact, budget.BESIDE_PEAKS), *found]
            needs_boxes = is_exact and not index and (has_crowds or self._is_wide(found))
            has_boxes = needs_boxes and self._can_look_at_boxes(relaxed, budget.LEAST_BOXES)
            has_boxes &= self._some(budget.BEFORE_BOXES) >= budget.LEAST_BEFORE_BOXES_PER_ENTRY * self.program.entries
            if not self.is_known:
                share = budget.BEFORE_BOXES if has_boxes else budget.QUESTION
                found = self._with_given_peaks(question, found, self._some(share))
                found = self._by_boxes(question, found) if has_boxes else found
        return found

    def _with_choice_held(self, question: Question, is_exact: bool) -> list[Choice]:
        """The best choices for a term of peaks alone, after one that the choice decides: as it is asked and pool by pool, the easier first."""
        index = question.term
        found, self.is_known = list[Choice](), False
        searched = self.asked.get(index - 1, 0) - budget.TO_BEGIN_PER_ENTRY * self.program.entries
        harder = budget.FAR_HARDER if self.relaxed.get(index - 1) else budget.HARDER
        is_first = self._some(budget.AS_ASKED) >= harder * searched
        is_first &= self.pieces is None
        if not is_first and is_exact:
            found = self._above_floors(question, found)
            if self.is_known:
                return found
        if is_first or (not self._is_settled(index) and self._some(budget.AS_ASKED) >= budget.HARDER * searched):
            asked = self._ask(self._with_worse(question), is_exact, budget.AS_ASKED)
            found = [*self._better(question, asked), *found]
        if is_first and is_exact and not self.is_known:
            found = [*self._above_floors(question, found), *found]
        return found

    def _with_worse(self, question: Question) -> Question:
        """The question without a limit on the value where there is much work: CP-SAT then often proves more."""
        is_much = self._some(budget.AS_ASKED) >= budget.MUCH_PER_ENTRY * self.program.entries
        return replace(question, most=None) if is_much and question.near is not None else question

    def _is_wide(self, found: list[Choice]) -> bool:
        """Is the first term's best choice still far above its bound?"""
        return bool(found and self.bound) and (found[0].value - self.bound[0]) * budget.OPEN > self.bound[0]

    def _relaxed(self, index: int) -> Relaxed | None:
        """The linear program, solved once for each term; where crowds gain much, with more work, for the bound."""
        if index not in self.relaxed:
            self.relaxed[index] = found = self._relax(index, budget.ROUNDS_AT_FIRST, budget.CROWDS)
            if found is not None and found.gain >= budget.GAIN_OF_CROWDS and not index:
                further = self._relax(index, None, budget.CROWDS)
                if further is not None:
                    self.relaxed[index] = replace(further, gain=found.gain)
        return self.relaxed[index]

    def _by_boxes(self, question: Question, found: list[Choice]) -> list[Choice]:
        """Better ones still, and what is proven of the first term, where heights and peaks are the same."""
        best = _least(question, found)
        if best is None or self._is_over():
            return found
        return [*self._look_at_boxes(best, self._relaxed(0), self._some(budget.BOXES)), *found]

    def _above_floors(self, question: Question, found: list[Choice]) -> list[Choice]:
        """Better choices still for a later term, where they turn up while it is bounded pool by pool; that is done once for the same earlier terms."""
        if question.most is None or question.near is None or question.held == self.floored:
            return []
        self.floored = question.held
        if self.pieces is not None and question.term == 1:
            return self._raise_floors(self.pieces, question)
        near = found[0].pools if found else question.near
        tops = self.program.least_tops(near)
        best = min(question.most, self.program.value(question.term, near, tops))
        work = self._some(budget.FLOORS)
        proof = self.asked.get(question.term - 1) if self._is_proven(question.term) else None
        search = FloorSearch(self.program, self.asking, replace(question, near=near), best, tops, work, proof)
        self._learn_bound(question.term, search.run())
        return search.found

    def _raise_floors(self, pieces: Pieces, question: Question) -> list[Choice]:
        """Bound the second term by pieces, pool by pool, after the first; the better choices that turn up."""
        assert question.near is not None
        tops, (most,) = self.program.least_tops(question.near), question.held
        self._learn_bound(0, pieces.improve(most, self._some(budget.BEFORE_FLOORS)))
        floors = Floors(self.program, pieces, most, tops, self.asking, FIRST_STEP, self.floors)
        bound = floors.bound(self._some(budget.FLOORS))
        self.floors = floors.floors
        self._learn_bound(1, bound)
        self.is_known = floors.found is not None and floors.found.value == bound
        return [] if floors.found is None else [floors.found]

    def _with_peaks_held(self, question: Question, is_exact: bool) -> list[Choice]:
        """The best choices with the earlier terms' peaks no higher; on the way, window by window, better placements."""
        self.is_known = False
        if not is_exact:
            return self._ask(question, is_exact, budget.QUESTION)
        index, can_fill = question.term, False
        is_scarce = self._is_scarce()
        if is_scarce or has_many_live(self.instance, budget.LIVE_WHERE_FILLED):
            can_fill = self._begin_filled(index, is_scarce=is_scarce)
        found = self._by_divisions(index, is_scarce=is_scarce)
        if self.is_known or self._is_settled(index):
            return found
        is_begun = self.divided is not None and (
            is_scarce or (not self._is_small() and self._is_reached(index, budget.NEAR))
        )
        if is_begun or (is_scarce and (self.is_filled or not can_fill)):
            self._from_peaks_as_they_are(index)
            return []
        question = self._question(index, question.stretch, is_exact)
        is_soon, value = self._is_known_soon(), self.value
        found = self._from_fullest(question, is_soon=is_soon)
        if self.is_known:
            return found
        if self.value == value and not can_fill and self._is_far(index) and self._can_fill():
            self._fill(at_prices=True)  # nothing was packed below any heights
        if self._needs_pieces(index):
            self._bound_below_heights(index)
        if self._bounds_by_heights(index, is_soon=is_soon):
            if self.divided is not None and self.value != value and self._is_reached(index, budget.OPEN):
                return self._ask_by_divisions(index, budget.BESIDE_WINDOWS)
            return []
        question = replace(self._question(index, question.stretch, is_exact), least=None)
        return self._ask(question, is_exact, budget.AGAIN if is_soon else budget.QUESTION)

    def _by_divisions(self, index: int, *, is_scarce: bool) -> list[Choice]:
        """The best choice among the heights that divisions leave, where it is likely to be found out."""
        is_small = self._is_small()
        most = budget.TREE_PER_ENTRY * self.program.entries if is_small else None
        self._begin_with_division(index, budget.TREE_WHERE_SCARCE if is_scarce else budget.TREE, most)
        if self.divided is None or self._is_settled(index):
            return []
        if not (is_small or (not is_scarce and self._is_reached(index, budget.NEAR))):
            return []
        return self._ask_by_divisions(index, budget.AGAIN if is_small and not is_scarce else budget.BESIDE_WINDOWS)

    def _begin_filled(self, index: int, *, is_scarce: bool) -> bool:
        """Fill pools before a second term is asked about; where little work is left, after divisions, if these leave much open. False if it cannot be done."""
        if is_scarce and self._some(budget.WHOLE) >= budget.DIVIDED_FIRST_PER_ENTRY * self.program.entries:
            self._begin_with_division(index, budget.TREE_WHERE_SCARCE)
        if index != 1 or self.is_filled or not (self.divided is None or self._is_far(index)) or not self._can_fill():
            return False
        self._fill(at_prices=is_scarce)
        return True

    def _is_far(self, index: int) -> bool:
        """Is a second term far above what is proven of it, and were pools not yet filled?"""
        known = None if index != 1 or self.is_filled else self.value
        return known is not None and not self._is_within(index, known[index], budget.FAR)

    def _from_fullest(self, question: Question, *, is_soon: bool) -> list[Choice]:
        """The best choices, if one that begins at the fullest sections soon leads to them; else go over windows from there, if it can be packed."""
        index = question.term
        is_narrow = not is_soon and self._has_lower_pools(index)
        divided = self.divided or (self._bound_by_heights(index, budget.TREE_WITH_MANY) if is_narrow else None)
        relaxed = (divided and divided.relaxed) or self._relax(index, 1, budget.BOUND_OF_LATER)
        if relaxed is None:
            return []
        search = FullestFirst(self.instance, self.program, self.number, self.asking, question)
        if is_soon:
            found = self._ask_from(question, search.first(relaxed, self._some(budget.FULLEST)))
            if self.is_known:
                return found
            if found and self._pack_below(found[0], self._some(budget.CLASHES)):
                self._improve(index, self._some(budget.BESIDE_FULLEST))
                return []
        self._with_room_for_gaps(search, dict(relaxed.of_rows), index)
        return []

    def _bounds_by_heights(self, index: int, *, is_soon: bool) -> bool:
        """Bound a term by a tree of boxes of heights instead of a question; false if that is not worth while, or was done before."""
        is_much = self._some(budget.QUESTION) >= budget.MUCH_PER_ENTRY * self.program.entries
        if is_soon or is_much or self._has_lower_pools(index):
            return False
        if self.divided is not None:
            return True
        self._bound_by_heights(index, budget.QUESTION)
        return self._is_reached(index, budget.NEAR_BY_HEIGHTS)

    def _is_known_soon(self) -> bool:
        """Is the program so small, and is there so much work, that the best choice is mostly known once one near it is?"""
        least = budget.LEAST_FROM_FULLEST_PER_ENTRY * self.program.entries
        return self._is_small() and self._some(budget.FROM_FULLEST) >= least

    def _ask_from(self, question: Question, choice: Choice | None) -> list[Choice]:
        """The best choices that are found from this one."""
        if choice is None:
            return []
        asked = replace(question, least=None, most=None, near=choice.pools)
        most = budget.FROM_FULLEST_PER_ENTRY * self.program.entries
        return self._better(question, self._ask(asked, True, budget.FROM_FULLEST, most))

    def _with_given_peaks(self, question: Question, found: list[Choice], work: int) -> list[Choice]:
        """The same where peaks are not weighed but searched for."""
        best = _least(question, found)
        starts = [choice.tops for choice in found]
        relaxed = self._relaxed(question.term)
        if relaxed is not None:
            starts.append(relaxed.peaks)
        if self.best is not None:
            starts.append(peaks(self.instance, self.best))
        search = PeakSearch(self.program, self.asking, replace(question, near=None), best, work)
        return [*search.run(starts), *found]

    def _is_proven(self, index: int) -> bool:
        """Are the earlier terms at their least?"""
        return index == 0 or (self.value is not None and self.bound[:index] == self.value[:index])

    def _pack_best(self, index: int, choices: list[Choice]) -> list[int]:
        """Pack them until none that is left can be better; the pools of the first that do not hold what the program gave them."""
        missed: list[int] = []
        for number, choice in enumerate(choices):
            if self.value is not None and len(self.value) > index and choice.value >= self.value[index] and number:
                break
            not_held = self._pack(index, choice)
            missed = missed if number else not_held
        return missed


def _least(question: Question, found: list[Choice]) -> int | None:
    """The least value of the question's term that is known."""
    known = (question.most, *(choice.value for choice in found))
    return min((value for value in known if value is not None), default=None)
