"""Live progress of many problems: how many are planned, how fast, how many have no plan, and how long the rest may take."""

from __future__ import annotations

import time
from collections import deque

from planner.many import Entry

from ..sizes import grouped
from .redrawn_line import RedrawnLine, clock

WINDOW = 30.0
"""Seconds that the rate is taken of: what is left may be as slow as what was last."""


class ManyProgress(RedrawnLine):
    """Told of every entry. On a terminal one line that is redrawn; elsewhere silence."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._total = total
        self._done = 0
        self._without = 0
        self._begun = time.monotonic()
        self._recent: deque[tuple[float, int]] = deque([(self._begun, 0)])

    def __call__(self, entry: Entry) -> None:
        with self._lock:
            self._done += 1
            self._recent.append((time.monotonic(), self._done))
            while self._recent[-1][0] - self._recent[0][0] > WINDOW:
                self._recent.popleft()
            if not entry.status.has_plan:
                self._without += 1

    def line(self) -> str:
        """`1 234 of 10 000 planned   312/s   2 without a plan   about 0:28 left`"""
        parts = [f"{grouped(self._done)} of {grouped(self._total)} planned"]
        (since, before), now = self._recent[0], time.monotonic()
        rate = (self._done - before) / max(now - since, 1e-3)
        if rate > 0:
            parts.append(f"{rate:,.0f}/s".replace(",", " ") if rate >= 10 else f"{rate:.1f}/s")
        if self._without:
            parts.append(f"{grouped(self._without)} without a plan")
        if rate > 0 and self._done < self._total:
            parts.append(f"about {clock((self._total - self._done) / rate)} left")
        return "   ".join(parts)
