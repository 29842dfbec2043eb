"""Answers on their way out: large ones in pieces, counted for as long as their client has not taken them."""

from __future__ import annotations

import asyncio
import contextlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from ..errors import CONTENT_TYPE, Refusal
from .body import Bodies

PIECE = 1 << 18
"""The server waits between pieces until most of the one before has been taken. What is smaller is sent in one, and not counted."""
REST_SECONDS = 5.0
REST_BYTES = 32 << 20
"""So long, and so much, the rest of a body that is refused is taken, and thrown away."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Sender:
    """One request's way to send: adds the headers that protect browsers, and refuses what there is no room for."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, bodies: Bodies) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._bodies = bodies
        self._counted = 0
        self._is_refused = False
        self.status = 0
        """Of the answer that has begun; 0: none has."""

    async def __call__(self, message: Message) -> None:
        if self._is_refused:
            return
        if message["type"] == "http.response.start":
            await self._begin(message)
        else:
            await self._go_on(message)

    async def _begin(self, message: Message) -> None:
        size = int(Headers(raw=message["headers"]).get("content-length", "0"))
        if size > PIECE:
            try:
                self._bodies.take(size)
            except Refusal as refusal:
                await answer(refusal)(self._scope, self._receive, self)
                self._is_refused = True
                return
            self._counted = size
        self.status = message["status"]
        headers = MutableHeaders(scope=message)
        if headers.get("connection") == "close":
            await self._take_the_rest()
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        await self._send(message)

    async def _take_the_rest(self) -> None:
        """Of a body that is refused: who is still sending when the line is cut loses the answer."""
        if Headers(scope=self._scope).get("expect", "").lower() == "100-continue":
            return  # waits to be asked for it
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                more, taken = True, 0
                while more and taken < REST_BYTES:
                    message = await self._receive()
                    more = message["type"] == "http.request" and message.get("more_body", False)
                    taken += len(message.get("body", b""))

    async def _go_on(self, message: Message) -> None:
        data = message.get("body", b"")
        for start in range(0, len(data) - PIECE, PIECE):
            await self._send({"type": message["type"], "body": data[start : start + PIECE], "more_body": True})
        rest = data[(len(data) - 1) // PIECE * PIECE :] if len(data) > PIECE else data
        await self._send({**message, "body": rest})

    def close(self) -> None:
        """The request is over."""
        self._bodies.give_back(self._counted)
        self._counted = 0


def answer(refusal: Refusal) -> Response:
    """The refusal as a response."""
    return Response(refusal.document(), refusal.status, refusal.headers, CONTENT_TYPE)
