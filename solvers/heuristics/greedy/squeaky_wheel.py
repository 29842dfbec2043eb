"""Places the blocks pass after pass: those that came too late to begin low enough come earlier in the next one.

Of use where some blocks must begin low, since in orders by size larger ones that may begin anywhere take their room.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...fitting.orders import Fit
from ...kernels.columns import Columns
from ...kernels.interface import Kernels, Report
from ...model.instance import Instance, Ints
from ...model.splitmix import SplitMix64

BLOCKS_A_UNIT, PAIRS_A_UNIT, WORK_OF_A_PASS = 2, 16, 10
"""For a unit of work a pass places so many blocks or looks at so many conflicts, after so many units in any case."""
LEAST_STEP, MOST_STEP = 20, 3
"""A block that came too late moves ahead by one of so many parts of all blocks at least, and about one of so many more at most."""


class SqueakyWheel:
    """The passes over one instance with one pool. First come those that must begin lowest, of these the tallest. `is_over` says whether to stop."""

    def __init__(
        self, instance: Instance, given: Columns, kernels: Kernels, seed: int, is_over: Callable[[], bool]
    ) -> None:
        self._instance, self._given, self._kernels, self._is_over = instance, given, kernels, is_over
        self._high = instance.block_high
        self._is_free = given.lowest < given.highest
        self._turn = np.empty(instance.blocks, dtype=np.int64)
        self._turn[np.lexsort((-self._high, given.highest))] = np.arange(instance.blocks)
        self._random = SplitMix64(seed)
        looks = len(instance.conflicts) // PAIRS_A_UNIT
        self.work_of_pass = instance.blocks // BLOCKS_A_UNIT + looks + WORK_OF_A_PASS
        self.done = 0
        """The work of all passes."""

    def lower(self, start: Ints, enough: int, work: int, report: Report) -> Ints:
        """The lowest placement that is found with this work: the start, or one that ends below it. It need not end below `enough`."""
        best = start
        floor = max(enough, int((start + self._high).max(where=~self._is_free, initial=0)))
        while (peak := self._instance.end_of(best)) > floor and self.done < work:
            found = self.placed(work, peak - 1)
            if found is None:
                break
            best = found
            if report(best):
                break
        return best

    def placed(self, work: int, top: int | None = None) -> Ints | None:
        """Pass after pass until all blocks have a place, and with `top` end no higher; None if that takes more than this work."""
        highest, lowest, blocks = self._given.highest, self._given.lowest, self._instance.blocks
        if top is not None:
            highest = np.where(self._is_free, np.minimum(highest, top - self._high), highest)
        given = self._given._replace(highest=highest)
        while True:
            order = np.lexsort((self._turn, lowest != highest))  # those that have one place only come first
            offset, late = self._kernels.greedy_fill(self._instance.sections, given, order, Fit.LOWEST, self._is_over)
            self.done += self.work_of_pass
            if not len(late):
                return offset
            if self.done >= work or self._is_over():
                return None
            for block in late.tolist():
                self._turn[block] -= 1 + blocks // LEAST_STEP + self._random.below(1 + blocks // MOST_STEP)
