"""A later term of choices after peaks is bounded below the heights that the earlier terms, as they are, leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ....bounds.prices.market import Market
from ....bounds.prices.priced_room import can_price
from ....model.instance import Instance
from ....model.outcome import Value
from ....model.solver import Control, Task
from .. import budget
from ..budget import Share
from ..pieces.cutting import Pieces
from ..placing.packing import ending_at
from ..prices.fullest_rows import spread_rows
from ..prices.relaxation import bound_of
from ..prices.tops import Tops, highest_tops
from ..program.entries import prices_of_rows
from ..program.least import only_homes
from ..program.program import Program, settled_in
from ..questions.question import Question
from ..searches.fullest import FullestFirst, HeightsFound
from ..searches.peaks import is_held_by_peaks
from .placed_choices import PlacedChoices


class Below(NamedTuple):
    """A term below the greatest heights that the earlier terms leave, at the prices of its linear program."""

    held: Value
    """The earlier terms' values."""
    relaxed: int
    """What the linear program proves if they are so."""
    of_rows: dict[int, float]
    """Its prices of rows."""
    search: FullestFirst
    """The search for heights at its prices."""
    heights: HeightsFound | None
    """The first heights that were found by it."""

    @property
    def bound(self) -> int:
        """What is proven if the earlier terms are so."""
        return max(self.relaxed, self.search.bound)


class BelowHeights(PlacedChoices):
    """What is known of one instance, with what bounds such a term."""

    def __init__(self, instance: Instance, program: Program, task: Task, control: Control) -> None:
        super().__init__(instance, program, task, control)
        self.below = dict[int, Below]()
        """By term, for those after peaks: what the linear program below the heights that are left came to."""
        self.of_rows = dict[int, dict[int, float]]()
        """Prices of rows, by term; for those after peaks."""

    def _find_prices(self, index: int) -> bool:
        """Find prices of rows for a later term, once; false if it cannot have any."""
        later = replace(self.instance, terms=self.instance.terms[index : index + 1])
        if index not in self.of_rows and can_price(later):
            market = Market(later)
            limits = replace(self.task.limits, work=self._share(budget.PRICES))
            prices, work, _ = market.haggle(None, replace(self.task, limits=limits), self.control)
            self.packing.work += work
            self.of_rows[index] = prices_of_rows(self.program, market.sections, prices)
        return bool(self.of_rows.get(index))

    def _highest_tops(self, index: int) -> Tops:
        """The greatest peaks that the earlier terms, as they are, allow, by what is live at the fullest section."""
        assert self.value is not None
        return highest_tops(self.instance, self.program.terms[:index], self.value)

    def _all_below(self, ends: Sequence[int | None]) -> Program:
        """The program in pools that end no higher than this."""
        rooms = tuple(room._replace(capacity=end) for room, end in zip(self.program.rooms, ends, strict=True))
        lower = replace(self.program, rooms=rooms)
        return settled_in(lower, only_homes(lower))

    def _term_below(self, index: int, ends: Sequence[int | None]) -> Program:
        """One term of it alone."""
        return _only(self._all_below(ends), index)

    def _bound_where_homes_are_left(self, index: int) -> None:
        """Bound a term with each class where it costs least of the pools that the earlier terms, as they are, leave high enough: often that is one for all."""
        if (
            self._is_over()
            or self.value is None
            or self._is_settled(index)
            or not is_held_by_peaks(self.program, index)
        ):
            return
        self.packing.work += self.program.entries // budget.SETTLED_A_UNIT
        ends = self._highest_tops(index)
        open_to = np.ones((len(self.program.homes), len(ends)), dtype=bool)
        np.logical_and.at(open_to, self.number, ending_at(self.instance, ends).allowed)
        each = zip(self.program.homes, self.program.terms[index].of_homes, open_to.tolist(), strict=True)
        left = (
            [cost for home, cost in zip(homes, costs, strict=True) if is_open[home]] for homes, costs, is_open in each
        )
        self._learn_bound(index, sum(min(costs, default=0) for costs in left))

    def _needs_pieces(self, index: int) -> bool:
        """Is the program so large that its linear program knows little of that, too?"""
        return self.program.entries > budget.MOST_ENTRIES_WITH_PEAKS_HELD and self._has_lower_pools(index)

    def _has_lower_pools(self, index: int) -> bool:
        """Does a pool end lower than its capacity, as far as the fullest section says?"""
        if self.value is None:
            return False
        ends = (room.capacity for room in self.program.rooms)
        each = zip(ends, self._highest_tops(index), strict=True)
        return any(end is not None and top is not None and top < end for end, top in each)

    def _is_large(self) -> bool:
        """Is the program so large that its linear program with levels of heights would be solved approximately?"""
        return self.asking.joined(self.program) > budget.MOST_ENTRIES_WITH_PEAKS_HELD

    def _relax_below_heights(self, index: int, held: Value | None = None) -> bool:
        """Bound a term of a large program by the linear program of all choices below the greatest heights that the earlier terms leave, once for these terms' values.

        It needs no levels of heights. At its prices, what is live at the fullest sections is then chosen exactly. True if this is known for the values that the
        earlier terms have, or at which they are to be `held`; the bound is learned once they have them.
        """
        if self._is_over() or self.value is None or not is_held_by_peaks(self.program, index):
            return False
        held = self.value[:index] if held is None else held
        if index not in self.below or self.below[index].held != held:
            below = self._relaxed_below(index, held)
            if below is None:
                return False
            self.below[index] = below
        self._learn_below(index)
        return True

    def _learn_below(self, index: int) -> bool:
        """Learn what is known below such heights, if the earlier terms have those values; true if that is so."""
        below = self.below.get(index)
        if below is None or self.value is None or self.value[:index] != below.held:
            return False
        self._learn_bound(index, below.bound)
        return True

    def _relaxed_below(self, index: int, held: Value) -> Below | None:
        """What is found below such heights; None if there is too little work, or nothing was found in it."""
        entries = self._some(budget.WHOLE) // budget.RELAXED_BELOW_PER_ENTRY
        if not self._is_large() or entries < budget.LEAST_ENTRIES_BELOW:
            return None
        lower = self._all_below(highest_tops(self.instance, self.program.terms[:index], held))
        alone = _only(lower, index)
        rows = spread_rows(alone, entries)
        self.packing.work += self.program.entries // budget.SETTLED_A_UNIT
        found = self.asking.relax(rows.program, (), self._some(budget.RELAXED_BELOW), budget.ROUNDS_BELOW)
        if found is None:
            return None
        found = rows.in_whole(found)
        question, of_rows = Question(index, held=held), dict(found.of_rows)
        search = FullestFirst(self.instance, lower, self.number, self.asking, question, found.of_crowds, only_full=True)
        heights = search.heights(of_rows, self._some(budget.HIGHEST))
        return Below(held, bound_of(alone, found), of_rows, search, heights)

    def _bound_below_heights(self, index: int) -> None:
        """Bound a term in pools that are no higher than the earlier terms, as they are, allow, unless the linear program did; piece by piece, and by it if much is left open."""
        if self._is_over() or self.value is None or not is_held_by_peaks(self.program, index):
            return
        held = self.value[:index]
        if self._is_settled(index) or self._learn_below(index):
            return
        search = FullestFirst(self.instance, self.program, self.number, self.asking, Question(index, held=held))
        ends = search.highest(self._some(budget.HIGHEST))
        each = zip(ends, self._highest_tops(index), strict=True)
        lower = [min((end for end in both if end is not None), default=None) for both in each]
        self._bound_by_pieces(index, lower, budget.BELOW_HEIGHTS)
        if not self._is_reached(index, budget.OPEN):
            self._relax_below_heights(index)

    def _bound_by_pieces(self, index: int, ends: Sequence[int | None], share: Share) -> None:
        """Bound a term in pools that end no higher than this, at the prices of rows."""
        lower = self._term_below(index, ends)
        bound = Pieces(lower, self.asking, self.of_rows.get(index, {}).items()).bound(self._some(share))
        if bound is not None:
            self._learn_bound(index, bound)


def _only(program: Program, index: int) -> Program:
    """The program with one of its terms."""
    return replace(program, terms=(program.terms[index],))
