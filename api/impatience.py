"""Lines on which a request's head does not arrive: the server that we run waits for it for ever, so this does not."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


def impatient(seconds: float) -> type[asyncio.Protocol]:
    """The server's protocol, with a deadline for every request's head. Bodies have one of their own (routes/body.py)."""

    class Impatient(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._expect(transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._expect(self.transport)
            else:
                self._forget()

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
