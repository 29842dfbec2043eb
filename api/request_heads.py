"""What comes in before it is a request: a head that does not arrive is not waited for for ever, and what is no HTTP is refused like the rest."""

from __future__ import annotations

import asyncio
import sys
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from planner.checks.report import printable

from .errors import CONTENT_TYPE, HttpCode, Refusal

HINTS = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    HTTPStatus.NOT_IMPLEMENTED,
)
"""What may be the matter with a head, as the server's parser tells it."""
BYTES_AT_ONCE = 1 << 13
"""In chunks of one byte each, so much takes tens of milliseconds to take apart, in which nothing else is done."""
LARGE_AT_ONCE = 1 << 18
"""Of bodies that say their length, and so have no chunks."""
LINGER_SECONDS = 0.5
"""So long a line stays open after an answer to what is no HTTP."""


def impatient(seconds: float) -> type[asyncio.Protocol]:
    """The server's protocol, with a deadline for every request's head. Bodies have one of their own (routes/body.py)."""

    class Impatient(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None
        _is_over = False
        """Is nothing heeded any more that comes in?"""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._expect(transport)
            read_at_most(transport, BYTES_AT_ONCE)

        def data_received(self, data: bytes) -> None:
            if self._is_over:
                return
            super().data_received(data)
            if self._is_over:
                return
            if len(data) == BYTES_AT_ONCE and any(name == b"content-length" for name, _ in self.headers or ()):
                read_at_most(self.transport, LARGE_AT_ONCE)
            if self.cycle is None or self.cycle.response_complete:
                self._expect(self.transport)
            else:
                self._forget()

        def send_400_response(self, msg: str) -> None:
            """A problem document, if an answer can still be sent."""
            if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                refusal = no_request(sys.exception() or Exception(msg))
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
            """Whoever is still sending would lose the answer if the line were cut now."""
            self._forget()
            self._is_over = True
            if self.cycle is not None and not self.cycle.response_complete:
                self.cycle.disconnected = True  # its body is broken off
                self.cycle.message_event.set()
            if self.transport.can_write_eof():
                self.transport.write_eof()
            self.loop.call_later(LINGER_SECONDS, self.transport.close)

        def on_response_complete(self) -> None:
            read_at_most(self.transport, BYTES_AT_ONCE)
            super().on_response_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _expect(self, transport: asyncio.Transport) -> None:
            """Not started anew by every byte, so dripping does not help."""
            if self._deadline is None:
                self._deadline = self.loop.call_later(seconds, transport.close)

        def _forget(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Impatient


def read_at_most(transport: asyncio.Transport, size: int) -> None:
    """How much the event loop's own transports take from a line before others have their turn; of any other kind nothing is known."""
    if hasattr(transport, "max_size"):
        transport.max_size = size


def no_request(error: BaseException) -> Refusal:
    """What the parser objects to."""
    hint = getattr(error, "error_status_hint", HTTPStatus.BAD_REQUEST)
    status = hint if hint in HINTS else HTTPStatus.BAD_REQUEST
    return Refusal(status, HttpCode.MALFORMED_REQUEST, f"this is no sound HTTP request: {printable(str(error))[:100]}")
