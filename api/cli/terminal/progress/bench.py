"""Live progress of a measurement: runs done, the last result, and the expected remaining time."""

from __future__ import annotations

from planner.bench import Record

from ..text import visible
from .redrawn_line import RedrawnLine, clock

BAR = 20
"""Columns."""


class Progress(RedrawnLine):
    """Receives every record. On a terminal one redrawn line; elsewhere only failures."""

    def __init__(self, total: int, jobs: int, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._total = total
        self._jobs = jobs
        self._done = 0
        self._spent = 0.0
        self._last = ""

    def __call__(self, record: Record) -> None:
        with self._lock:
            self._done += 1
            self._spent += record.process_seconds or 0.0
            self._last = f"{record.instance} {record.solver}: {record.status}"
            if record.status.has_failed or record.wrong is not None:
                why = record.wrong or record.error or record.status
                self._tell(f"{record.instance}, {record.solver}, seed {record.seed}: {record.status}: {why}")

    def line(self) -> str:
        """`[####----------------] 12 of 60 runs   about 1:20 left   nets/bert.json auto: optimal`"""
        filled = BAR * self._done // max(self._total, 1)
        parts = [f"[{'#' * filled:-<{BAR}}] {self._done} of {self._total} runs"]
        if self._done:
            left = self._spent / self._done * (self._total - self._done) / self._jobs
            parts.append(f"about {clock(left)} left")
        return "   ".join((*parts, visible(self._last)))
