"""The service's end of a connection to a worker, whose other end is multiprocessing's: incomplete or unread messages do not block looking at
the clock.
"""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable

CHUNK = 1 << 18
_LENGTH = struct.Struct("!i")
_LONG = struct.Struct("!Q")
_MOST_SHORT = (1 << 31) - 1


class Line:
    """Sends and receives whole messages. Raises EOFError and OSError when the other process is gone."""

    def __init__(self, ours: socket.socket) -> None:
        ours.setblocking(False)
        self._socket = ours
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(ours, select.POLLIN)
        self._writable.register(ours, select.POLLOUT)
        self._begun = bytearray()
        """The next message and what follows it."""

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def receive(self, seconds: float) -> bytes | None:
        """Return the next message, if its rest arrives in time or more is available at once."""
        while (message := self._whole()) is None:
            if not self._readable.poll(seconds * 1000):
                return None
            seconds = 0
            data = self._socket.recv(CHUNK)
            if not data:
                raise EOFError
            self._begun += data
        return message

    def send(self, message: bytes | bytearray, on_wait: Callable[[], None], seconds: float) -> None:
        """Send everything. Whenever it is not accepted for this long, `on_wait` is called, which may raise an error to end that."""
        size = len(message)
        head = _LENGTH.pack(size) if size <= _MOST_SHORT else _LENGTH.pack(-1) + _LONG.pack(size)
        for part in (head, message):
            left = memoryview(part)
            while left:
                if self._writable.poll(seconds * 1000):
                    left = left[self._socket.send(left) :]
                else:
                    on_wait()

    def _whole(self) -> bytes | None:
        """Return a complete message, which is then not kept here."""
        got, at = self._begun, _LENGTH.size
        if len(got) < at:
            return None
        (size,) = _LENGTH.unpack_from(got)
        if size < 0:
            if len(got) < at + _LONG.size:
                return None
            (size,), at = _LONG.unpack_from(got, at), at + _LONG.size
        if len(got) < at + size:
            return None
        with memoryview(got) as view:
            message = bytes(view[at : at + size])
        del got[: at + size]
        return message
