"""Connections to clients: deadlines for requests to arrive and for answers to be taken, their number, and a refusal of what is not HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from weakref import WeakMethod

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from planner.checks.report import printable

from ...errors import CONTENT_TYPE, HttpCode, Refusal, too_large

HINTS = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    HTTPStatus.NOT_IMPLEMENTED,
)
"""Possible faults of a request's head, as reported by the server's parser."""
BYTES_AT_ONCE = 1 << 13
"""In chunks of one byte each, parsing this much takes tens of milliseconds, during which nothing else is done."""
LARGE_AT_ONCE = 1 << 18
"""For bodies with a given length, which have no chunks."""
EXTRA_LINES = 32
"""Beyond the limit, for requests about the service's health."""
OTHER_DESCRIPTORS = 160
"""Descriptors reserved for everything else, including the extra connections."""
LINGER_SECONDS = 0.5
"""A connection stays open this long after its last answer if the client is still sending, and again if more has come meanwhile."""
MOST_LINGERS = 10
MOST_UNHEEDED = 4 << 20
"""Bytes that may come in after the last answer."""


class _Answering:
    """A connection as seen by the code that answers on it. It does not refer to the connection, which would be a cycle through the request."""

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self._transport = transport
        self._close = WeakMethod(close)

    def close(self) -> None:
        close = self._close() or self._transport.close
        close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Lines:
    """All connections of a service: their limit, and the seconds for a request's head to arrive and for an answer to be taken."""

    def __init__(self, most: int, seconds: float, send_seconds: float, most_in_a_chunk: int) -> None:
        self.most = most
        self.most_in_a_chunk = most_in_a_chunk
        """In bytes. A body with a given length is refused by that; chunks each give their own."""
        self.seconds = seconds
        self.send_seconds = send_seconds
        self.idle: dict[Line, None] = {}
        """Those without a current request, the one idle for longest first."""

    def new(self, *arguments: Any, **named: Any) -> Line:
        """Return a protocol, as the server makes one for each client."""
        return Line(self, *arguments, **named)

    def longest_idle(self, but: Line) -> Line | None:
        """Return the connection idle for longest, no longer counted as idle since it is about to be ended."""
        longest = next((line for line in self.idle if line is not but), None)
        if longest is not None:
            del self.idle[longest]
        return longest


class Line(H11Protocol):
    """The server's protocol, with deadlines for every request's head and for what is sent. Bodies have their own deadline (body.py)."""

    _deadline: asyncio.TimerHandle | None = None
    _is_over = False
    """True if further input is ignored."""
    _unheeded = 0
    """The ignored bytes so far."""
    _untaken: asyncio.TimerHandle | None = None
    """Set while a client takes too little."""

    def __init__(self, lines: Lines, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._lines = lines

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._lines.most:
            self._make_room()
        self.app_state = {**self.app_state, "has_left": transport.is_closing}
        self._expect(transport)
        read_at_most(transport, BYTES_AT_ONCE)

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            self._unheeded += len(data)
            if self._unheeded > MOST_UNHEEDED:
                self.transport.close()
            return
        super().data_received(data)
        if self._is_over:
            return
        self._answer_through()
        if _left_of_chunk(self.conn) > self._lines.most_in_a_chunk:
            self._refuse(too_large(f"a chunk is larger than {self._lines.most_in_a_chunk} bytes"))
            return
        if len(data) == BYTES_AT_ONCE and any(name == b"content-length" for name, _ in self.headers or ()):
            read_at_most(self.transport, LARGE_AT_ONCE)
        if self.cycle is None or self.cycle.response_complete:
            self._expect(self.transport)
        else:
            self._forget()
            self._lines.idle.pop(self, None)

    def _answer_through(self) -> None:
        """Have the next answer, if not begun, end the connection as `_close` does."""
        if self.cycle is not None and self.cycle.transport is self.transport:
            self.cycle.transport = _Answering(self.transport, self._close)  # type: ignore[assignment]

    def send_400_response(self, msg: str) -> None:
        self._refuse(no_request(sys.exception() or Exception(msg)))

    def _refuse(self, refusal: Refusal) -> None:
        """Send a problem document, if an answer can still be sent."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = refusal.document()
            headers = [
                (b"content-type", CONTENT_TYPE.encode()),
                (b"content-length", b"%d" % len(body)),
                (b"x-content-type-options", b"nosniff"),
                (b"connection", b"close"),
            ]
            for event in (
                h11.Response(status_code=refusal.status, headers=headers),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
            self._linger()
        else:
            self.transport.close()

    def _linger(self) -> None:
        """Wait before closing: a client that is still sending would lose the answer otherwise."""
        self._forget()
        self._is_over = True
        self.flow.resume_reading()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # its body is broken off
            self.cycle.message_event.set()
        if self.transport.can_write_eof():
            with contextlib.suppress(OSError):  # the client is gone
                self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self._cut, MOST_LINGERS)

    def _cut(self, more: int, heard: int = 0) -> None:
        """Close, unless more than `heard` has come in and the connection may stay once more."""
        if self._unheeded > heard and more and not self.transport.is_closing():
            self.loop.call_later(LINGER_SECONDS, self._cut, more - 1, self._unheeded)
        else:
            self.transport.close()

    def _close(self) -> None:
        """Called when the last answer on this connection has been sent."""
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            self._linger()
        else:
            self.transport.close()

    def on_response_complete(self) -> None:
        read_at_most(self.transport, BYTES_AT_ONCE)
        super().on_response_complete()
        self._answer_through()
        self._lines.idle.setdefault(self)
        if self.transport.is_closing() and self.transport.get_write_buffer_size():
            self._forget()  # or its end is awaited for ever
            self._deadline = self.loop.call_later(self._lines.send_seconds, self.transport.abort)

    def _make_room(self) -> None:
        """End an idle connection in favour of this one; if there is none, use the room reserved for health checks."""
        longest = self._lines.longest_idle(self)
        if longest is not None:
            longest.transport.abort()
        elif len(self.connections) <= self._lines.most + EXTRA_LINES:
            self.app_state = {**self.app_state, "is_extra": True}
        else:
            self.transport.abort()

    def pause_writing(self) -> None:
        """Called when the data to send waits for the client."""
        super().pause_writing()
        if self._untaken is None:
            self._untaken = self.loop.call_later(self._lines.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def timeout_keep_alive_handler(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        self._lines.idle.pop(self, None)
        if self._untaken is not None:
            self._untaken.cancel()
        super().connection_lost(exc)

    def _expect(self, transport: asyncio.Transport) -> None:
        """Not restarted by every byte, so slow dripping does not help."""
        self._lines.idle.setdefault(self)
        if self._deadline is None:
            self._deadline = self.loop.call_later(self._lines.seconds, transport.abort)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def lines_at_most(wanted: int) -> int:
    """Return how many connections the descriptors allow, besides those of files, processes and the store."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted + OTHER_DESCRIPTORS:
        enough = wanted + OTHER_DESCRIPTORS
        soft = enough if hard == resource.RLIM_INFINITY else min(enough, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - OTHER_DESCRIPTORS))


def read_at_most(transport: asyncio.Transport, size: int) -> None:
    """Limit how much the event loop's own transports read from a connection at a time; others are unknown."""
    if hasattr(transport, "max_size"):
        transport.max_size = size


def _left_of_chunk(conn: h11.Connection) -> int:
    """Return the rest of the current chunk. The library does not publish it: if it is elsewhere, bytes are counted as they come, as for all bodies."""
    left = getattr(getattr(conn, "_reader", None), "_bytes_in_chunk", 0)
    return left if isinstance(left, int) else 0


def no_request(error: BaseException) -> Refusal:
    """Return the parser's objection."""
    hint = getattr(error, "error_status_hint", HTTPStatus.BAD_REQUEST)
    status = hint if hint in HINTS else HTTPStatus.BAD_REQUEST
    return Refusal(status, HttpCode.MALFORMED_REQUEST, f"this is no sound HTTP request: {printable(str(error))[:100]}")
