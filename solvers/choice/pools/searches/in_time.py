"""Where many blocks are live at a time: the linear program is solved span of time by span of time, each at the prices of those before it."""

from __future__ import annotations

import numpy as np

from ....model.instance import Ints
from .. import budget
from ..placing.packing import Packing
from ..prices.crowds import Relaxed
from ..prices.spans import Spans
from ..program.program import Program
from ..questions.asking import Asking

RELAXED, MARGIN = 600, 100
"""So many classes begin in a span of the linear program, and so many more are looked at beyond it."""
ALL_ROWS_PER_ENTRY = 20
"""With less work for each number in the program, the linear program has only every second row of each pool."""
LEAST_PER_ENTRY, LAST_ROUND_PER_ENTRY = 8, 9
"""What solving a span's gets at least, for each number in it; and what its last round of crowds takes beyond that."""


class InTime:
    """The search of one instance's first term. `number` is the class of each block."""

    def __init__(self, program: Program, number: Ints, asking: Asking, packing: Packing) -> None:
        self._program, self._asking, self._packing = program, asking, packing
        starts = np.full(len(program.homes), packing.instance.sections, dtype=np.int64)
        np.minimum.at(starts, number, packing.starts)
        self._spans = Spans(program, starts)
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
            span = spans.cut(begin, None if until is None else spans.after(until, MARGIN), every)
            self._packing.work += budget.WINDOW_PER_ENTRY * span.program.entries
            left = (begun + work - self._work) // (len(borders) - n)
            entries = span.program.entries
            found = self._asking.relax(
                span.program, (), max(left - LAST_ROUND_PER_ENTRY * entries, LEAST_PER_ENTRY * entries)
            )
            if found is None:
                return None
            spans.learn(span, found, until)
        return spans.relaxed(self._work - begun)
