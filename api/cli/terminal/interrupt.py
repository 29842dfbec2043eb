"""Ctrl-C: the first one ends the planning with the best plan so far, the second ends everything."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt:
    """Inside the block, a first SIGINT, SIGTERM or SIGHUP only sets a flag; a second raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self._requested = False
        self._before: dict[signal.Signals, Any] = {}

    def requested(self) -> bool:
        """True if somebody asked to stop."""
        return self._requested

    def __enter__(self) -> Interrupt:
        for number in SIGNALS:
            # an ignored signal (nohup, background jobs of a shell) stays ignored
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._requested:
            # a third one must work even if Python does not get to handle it
            signal.signal(number, signal.SIG_DFL)
            raise KeyboardInterrupt
        self._requested = True
