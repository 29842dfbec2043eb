"""One line on the terminal that is drawn anew by a thread of its own, so that seconds run on while others work."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from ..text import can_redraw, columns, say, visible
from .planning import ERASE_LINE

REDRAWN_SECONDS = 0.5


class RedrawnLine(ABC):
    """Whoever inherits it says what the line is. Off a terminal nothing is drawn."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._draws = not quiet and can_redraw(sys.stderr)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._redraw, name="memplan-progress", daemon=True)

    @abstractmethod
    def line(self) -> str:
        """As it would be drawn now."""

    def _tell(self, text: str) -> None:
        """A line that stays, above the one that is redrawn. With the lock held."""
        if not self._quiet:
            if self._draws:
                self._write(ERASE_LINE)
            say(visible(text))

    def __enter__(self) -> Self:
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

    def _redraw(self) -> None:
        while not self._ended.wait(REDRAWN_SECONDS):
            with self._lock:
                self._write(ERASE_LINE + self.line()[: columns(sys.stderr) - 1])

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._ended.set()  # the terminal has gone away; the work goes on


def clock(seconds: float) -> str:
    """80 as `1:20`."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
