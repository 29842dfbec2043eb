"""Choices become placements: packed as they are, or one nearby, or as near to them as going over windows comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....bounds.prices.market import costs_by_pool
from ....heuristics.assign.from_prices import from_prices, settled
from ....model.instance import Instance, Ints, Placement
from ....model.objective import peaks
from .. import budget
from ..budget import Share
from ..placing.displacing import displaced
from ..placing.in_turn import NEVER, InTurn
from ..placing.packing import Packing, ending_at, work_of_piece
from ..placing.slices import MOST_BLOCKS, Slices
from ..placing.windows import Windows
from ..program.entries import at_fullest
from ..program.exchanges import narrowed
from ..program.writing import pools_of_classes, program_of, size_as_one
from ..questions.question import Question
from ..searches.fullest import FullestFirst
from ..searches.peaks import Choice
from ..searches.stretches import CROWDED, most_live
from ..searches.weighing import Weighed, weighed
from .standing import Standing


class PlacedChoices(Standing):
    """What is known of one instance, with what places it."""

    weighed: Weighed | None = None
    """What filling pools in turn came to at first, where peaks are weighed against the choice and work is scarce."""

    def begin_narrowed(self) -> None:
        """Begin with what leaves its room to each other in one pool, where that is most; for the first term that counts anything."""
        smaller, work = narrowed(self.instance, self._share(budget.NARROWING))
        self.packing.work += work
        if smaller is None or not self.program.terms or self._is_over():
            return
        if self._some(budget.WHOLE) < budget.PROGRAM_PER_ENTRY * size_as_one(smaller):
            return
        program, number = program_of(smaller), smaller.class_number
        self.packing.work += budget.PROGRAM_PER_ENTRY * program.entries
        index = next(
            (n for n, term in enumerate(program.terms) if term.counts_peaks or any(map(any, term.of_homes))), 0
        )
        question = Question(index, held=(0,) * index)
        answer = self.asking.ask(program, question, self._share(budget.NARROWED))
        if answer.pools is not None:
            pools = np.array(answer.pools, dtype=np.int64)[number]
            term = program.terms[index]
            counted = frozenset(p for p in range(len(self.instance.pools)) if term.counts(p))
            placement = self.packing.nearly(pools, self.number, counted, self._some(budget.PACKING_NARROWED))
            self._take(self._with_room_elsewhere(pools) if placement is None else placement)
            if self.value is not None and not self._is_over():
                # What the fullest moment alone proves.
                proof = replace(question, enough=self.value[index])
                self._learn(index, self.asking.ask(at_fullest(self.program), proof, self._share(budget.AT_FULLEST)))

    def begin_apart(self) -> None:
        """Begin with pools at prices on room, where blocks must be in different ones: greedy has none, and such blocks mostly stay where they are."""
        if not self.program.apart or not self.program.terms or not self.instance.sections or self._is_over():
            return
        limits = replace(self.task.limits, work=self._share(budget.APART))
        found, work = from_prices(self.instance, replace(self.task, limits=limits), self.control)
        self.packing.work += work
        self._take(found)

    def begin_weighed(self) -> None:
        """Begin with pools that are filled in turn, where peaks are weighed against the choice and work is scarce."""
        scarce = budget.WEIGHED_PER_ENTRY * self.asking.joined(self.program)
        if self.program.apart:  # of which prices know nothing, nor questions below the heights that these lead to
            scarce *= budget.SCARCE_IF_APART
        if self._is_over() or not self.program.terms or self._some(budget.WHOLE) >= scarce:
            return
        self.weighed = weighed(self.instance, self.task, self.control, self._some(budget.WEIGHED))
        self.packing.work += self.weighed.work
        self._take(self.weighed.placement)

    def _goes_by_windows(self, index: int) -> bool:
        """Do windows come as near to a choice that could not be packed as others that leave more room?"""
        return False

    def _work_of_packing(self, index: int) -> int:
        """The work limit of packing one pool, for this term."""
        part, of = budget.WHOLE
        if self._goes_by_windows(index):
            part, of = budget.PACKING_BEFORE_MENDING if self.instance.blocks <= MOST_BLOCKS else budget.PACKING_AT_ONCE
        work, left = (budget.PACKING + budget.PACKING_A_BLOCK * self.instance.blocks) * part // of, self._left()
        return work if left is None else min(work, left)

    def _pack(self, index: int, choice: Choice) -> list[int]:
        """Pack the choice; the pools that do not hold what the program gave them, or end higher than it thought."""
        terms = self.program.terms[: index + 1]
        counted = [p for p in range(len(self.instance.pools)) if any(term.counts(p) for term in terms)]
        pools = np.array(choice.pools, dtype=np.int64)[self.number]
        placement, unfit = self.packing.pack(pools, frozenset(counted), self._work_of_packing(index))
        if placement is None:
            self._take(self._with_room_elsewhere(pools))
            return unfit
        value = self._take(placement)
        if value[:index] <= self._earlier(index) and value[index] <= choice.value:
            return []
        tops = peaks(self.instance, placement)
        return [p for p in counted if tops[p] > choice.tops[p]]

    def _pack_near(self, question: Question, choice: Choice) -> bool:
        """Pack this choice, or one nearby that can be packed where it cannot; true if what comes of it is hardly worse."""
        index = question.term
        if any(term.counts_peaks for term in self.program.terms[: index + 1]):
            return self._pack_below(choice, self._some(budget.CLASHES))
        of_pool, work = self._work_of_packing(index), self._some(budget.CLASHES)
        value = self._take(self.clashes.placement(question, choice.pools, of_pool, work))
        return bool(value) and (value[index] - choice.value) * budget.CLOSE <= choice.value

    def _pack_together(self, choice: Choice) -> bool:
        """Pack all that may be in one pool there, for a first term of peaks alone; true if that ends no higher than the choice.

        At its fullest moment one pool must be full, where several must be full at once: that hardly any packing reaches.
        """
        program = self.program
        if any(map(any, program.terms[0].of_homes)) or program.apart:
            return False
        for pool, room in enumerate(program.rooms):
            each = zip(program.homes, choice.pools, strict=True)
            pools = tuple(pool if pool in homes else other for homes, other in each)
            tops = program.least_tops(pools)
            fits = room.capacity is None or tops[pool] <= room.capacity
            together = Choice(program.value(0, pools, tops), tops, pools)
            if fits and together.value <= choice.value:
                return not self._pack(0, together)
        return False

    def _pack_as_chosen(self, index: int) -> None:
        """Pack each pool as low as a later term that counts its peak would have it."""
        if index and self.best is not None and self._has_floors(index):
            counted = [p for p, price in enumerate(self.program.terms[index].of_peaks) if price]
            self._take(self.packing.lowered(self.best, counted, self._some(budget.AS_CHOSEN)))

    def _pack_below(self, choice: Choice, work: int) -> bool:
        """Pack the choice with pools that end where it thinks, slice by slice where that is hard; true if that was done."""
        return self._pack_slices(choice, self._packing_below(choice), work)

    def _packing_below(self, choice: Choice) -> Packing:
        """A packing with pools that end where the choice thinks."""
        return Packing(ending_at(self.instance, choice.tops), self.task, self.control)

    def _pack_slices(self, choice: Choice, below: Packing, work: int) -> bool:
        """The same with such a packing, which then knows what was packed of each slice."""
        pools = np.array(choice.pools, dtype=np.int64)[self.number]
        placement, unfit = below.pack(pools, frozenset(), work_of_piece(0))
        for pool in unfit:
            blocks = np.flatnonzero(pools == pool)
            if not below.instance.allowed[blocks, pool].all():
                break
            if len(blocks) > MOST_BLOCKS:
                stay = np.full(len(pools), NEVER)
                packed = InTurn(below, pool, blocks, work - below.work, stay).packed()
                offset = None if packed is None else packed.offset
            else:
                offset, _ = Slices(below, pool, blocks, work - below.work).settle()
            if offset is None:
                break
            below.know(pool, blocks, offset)
        else:
            placement, _ = below.pack(pools, frozenset(), 1)
        self.packing.work += below.work
        self._take(placement)
        return placement is not None

    def _pack_with_gaps(self, search: FullestFirst, index: int) -> None:
        """Pack the best choice, or one below the same heights that leaves more room where that fails, and go over windows from there."""
        while search.best is not None and not self._is_over():
            below = Packing(ending_at(self.instance, search.best.tops), self.task, self.control)
            pools = np.array(search.best.pools, dtype=np.int64)[self.number]
            start, missed = below.pack(pools, frozenset(), self._work_of_packing(index) // 2)
            self.packing.work += below.work
            if start is not None:
                self._take(start)
                windows = Windows(self.instance, self.program, self.number, self.asking, self.packing, start)
                self._go_on(windows, index, search.best.tops, self._some(budget.BESIDE_FULLEST))
                return
            if not search.again(missed, self._some(budget.ANOTHER)):
                return

    def _is_crowded(self) -> bool:
        """Are so many blocks live at a time in some pool that a choice must leave room for gaps?"""
        if self.best is None or self.program.apart or any(self.program.terms[0].of_peaks):
            return False
        return most_live(self.packing, self.program, self.number, pools_of_classes(self.number, self.best)) >= CROWDED

    def _displace(self, share: Share) -> None:
        """Lower the first term: blocks take the places of others in cheaper pools."""
        if self.best is None or self._is_over() or self._is_settled(0):
            return
        self._take(displaced(self.instance, 0, self.packing, self.best, self._some(share)))

    def _displace_first(self) -> None:
        """The same before anything is chosen: where no choice can be packed, nothing is worse than that. Questions do not begin with it."""
        has_chosen = self.has_chosen
        is_enough = self._some(budget.DISPLACING_FIRST) >= budget.DISPLACING_FIRST_A_BLOCK * self.instance.blocks
        if is_enough and self._can_displace():
            self._displace(budget.DISPLACING_FIRST)
        self.has_chosen = has_chosen

    def _displace_instead(self, index: int) -> None:
        """The same with far more work where no choice came to anything better. Questions then begin with it."""
        if not index and not self.has_chosen and self._can_displace():
            self._displace(budget.DISPLACING_INSTEAD)
            self.has_chosen = True

    def _can_displace(self) -> bool:
        """Does the first term count the choice of pools alone?"""
        term = self.program.terms[0] if self.program.terms else None
        return term is not None and not term.counts_peaks

    def _with_room_elsewhere(self, pools: Ints) -> Placement | None:
        """The choice as far as it can be packed at once; who finds no room goes where it costs least."""
        wanted = costs_by_pool(self.instance, self.number, len(self.program.homes))
        wanted[self.number, pools] = wanted.min(axis=1)[self.number] - 1.0
        placement, work = settled(self.instance, wanted)
        self.packing.work += work
        return placement

    def _can_begin_windows(self) -> bool:
        """Is there work for going through the program once?"""
        return self._some(budget.WHOLE) >= budget.WINDOW_PER_ENTRY * self.program.entries

    def _improve(self, index: int, work: int, last: int | None = None) -> None:
        """Window by window, as far as that goes: with the peaks as they are, nothing is to be gained where only they count.

        Peaks that a term counts, up to the last one, become no higher.
        """
        if self.best is None or self._is_over() or not any(map(any, self.program.terms[index].of_homes)):
            return
        tops = self._tops_held(index if last is None else last)
        windows = Windows(self.instance, self.program, self.number, self.asking, self.packing, self.best)
        self._go_on(windows, index, tops, work)

    def _tops_held(self, last: int) -> tuple[int | None, ...]:
        """The peaks as they are, of pools that a term up to the last one counts."""
        assert self.best is not None
        terms = self.program.terms[: last + 1]
        return tuple(
            peak if any(term.counts(p) for term in terms) else None
            for p, peak in enumerate(peaks(self.instance, self.best))
        )

    def _go_on(self, windows: Windows, index: int, tops: Sequence[int | None], work: int) -> None:
        """Sweep after sweep, with what is better kept."""

        def better() -> bool:
            self._take(windows.placement)
            return not self._is_over() and not self._is_finished(index)

        windows.improve(index, tuple(tops), work, better)


def has_many_live(instance: Instance, many: int) -> bool:
    """Are so many blocks live at a time, on average?"""
    return int((instance.rect_end - instance.rect_start).sum()) >= many * max(instance.sections, 1)
