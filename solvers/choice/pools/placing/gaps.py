"""Where pools are stuck with a choice, it is made again there with room for gaps: those that live then go elsewhere, and everybody else keeps his pool.

At each moment there is room for a choice that fills pools to the last unit, but mostly there is a short time in which some blocks of a pool cannot be
packed, nor can that be proven. There the rows of that pool count some more, up to half of what is free in all pools together, and twice as much where it
is stuck again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ....bounds.weighted_sections import live_by_section
from ....model.instance import Ints, Placement
from .. import budget
from ..program.entries import classes_in_time
from ..program.program import Pools, Program, settled_in
from ..questions.asking import Asking
from ..questions.question import Question
from .in_turn import NEVER, InTurn
from .packing import Packing, work_of_piece

NEIGHBOURS = 10
"""So many classes before those that are stuck, and after them, are chosen again with them."""
FIRST, LAST = 2, 512
"""In thousandths of a pool's height, what is left for gaps at first, and at last."""


class UntilStuck(InTurn):
    """Packs a pool slice by slice, without anybody leaving it."""

    stuck: Ints | None = None
    """The blocks of the slice that could not be packed beside those before it."""

    def _settle(self, begin: int, end: int, earlier: int) -> bool:
        if self._search(begin, end) or (begin and self._search(earlier, end)):
            return True
        if self._in_order(begin, end, budget.SLICE_OR_GAPS):
            return True
        self.stuck = self._order[begin:end]
        return False


class Gaps:
    """Of a program of one term in pools that end at their capacities, below which `packing` packs. `number` is the class of each block."""

    def __init__(self, program: Program, number: Ints, asking: Asking, packing: Packing) -> None:
        self._program, self._number, self._asking, self._packing = program, number, asking, packing
        self._order = classes_in_time(program)
        self._rank = {group: n for n, group in enumerate(self._order)}
        self._left_of_row = dict[int, int]()
        """For gaps, in thousandths."""
        ends = (room.capacity for room in program.rooms)
        self._heights = [0 if end is None else room.below(end) for room, end in zip(program.rooms, ends, strict=True)]
        self._free = sum(self._heights) - live_by_section(packing.instance)

    @property
    def _work(self) -> int:
        return self._asking.work + self._packing.work

    def placement(self, pools: Pools, work: int) -> Placement | None:
        """A placement of this choice, or of one nearby with gaps; None if none was found within the work."""
        end = self._work + work
        while self._asking.stop is None and self._work < end:
            pool_of = np.array(pools, dtype=np.int64)[self._number]
            placement, unfit = self._packing.pack(pool_of, frozenset(), min(work_of_piece(0), end - self._work))
            if placement is not None:
                return placement
            stuck = self._stuck(pool_of, unfit, end)
            if stuck is None or self._work >= end:
                return None
            if stuck:
                better = self._again(pools, stuck, end)
                if better is None:
                    return None
                pools = better
        return None

    def _stuck(self, pool_of: Ints, unfit: list[int], end: int) -> dict[int, Ints] | None:
        """Where these pools are stuck, but for those that are packed after all; None if a block is too high for its pool, or the work has ended."""
        found = dict[int, Ints]()
        for pool in unfit:
            blocks = np.flatnonzero(pool_of == pool)
            if not self._packing.instance.allowed[blocks, pool].all():
                return None
            in_turn = UntilStuck(self._packing, pool, blocks, end - self._work, np.full(len(pool_of), NEVER))
            packed = in_turn.packed()
            if packed is not None:
                self._packing.know(pool, blocks, packed.offset)
            elif in_turn.stuck is None:
                return None
            else:
                found[pool] = in_turn.stuck
        return found

    def _again(self, pools: Pools, stuck: Mapping[int, Ints], end: int) -> Pools | None:
        """The best choice nearby with gaps where pools are stuck."""
        chosen = set[int]()
        for pool, blocks in stuck.items():
            rows = self._rows_of(pool, blocks)
            if not rows or any(self._left_of_row.get(n) == LAST for n in rows):
                return None
            for n in rows:
                self._left_of_row[n] = 2 * self._left_of_row[n] if n in self._left_of_row else FIRST
            at = [self._rank[group] for group in self._number[blocks].tolist() if group in self._rank]
            if at:
                chosen.update(self._order[max(min(at) - NEIGHBOURS, 0) : max(at) + NEIGHBOURS + 1])
        part = settled_in(self._with_gaps(), {group: p for group, p in enumerate(pools) if group not in chosen})
        work = min(end - self._work, budget.GAPS_A_CLASS * len(chosen))
        return self._asking.ask(part, Question(0, near=pools), work).pools if work > 0 else None

    def _rows_of(self, pool: int, blocks: Ints) -> list[int]:
        """The rows of the pool at moments when these blocks begin."""
        begins = self._packing.starts[blocks]
        first, last = int(begins.min()), int(begins.max())
        return [n for n, row in enumerate(self._program.rows) if row.pool == pool and first <= row.section <= last]

    def _with_gaps(self) -> Program:
        """The program in which rows count what is left for gaps, too."""
        rows = list(self._program.rows)
        for n, thousandths in self._left_of_row.items():
            row = rows[n]
            left = min(self._heights[row.pool] * thousandths // 1000, max(int(self._free[row.section]), 0) // 2)
            rows[n] = row._replace(always=row.always + left)
        return replace(self._program, rows=tuple(rows))
