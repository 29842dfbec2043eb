"""Packs a choice of pools, each pool on its own, and remembers every packing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ....geometry.presolve import restrict
from ....geometry.upside_down import upside_down
from ....model.instance import Bools, Instance, Ints, Placement, Term
from ....model.objective import evaluate, value_of_peaks
from ....model.outcome import Outcome, Value
from ....model.solver import Control, Goal, Task
from ....portfolio.execute import ask
from ....portfolio.roster import packers
from ....portfolio.separate import solve_separate_pools
from ....portfolio.single_pool import without_capacity
from .. import budget


def work_of_piece(blocks: int) -> int:
    """The work that packing this many blocks beside others may take."""
    return budget.PACKING_BESIDE + budget.PACKING_BESIDE_A_BLOCK * blocks


def _part(work: int) -> int:
    """The part of the work for a step that others follow."""
    part, of = budget.PACKING_ONE
    return max(work * part // of, 1)


def ending_at(instance: Instance, tops: Sequence[int | None]) -> Instance:
    """The instance with pools cut off at these tops."""
    highest, pools = instance.highest.copy(), list(instance.pools)
    for p, top in enumerate(tops):
        end = pools[p].capacity
        if top is not None and (end is None or top < end):
            room = top - instance.block_high
            room -= (room - instance.residue[:, p]) % instance.modulus[:, p]
            highest[:, p] = np.minimum(highest[:, p], room)
            pools[p] = replace(pools[p], capacity=top)
    allowed = instance.allowed & (instance.lowest <= highest)
    return replace(instance, highest=highest, allowed=allowed, pools=tuple(pools))


Staying: TypeAlias = tuple[Ints, Ints]
"""Blocks that stay where they are, and where each begins."""


class Packing:
    """The packings of one instance."""

    def __init__(self, instance: Instance, task: Task, control: Control) -> None:
        self.work = 0
        self.instance, self.task, self.control = instance, task, _Quietly(control)
        block = instance.part_block[instance.rect_part]
        self.starts = np.full(instance.blocks, instance.sections, dtype=np.int64)
        """When each block is first live."""
        np.minimum.at(self.starts, block, instance.rect_start)
        self.ends = np.zeros(instance.blocks, dtype=np.int64)
        np.maximum.at(self.ends, block, instance.rect_end)
        self.lives = np.zeros(instance.blocks, dtype=np.int64)
        """How long each block is live, without the gaps between."""
        np.add.at(self.lives, block, instance.rect_end - instance.rect_start)
        self.areas = np.zeros(instance.blocks, dtype=np.int64)
        """What each block takes of room and time together."""
        heights = (instance.part_high - instance.part_low)[instance.rect_part]
        np.add.at(self.areas, block, heights * (instance.rect_end - instance.rect_start))
        self._known: dict[tuple[int, bool, bytes], Ints | None] = {}
        self._in_vain: dict[tuple[int, bool, bytes], int] = {}
        """The work with which a packing was looked for in vain, where none is proven to be missing."""
        self.settled: dict[tuple[int, bool, bytes, bytes, bytes], Outcome | None] = {}
        """What came of slices of pools, by search or in order, beside what stayed there."""

    def pack(self, pool: Ints, counted: frozenset[int], work: int) -> tuple[Placement | None, list[int]]:
        """The placement for this choice of pools, and the pools that could not be packed. Only the pools in `counted` need low peaks."""
        offset = np.zeros(self.instance.blocks, dtype=np.int64)
        unfit = []
        for p in np.unique(pool).tolist():
            blocks = np.flatnonzero(pool == p)
            found = self.packed(p, blocks, p in counted, work)
            if found is None:
                unfit.append(p)
            else:
                offset[blocks] = found
        return (None if unfit else Placement(pool, offset)), unfit

    def nearly(self, pool: Ints, number: Ints, counted: frozenset[int], work: int) -> Placement | None:
        """The placement for this choice, but classes (by `number`) that end above a capacity go to a pool without one; None if some of them may not.

        Each pool has a part of what is left of the work, and the last one the rest.
        """
        pool, offset = pool.copy(), np.zeros(self.instance.blocks, dtype=np.int64)
        end, to_pack = self.work + work, self.instance.blocks
        for p in sorted(range(len(self.instance.pools)), key=lambda p: self.instance.pools[p].capacity is None):
            blocks = np.flatnonzero(pool == p)
            if not len(blocks):
                continue
            left = max(end - self.work, 1)
            found = self._beyond(p, blocks, p in counted, left if len(blocks) == to_pack else _part(left))
            if found is None:
                return None
            bases, is_over = found
            gone = np.isin(number[blocks], number[blocks[is_over]])
            to_pack -= int((~gone).sum())
            offset[blocks[~gone]] = bases[~gone]
            if gone.any():
                other = self._unlimited(blocks[gone])
                if other is None or len(self.instance.apart):
                    return None
                pool[blocks[gone]] = other
        return Placement(pool, offset)

    def _beyond(self, pool: int, blocks: Ints, low: bool, work: int) -> tuple[Ints, Bools] | None:
        """The offsets of these blocks as low as they are found, and which end above the capacity: none, if a part of the work does."""
        capacity, end = self.instance.pools[pool].capacity, self.work + work
        inside = self.packed(pool, blocks, low, work if capacity is None else _part(work))
        if inside is not None:
            return inside, np.zeros(len(blocks), dtype=bool)
        if capacity is None:
            return None
        piece = without_capacity(self._piece(pool, blocks))
        target = () if low else (value_of_peaks(piece, (capacity,)),)
        task = replace(self._of(Goal.MINIMISE, max(end - self.work, 1)), target=target)
        outcome = solve_separate_pools(piece, task, self.control, packers(), by_name=False)
        self.work += outcome.work
        if outcome.placement is None:
            return None
        offset = outcome.placement.offset
        return offset, offset + piece.block_high > capacity

    def _unlimited(self, blocks: Ints) -> int | None:
        """The first pool without a capacity that all of these may be in."""
        for p, pool in enumerate(self.instance.pools):
            if pool.capacity is None and self.instance.allowed[blocks, p].all():
                return p
        return None

    def lowered(self, placement: Placement, counted: Sequence[int], work: int) -> Placement:
        """The placement with each of these pools packed anew, each within this work, where that ends lower."""
        offset, heights = placement.offset.copy(), self.instance.block_high
        for p in counted:
            blocks = np.flatnonzero(placement.pool == p)
            found = self.packed(p, blocks, True, work) if len(blocks) else None
            if found is not None and (found + heights[blocks]).max() < (offset[blocks] + heights[blocks]).max():
                offset[blocks] = found
        return Placement(placement.pool, offset)

    def beside(self, pool: int, moving: Ints, pool_of: Ints, offset: Ints, top: int | None) -> tuple[Ints, Ints] | None:
        """Pack the moving blocks of this pool (by `pool_of`) below the top, beside the other blocks there; None if no such packing was found.

        Blocks that begin a little earlier or later may move as well, as far again as the moving ones reach: blocks that stay leave gaps that
        hardly anything fits into. The answer is the blocks that were packed, and where each begins.
        """
        instance = self.instance
        mine = moving[pool_of[moving] == pool]
        here = pool_of == pool
        around = self.starts[mine if len(mine) else moving]
        first, last = int(around.min()), int(around.max())
        margin = last - first + 1
        free = here & (self.starts >= first - margin) & (self.starts <= last + margin)
        blocks = np.flatnonzero(here & (free | self._meets(free)))
        piece = restrict(instance, blocks, [pool]).instance
        fixed = ~free[blocks]
        lowest, highest = piece.lowest.copy(), piece.highest.copy()
        capacity = piece.pools[0].capacity
        if top is not None and (capacity is None or top < capacity):
            room = top - piece.block_high
            room -= (room - piece.residue[:, 0]) % piece.modulus[:, 0]
            highest[:, 0] = np.minimum(highest[:, 0], room)
            capacity = max(top, int((offset[blocks[fixed]] + piece.block_high[fixed]).max(initial=0)))
        lowest[fixed, 0] = highest[fixed, 0] = offset[blocks[fixed]]
        if (lowest > highest).any():
            return None
        piece = replace(
            piece,
            lowest=lowest,
            highest=highest,
            pools=(replace(piece.pools[0], capacity=capacity),),
            terms=(Term.SUM_OF_PEAKS,),
            apart=piece.apart[:0],
            penalties=piece.penalties[:0],
            was=None,
        )
        task = Task(replace(self.task.limits, work=work_of_piece(len(blocks)), workers=1), Goal.FIT, self.task.seed)
        outcome = solve_separate_pools(piece, task, self.control, packers(), by_name=False)
        self.work += outcome.work + budget.PIECE + instance.blocks // budget.BLOCKS_PER_UNIT
        if outcome.placement is None:
            return None
        return blocks[~fixed], outcome.placement.offset[~fixed]

    def _meets(self, free: Bools) -> Bools:
        """(n) Which blocks are live together with one of these, or in conflict with one?"""
        i = self.instance
        block = i.part_block[i.rect_part]
        mine = free[block]
        begun = np.bincount(i.rect_start[mine], minlength=i.sections + 1)
        ended = np.bincount(i.rect_end[mine], minlength=i.sections + 1)
        covered = np.concatenate([[0], np.cumsum(np.cumsum(begun - ended) > 0)])
        meets = np.zeros(i.blocks, dtype=bool)
        meets[block[covered[i.rect_end] > covered[i.rect_start]]] = True
        first, second = i.part_block[i.conflicts[:, 0]], i.part_block[i.conflicts[:, 1]]
        meets[second[free[first]]] = True
        meets[first[free[second]]] = True
        return meets

    def packed(self, pool: int, blocks: Ints, low: bool, work: int) -> Ints | None:
        """The offsets of these blocks in the pool; None if they were not packed within its capacity, with this work or what they got before."""
        if not self.instance.allowed[blocks, pool].all():  # in an instance that was cut off, some may be too high
            return None
        key = pool, low, blocks.tobytes()
        if key not in self._known or work > self._in_vain.get(key, work):
            outcome = self.outcome(pool, blocks, Goal.MINIMISE if low else Goal.FIT, work)
            self._known[key] = None if outcome.placement is None else outcome.placement.offset
            self._in_vain.pop(key, None)
            if outcome.placement is None and not outcome.infeasible:
                self._in_vain[key] = work
        return self._known[key]

    def outcome(self, pool: int, blocks: Ints, goal: Goal, work: int, stay: Staying | None = None) -> Outcome:
        """What comes of packing these blocks into the pool within its capacity, beside those that stay where they are."""
        outcome = self._solved(self._piece(pool, blocks, stay), self._of(goal, work))
        self.work += outcome.work
        return outcome if stay is None else _of_first(len(blocks), outcome)

    def _solved(self, piece: Instance, task: Task) -> Outcome:
        """What the packers find, upside down where not all may end at the top."""
        turned = upside_down(piece) if task.goal is Goal.FIT else None
        if turned is None:
            return solve_separate_pools(piece, task, self.control, packers(), by_name=False)
        outcome = solve_separate_pools(turned.instance, task, self.control, packers(), by_name=False)
        if outcome.placement is None:
            return outcome
        placement = turned.upright(outcome.placement)
        return replace(outcome, placement=placement, value=evaluate(piece, placement))

    def in_order(self, pool: int, blocks: Ints, goal: Goal, work: int, stay: Staying | None = None) -> Outcome | None:
        """What CP-SAT says, which decides who lies below whom; None if these blocks are not for it."""
        answer = ask("cpsat_order", self._piece(pool, blocks, stay), self._of(goal, work), self.control)
        if not isinstance(answer, Outcome):
            return None
        self.work += answer.work
        return answer if stay is None else _of_first(len(blocks), answer)

    def meeting(self, blocks: Ints, stay: Ints) -> Ints:
        """Those that stay and could be in the way of these blocks."""
        free = np.zeros(self.instance.blocks, dtype=bool)
        free[blocks] = True
        return np.sort(stay[self._meets(free)[stay]])

    def know(self, pool: int, blocks: Ints, offsets: Ints | None) -> None:
        """Remember a packing that was found otherwise; None: that there is none."""
        key = pool, False, blocks.tobytes()
        self._known[key] = offsets
        self._in_vain.pop(key, None)

    def _piece(self, pool: int, blocks: Ints, stay: Staying | None = None) -> Instance:
        near, bases = stay or (blocks[:0], blocks[:0])
        piece = restrict(self.instance, np.concatenate([blocks, near]), [pool]).instance
        lowest, highest = piece.lowest.copy(), piece.highest.copy()
        lowest[len(blocks) :, 0] = highest[len(blocks) :, 0] = bases
        return replace(
            piece,
            lowest=lowest,
            highest=highest,
            terms=(Term.SUM_OF_PEAKS,),
            apart=piece.apart[:0],
            penalties=piece.penalties[:0],
        )

    def _of(self, goal: Goal, work: int) -> Task:
        return Task(replace(self.task.limits, work=work, workers=1), goal, self.task.seed)


def _of_first(number: int, outcome: Outcome) -> Outcome:
    """The outcome for so many blocks, the others being where they were."""
    placement = outcome.placement
    if placement is None:
        return outcome
    return replace(outcome, placement=Placement(placement.pool[:number], placement.offset[:number]))


class _Quietly:
    """A Control that reports nothing: a packing of one pool is no placement of the instance."""

    def __init__(self, control: Control) -> None:
        self.log, self.stopped = control.log, control.stopped

    def incumbent(self, placement: Placement) -> None: ...

    def bound(self, bound: Value) -> None: ...
