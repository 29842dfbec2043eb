"""Live progress of a measurement: how many runs are done, how the last one went, and how long the rest may take."""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType

from planner.bench import Record

from .progress import ERASE_LINE
from .text import can_redraw, say, visible

REDRAWN_SECONDS = 0.5
BAR = 20
"""Columns."""


class Progress:
    """Told of every record. On a terminal one line that is redrawn; elsewhere silence, but for what failed."""

    def __init__(self, total: int, jobs: int, *, quiet: bool) -> None:
        self._total = total
        self._jobs = jobs
        self._quiet = quiet
        self._draws = not quiet and can_redraw(sys.stderr)
        self._done = 0
        self._spent = 0.0
        self._last = ""
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._redraw, name="memplan-bench-progress", daemon=True)

    def __call__(self, record: Record) -> None:
        with self._lock:
            self._done += 1
            self._spent += record.process_seconds or 0.0
            self._last = f"{record.instance} {record.solver}: {record.status}"
            if not self._quiet and (record.status.has_failed or record.wrong is not None):
                if self._draws:
                    self._write(ERASE_LINE)
                why = record.wrong or record.error or record.status
                say(visible(f"{record.instance}, {record.solver}, seed {record.seed}: {record.status}: {why}"))

    def __enter__(self) -> Progress:
        if self._draws:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._draws:
            self._thread.join()
            self._write(ERASE_LINE)

    def line(self) -> str:
        """`[####----------------] 12 of 60 runs   about 1:20 left   nets/bert.json auto: optimal`"""
        filled = BAR * self._done // max(self._total, 1)
        parts = [f"[{'#' * filled:-<{BAR}}] {self._done} of {self._total} runs"]
        if self._done:
            left = self._spent / self._done * (self._total - self._done) / self._jobs
            parts.append(f"about {clock(left)} left")
        return "   ".join((*parts, visible(self._last)))

    def _redraw(self) -> None:
        while not self._ended.wait(REDRAWN_SECONDS):
            with self._lock:
                self._write(ERASE_LINE + self.line()[: self._columns() - 1])

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._ended.set()  # the terminal has gone away; the measurement goes on

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(sys.stderr.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


def clock(seconds: float) -> str:
    """80 as `1:20`."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
