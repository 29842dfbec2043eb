"""Where many blocks are live at a time: the linear program is solved span of time by span of time, and then choices are made and packed in the same order.

Each span is chosen and packed beside what begins before it, together with what comes soon after it, which is then done again. So each has just the room for
gaps that it needs, where a choice for all must leave everywhere what the hardest time needs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....bounds.room_prices import costs_by_pool
from ....geometry.presolve import restrict
from ....geometry.rules import violation
from ....heuristics.assign.from_prices import settled
from ....model.instance import Bools, Instance, Ints, Placement
from ....model.solver import Control, Task
from .. import budget
from ..placing.packing import Packing
from ..prices.crowds import Relaxed
from ..prices.spans import Spans
from ..program.program import Program
from ..program.writing import class_numbers
from ..questions.asking import Asking
from ..questions.question import Question
from .core import CoreSearch
from .stretches import Effort, StretchSearch

RELAXED, MARGIN = 600, 100
"""So many classes begin in a span of the linear program, and so many more are looked at beyond it."""
ALL_ROWS_PER_ENTRY = 20
"""With less work for each number in the program, the linear program has only every second row of each pool."""
LEAST_PER_ENTRY = 10
"""What solving a span's takes at least, for each number in it."""
CHOSEN, BEYOND, MOVED = 300, 80, 80
"""So many classes begin in a span that is chosen and packed; so many more are looked at beyond it, and so many that begin before it may move in their pools."""
CORE = 30
"""Classes of a span that are chosen besides those that the linear program divides."""
EFFORT = Effort(first=30, more=2.0, part=2, packing=60_000)
ENOUGH = 60_000
"""With less work for each span hardly any choice comes near its linear program."""
LEAST = 50_000
"""The work of a span's choices is at least this."""


class InTime:
    """The search of one instance's first term. `number` is the class of each block."""

    def __init__(
        self,
        instance: Instance,
        program: Program,
        number: Ints,
        asking: Asking,
        packing: Packing,
        task: Task,
        control: Control,
    ) -> None:
        self._instance, self._program, self._number = instance, program, number
        self._asking, self._packing, self._task, self._control = asking, packing, task, control
        starts = np.full(len(program.homes), instance.sections, dtype=np.int64)
        np.minimum.at(starts, number, packing.starts)
        self._spans = Spans(program, starts)
        self._pool_of, self._offset = dict[int, int](), np.zeros(instance.blocks, dtype=np.int64)
        """Where classes are that have been chosen, and where blocks."""
        packing.work += budget.WINDOW_PER_ENTRY * program.entries

    @property
    def _work(self) -> int:
        return self._asking.work + self._packing.work

    def relaxed(self, work: int) -> Relaxed | None:
        """The linear program's solution; None if that is too much work."""
        begun, spans = self._work, self._spans
        every = 1 if work >= ALL_ROWS_PER_ENTRY * self._program.entries else 2
        borders = spans.borders(RELAXED)
        for n, begin in enumerate(borders):
            until = borders[n + 1] if n + 1 < len(borders) else None
            span = spans.cut(begin, None if until is None else spans.after(until, MARGIN), {}, every=every)
            self._packing.work += budget.WINDOW_PER_ENTRY * span.program.entries
            left = (begun + work - self._work) // (len(borders) - n)
            found = self._asking.relax(span.program, (), max(left, LEAST_PER_ENTRY * span.program.entries))
            if found is None:
                return None
            spans.learn(span, found, until)
        return spans.relaxed(self._work - begun)

    def is_enough(self, work: int) -> bool:
        """Could each span be chosen and packed within this much work?"""
        return work >= ENOUGH * len(self._spans.borders(CHOSEN))

    def placement(self, relaxed: Relaxed, work: int) -> Placement | None:
        """A placement; None if none was found."""
        end, spans = self._work + work, self._spans
        borders = spans.borders(CHOSEN)
        for n, begin in enumerate(borders):
            until = borders[n + 1] if n + 1 < len(borders) else None
            left = max(end - self._work, 0) // (len(borders) - n)
            if self._asking.stop is not None or not self._choose(relaxed, begin, until, left):
                return None
        return self._together()

    def _choose(self, relaxed: Relaxed, begin: int, until: int | None, work: int) -> bool:
        """Choose and pack who begins to live between these sections; false if that was not found."""
        spans, number = self._spans, self._number
        beyond = None if until is None else spans.after(until, BEYOND)
        starts = spans.starts[number]
        new = np.flatnonzero((starts >= begin) & (True if beyond is None else starts < beyond))
        packed = np.flatnonzero(self._is_packed())
        earlier = packed[starts[packed] >= spans.before(begin, MOVED)]
        free = np.concatenate([new, earlier])
        here = np.concatenate([free, np.setdiff1d(self._packing.meeting(free, packed), earlier)])
        span = spans.cut(begin, beyond, self._pool_of, number[here].tolist())
        core = CoreSearch(self._asking, span.program, 0, spans.relaxed_in(span, relaxed), size=CORE)
        packing = Packing(self._fixed(here, len(new), len(free)), self._task, self._control)
        mine = np.searchsorted(np.array(span.classes), number[here])
        search = StretchSearch(core, packing, span.program, mine, Question(0, is_beside=True), EFFORT)
        found = search.run(max(work, LEAST))
        self._packing.work += packing.work + 2 * budget.WINDOW_PER_ENTRY * span.program.entries
        if found is None:
            pools = np.array(search.pools or core.homes, dtype=np.int64)[mine]
            found = self._elsewhere(self._fixed(here, len(new), len(new)), pools)
        if found is None:
            return False
        for block, pool, offset in zip(free.tolist(), found.pool.tolist(), found.offset.tolist(), strict=False):
            if until is None or starts[block] < until:
                self._pool_of[int(number[block])], self._offset[block] = pool, offset
        return True

    def _is_packed(self) -> Bools:
        """(n) Which blocks have their place? In pools without an end, nobody has until all is chosen."""
        ended = [group for group, pool in self._pool_of.items() if self._program.rooms[pool].capacity is not None]
        found = np.zeros(len(self._program.homes), dtype=bool)
        found[ended] = True
        blocks: Bools = found[self._number]
        return blocks

    def _fixed(self, here: Ints, new: int, free: int) -> Instance:
        """The instance of these blocks: so many are new, the next ones have a pool, and those that are not free a place, too."""
        piece = restrict(self._instance, here, range(len(self._instance.pools))).instance
        lowest, highest, allowed = piece.lowest.copy(), piece.highest.copy(), piece.allowed.copy()
        pools = np.array([self._pool_of.get(group, 0) for group in self._number[here].tolist()], dtype=np.int64)
        allowed[new:] = False
        allowed[np.arange(new, len(here)), pools[new:]] = True
        stay = np.arange(free, len(here)), pools[free:]
        lowest[stay] = highest[stay] = self._offset[here[free:]]
        return replace(piece, lowest=lowest, highest=highest, allowed=allowed)

    def _elsewhere(self, piece: Instance, pools: Ints) -> Placement | None:
        """The choice as far as it can be packed at once; who finds no room goes where it costs least."""
        number = class_numbers(piece)
        wanted = costs_by_pool(piece, number, int(number.max()) + 1)
        wanted[number, pools] = wanted.min(axis=1)[number] - 1.0
        placement, work = settled(piece, wanted)
        self._packing.work += work
        return placement

    def _together(self) -> Placement | None:
        """The placement of all, with pools without an end packed as a whole."""
        groups = range(len(self._program.homes))
        pools = np.array([self._pool_of[group] for group in groups], dtype=np.int64)[self._number]
        for pool in np.unique(pools[self._is_packed()]).tolist():
            here = np.flatnonzero(pools == pool)
            self._packing.know(pool, here, self._offset[here])
        found, _ = self._packing.pack(pools, frozenset(), budget.PACKING_CROWDED)
        return None if found is None or violation(self._instance, found) is not None else found
