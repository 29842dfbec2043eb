"""Sending answers: large ones in pieces, counted until their client has taken them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import ClassVar

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from ...errors import CONTENT_TYPE, HttpCode, Refusal, too_busy
from ...jobs.processes.pool import CalledOff, WorkerDied
from ...service import Service
from ...store import Store, StoreDamaged, StoreUnavailable
from ...store.protocol import checksum
from .body import Bodies, Body

log = structlog.get_logger("memplan.http")

PIECE = 1 << 18
"""The server waits between pieces until most of the previous one has been taken. Smaller answers are sent at once, and not counted."""
STORED_PIECE = 1 << 20
"""The bytes loaded from the store at a time."""
REST_SECONDS = 5.0
REST_BYTES = 32 << 20
"""The seconds, and the bytes, for which the rest of a refused body is read and discarded."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Sender:
    """Sends one request's answer: adds the headers that protect browsers, and refuses answers without room."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, bodies: Bodies) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._bodies = bodies
        self._counted = 0
        self._start: Message | None = None
        """The beginning of the answer, until it is known how much of it there is at a time."""
        self._is_refused = False
        self._has_all = False
        """True if the request's body has ended."""
        self.status = 0
        """The status of the begun answer; 0: none."""

    async def __call__(self, message: Message) -> None:
        if self._is_refused:
            return
        if message["type"] == "http.response.start":
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            try:
                self._count(len(message.get("body", b"")))
            except Refusal as refusal:
                await answer(refusal)(self._scope, self._receive, self)
                self._is_refused = True
                return
            await self._begin(start)
        else:
            self._count(len(message.get("body", b"")))
        await self._go_on(message)

    def _count(self, size: int) -> None:
        """Count the most that there has been at a time. Raises Refusal."""
        if size > max(PIECE, self._counted):
            self._bodies.take(size - self._counted)
            self._counted = size

    async def _begin(self, message: Message) -> None:
        self.status = message["status"]
        headers = MutableHeaders(scope=message)
        if headers.get("connection") == "close":
            await self._take_the_rest()
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        await self._send(message)

    async def receive(self) -> Message:
        """Receive what the client sends."""
        message = await self._receive()
        self._has_all |= not (message["type"] == "http.request" and message.get("more_body", False))
        return message

    async def _take_the_rest(self) -> None:
        """Read the rest of a refused body: a client that is still sending when the connection is cut loses the answer."""
        if Headers(scope=self._scope).get("expect", "").lower() == "100-continue":
            return  # waits to be asked for it
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                taken = 0
                while not self._has_all and taken < REST_BYTES:
                    taken += len((await self.receive()).get("body", b""))

    async def _go_on(self, message: Message) -> None:
        data = message.get("body", b"")
        for start in range(0, len(data) - PIECE, PIECE):
            await self._send({"type": message["type"], "body": data[start : start + PIECE], "more_body": True})
        rest = data[(len(data) - 1) // PIECE * PIECE :] if len(data) > PIECE else data
        await self._send({**message, "body": rest})

    def close(self) -> None:
        """Release what the request held."""
        self._bodies.give_back(self._counted)
        self._counted = 0


class Stream(Response):
    """An answer that is sent as it comes, until it or its client is gone.

    Starlette's own leaves the data in a reference cycle, through the library with which it waits, when its client goes away.
    """

    begins_at_once: ClassVar[bool] = False
    """True if it may be long until there is anything to send: clients are told first that it has begun."""

    def __init__(self, content: AsyncGenerator[bytes, None], headers: dict[str, str], kind: str) -> None:
        super().__init__(None, 200, headers, kind)
        if "content-length" not in {name.lower() for name in headers}:
            del self.headers["content-length"]
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        work = asyncio.create_task(self._send(send))
        gone = asyncio.create_task(until_gone(receive))
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.wait((work, gone))

    async def _send(self, send: Send) -> None:
        """Send all of it. What cannot be read at once is refused; what cannot be read later on is cut off."""
        try:
            piece: bytes | None = b"" if self.begins_at_once else await anext(self._content, b"")
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            try:
                while piece is not None:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                    piece = await anext(self._content, None)
            except StoreUnavailable as error:
                log.error("an answer was cut off", reason=str(error))
                return
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await self._content.aclose()


class Following(Stream):
    """An answer that lasts for as long as something continues; its place among a token's is already taken."""

    begins_at_once = True

    def __init__(
        self, service: Service, owner: str, content: AsyncGenerator[bytes, None], headers: dict[str, str], kind: str
    ) -> None:
        super().__init__(content, headers, kind)
        self._leave = partial(service.close_stream, owner)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


async def until_gone(receive: Receive) -> None:
    """Return when the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        continue


def problem_in_pieces(store: Store, id_: str, size: int) -> AsyncGenerator[bytes, None]:
    """Yield a job's problem in pieces. Raises StoreUnavailable, at the latest before the last of them."""
    return in_pieces(size, partial(store.problem_piece, id_), partial(store.check_problem, id_))


def plan_in_pieces(store: Store, id_: str, size: int) -> AsyncGenerator[bytes, None]:
    """Yield the plan of an ended job likewise."""
    return in_pieces(size, partial(store.plan_piece, id_), partial(store.check_plan, id_))


def in_pieces(
    size: int, read: Callable[[int, int], bytes], check: Callable[[int], None]
) -> AsyncGenerator[bytes, None]:
    async def pieces() -> AsyncGenerator[bytes, None]:
        found = 0
        for start in range(0, size, STORED_PIECE):
            piece = await asyncio.to_thread(read, start, min(STORED_PIECE, size - start))
            if not piece:
                raise StoreUnavailable("what was being sent has been removed")
            found = checksum(piece, found)
            if start + STORED_PIECE >= size:
                await asyncio.to_thread(check, found)
            yield piece

    return pieces()


async def loaded(bodies: Bodies, pieces: AsyncGenerator[bytes, None]) -> Body:
    """Return all of a store's data. Raises Refusal if there is no room for it."""
    body = Body(bodies)
    async for piece in pieces:
        body.add(piece)
    return body


def refusal_of(error: Exception) -> Refusal:
    """Return what a client is told of an error. What is neither expected nor of a worker is a fault, to be logged where it is caught."""
    match error:
        case Refusal():
            return error
        case StoreDamaged():
            return Refusal(503, HttpCode.STORE_DAMAGED, str(error))
        case StoreUnavailable():
            return Refusal(503, HttpCode.STORE_UNAVAILABLE, str(error), headers={"Retry-After": "5"})
        case MemoryError():
            return too_busy("there is no memory left for this; try again later")
        case WorkerDied() | CalledOff():
            text = f"the process that worked on this is gone: {error}"
            return Refusal(503, HttpCode.WORKER_DIED, text, headers={"Retry-After": "5"})
        case _:
            text = "a fault in memplan; it has been logged"
            return Refusal(500, HttpCode.INTERNAL, text, headers={"Connection": "close"})  # what raises is cut off


def answer(refusal: Refusal) -> Response:
    return Response(refusal.document(), refusal.status, refusal.headers, CONTENT_TYPE)
