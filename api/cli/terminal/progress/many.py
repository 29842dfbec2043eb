"""Live progress of many problems: the number planned, the rate, the expected remaining time, and the progress of the slowest."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping

from planner.many import Entry, UnderWay

from ..text import grouped, visible
from .redrawn_line import RedrawnLine, clock

WINDOW = 30.0
"""The seconds over which the rate is measured: the rest may be as slow as the latest."""
LONG = 1.0
"""Work that takes this many seconds is shown by name."""


class ManyProgress(RedrawnLine):
    """Receives every entry. On a terminal one redrawn line; elsewhere silence."""

    def __init__(self, total: int, under_way: Mapping[str, UnderWay], *, time_limit: float | None, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._total = total
        self._under_way = under_way
        self._limit = time_limit
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
        """`1 234 of 10 000 planned   312/s   2 without a plan   about 0:28 left   big.json 0:12 best 1 024 bound 960`"""
        parts = [f"{grouped(self._done)} of {grouped(self._total)} planned"]
        (since, before), now = self._recent[0], time.monotonic()
        rate = (self._done - before) / max(now - since, 1e-3)
        if rate > 0:
            parts.append(f"{rate:,.0f}/s".replace(",", " ") if rate >= 10 else f"{rate:.1f}/s")
        if self._without:
            parts.append(f"{grouped(self._without)} without a plan")
        busy = sorted((each.since, name, each) for name, each in list(self._under_way.items()))
        if rate > 0 and self._total > self._done + len(busy):
            parts.append(f"about {clock((self._total - self._done) / rate)} left")
        elif busy and self._limit is not None:  # files done in earlier runs tell nothing about these
            parts.append(f"at most {clock(max(busy[-1][0] + self._limit - now, 0))} left")
        if busy and now - busy[0][0] >= LONG:
            parts.append(_at_work(now, *busy[0]))
        return "   ".join(parts)


def _at_work(now: float, since: float, name: str, file: UnderWay) -> str:
    """Return the file that takes longest, and what is known of its plan."""
    shown = f"{visible(name)} {clock(now - since)}"
    if file.reached is None:
        return shown
    best, bound = (
        "none yet" if number is None else grouped(number) for number in (file.reached.value, file.reached.bound)
    )
    return f"{shown} best {best} bound {bound}"
