"""The progress of files that take long: sent now and then by the planning process, and kept for display."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from ..planning.placing.watching import Progress

TELL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a plan is."""

    value: int | None
    bound: int | None


@dataclass(slots=True)
class UnderWay:
    """A file that is being planned."""

    since: float = field(default_factory=time.monotonic)
    reached: Reached | None = None


class ProgressSender:
    """Sends the latest progress from its own thread, since the other one plans. Quick plans send nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._send: Callable[[object], None] | None = None
        self._next: Reached | None = None
        self._thread: threading.Thread | None = None

    def begin(self, send: Callable[[object], None]) -> None:
        """Begin to send what is heard."""
        with self._lock:
            self._send, self._next = send, None
            if self._thread is None:
                self._thread = threading.Thread(target=self._tell, name="memplan-progress", daemon=True)
                self._thread.start()

    def hear(self, moment: Progress) -> None:
        """Record the progress."""
        with self._lock:
            self._next = Reached(moment.value, moment.bound)

    def end(self) -> None:
        """Stop sending: an answer may follow."""
        with self._lock:
            self._send = None

    def _tell(self) -> None:
        while True:
            time.sleep(TELL_SECONDS)
            with self._lock:
                if self._send is not None and self._next is not None:
                    with suppress(OSError):  # nobody listens any more; then this process ends too
                        self._send(self._next)
                    self._next = None
