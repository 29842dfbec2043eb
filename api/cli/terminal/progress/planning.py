"""Live progress on stderr: best, bound, gap and seconds, on one line that erases itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO

from planner import Progress

from ..text import can_redraw, columns, exact, grouped, percent, say

FIRST_SHOWN_SECONDS = 0.3
"""Shorter runs need no progress."""
REDRAWN_SECONDS = 0.1
ERASE_LINE = "\r\x1b[K"


def describe(moment: Progress | None, *, in_bytes: bool) -> str:
    """`best 1 048 576 B   bound 989 184 B   gap 6.0 %`"""
    value, bound = (None, None) if moment is None else (moment.value, moment.bound)
    parts = [f"best {amount(value, in_bytes)}", f"bound {amount(bound, in_bytes)}"]
    if value is not None and bound:
        parts.append(f"gap {percent(value / bound - 1)}")
    return "   ".join(parts)


def amount(number: int | None, in_bytes: bool) -> str:
    if number is None:
        return "none yet"
    return exact(number) if in_bytes else grouped(number)


class Silent:
    """Shows nothing."""

    def __call__(self, moment: Progress) -> None:
        """Record a moment."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear up."""


class Lines(Silent):
    """One line per improvement, between the solvers' own log lines."""

    def __init__(self, *, in_bytes: bool) -> None:
        self._in_bytes = in_bytes

    def __call__(self, moment: Progress) -> None:
        say(f"{moment.seconds:8.2f} s   {describe(moment, in_bytes=self._in_bytes)}")


class StatusLine(Silent):
    """One line, redrawn by its own thread, so that the seconds continue while a solver is busy."""

    def __init__(
        self, stream: IO[str], *, in_bytes: bool, time_limit: float | None, stopping: Callable[[], bool]
    ) -> None:
        self._stream = stream
        self._in_bytes = in_bytes
        self._limit = "" if time_limit is None else f" of {time_limit:g}"
        self._stopping = stopping
        self._moment: Progress | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._redraw, name="memplan-progress", daemon=True)
        self._start = time.monotonic()

    def __call__(self, moment: Progress) -> None:
        self._moment = moment

    def __enter__(self) -> StatusLine:
        self._start = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def line(self, width: int) -> str:
        """Return the line as drawn now, cut to the terminal's width."""
        prefix = "stopping   " if self._stopping() else ""
        seconds = f"{time.monotonic() - self._start:.1f}{self._limit} s"
        return f"{prefix}{seconds}   {describe(self._moment, in_bytes=self._in_bytes)}"[: max(width - 1, 0)]

    def _redraw(self) -> None:
        wait, drawn = FIRST_SHOWN_SECONDS, False
        try:
            while not self._done.wait(wait):
                self._stream.write(ERASE_LINE + self.line(columns(self._stream)))
                self._stream.flush()
                wait, drawn = REDRAWN_SECONDS, True
            if drawn:
                self._stream.write(ERASE_LINE)
                self._stream.flush()
        except (OSError, ValueError):
            # the terminal is gone; the planning continues
            return


def progress_on(
    stream: IO[str] | None, *, in_bytes: bool, time_limit: float | None, stopping: Callable[[], bool], verbose: bool
) -> Silent:
    """Return the kind of progress that suits the stream."""
    if verbose:
        return Lines(in_bytes=in_bytes)
    if stream is not None and can_redraw(stream):
        return StatusLine(stream, in_bytes=in_bytes, time_limit=time_limit, stopping=stopping)
    return Silent()
