"""The search's link to its caller: watches the clock and reports better placements."""

from __future__ import annotations

import time

from ....model.errors import SolverError
from ....model.instance import Ints
from ...interface import SearchReport

EVERY_SECONDS = 0.004


class Stopped(SolverError):
    """The caller wants the search to end. Never leaves the kernel."""


class Watch:
    """Calls the report function at intervals."""

    def __init__(self, report: SearchReport, bound: int) -> None:
        self.bound = bound
        self._report = report
        self._last = time.monotonic()

    def look(self) -> None:
        """Calls the report function if some milliseconds have passed since the last call. Raises Stopped if it returns true."""
        now = time.monotonic()
        if now - self._last >= EVERY_SECONDS:
            self._last = now
            self._ask(None)

    def tell(self, offsets: Ints | None, bound: int) -> None:
        """Reports better offsets or a better bound."""
        self.bound = bound
        self._ask(offsets)

    def _ask(self, offsets: Ints | None) -> None:
        if self._report(offsets, self.bound):
            raise Stopped
