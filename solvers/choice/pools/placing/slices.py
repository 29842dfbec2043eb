"""Settles what hardly fits into a pool: CP-SAT decides who lies below whom, for a slice of time at first, and then for all.

The search places what is easy at once, however much it is, but of some tens of blocks that fill a pool to the last unit it neither finds a
packing nor that there is none. Such a place is mostly short. So the blocks are looked at slice by slice in time: if some of a slice have no room
together, the pool has none for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ....model.instance import Ints
from ....model.outcome import Outcome
from ....model.solver import Goal
from .. import budget
from .in_turn import NEVER, InTurn
from .packing import Packing

SLICE = 80
"""So many blocks that begin one after the other are a slice; the next one begins half of that later."""
MOST_BLOCKS = 320
"""With more, they are packed in turn: for all of them CP-SAT takes too much, and mostly there are several such places."""


class Slices:
    """Of one pool and the blocks that are to be packed there, within so much work."""

    def __init__(self, packing: Packing, pool: int, blocks: Ints, work: int) -> None:
        self._packing, self._pool, self._blocks = packing, pool, blocks
        self._end = packing.work + work
        self._settled = dict[bytes, Outcome | None]()

    def settle(self) -> tuple[Ints | None, list[Ints]]:
        """Where the blocks are, or sets of them that have no room together; neither where that was not found out."""
        clashes = list[Ints]()
        for some in self._slices():
            if clashes and np.isin(clashes[-1], some).all():
                continue  # it is known why they have no room
            if self.has_no_room(some):
                clashes.append(self.fewest(some))
        offset = None if clashes or len(self._blocks) <= SLICE else self._packed_soon()
        if clashes or offset is not None:
            return offset, clashes
        outcome = self._outcome(self._blocks, self._left)
        if outcome is not None and outcome.infeasible:
            clashes.append(self.fewest(self._blocks))
        return None if outcome is None or outcome.placement is None else outcome.placement.offset, clashes

    def _packed_soon(self) -> Ints | None:
        """Where all blocks are, the slices having room: by the search with more work, or slice by slice; CP-SAT takes many times as long for all of them."""
        packing, blocks = self._packing, np.sort(self._blocks)
        if not self._left:
            return None
        outcome = packing.outcome(self._pool, blocks, Goal.FIT, min(budget.POOL_BY_SEARCH, self._left))
        if outcome.placement is not None:
            return outcome.placement.offset
        if outcome.infeasible:
            self._settled[blocks.tobytes()] = outcome
        if outcome.infeasible or not self._left:
            return None
        stay = np.full(packing.instance.blocks, NEVER)
        packed = InTurn(packing, self._pool, blocks, min(budget.POOL_IN_TURN, self._left), stay).packed()
        return None if packed is None else packed.offset

    @property
    def _left(self) -> int:
        return max(self._end - self._packing.work, 0)

    def _slices(self) -> Iterator[Ints]:
        order = self._blocks[np.argsort(self._packing.starts[self._blocks], kind="stable")]
        step = SLICE // 2
        for begin in range(0, max(len(order) - step, 1), step):
            yield order[begin : begin + SLICE]

    def has_no_room(self, blocks: Ints) -> bool:
        """Is there proven to be no room for these blocks?"""
        outcome = self._outcome(blocks, budget.SLICE_IN_ORDER)
        return outcome is not None and outcome.infeasible

    def _outcome(self, blocks: Ints, work: int) -> Outcome | None:
        """What comes of packing these blocks; None where there is no work left for that."""
        blocks = np.sort(blocks)
        key = blocks.tobytes()
        if key not in self._settled and self._left:
            packing = self._packing
            outcome = packing.outcome(self._pool, blocks, Goal.FIT, min(budget.SLICE_BY_SEARCH, self._left))
            if outcome.placement is None and not outcome.infeasible and self._left:
                outcome = packing.in_order(self._pool, blocks, Goal.FIT, min(work, self._left)) or outcome
            self._settled[key] = outcome
        return self._settled.get(key)

    def fewest(self, blocks: Ints) -> Ints:
        """As few of these blocks without room as are found within the work: the large ones first, and then without the smallest, as long as they are not needed."""
        end = self._end
        self._end = min(self._packing.work + budget.FEWEST, end)
        blocks = shortest(
            blocks[np.argsort(-self._packing.instance.block_high[blocks], kind="stable")], self.has_no_room
        )
        blocks = blocks[np.argsort(self._packing.areas[blocks], kind="stable")]
        part = len(blocks) // 2
        while part:
            at = 0
            while at < len(blocks):
                rest = np.delete(blocks, np.s_[at : at + part])
                if len(rest) and self.has_no_room(rest):
                    blocks = rest
                else:
                    at += part
            part //= 2
        self._end = end
        return np.sort(blocks)


def shortest(blocks: Ints, has_no_room: Callable[[Ints], bool]) -> Ints:
    """The first of these blocks that have no room, as few as that; all of them have none."""
    least, most = 1, len(blocks)
    while least < most:
        middle = (least + most) // 2
        if has_no_room(blocks[:middle]):
            most = middle
        else:
            least = middle + 1
    return blocks[:most]
