"""One line on the terminal, redrawn by its own thread, so that seconds continue while others work."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from rich.cells import cell_len, set_cell_size

from ..text import can_redraw, columns, say, visible
from .planning import ERASE_LINE

REDRAWN_SECONDS = 0.5


class RedrawnLine(ABC):
    """Subclasses provide the line. Off a terminal nothing is drawn."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._draws = not quiet and can_redraw(sys.stderr)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._redraw, name="memplan-progress", daemon=True)

    @abstractmethod
    def line(self) -> str:
        """Return the line as drawn now."""

    def _tell(self, text: str) -> None:
        """Print a permanent line above the redrawn one. Requires the lock."""
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
                self._write(ERASE_LINE + first_columns(self.line(), columns(sys.stderr) - 1))

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._ended.set()  # the terminal is gone; the work continues


def first_columns(text: str, count: int) -> str:
    """Return the beginning of the text that takes at most this many columns of a terminal."""
    return text if cell_len(text) <= count else set_cell_size(text, count)


def clock(seconds: float) -> str:
    """Return the time in minutes and seconds, with hours if needed: `1:20`."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
