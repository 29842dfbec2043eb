"""Receives a batch: line by line as it arrives, each made into a job, with only a few in memory at a time."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from planner.formats.tables.format import JSON
from planner.model.errors import Code

from ...errors import HttpCode, Refusal, too_large
from ...jobs.attempt import MOST_DEATHS, Posted
from ...jobs.processes.pool import WorkerDied
from ...jobs.requests.endpoints import RequestOptions
from ...jobs.requests.options import as_document, options_of
from ...process.garbage import forget_frames
from ...service import Service
from ...settings import Settings
from ...store import StoreUnavailable
from ...store.records import About, Once
from ..http.body import Bodies, Body, too_slow, went_away
from ..http.parameters import once_of
from ..http.sending import refusal_of, until_gone
from ..steps import Order, Received, count, enqueue, fingerprinted, kept_plan, understand
from .patience import Patience

LINES_AT_A_TIME = 2
"""The lines read and queued side by side; the next is taken from the client when one of them is stored."""
MOST_REFUSED = 1000
"""A batch with this many unusable lines is refused."""
BLANK = 1 << 14
"""The most empty lines."""
AGAIN_SECONDS = 0.5
"""The delay before a line that could not be stored is tried again."""
UNREAD = About("", "", None, 0, {}, (), None)
"""The description of a refused line."""

log = structlog.get_logger("memplan.http")


class BatchIntake:
    """One request's lines. What has been stored stays, whatever becomes of the request.

    What is wrong with a line is the failure of its job. Whatever else keeps a line from being stored ends the batch, and `_store` says what is waited for
    instead. Before the first line is stored the client knows nothing of the batch, so the same is its answer, and nothing is waited for.
    """

    def __init__(
        self,
        request: Request,
        service: Service,
        batch: str,
        format_: str | None,
        options: RequestOptions,
        key: str | None,
    ) -> None:
        self._request, self._service, self._batch = request, service, batch
        self._options, self._key = options, key
        given, seconds = options.model_dump(exclude_unset=True), service.settings.max_explain_seconds
        self._posted = Posted(request.state.owner, b"", format_, JSON, given, seconds)
        """What all lines have in common."""
        self._has_left: Callable[[], bool] = getattr(request.state, "has_left", lambda: False)
        self._lines = lines_of(request, service.settings)
        self._taken = self._refused = 0
        self._entering: set[asyncio.Task[None]] = set()
        self._is_known = False
        """True if the client may know of the batch."""
        self._has_all = False
        """True if no further line is taken."""
        self._gone = asyncio.Event()
        """Set if nobody waits for the answer any more."""
        self.refusal: Refusal | None = None
        """Why it ended before its end."""

    @property
    def is_over(self) -> bool:
        """True if everything is stored that will be."""
        return self._has_all and all(entering.done() for entering in self._entering)

    async def begin(self) -> None:
        """Store the first line, so that a client that learns the batch's name can use it. Raises what the client is told instead if that fails."""
        try:
            line = await anext(self._lines, None)
        except ClientDisconnect:
            raise went_away() from None
        if line is None:
            raise Refusal(422, Code.INVALID_VALUE, "the batch has no problem in it")
        try:
            await self._enter(self._number(), line)
        except Refusal as refusal:
            if refusal.code is not HttpCode.KEY_REUSED:
                raise
            self._end(refusal)  # of a batch that is there, so its answers are sent
        self._is_known = True

    async def take(self) -> None:
        """Take the other lines, then listen until the client goes away."""
        try:
            await self._take_lines()
        except ClientDisconnect:
            pass
        except Exception as error:  # noqa: BLE001 - it ends the batch, whatever it is
            self._end(error)
        self._has_all = True
        await until_gone(self._request.receive)
        self._gone.set()

    async def receive(self) -> Message:
        """Receive only the client's disconnection: everything else that it sends is taken here."""
        await self._gone.wait()
        return {"type": "http.disconnect"}

    def stop(self) -> None:
        """Wait for nothing more."""
        self._gone.set()

    async def _take_lines(self) -> None:
        while self.refusal is None and (line := await anext(self._lines, None)) is not None:
            if self._taken >= self._service.settings.max_batch:
                raise too_large(
                    f"the batch has too many lines; at most {self._service.settings.max_batch} problems are taken"
                )
            self._entering.add(self._service.spawn(self._enter_or_end(self._number(), line)))
            del line
            while len(self._entering) >= LINES_AT_A_TIME:
                _, self._entering = await asyncio.wait(self._entering, return_when=asyncio.FIRST_COMPLETED)

    def _number(self) -> int:
        """Count a line, and return its number."""
        self._taken += 1
        return self._taken - 1

    async def _enter_or_end(self, number: int, line: Body) -> None:
        try:
            await self._enter(number, line)
        except Exception as error:  # noqa: BLE001 - it ends the batch, whatever it is
            self._end(error)

    async def _enter(self, number: int, line: Body) -> None:
        """Make a line into a job, already failed if the line is unusable. Raises why it cannot be stored."""
        got = await fingerprinted(replace(self._posted, body=line))
        failure: Refusal | None = None
        try:
            order = await self._understood(got)
        except Exception as error:  # noqa: BLE001 - it is of this line alone, whatever it is
            failure = _seen(error)
            about = replace(UNREAD, options=as_document(options_of(self._options), {}))
            order = Order(self._posted.owner, b"", about, got.fingerprint)
            self._refused += 1
            if self._refused >= MOST_REFUSED:
                text = f"the batch was given up after {MOST_REFUSED} lines that were refused"
                self._end(Refusal(422, Code.INVALID_VALUE, text))
        await self._store(number, order, failure)

    async def _understood(self, got: Received) -> Order:
        """Read it. Readers may be killed through no fault of what they read; only what kills several in turn is refused."""
        for _ in range(MOST_DEATHS - 1):
            with contextlib.suppress(WorkerDied):
                return await understand(self._service, got)
        return await understand(self._service, got)

    async def _store(self, number: int, order: Order, failure: Refusal | None) -> None:
        """Add the job. A line waits for room for as long as its client does, and for the store while that may be back before long; a first line does not."""
        if not self._is_known and self._has_left():
            raise went_away()
        once, patience = self._once(number, order.fingerprint), Patience()
        while True:
            try:
                kept = await kept_plan(self._service, order) if failure is None else None
                outcome = failure or kept
                await enqueue(self._service, order, once=once, outcome=outcome, batch=self._batch, line=number)
            except Refusal as refusal:
                if not self._is_known or refusal.code is not HttpCode.QUEUE_FULL:
                    raise
                patience.renew()
            except StoreUnavailable as error:
                if not self._is_known:
                    raise
                patience.bear(error)
            else:
                if failure is None:
                    count(self._service, order, kept)  # once, however often it was tried
                return
            await self._pause()

    async def _pause(self) -> None:
        """Wait a moment. Raises Refusal if the service stops, or nobody waits for the answer any more."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(AGAIN_SECONDS):
                await self._service.closing.wait()
        if self._service.closing.is_set():
            raise Refusal(503, HttpCode.STOPPING, "the service is stopping")
        if self._gone.is_set() or self._has_left():
            self._gone.set()
            raise went_away()

    def _end(self, error: Exception) -> None:
        """Take no more. The first reason is told."""
        found = _seen(error)
        self.refusal = self.refusal or found

    def _once(self, number: int, fingerprint: str) -> Once | None:
        mine = None if self._key is None else f"{hashlib.sha256(self._key.encode()).hexdigest()}#{number}"
        return once_of(mine, "/v1/batches", fingerprint)


def _seen(error: Exception) -> Refusal:
    """Return what a client is told of it. Faults are logged."""
    found = refusal_of(error)
    if found.code is HttpCode.INTERNAL:
        log.error("fault in a batch", exc_info=error)
    forget_frames(error)
    return found


async def lines_of(request: Request, settings: Settings) -> AsyncGenerator[Body, None]:
    """Yield lines that are not empty, as they arrive. Raises Refusal and ClientDisconnect."""
    bodies: Bodies = request.state.bodies
    stream = request.stream()
    line = Body(bodies)
    blank = 0
    is_over = False
    while not is_over:
        try:
            async with asyncio.timeout(settings.body_seconds):
                chunk = await anext(stream, None)
        except TimeoutError:
            raise too_slow(settings) from None
        is_over = chunk is None
        *ends, rest = (b"\n" if chunk is None else chunk).split(b"\n")
        for end in ends:
            line.add(end)
            line.drop_blanks()
            if line:
                yield line
                line = Body(bodies)
            else:
                blank += 1
            if blank > BLANK:
                raise too_large(f"the batch has more than {BLANK} lines with nothing on them")
        line.add(rest)
        if len(line) > settings.max_body_bytes:
            raise too_large(f"a line is larger than {settings.max_body_bytes} bytes")
