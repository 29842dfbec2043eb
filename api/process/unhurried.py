"""Text for somebody who may not read it: a pipe or a terminal that stands still keeps nobody waiting."""

from __future__ import annotations

import atexit
import os
import select
import threading
from collections import deque
from contextlib import suppress
from typing import TextIO

import structlog

MOST_WAITING = 1 << 20
"""In bytes: what is said beyond that, while nobody reads, is lost."""
LAST_SECONDS = 1.0
"""For what still waits when the process ends."""

log = structlog.get_logger("memplan.log")


class Unhurried:
    """A stream whose `write` never waits. What finds no room is written by a thread, which ends once there is room again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        try:
            self._descriptor: int | None = stream.fileno()
        except (OSError, ValueError):
            self._descriptor = None
        self._turn = threading.Lock()
        self._waiting: deque[bytes] = deque()
        self._bytes = self._lost = 0
        self._thread: threading.Thread | None = None
        atexit.register(self.finish)

    def write(self, text: str) -> None:
        if self._descriptor is None:
            self._stream.write(text)
            return
        data = text.encode(errors="backslashreplace")
        with self._turn:
            if self._thread is None and self._has_room(self._descriptor, len(data)):
                _write(self._descriptor, data)
            elif self._bytes + len(data) > MOST_WAITING:
                self._lost += 1
            else:
                self._waiting.append(data)
                self._bytes += len(data)
                if self._thread is None or not self._thread.is_alive():  # it is not in a forked process
                    self._thread = threading.Thread(target=self._drain, args=(self._descriptor,), daemon=True)
                    self._thread.start()

    def flush(self) -> None:
        """Do nothing: what is written is out already, or cannot be."""

    def finish(self) -> None:
        """Give what still waits a moment."""
        if self._thread is not None:
            self._thread.join(LAST_SECONDS)

    def _has_room(self, descriptor: int, size: int) -> bool:
        """True if so much can be written at once. A terminal may have room for a part of it, and then waits for more."""
        if size > select.PIPE_BUF or os.isatty(descriptor):
            return False
        room = select.poll()
        room.register(descriptor, select.POLLOUT)
        return bool(room.poll(0))

    def _drain(self, descriptor: int) -> None:
        while True:
            with self._turn:
                lost, self._lost = self._lost, 0
                data = self._waiting.popleft() if self._waiting else b""
                self._bytes -= len(data)
                if not data and not lost:
                    self._thread = None
                    return
            _write(descriptor, data)
            if lost:
                log.warning("lines of the log were lost, since nobody took them", lines=lost)


def _write(descriptor: int, data: bytes) -> None:
    with suppress(OSError):  # a full disk, or nobody listens any more: there is nobody to tell
        while data:
            data = data[os.write(descriptor, data) :]


__all__ = ["Unhurried"]
