"""Receives a batch: line by line as it arrives, each made into a job, with only a few in memory at a time."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncGenerator
from dataclasses import replace

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from planner.formats.tables.format import JSON
from planner.model.errors import Code

from ...errors import HttpCode, Refusal, too_large
from ...jobs.attempt import MOST_DEATHS
from ...jobs.processes.messages import as_failure
from ...jobs.processes.pool import WorkerDied, WorkerFault
from ...jobs.requests.endpoints import RequestOptions
from ...jobs.requests.options import as_document, options_of
from ...process.garbage import forget_frames
from ...service import Service
from ...settings import Settings
from ...store import BatchEnded, StoreUnavailable
from ...store.records import About, NewJob, Once
from ..http.body import Bodies, Body, too_slow
from ..http.parameters import once_of
from ..steps import Order, Received, batch_ended, enqueue, fingerprint_of, limits_of, look_up, understand

LINES_AT_A_TIME = 2
"""The lines read and queued side by side; the next is taken from the client when one of them is stored."""
MOST_REFUSED = 1000
"""A batch with this many unusable lines is refused."""
BLANK = 1 << 14
"""The most empty lines."""
AGAIN_SECONDS = 0.5
"""The delay before a job without room is queued again."""
UNREAD = About("", "", None, 0, {}, (), None)
"""The description of a refused line."""


class BatchIntake:
    """One request's lines. What has been stored stays, whatever becomes of the request."""

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
        self._format, self._options, self._key = format_, options, key
        self.taken = 0
        self.is_over = False
        """True if everything is stored that will be."""
        self.refusal: Refusal | None = None
        """Why it ended before its end."""
        self._refused = 0
        self._window = asyncio.Semaphore(LINES_AT_A_TIME)
        self._entering: set[asyncio.Task[None]] = set()
        self._begun = asyncio.Event()
        self._gone = asyncio.Event()
        self._work = asyncio.create_task(self._run())

    async def begun(self) -> None:
        """Wait until a first line is stored, so that a client that learns the batch's name can use it. Raises Refusal if there is none."""
        try:
            await self._begun.wait()
        finally:
            if not self._begun.is_set():
                self.stop()
        if not self.taken:
            raise self.refusal or Refusal(422, Code.INVALID_VALUE, "the batch has no problem in it")

    async def receive(self) -> Message:
        """Receive only the client's disconnection: everything else that it sends is taken here."""
        await self._gone.wait()
        return {"type": "http.disconnect"}

    def stop(self) -> None:
        """Take no more."""
        self._work.cancel()

    async def _run(self) -> None:
        owner, settings = self._request.state.owner, self._service.settings
        try:
            async for line in lines_of(self._request, settings):
                if self.taken >= settings.max_batch:
                    raise too_large(f"the batch has too many lines; at most {settings.max_batch} problems are taken")
                await self._window.acquire()
                if self.refusal is not None:
                    break
                entering = self._service.spawn(self._enter(owner, self.taken, line))
                del line
                self._entering.add(entering)
                entering.add_done_callback(self._entered)
                self.taken += 1
        except ClientDisconnect:
            self._gone.set()
            self._begun.set()
        except Refusal as refusal:
            self.refusal = self.refusal or refusal
        finally:
            if self._entering:
                await asyncio.wait(self._entering)
            self.is_over = True
            self._begun.set()
        if not self.taken:
            return  # it is refused; the code that answers takes what the client still sends
        while not self._gone.is_set():
            if (await self._request.receive())["type"] == "http.disconnect":
                self._gone.set()

    def _entered(self, entering: asyncio.Task[None]) -> None:
        self._entering.discard(entering)
        self._window.release()
        self._begun.set()

    async def _enter(self, owner: str, number: int, line: bytes | bytearray) -> None:
        """Make a line into a job, already failed if the line is unusable."""
        service, refusal, once = self._service, None, None
        try:
            got = await fingerprint_of(service, owner, line, self._format, JSON, self._options)
            once = self._once(number, got.fingerprint)
            order = await self._understood(got)
            while True:
                try:
                    kept = await look_up(service, order)
                    await enqueue(service, order, once=once, answer=kept, batch=self._batch, line=number)
                except (Refusal, StoreUnavailable) as error:
                    if isinstance(error, Refusal) and error.code is not HttpCode.QUEUE_FULL:
                        raise
                    if not await self._wait():
                        return
                else:
                    return
        except Refusal as error:
            forget_frames(error)
            refusal = error
        except (WorkerDied, WorkerFault) as error:
            forget_frames(error)
            text = f"this line could not be carried out: {type(error).__name__}"
            refusal = Refusal(503, HttpCode.WORKER_DIED, text)
        if refusal.code in (HttpCode.KEY_REUSED, HttpCode.BATCH_ENDED):
            self.refusal = self.refusal or refusal
            return
        await self._note(owner, number, refusal, once)

    async def _understood(self, got: Received) -> Order:
        """Read it. Readers may be killed through no fault of what they read; only what kills several in turn is refused."""
        for _ in range(MOST_DEATHS - 1):
            with contextlib.suppress(WorkerDied):
                return await understand(self._service, got)
        return await understand(self._service, got)

    async def _note(self, owner: str, number: int, refusal: Refusal, once: Once | None) -> None:
        """Record that a line is refused, so that a returning client learns of it."""
        self._refused += 1
        if self._refused >= MOST_REFUSED:
            text = f"the batch was given up after {MOST_REFUSED} lines that were refused"
            self.refusal = self.refusal or Refusal(422, Code.INVALID_VALUE, text)
        store, limits = self._service.store, limits_of(self._service.settings)
        about = replace(UNREAD, options=as_document(options_of(self._options), {}))
        new = NewJob(owner, about, batch=self._batch, line=number)
        while True:
            try:
                await asyncio.to_thread(store.add, new, b"", limits, once, None, as_failure(refusal))
            except BatchEnded:
                self.refusal = self.refusal or batch_ended()
                return
            except StoreUnavailable:
                if not await self._wait():
                    return
            else:
                return

    async def _wait(self) -> bool:
        """Wait a moment; False: the service stops."""
        try:
            async with asyncio.timeout(AGAIN_SECONDS):
                await self._service.closing.wait()
        except TimeoutError:
            return True
        return False

    def _once(self, number: int, fingerprint: str) -> Once | None:
        mine = None if self._key is None else f"{hashlib.sha256(self._key.encode()).hexdigest()}#{number}"
        return once_of(mine, "/v1/batches", fingerprint)


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
