"""A second term of choices after peaks: pools are filled below heights that add up to the least, and the term is bounded below such heights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ....model.conflicts import live_pair_count
from ....model.instance import Placement
from ....model.objective import evaluate
from .. import budget
from ..budget import Share
from ..placing.at_prices import settled_below
from ..placing.clashes import Clashes
from ..placing.displacing import displaced
from ..placing.gaps import Gaps
from ..placing.lowering import Lowering
from ..placing.packing import Packing, ending_at
from ..placing.some_pools import SomePools, has_many_pools
from ..prices.crowds import Priced, prices_of
from ..prices.division_tree import is_held_by_sum
from ..prices.fullest_rows import spread_rows
from ..program.program import Room
from ..questions.asking import ByHeights
from ..questions.question import Answer, Question
from ..searches.filling import Filling, last_turn
from ..searches.fullest import FullestFirst
from ..searches.lasting import LastingHeights
from ..searches.peaks import Choice, is_held_by_peaks
from .below_heights import BelowHeights
from .placed_choices import has_many_live


class HeldPeaks(BelowHeights):
    """What is known of one instance, with what lowers and bounds such a term."""

    is_filled = False
    """Have pools been filled to the least sum of the peaks?"""
    divided: ByHeights | None = None
    """How the second term was bounded by divisions of the fullest section."""

    def _can_fill(self) -> bool:
        """Is the second term one of choices after the sum of the peaks, for each block by itself, and is there work for more than an attempt?"""
        is_asked = len(self.program.terms) > 1 and is_held_by_peaks(self.program, 1)
        return is_asked and self._can_fill_together()

    def _can_fill_together(self) -> bool:
        """Does the first term count peaks alike, and each block by itself, and is there work for more than an attempt?"""
        program, first = self.program, self.program.terms[0]
        if self.value is None or self._is_over() or len(program.homes) != self.instance.blocks or program.apart:
            return False
        if not self.instance.sections:
            return False
        if len(set(first.of_peaks) - {0}) != 1 or first.is_largest:
            return False
        if any(room.capacity is None for room in self._free_rooms()) or not first.of_peaks[last_turn(self.instance)]:
            return False
        return live_pair_count(self.instance) <= budget.PAIRS_FILLED_PER_UNIT * self._some(budget.FILLING)

    def _fill(self, *, at_prices: bool) -> None:
        """Fill pools in turn for such a term, and again at prices, which takes work from questions."""
        filling = Filling(self.instance, 1, self.task, self.control)
        self._fill_with(filling, self._some(budget.FILLED_IN_VAIN))
        if self._is_settled(0) and self.divided is None:
            self._relax_below_heights(1)
        is_poor = not self._is_reached(1, budget.POORLY)
        if at_prices and (is_poor or not self._is_small()):
            self._fill_at_prices(max(self.program.terms[0].of_peaks) * filling.least)
        if is_poor and not self._is_reached(1, budget.POORLY):
            self._hold_heights()

    def _is_small(self) -> bool:
        """Is the program so small that it is mostly answered as a whole?"""
        return self.program.entries <= budget.MOST_ENTRIES_OF_SMALL

    def _hold_heights(self) -> None:
        """Pack a choice below heights that hold at all times."""
        if self._is_over() or self.value is None or not is_held_by_sum(self.instance, self.program, 1):
            return
        if not self._find_prices(1):
            return
        most = self.value[0] // self.program.terms[0].of_peaks[0]
        search = LastingHeights(
            self.instance, self.program, self.number, 1, self.of_rows[1], most, self.control.stopped
        )
        choices = search.choices(self._some(budget.HOLDING))
        self.packing.work += search.work
        for number, choice in enumerate(choices[: budget.HEIGHTS_HELD]):
            if self._is_over() or choice.value >= self.value[1]:
                return
            below = self._packing_below(choice)
            is_packed = self._pack_slices(choice, below, self._some(budget.CLASHES))
            if is_packed or (not number and self._leave_gaps(1, choice, below)):
                self.is_filled = True
                return

    def _leave_gaps(self, index: int, choice: Choice, below: Packing) -> bool:
        """Where pools are stuck with this choice, make it again with gaps, and pack that; true if that was done."""
        if self._is_over():
            return False
        packed = below.work
        gaps = Gaps(self._term_below(index, choice.tops), self.number, self.asking, below)
        placement = gaps.placement(choice.pools, self._some(budget.GAPS))
        self.packing.work += below.work - packed
        self._take(placement)
        return placement is not None

    def _free_rooms(self) -> list[Room]:
        """Pools whose peaks the first term does not count."""
        return [
            room for room, price in zip(self.program.rooms, self.program.terms[0].of_peaks, strict=True) if not price
        ]

    def _fill_at_prices(self, least: int) -> None:
        """Fill pools again, below the heights of choices at the fullest sections at prices on room, which know of all others; the linear program's if it was solved."""
        if self._is_over() or self.value is None:
            return
        held = (min(least, self.value[0]),)
        if self.divided is None and self._relax_below_heights(1, held):
            below = self.below[1]
            search, prices, found = below.search, below.of_rows, below.heights
        elif self._find_prices(1):
            search = FullestFirst(self.instance, self.program, self.number, self.asking, Question(1, held=held))
            prices = self.of_rows[1]
            found = search.heights(prices, self._some(budget.HIGHEST))
        else:
            return
        left = budget.HEIGHTS_FILLED
        while found is not None and not self._is_over():
            left -= 1
            has_more = search.add(self._fill_below(*found)) and left > 0
            found = search.heights(prices, self._some(budget.HIGHEST)) if has_more else None
        self._learn_below(1)

    def _fill_below(self, tops: tuple[int, ...], kept: Mapping[int, int]) -> list[int]:
        """Fill pools below these heights, with these classes in their pools; the sections at which pools are still too high."""
        keeps = np.array([kept.get(group, -1) for group in range(len(self.program.homes))], dtype=np.int64)
        return self._fill_with(Filling(self.instance, 1, self.task, self.control, (keeps[self.number], tops)))

    def _fill_with(self, filling: Filling, in_vain: int = 0) -> list[int]:
        """Fill pools, or lower to the same heights what came nearest to that; the sections at which pools are still too high.

        Where nothing is found, filling goes on until it has taken so much work in all, but no more than for some attempts.
        """
        most = min(in_vain, budget.VAIN_PER_BLOCK * self.instance.blocks)
        found = filling.run(self._some(budget.FILLING))
        if found is None:
            found = filling.run(most)
        nearest = filling.nearest() if found is None else None
        self.packing.work += filling.work
        if nearest is None or self._is_over():
            self._take(found)
            self.is_filled |= found is not None
            return []
        placement, tops = nearest
        windows = self._lowered_to(placement, tops)
        self._take(windows.placement)
        high = windows.too_high(tops)
        self.is_filled |= not high
        return high

    def _lowered_to(self, placement: Placement, tops: tuple[int, ...]) -> Lowering:
        """From this placement, what is too high for these tops is chosen anew below them, window by window, whatever the second term costs by that."""
        windows = Lowering(self.instance, self.program, self.number, self.asking, self.packing, placement)
        windows.fit(1, tops, self._some(budget.LOWERING_TO_HEIGHTS))
        return windows

    def _from_heights(self) -> None:
        """Where peaks come first and then the choice: begin anew with the heights that a choice at the fullest sections gives, if they can be reached.

        Windows leave heights as they are, and those of the first placement may be far from the best.
        """
        if len(self.program.terms) < 2 or not is_held_by_peaks(self.program, 1):
            return
        if self._is_over() or self._is_settled(0) or not self.bound or not self._find_prices(1):
            return
        search = FullestFirst(self.instance, self.program, self.number, self.asking, Question(1, held=self.bound[:1]))
        found = search.heights(self.of_rows[1], self._some(budget.HIGHEST))
        if found is not None:
            self._begin_below(*found)

    def _begin_below(self, tops: tuple[int, ...], kept: dict[int, int]) -> None:
        """Begin below these tops with each class where it is cheapest, and lower what is too high then, whatever the choice costs."""
        alone = replace(self.program, terms=(self.program.terms[1],))
        priced = Priced(alone, prices_of(self.of_rows[1].items(), ()))
        found, packing = settled_below(self.instance, self.program, self.number, priced, tops, kept)
        self.packing.work += packing
        if found is None or self._is_over():
            return
        lowered = self._lowered_to(found, tops).placement
        least, value = self.bound[0], evaluate(self.instance, lowered)
        if self.value is not None and (value[0] - least) * budget.REACHED <= self.value[0] - least:
            self._take(lowered)
        else:
            self._take(found)

    def _choose_in_some_pools(self, question: Question, of_weighed: Share = budget.SOME_POOLS) -> bool:
        """Where there are many pools, choose again all that is in some of them, from what is best; true if something better came of it."""
        value, index = self.value, question.term
        term = self.program.terms[index]
        if self.best is None or not any(term.of_peaks) or not has_many_pools(self.program):
            return False
        self.in_some_pools.add(index)
        share = budget.SOME_POOLS_OF_LATER if index else budget.SOME_POOLS_OF_PEAKS
        if not index and any(map(any, term.of_homes)):
            share = of_weighed
        if self._some(share) < budget.WINDOW_PER_ENTRY * self.program.entries:
            return False  # to begin takes as much
        search = SomePools(self.instance, self.program, self.asking, self.packing, question, self.best)

        def better() -> bool:
            self._take(search.placement)
            return not self._is_over() and not self._is_finished(index)

        search.improve(self._some(share), better)
        return self.value != value

    def _from_peaks_as_they_are(self, index: int) -> None:
        """Lower and bound a term with the peaks that earlier ones count as they are."""
        self._bound_where_homes_are_left(index)
        settles = self.divided is None and self._can_settle_heights(index)
        if not settles:
            self._choose_at_fullest(index)
        is_bounded = self.divided is not None or self._bound_with_peaks_held(index)
        if self.is_filled and not self._is_settled(index):
            self._displace_below(index, budget.DISPLACING_FILLED)
        if settles:
            self._settle_heights(index)
            self._choose_at_fullest(index)
        if not is_bounded or self._some(budget.WHOLE) >= budget.MUCH_PER_ENTRY * self.program.entries:
            self._bound_below_heights(index)
        if not self._is_settled(index) and self._can_begin_windows():
            self._improve(index, self._some(budget.WHOLE), last=index + self._are_peaks_after_choice(index + 1))

    def _displace_below(self, index: int, share: Share) -> None:
        """Blocks take the places of others with those peaks as they are."""
        if self.best is None or self._is_over():
            return
        below = ending_at(self.instance, self._tops_held(index))
        self._take(displaced(below, index, self.packing, self.best, self._some(share)))

    def _can_settle_heights(self, index: int) -> bool:
        """Is this a term of choices after peaks, and is there work for all choices below one height after another?"""
        is_known = self.value is not None and index < len(self.program.terms)
        if self._is_over() or not is_known or not is_held_by_peaks(self.program, index):
            return False
        is_enough = self._some(budget.WHOLE) >= budget.MUCH_PER_ENTRY * self.program.entries
        return is_enough and not any(room.reserved for room in self.program.rooms)

    def _settle_heights(self, index: int) -> None:
        """Lower and bound a term below all heights that the earlier terms, as they are, allow at the fullest sections: where pools must be full, these are few."""
        if self._is_settled(index) or not self._can_settle_heights(index) or not self._find_prices(index):
            return
        assert self.value is not None
        best, work = self.value[index], self._some(budget.WHOLE)
        search = FullestFirst(
            self.instance, self.program, self.number, self.asking, Question(index, self.value[:index])
        )
        end, each = self.asking.work + work, budget.HEIGHTS_PER_ENTRY * self.program.entries

        def settle(tops: tuple[int, ...]) -> Answer:
            answer = self.asking.ask(self._term_below(index, tops), Question(0), min(each, end - self.asking.work))
            if answer.pools is not None and answer.value is not None and answer.value < best:
                self._pack_below(Choice(answer.value, tops, answer.pools), self._some(budget.CLASHES))
            return answer

        bound = search.over_heights(self.of_rows[index], best, settle, work)
        self._learn_bound(index, bound)

    def _choose_at_fullest(self, index: int) -> None:
        """Choose again from the fullest sections on, where a term is far above its bound, and pools were neither divided nor filled."""
        is_known = self.value is not None and index < len(self.program.terms)
        if self._is_over() or not is_known or not is_held_by_peaks(self.program, index):
            return
        if self.is_filled or self.divided is not None or self._is_reached(index, budget.FAR):
            return
        is_enough = self._some(budget.WHOLE) >= budget.CHOSEN_AGAIN_PER_ENTRY * self.program.entries
        if is_enough and self._find_prices(index):
            question = Question(index, self._earlier(index))
            search = FullestFirst(self.instance, self.program, self.number, self.asking, question)
            self._with_room_for_gaps(search, self.of_rows[index], index)

    def _with_room_for_gaps(self, search: FullestFirst, of_rows: Mapping[int, float], index: int) -> None:
        """Go over windows from a choice that begins at the fullest sections and leaves room for gaps, if one is found that can be packed."""
        search.run(of_rows, self._some(budget.FULLEST))
        self._learn_bound(index, search.bound)
        self._pack_with_gaps(search, index)

    def _bound_with_peaks_held(self, index: int) -> bool:
        """Bound a term by the linear program with the earlier ones held: it knows that where one pool is high others are low. False if that takes too long."""
        if self._is_over() or self.value is None or not is_held_by_peaks(self.program, index):
            return False
        if self._is_large():
            if not self.is_filled or not self._relax_below_heights(index):
                self._bound_with_some_rows(index)
            return self._is_settled(index)
        entries, some = self.asking.joined(self.program), self._some(budget.WITH_PEAKS_HELD)
        if some < budget.LEAST_WITH_PEAKS_HELD_PER_ENTRY * entries:
            return False
        work = min(some, budget.WITH_PEAKS_HELD_PER_ENTRY * entries)
        return self._is_settled(index) or self._relax_within(index, None, work) is not None

    def _bound_with_some_rows(self, index: int) -> None:
        """The same with some rows of a large program, once, where so many blocks are live at a time that pieces often prove less."""
        some = self._some(budget.WITH_SOME_ROWS)
        is_enough = some >= budget.LEAST_WITH_PEAKS_HELD_PER_ENTRY * budget.ENTRIES_OF_SOME_ROWS
        is_enough &= self.is_filled or self._can_settle_heights(index)  # else pieces alone come to more
        if is_enough and not self._is_settled(index) and has_many_live(self.instance, budget.LIVE_WHERE_FILLED):
            self._relax_some(index, spread_rows(self.program, budget.ENTRIES_OF_SOME_ROWS), 1, some)

    def _pack_near_below(self, index: int, choice: Choice, share: Share = budget.CLASHES) -> bool:
        """Pack this choice, or one nearby below the same heights that can be packed; true if that was done."""
        if self._is_over():
            return False
        below = Packing(ending_at(self.instance, choice.tops), self.task, self.control)
        clashes = Clashes(self._term_below(index, choice.tops), self.number, self.asking, below)
        of_pool, work = self._work_of_packing(index), self._some(share)
        placement = clashes.placement(Question(0), choice.pools, of_pool, work)
        self.packing.work += below.work
        self._take(placement)
        return placement is not None
