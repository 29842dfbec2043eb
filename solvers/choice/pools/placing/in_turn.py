"""Packs a pool of many blocks slice of time by slice of time, each beside what lies there from the slices before.

The search places what is easy at once, but gives up on all where one short time is hard. So each slice is packed on its own, by the search if it can,
else by CP-SAT, which decides who lies below whom. What is packed may still move as long as it is in the next slice, too. Where a slice has no room for
all, the blocks leave the pool that lose least by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....model.instance import Ints
from ....model.outcome import Outcome
from ....model.solver import Goal
from .. import budget
from .packing import Packing

SLICE = 80
"""So many blocks that begin one after the other are a slice; the next one begins half of that later, and what is packed until then stays."""
FIRST_OUT = 4
"""At first so many leave, then twice as many, and so on."""
NEVER = np.iinfo(np.int64).max
"""What blocks lose that must stay."""


class Packed(NamedTuple):
    """Where the blocks of a pool are, but for those that left it."""

    offset: Ints
    out: Ints


class InTurn:
    """Of one pool and the blocks that are to be packed there, within so much work. `leaving` is what each block loses if it leaves."""

    def __init__(self, packing: Packing, pool: int, blocks: Ints, work: int, leaving: Ints) -> None:
        self._packing, self._pool, self._leaving = packing, pool, leaving
        self._order = blocks[np.argsort(packing.starts[blocks], kind="stable")]
        self._offset = np.zeros(packing.instance.blocks, dtype=np.int64)
        self._out = list[int]()
        self._end = packing.work + work

    def packed(self) -> Packed | None:
        """Where they are; None if that was not found."""
        begin, end, step = 0, min(SLICE, len(self._order)), max(SLICE // 2, 1)
        while self._left and self._settle(begin, end, max(begin - step, 0)):
            if end == len(self._order):
                return Packed(self._offset[np.sort(self._order)], np.array(self._out, dtype=np.int64))
            begin, end = end - SLICE + step, min(end + step, len(self._order))
        return None

    @property
    def _left(self) -> int:
        return max(self._end - self._packing.work, 0)

    def _settle(self, begin: int, end: int, earlier: int) -> bool:
        """Pack a slice; where it is hard beside those that stay, with others that begin before it, or without some that leave."""
        if self._search(begin, end) or (begin and self._search(earlier, end)):
            return True
        if self._in_order(begin, end, budget.SLICE_OR_LEAVE):
            return True
        if begin and self._has_room(begin, end) and self._in_order(earlier, end, budget.SLICE_IN_ORDER):
            return True
        return self._leave(begin, end)

    def _has_room(self, begin: int, end: int) -> bool:
        """Does the search find room for the slice if nobody stays beside it?"""
        blocks = np.sort(self._order[begin:end])
        return _fits(self._outcome(blocks, blocks[:0], budget.SLICE_BY_SEARCH, in_order=False))

    def _search(self, begin: int, end: int, work: int = budget.SLICE_BY_SEARCH) -> bool:
        return self._pack(begin, end, work, in_order=False)

    def _in_order(self, begin: int, end: int, work: int) -> bool:
        return self._pack(begin, end, work, in_order=True)

    def _pack(self, begin: int, end: int, work: int, *, in_order: bool) -> bool:
        """Pack a slice beside all that begin before it, and remember where."""
        blocks, stay = (some[~np.isin(some, self._out)] for some in (self._order[begin:end], self._order[:begin]))
        blocks = np.sort(blocks)
        outcome = self._outcome(blocks, stay, work, in_order=in_order)
        if outcome is None or outcome.placement is None:
            return False
        self._offset[blocks] = outcome.placement.offset
        return True

    def _outcome(self, blocks: Ints, stay: Ints, work: int, *, in_order: bool) -> Outcome | None:
        """What comes of packing these blocks beside those that stay; None where there is no work left for that."""
        packing = self._packing
        stay = packing.meeting(blocks, stay)
        key = self._pool, in_order, blocks.tobytes(), stay.tobytes(), self._offset[stay].tobytes()
        if key not in packing.settled:
            if not self._left:
                return None
            packing.work += budget.A_SLICE
            pack = packing.in_order if in_order else packing.outcome
            staying = stay, self._offset[stay]
            packing.settled[key] = pack(self._pool, blocks, Goal.FIT, min(work, max(self._left, 1)), staying)
        return packing.settled[key]

    def _leave(self, begin: int, end: int) -> bool:
        """Some leave the pool, the cheapest first, so that the others of the slice have room; false if that is not possible."""
        some = self._order[begin:end]
        some = some[~np.isin(some, self._out)]
        cheap = some[np.argsort(self._leaving[some], kind="stable")]
        cheap = cheap[self._leaving[cheap] < NEVER]
        before = list(self._out)

        def is_enough(count: int) -> bool:
            self._out = before + cheap[:count].tolist()
            return self._search(begin, end)

        least, most = 0, FIRST_OUT
        while not is_enough(most):
            if most >= len(cheap) or not self._left:
                return False
            least, most = most, 2 * most
        while least + 1 < most:
            middle = (least + most) // 2
            least, most = (least, middle) if is_enough(middle) else (middle, most)
        if not is_enough(most):
            return False
        self._come_back(cheap[:most][::-1], lambda: self._search(begin, end, budget.COMING_BACK))
        return self._search(begin, end)

    def _come_back(self, out: Ints, is_packed: Callable[[], bool]) -> None:
        """As many of these come back as there is room for, the first ones first: half of them at once, then a quarter, and so on."""
        last, part = self._packing.work + budget.LEAVING, max(len(out) // 2, 1)
        while part and self._packing.work < last:
            for at in range(0, len(out), part):
                before, some = self._out, out[at : at + part].tolist()
                self._out = [block for block in before if block not in some]
                if len(self._out) == len(before) or self._packing.work >= last or not is_packed():
                    self._out = before
            part //= 2


def _fits(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.placement is not None
