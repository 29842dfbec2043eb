"""The search's link to its caller: it looks at the clock, and reports better placements."""

from __future__ import annotations

import time

from ....model.errors import SolverError
from ....model.instance import Ints
from ...interface import SearchReport

EVERY_SECONDS = 0.004


class Stopped(SolverError):
    """Whoever started the search wants it to end. Never leaves the kernel."""


class Watch:
    """Asked wherever some time may have gone by."""

    def __init__(self, report: SearchReport, bound: int) -> None:
        self.bound = bound
        self._report = report
        self._last = time.monotonic()

    def look(self) -> None:
        """Raises Stopped if it is time to end; cheap if the last look is not long ago."""
        now = time.monotonic()
        if now - self._last >= EVERY_SECONDS:
            self._last = now
            self._ask(None)

    def tell(self, offsets: Ints | None, bound: int) -> None:
        """Of better offsets than before, or a better bound."""
        self.bound = bound
        self._ask(offsets)

    def _ask(self, offsets: Ints | None) -> None:
        if self._report(offsets, self.bound):
            raise Stopped
