"""What all gluing of one call shares, as in native/gluing/course.hpp: random numbers, the work that is done, and when to stop."""

from __future__ import annotations

import numpy as np

from ....model.splitmix import SplitMix64
from ...interface import Report


class Course:
    def __init__(self, seed: int, most: int, report: Report) -> None:
        self.random = SplitMix64(seed)
        self.most = most
        """The work that may be done, in looks."""
        self.work = 0
        """The work that is done."""
        self._report = report
        self._stopped = False

    def below(self, most: int) -> int:
        """A random number below this one."""
        return (self.random.next() >> 32) * most >> 32

    @property
    def left(self) -> int:
        return self.most - self.work

    def is_over(self) -> bool:
        """True if the work is done, or the caller wants to stop."""
        return self.stops() or self.left <= 0

    def stops(self) -> bool:
        """True if the caller wants to stop."""
        self._stopped = self._stopped or self._report(None)
        return self._stopped

    def report(self, better: list[int]) -> None:
        """Hands out the offsets of a better placement."""
        self._stopped = self._report(np.array(better, dtype=np.int64)) or self._stopped
