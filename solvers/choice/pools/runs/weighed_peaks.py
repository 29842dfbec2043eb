"""First terms that weigh peaks against the choice, in large programs: heights as the linear program has them, a choice below them, and windows from there."""

from __future__ import annotations

from dataclasses import replace

from ....model.instance import Placement
from ....model.objective import evaluate, peaks
from ....model.outcome import Value
from .. import budget
from ..budget import Share
from ..placing.at_prices import settled_below
from ..placing.lowering import Lowering
from ..prices.ascent import Ascent
from ..prices.crowds import Priced, Relaxed, prices_of
from ..prices.fullest_rows import spread_rows
from ..prices.relaxation import MOST_ENTRIES, bound_of
from ..program.entries import prices_of_rows
from ..program.program import Program
from ..questions.question import Question
from ..searches.boxes import BoxSearch
from ..searches.core import CoreSearch, divides_few
from ..searches.filling import Filling
from ..searches.peaks import Choice
from .in_steps import InSteps
from .placed_choices import has_many_live

LEAST_SHARE = 1e-6
"""Less than any part of a class that counts."""
NO_HIGHER = 200
"""Pools are as low as they can be if their heights add up to what is live at the fullest section, or to so small a part more."""


class WeighedPeaks(InSteps):
    """What is known of one instance, with what lowers and bounds such a term."""

    relaxed: Relaxed | None = None
    """The linear program of the first term."""
    ascent: Ascent | None = None
    """Prices with crowds, window by window, where that program is too large for them and work is scarce."""
    boxes: BoxSearch | None = None
    """Boxes of heights, where the linear program is small enough for many of them."""

    def _solve_at_once(self) -> bool:
        """Try the whole program with a little work: true if it was solved and packed, or nearly."""
        for share in (budget.AT_FIRST, budget.WHERE_NEAR) if self.instance.blocks <= budget.LARGE else ():
            most = None if self.value is None else self.value[0]
            for choice in self._ask(Question(0, least=self._least_of_program(0), most=most), True, share):
                self._pack(0, choice)
            if self._is_over() or not self._ends_within(budget.NEAR):
                break
        return self._is_settled(0)

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
        return relaxed is not None and self._improve_from(relaxed)

    def _improve_from(self, relaxed: Relaxed) -> bool:
        """Improve window by window from what is cheapest: filled, chosen where this solution is divided, or at its prices; false if nothing was placed at these."""
        begun = self.value
        self._choose_where_divided(relaxed)
        likely = self._weigh_heights(relaxed)
        share = budget.WHOLE if likely else budget.WINDOWS
        if self._ends_within(budget.NEAR):
            self._improve(0, self._some(share))
            return True
        found = self._settled_at(likely or relaxed)
        self._take(found)
        if found is not None and not self._is_over():
            self._go_on_from(found, likely or relaxed, share, begun)
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
        is_enough = budget.LEAST_WEIGHING_PER_ENTRY * entries <= work
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

    def _go_on_from(self, found: Placement, relaxed: Relaxed, share: Share, begun: Value | None) -> None:
        """Improve window by window from this placement with its pools lowered to that solution's heights, or from the best, if that is cheaper and near the bound.

        Then pools are not lowered, either, if that cannot be cheaper than what there was before anything was chosen at such a solution. From what is cheaper
        and not near windows come less far: its heights are wrong.
        """
        assert self.best is not None
        assert self.value is not None
        windows = Lowering(self.instance, self.program, self.number, self.asking, self.packing, found)
        term, tops = self.program.terms[0], relaxed.peaks
        (value, *_), ends = evaluate(self.instance, found), peaks(self.instance, found)
        least = value - term.of_tops(ends) + term.of_tops(tuple(map(min, ends, tops)))
        if begun is None or least < begun[0] or not self._ends_within(budget.FAR):
            tops = windows.lower(0, tops, self._some(budget.LOWERING_IN_PIECES))
            value, *_ = self._take(windows.placement)
            is_missed = (term.of_tops(tops) - term.of_tops(relaxed.peaks)) * budget.OPEN > value
            if is_missed and relaxed is not self.relaxed:
                self._choose_where_divided(relaxed)
        if value > self.value[0] and self._ends_within(budget.FAR):
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
        """Do crowds gain much, and can boxes of heights have linear programs of their own, or go on from the first one?"""
        is_small = self.asking.joined(self.program) <= budget.ENTRIES_OF_LARGE
        return (
            relaxed is not None
            and relaxed.gain >= budget.GAIN_OF_CROWDS
            and (is_small or self.asking.can_restrict(self.program))
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


def weighs_peaks(program: Program) -> bool:
    """Does the first term count both peaks and the choice of pools?"""
    return any(any(term.of_peaks) and any(map(any, term.of_homes)) for term in program.terms[:1])
