"""The search's line to whoever started it: a look at the clock, and word of what is better."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from ....model.instance import Ints
from .errors import Stopped

EVERY_SECONDS = 0.004

Report: TypeAlias = Callable[[Ints | None, int], bool]
"""Told of better offsets, if there are any, and the bound; true stops the search."""


class Watch:
    """Asked wherever some time may have gone by."""

    def __init__(self, report: Report, bound: int) -> None:
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
