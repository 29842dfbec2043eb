"""Large programs, cut in time: bounds by prices or piece by piece, and placements window by window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ....bounds.prices.market import Market
from ....bounds.prices.priced_room import can_price
from ....heuristics.assign.from_prices import settled
from ....model.errors import StopReason
from ....model.instance import Instance
from ....model.objective import peaks
from ....model.outcome import Outcome
from .. import budget
from ..pieces.cutting import Pieces
from ..placing.lowering import Lowering
from ..placing.windows import Windows
from ..prices.proving import certificate_of
from ..prices.relaxation import bound_of
from ..prices.spans import relaxed_in_time
from ..program.entries import prices_of_rows
from ..program.least import above_lowest, lowest_tops, with_all_in_cheapest
from ..program.program import Program
from ..program.writing import pools_of_classes
from ..questions.question import Answer, Question
from ..searches.floors_of_pieces import Floors
from ..searches.peaks import Choice
from .placed_choices import has_many_live
from .weighed_peaks import WeighedPeaks, weighs_peaks


class InPieces(WeighedPeaks):
    """One run."""

    pieces: Pieces | None = None
    """Those that its bound adds up."""

    def run(self) -> Outcome:
        """Bound the first term piece by piece, and lower every term window by window."""
        program = self.program
        if program.terms and program.rows:
            if can_fill := self._can_fill():
                self._fill(at_prices=True)
            if weighs_peaks(program) and self._is_mostly_alike():
                self._choose_in_some_pools(Question(0))
            if weighs_peaks(program) and (self._solve_at_once() or self._improve_below_heights()):
                self._relax_further()
            elif can_price(self.instance) and not (self.is_filled and self._is_settled(0)):
                is_crowded, prices = self._is_crowded(), self._begin_at_prices()
                if is_crowded:
                    self._in_time()
                else:
                    self._in_windows(prices)
            self._pack_lower()
            if not can_fill:
                self._from_heights()
            self._pack_all_together()
            self._lower_second()
            for index in range(len(program.terms)):
                self._learn_from_steps()
                self._choose_at_ends(index)
                self._from_peaks_as_they_are(index)
                self._learn_again(index)
        return self.outcome()

    def _in_time(self) -> None:
        """Let blocks take the places of others, and bound the first term span of time by span of time if there is work for that."""
        is_enough = self._some(budget.WHOLE) >= budget.IN_TIME_PER_ENTRY * self.program.entries
        self._displace(budget.DISPLACING if is_enough else budget.DISPLACING_ALONE)
        if self._is_over() or not is_enough:
            return
        self._keep_for_second()
        starts = np.full(len(self.program.homes), self.instance.sections, dtype=np.int64)
        np.minimum.at(starts, self.number, self.packing.starts)
        self.packing.work += budget.WINDOW_PER_ENTRY * self.program.entries
        relaxed = relaxed_in_time(self.program, starts, self.asking, self._some(budget.RELAXED_IN_TIME))
        if relaxed is not None:
            self._keep(0, certificate_of(self.instance, self.program, self.number, relaxed))
            self._learn_bound(0, bound_of(self.program, relaxed))
            self._take(self._settled_at(relaxed))
        self._bound_second(relaxed)

    def _pack_lower(self) -> None:
        """Pack each pool as low as possible where only that counts: what is proven of later terms then presumes the least peaks."""
        term = self.program.terms[0]
        if self.best is None or self._is_over() or self._is_settled(0) or any(map(any, term.of_homes)):
            return
        counted = frozenset(pool for pool in range(len(self.instance.pools)) if term.counts(pool))
        placement, _ = self.packing.pack(self.best.pool, counted, self._work_of_packing(0))
        self._take(placement)

    def _pack_all_together(self) -> None:
        """Pack all in one pool where only peaks count first: at its fullest moment one pool must be full, where several must be full at once."""
        if self.best is None or self.value is None or self._is_over() or self._is_settled(0):
            return
        if self._can_settle_heights(1) or not self._ends_within(budget.NEARLY):
            pools = pools_of_classes(self.number, self.best)
            self._pack_together(Choice(self.value[0], self.program.least_tops(pools), pools))

    def _learn_again(self, index: int) -> None:
        """What was proven with the earlier terms as they were then holds for lower ones, too."""
        self._learn_bound(index, self._least_of_program(index))

    def _begin_at_prices(self) -> dict[int, float]:
        """Start with each block where it is cheapest at prices on room; return those of rows."""
        market = Market(self.instance)
        limits = replace(self.task.limits, work=self._share(budget.PRICES))
        prices, work, _ = market.haggle(None, replace(self.task, limits=limits), self.control)
        found, packing = settled(self.instance, market.costs_at(prices))
        self.packing.work += work + packing
        self._take(found)
        return prices_of_rows(self.program, market.sections, prices)

    def _in_windows(self, prices: Mapping[int, float]) -> None:
        """Improve the placement window by window, and bound the first term piece by piece, which pay each other these prices."""
        self._improve(0, self._some(budget.WINDOWS))
        if not self._is_over() and not any(self.program.terms[0].of_peaks):  # a peak belongs to all pieces
            self.pieces = Pieces(self.program, self.asking, prices.items())
            near = None if self.best is None else pools_of_classes(self.number, self.best)
            bound = self.pieces.bound(self._some(budget.PIECES), near)
            stop = None if bound is None else self.asking.stop or StopReason.WORK_LIMIT
            self._learn(0, Answer(None, None, bound, stop))
            self._adopt_pieces()

    def _adopt_pieces(self) -> None:
        """Choose again where pieces know a cheaper choice than the placement's."""
        if self.best is None or self.pieces is None or self._is_over() or self._is_settled(0):
            return
        if self._can_begin_windows():
            windows = Windows(self.instance, self.program, self.number, self.asking, self.packing, self.best)
            windows.adopt(
                self.pieces.chosen, self._tops_held(self._are_peaks_after_choice(1)), self._some(budget.ADOPTING)
            )
            self._take(windows.placement)

    def _lower_second(self) -> None:
        """Lower a second term that counts peaks alone, where that costs nothing, and bound it pool by pool."""
        if self._is_over() or self._is_settled(1) or self.best is None or not self._are_peaks_after_choice(1):
            return
        if self._some(budget.LOWERING_SECOND) < budget.WINDOW_PER_ENTRY * self.program.entries:
            return
        windows = Lowering(self.instance, self.program, self.number, self.asking, self.packing, self.best)
        windows.lower(1, lowest_tops(self.program), self._some(budget.LOWERING_SECOND))
        self._take(windows.placement)
        if self.pieces is None or self.value is None or self._is_over():
            return
        tops, best = peaks(self.instance, self.best), self.value[1]
        if (best - with_all_in_cheapest(self.program, 1)) * budget.FAR > best:
            floors = Floors(above_lowest(self.program), self.pieces, self.value[0], tops, self.asking)
            share = budget.FLOORS if self._is_close(0, self.value[0]) else budget.FLOORS_IN_PIECES
            bound = floors.bound(self._some(share))
            self._learn_bound(1, bound)


def is_large(instance: Instance, program: Program, work: int | None) -> bool:
    """Is this too large for questions about the program as a whole, by its blocks, or, where many are live at a time, for so much work?"""
    if weighs_peaks(program):
        is_enough = work is None or work >= budget.MANY_PER_ENTRY * program.entries
        has_many = program.entries > budget.MANY_ENTRIES and is_enough
        return instance.blocks > (budget.LARGE_WITH_MANY_ENTRIES if has_many else budget.LARGE_WITH_PEAKS)
    is_scarce = work is not None and work < budget.CROWDED_PER_ENTRY * program.entries
    is_choice = not any(any(term.of_peaks) for term in program.terms[:1])
    is_crowded = is_scarce and is_choice and has_many_live(instance, budget.LIVE_WHERE_CUT)
    return instance.blocks > (budget.LARGE_CROWDED if is_crowded else budget.LARGE)
