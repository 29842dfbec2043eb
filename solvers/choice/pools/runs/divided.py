"""A second term of choices after the sum of the peaks: it is bounded by divisions of the fullest section, and chosen below the heights that these give."""

from __future__ import annotations

from dataclasses import replace

from .. import budget
from ..budget import Share
from ..prices.crowds import Relaxed
from ..prices.division_tree import is_held_by_sum
from ..program.program import Pools
from ..program.writing import pools_of_classes
from ..questions.asking import ByHeights
from ..questions.question import Question
from ..searches.core import CoreSearch, homes_of
from ..searches.fullest import FullestFirst
from ..searches.peaks import Choice
from .in_steps import InSteps
from .placed_choices import has_many_live


class Divided(InSteps):
    """What is known of one instance, with the search by divisions."""

    below_division: Choice | None = None
    """The best choice below their heights; perhaps it cannot be packed."""

    def _begin_with_division(self, index: int, share: Share, most: int | None = None) -> None:
        """Bound a second term by divisions of the fullest section, once, and choose and pack below the best heights.

        Prices know nothing of blocks that must be in different pools. In large programs with many blocks live at a time the tree takes long, and proves hardly
        more than the linear program below all heights.
        """
        if self._is_large() and has_many_live(self.instance, budget.LIVE_WHERE_FILLED):
            return
        if (
            self.divided is not None
            or not self._is_settled(0)
            or len(self.instance.apart)
            or (len(self.program.rooms) > budget.POOLS_DIVIDED and self._is_scarce())
        ):
            return
        self.divided = self._bound_by_heights(index, share, most)
        best = [] if self.divided is None else self.divided.divisions
        for heights, relaxed in best:
            if self._is_over() or self._is_settled(index):
                return
            choice = self._choice_below(index, heights, relaxed)
            if choice is None or (self.value is not None and choice.value >= self.value[index]):
                continue
            if self.below_division is None or choice.value < self.below_division.value:
                self.below_division = choice
            below = self._packing_below(choice)
            if not self._pack_slices(choice, below, self._some(budget.CLASHES)):
                self._fill_instead(heights, homes_of(self.program, relaxed))
                if not self._leave_gaps(index, choice, below):
                    search = FullestFirst(self.instance, self.program, self.number, self.asking, Question(index))
                    search.begin_with(choice)
                    self._pack_with_gaps(search, index)
                    return
            if self._is_reached(index, budget.NEAR_DIVISION):
                return
        if best and self.below_division is None and not self._is_reached(index, budget.FAR):
            heights, relaxed = best[0]
            self._fill_instead(heights, homes_of(self.program, relaxed))

    def _is_scarce(self) -> bool:
        """Is so little work left for the program that pools are filled before anything is asked about it as a whole?"""
        return self._some(budget.WHOLE) < budget.SCARCE_PER_ENTRY * self.program.entries

    def _fill_instead(self, heights: tuple[int, ...], pools: Pools) -> None:
        """Fill pools below these heights, which follow from these pools at the fullest section: that may do where no choice can be packed below them.

        Then blocks take the places of others there.
        """
        if self._can_fill():
            search = FullestFirst(self.instance, self.program, self.number, self.asking, Question(1))
            self._fill_below(heights, {group: pools[group] for group, _ in search.fullest_section()})
            if self.is_filled and not self._is_settled(1):
                self._displace_below(1, budget.DISPLACING_BELOW_DIVISION)

    def _bound_by_heights(self, index: int, share: Share, most: int | None = None) -> ByHeights | None:
        """Bound a second term by divisions of the fullest section; None if the first term holds no sum, or there is too little work."""
        if self._is_over() or self.value is None or not self.instance.sections:
            return None
        if not is_held_by_sum(self.instance, self.program, index):
            return None
        work = min(self._some(share), budget.WITHOUT_LIMIT if most is None else most)
        if work < budget.LEAST_OF_TREE_PER_ENTRY * self.program.entries:
            return None
        held, best = self.value[:1], self.value[1]
        search = FullestFirst(self.instance, self.program, self.number, self.asking, Question(1, held=held))
        full = search.fullest_section()
        found = self.asking.bound_by_heights(self.program, held, full, (self._known(1) or 0, best), work)
        if found is None:
            return None
        if found.last is not None:
            self._learn_prices(1, found.last, held)
        self._learn_bound(1, found.bound)
        return found

    def _choice_below(self, index: int, heights: tuple[int, ...], relaxed: Relaxed) -> Choice | None:
        """A choice below these heights, from their linear program; None if none was found."""
        rooms = tuple(room._replace(capacity=end) for room, end in zip(self.program.rooms, heights, strict=True))
        below = replace(self.program, rooms=rooms, terms=(self.program.terms[index],))
        search = FullestFirst(self.instance, self.program, self.number, self.asking, Question(index))
        core = CoreSearch(self.asking, below, 0, replace(relaxed, of_held=()))
        question = Question(0, stretch=(0,) * len(heights))
        pools = core.choice(question, self._some(budget.BELOW_DIVISION), search.nearly_full())
        return None if pools is None else Choice(core.value(pools), heights, pools)

    def _ask_by_divisions(self, index: int, share: Share) -> list[Choice]:
        """The best choice, asked from the best that is known, among the heights that divisions leave for anything better."""
        near = self.below_division
        is_little = self._some(share) < budget.LEAST_BY_DIVISIONS_PER_ENTRY * self.program.entries
        if self.best is None or self.value is None or self._is_over() or is_little:
            return []
        pools = pools_of_classes(self.number, self.best)
        if near is not None and near.value < self.value[index]:
            pools = near.pools
        question = Question(index, self.value[:index], near=pools, clashes=self.clashes.found)
        found = [choice for choice in self._ask(question, True, share) if choice.value < self.value[index]]
        if found and not self.is_known:
            self._pack_below(found[0], self._some(budget.CLASHES))
        return found

    def _within_heights(self, question: Question) -> tuple[Question, int | None]:
        """For those heights that divisions leave for choices cheaper than the best known one."""
        if self.divided is None or question.term != 1 or any(question.stretch):
            return question, None
        known = [] if question.most is None else [question.most]
        if question.near is not None:
            known.append(self.program.value(1, question.near, (0,) * len(self.program.rooms)))
        if not known:
            return question, None
        upto = min(known)
        heights = self.asking.heights_below(self.program, upto, self._some(budget.HEIGHTS_LEFT))
        if not heights:
            return question, None
        crowds = (crowd for _, relaxed in self.divided.divisions for crowd, _ in relaxed.of_crowds)
        return replace(question, heights=heights, crowds=tuple(dict.fromkeys(crowds))), upto

    def _is_well_priced(self, index: int, known: int) -> bool:
        """Where divisions were needed, prices that prove all but a hundredth hardly become better: they hold for all heights."""
        is_near = self.divided is not None and index == 1 and self.value is not None
        return super()._is_well_priced(index, known + known // budget.OPEN if is_near else known)
