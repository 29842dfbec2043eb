"""Large programs, cut in time: bounds by prices or piece by piece, and placements window by window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ....bounds.prices.market import Market
from ....bounds.prices.priced_room import can_price
from ....heuristics.assign.from_prices import settled
from ....model.errors import StopReason
from ....model.instance import Instance, Placement
from ....model.objective import peaks
from ....model.outcome import Outcome
from .. import budget
from ..budget import Share
from ..pieces.cutting import Pieces
from ..placing.at_prices import settled_below
from ..placing.lowering import Lowering
from ..placing.windows import Windows
from ..prices.ascent import Ascent
from ..prices.crowds import Priced, Relaxed, prices_of
from ..prices.fullest_rows import spread_rows
from ..prices.proving import certificate_of
from ..prices.relaxation import MOST_ENTRIES, bound_of
from ..prices.spans import relaxed_in_time
from ..program.entries import prices_of_rows
from ..program.least import above_lowest, lowest_tops, with_all_in_cheapest
from ..program.program import Program
from ..program.writing import pools_of_classes
from ..questions.question import Answer, Question
from ..searches.boxes import BoxSearch
from ..searches.core import CoreSearch, divides_few
from ..searches.filling import Filling
from ..searches.floors_of_pieces import Floors
from ..searches.peaks import Choice
from .in_steps import InSteps
from .placed_choices import has_many_live

LEAST_SHARE = 1e-6
"""Less than any part of a class that counts."""
NO_HIGHER = 200
"""Pools are as low as they can be if their heights add up to what is live at the fullest section, or to so small a part more."""


class InPieces(InSteps):
    """One run."""

    relaxed: Relaxed | None = None
    """The linear program of the first term."""
    ascent: Ascent | None = None
    """Prices with crowds, window by window, where that program is too large for them and work is scarce."""
    boxes: BoxSearch | None = None
    """Boxes of heights, where the linear program is small enough for many of them."""
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

    def _solve_at_once(self) -> bool:
        """Try the whole program with a little work: true if it was solved and packed, or nearly."""
        for share in (budget.AT_FIRST, budget.WHERE_NEAR) if self.instance.blocks <= budget.LARGE else ():
            most = None if self.value is None else self.value[0]
            for choice in self._ask(Question(0, least=self._least_of_program(0), most=most), True, share):
                self._pack(0, choice)
            if self._is_over() or not self._ends_within(budget.NEAR):
                break
        return self._is_settled(0)

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

    def _improve_below_heights(self) -> bool:
        """Improve window by window with the pools as high as in the relaxation, whose bound holds for the first term; false if it was not solved."""
        work, can_relax, can_ascend = self._some(budget.HEIGHTS), self._can_relax(budget.HEIGHTS), self._can_ascend()
        self.relaxed = relaxed = self._relax_soon(work, is_first=can_relax or can_ascend)
        work -= 0 if relaxed is None else relaxed.work
        if relaxed is not None and can_ascend:
            self.ascent = Ascent(self.program, self._highest_prices(relaxed))
        if relaxed is not None and self._fill_near(relaxed) and self.program.entries > MOST_ENTRIES:
            self._improve(0, self._some(budget.WINDOWS))
            self._choose_again_in_some_pools()
            return True
        if self.asking.joined(self.program) < self.program.entries and not self._is_mostly_alike():
            self._choose_in_some_pools(Question(0))
            work = min(work, self._some(budget.HEIGHTS))
        if relaxed is not None and self.ascent is not None:
            relaxed = self._ascend(self.ascent, work)
        elif can_relax:
            relaxed = self._relax_on(relaxed, work)
        self.relaxed = relaxed
        if relaxed is None:
            return False
        self._choose_where_divided(relaxed)
        likely = self._weigh_heights(relaxed)
        share = budget.WHOLE if likely else budget.WINDOWS
        if self._ends_within(budget.NEAR):
            self._improve(0, self._some(share))
            return True
        found = self._settled_at(likely or relaxed)
        self._take(found)
        if found is not None and not self._is_over():
            self._go_on_from(found, likely or relaxed, share)
        return found is not None

    def _choose_where_divided(self, relaxed: Relaxed) -> None:
        """Choose what the linear program leaves open, heights being weighed, and pack that; only where it decides most classes."""
        if self._is_over() or self.ascent is not None or not divides_few(relaxed):
            return
        self.packing.work += budget.WINDOW_PER_ENTRY * self.program.entries
        core = CoreSearch(self.asking, self.program, 0, relaxed)
        pools = core.choice(Question(0), self._some(budget.CORE_WITH_HEIGHTS))
        if pools is not None:
            tops = self.program.least_tops(pools)
            choice = Choice(self.program.value(0, pools, tops), tops, pools)
            if self.value is None or choice.value < self.value[0]:
                self._pack_below(choice, self._some(budget.CLASHES))

    def _weigh_heights(self, relaxed: Relaxed) -> Relaxed | None:
        """The linear program's solution at the heights at which a choice is likely to cost least, where crowds gain much, with a bound from boxes of heights."""
        left, entries = self._some(budget.WHOLE), self.program.entries
        work = min(self._some(budget.WEIGHING), left - budget.WINDOWS_PER_ENTRY * entries)
        is_enough = budget.LEAST_WEIGHING_PER_ENTRY * entries <= work and entries <= budget.MOST_ENTRIES_WEIGHED
        if self.value is None or not is_enough or self._ends_within(budget.OPEN) or not self._is_worth_boxes(relaxed):
            return None
        self.boxes = BoxSearch(self.program, self.asking, Question(0), self.value[0], work, weighs=True)
        self._learn_bound(0, self.boxes.run(self._least_of_program(0) or 0, relaxed))
        return self.boxes.likely

    def _is_mostly_alike(self) -> bool:
        """Are most of the numbers in the program those of pools that are like another?"""
        return self.asking.joined(self.program) * 2 < self.program.entries

    def _choose_again_in_some_pools(self) -> None:
        """Choose again in two or three pools after windows, which leave heights as they are, where some pools are alike."""
        if self.asking.joined(self.program) < self.program.entries and not self._is_over():
            self._choose_in_some_pools(Question(0), budget.SOME_POOLS_AFTER_WINDOWS)

    def _can_ascend(self) -> bool:
        """Is the program too large for one linear program with crowds and the work that there is? Where many blocks are live, crowds gain less than windows take."""
        joined = self.asking.joined(self.program)
        is_scarce = self.weighed is not None and self.best is not None
        is_large = budget.ENTRIES_OF_LARGE < joined == self.program.entries
        return is_scarce and is_large and not has_many_live(self.instance, budget.LIVE_WHERE_CUT)

    def _highest_prices(self, relaxed: Relaxed) -> Relaxed:
        """That solution of some rows, or with the prices on room with which pools were filled, if these prove more."""
        if self.weighed is None or self.weighed.sections is None or self.weighed.prices is None:
            return relaxed
        self.packing.work += self.program.entries // budget.SETTLED_A_UNIT
        found = prices_of_rows(self.program, self.weighed.sections, self.weighed.prices)
        other = replace(relaxed, of_rows=tuple((row, price) for row, price in found.items() if price > 0))
        return max(relaxed, other, key=lambda each: bound_of(self.program, each))

    def _ascend(self, ascent: Ascent, work: int) -> Relaxed:
        """Raise prices; pools are then to be as high as they are."""
        assert self.best is not None
        ascent.run(self.asking, work)
        self._learn_prices(0, ascent.best, ())
        return replace(ascent.best, peaks=peaks(self.instance, self.best))

    def _go_on_from(self, found: Placement, relaxed: Relaxed, share: Share) -> None:
        """Improve window by window from this placement with its pools lowered to that solution's heights, or from the best, if that is cheaper."""
        assert self.best is not None
        assert self.value is not None
        windows = Lowering(self.instance, self.program, self.number, self.asking, self.packing, found)
        tops = windows.lower(0, relaxed.peaks, self._some(budget.LOWERING_IN_PIECES))
        value, *_ = self._take(windows.placement)
        term = self.program.terms[0]
        is_missed = (term.of_tops(tops) - term.of_tops(relaxed.peaks)) * budget.OPEN > value
        if is_missed and relaxed is not self.relaxed:
            self._choose_where_divided(relaxed)
        if value > self.value[0]:
            windows = Lowering(self.instance, self.program, self.number, self.asking, self.packing, self.best)
            tops = peaks(self.instance, self.best)
        self._go_on(windows, 0, tops, self._some(share))

    def _relax_soon(self, work: int, *, is_first: bool) -> Relaxed | None:
        """The linear program without crowds, which shows how high pools should be; of a large one some rows are enough where crowds may follow."""
        if self.program.entries <= budget.ENTRIES_OF_LARGE:
            return self._relax_within(0, 1, work) if is_first else None
        rows = spread_rows(self.program, budget.ENTRIES_AT_FIRST if is_first else self.program.entries)
        self.packing.work += self.program.entries // budget.SETTLED_A_UNIT
        found = self.asking.relax_at_once(rows.program, (), (), work)
        if found is None:
            return None
        found = rows.in_whole(found)
        self._learn_prices(0, found, ())
        return found

    def _relax_on(self, first: Relaxed | None, work: int) -> Relaxed | None:
        """The same with crowds."""
        if first is None or self.program.entries > MOST_ENTRIES:
            return self._relax_within(0, None, work) or first
        further = self._relax_within(0, None, max(work, 1))
        if further is None:
            return first
        rise = bound_of(self.program, further) / max(bound_of(self.program, first), 1) - 1
        return replace(further, gain=max(rise, further.gain), work=first.work + further.work)

    def _fill_near(self, relaxed: Relaxed) -> bool:
        """Fill pools in turn; false if that comes to little.

        Only where pools can be no lower together, and each has room for what the linear program puts into it.
        """
        if not self._can_fill_together() or not has_room_for_each(self.program, relaxed):
            return False
        filling = Filling(self.instance, 0, self.task, self.control)
        if sum(relaxed.peaks) * NO_HIGHER > filling.height * (NO_HIGHER + 1):
            return False
        found = filling.run(self._some(budget.FILLING))
        self.packing.work += filling.work
        self._take(found)
        return found is not None and self._ends_within(budget.NEAR_WHERE_FILLED)

    def _settled_at(self, relaxed: Relaxed) -> Placement | None:
        """Each block in the pool that is cheapest at the prices, below the peaks of the linear program."""
        priced = Priced(self.program, prices_of(relaxed.of_rows, relaxed.of_crowds))
        found, packing = settled_below(self.instance, self.program, self.number, priced, relaxed.peaks)
        self.packing.work += packing
        return found

    def _ends_within(self, parts: int) -> bool:
        """Is the first term above its bound by no more than one part in so many?"""
        return self.value is not None and bool(self.bound) and (self.value[0] - self.bound[0]) * parts <= self.bound[0]

    def _can_relax(self, share: Share) -> bool:
        """Is this share of the work enough for the relaxation to give anything?"""
        work = self._share(share)
        return work is None or work >= budget.LEAST_OF_HEIGHTS_PER_ENTRY * self.asking.joined(self.program)

    def _is_worth_boxes(self, relaxed: Relaxed | None) -> bool:
        """Do crowds gain much, and can boxes of heights have linear programs of their own?"""
        return (
            relaxed is not None
            and relaxed.gain >= budget.GAIN_OF_CROWDS
            and self.asking.joined(self.program) <= budget.ENTRIES_OF_LARGE
            and self._can_look_at_boxes(relaxed, budget.LEAST_BOXES_IN_PIECES)
        )

    def _relax_further(self) -> None:
        """Spend the work that is left on the bound."""
        if self._is_over() or self._is_settled(0):
            return
        if self.value is not None and self.boxes is not None:
            self._learn_bound(0, self.boxes.go_on(self.value[0], self._some(budget.WHOLE)))
        elif self.value is not None and self._is_worth_boxes(self.relaxed):
            for choice in self._look_at_boxes(self.value[0], self.relaxed, self._some(budget.WHOLE)):
                self._pack(0, choice)
        elif self.ascent is not None:
            self._ascend(self.ascent, self._some(budget.WHOLE))
        elif self._can_relax(budget.WHOLE):
            self._relax(0, None, budget.WHOLE)


def has_room_for_each(program: Program, relaxed: Relaxed) -> bool:
    """Is no class higher than a pool in which the linear program has a part of it?"""
    inside = [
        {pool for pool, share in zip(homes, shares, strict=True) if share > LEAST_SHARE}
        for homes, shares in zip(program.homes, relaxed.shares, strict=True)
    ]
    for row in program.rows:
        room = program.rooms[row.pool]
        height = room.below(relaxed.peaks[row.pool]) + room.spare - row.always
        if any(units > height and row.pool in inside[group] for group, units in row.members):
            return False
    return True


def is_large(instance: Instance, program: Program, work: int | None) -> bool:
    """Is this too large for questions about the program as a whole, by its blocks, or, where many are live at a time, for so much work?"""
    if weighs_peaks(program):
        has_many = program.entries > budget.MANY_ENTRIES
        return instance.blocks > (budget.LARGE_WITH_MANY_ENTRIES if has_many else budget.LARGE_WITH_PEAKS)
    is_scarce = work is not None and work < budget.CROWDED_PER_ENTRY * program.entries
    is_choice = not any(any(term.of_peaks) for term in program.terms[:1])
    is_crowded = is_scarce and is_choice and has_many_live(instance, budget.LIVE_WHERE_CUT)
    return instance.blocks > (budget.LARGE_CROWDED if is_crowded else budget.LARGE)


def weighs_peaks(program: Program) -> bool:
    """Does the first term count both peaks and the choice of pools?"""
    return any(any(term.of_peaks) and any(map(any, term.of_homes)) for term in program.terms[:1])
