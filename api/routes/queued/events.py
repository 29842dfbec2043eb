"""GET /v1/jobs/{id}/events: what happens to a job, as it happens (server-sent events)."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator

import structlog
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ...errors import HttpCode, Refusal
from ...service import Service
from ...store import StoreDamaged, StoreUnavailable
from ...store.records import Event, EventKind, Job
from ..http.parameters import TheService
from ..http.sending import Following, refusal_of
from ..openapi.examples import EVENT_ANSWERS
from .jobs import job_of
from .patience import QUIET_SECONDS, Patience

router = APIRouter(tags=["jobs"])
log = structlog.get_logger("memplan.http")

RETRY_MILLISECONDS = 5000
"""After this long a client connects again if the store was lost."""


@router.get("/v1/jobs/{id}/events", summary="Follow a job", response_class=Response, responses=EVENT_ANSWERS)
async def follow(request: Request, service: TheService, id: str) -> Response:  # noqa: A002 - the name in the path
    """Stream the job's events: `state`, `incumbent`, `bound`, `point` and at last `done`, starting after `Last-Event-ID` or from the beginning."""
    job = await job_of(request, service, id)
    after = min(last_seen(request), job.events)  # a number that is still to come would leave out the end
    if job.state.is_final and not await asyncio.to_thread(service.store.events, job.id, after, 1):
        return Response(status_code=204)  # tells browsers not to come back
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    service.open_stream(job.owner)
    return Following(service, job.owner, _stream(service, job, after), headers, "text/event-stream")


def last_seen(request: Request) -> int:
    """Return the number of the client's last event. Raises Refusal."""
    given = request.headers.get("last-event-id", "0")
    if not (given.isascii() and given.isdigit() and len(given) <= 9):
        raise Refusal(400, HttpCode.INVALID_HEADER, "the Last-Event-ID must be a number that an event had")
    return int(given)


async def _stream(service: Service, job: Job, after: int) -> AsyncGenerator[bytes, None]:
    is_over, patience = False, Patience()
    with service.hub.watch(job.id) as happened:
        while True:
            happened.clear()
            try:
                events = await asyncio.to_thread(service.store.events, job.id, after)
                patience.renew()
            except StoreDamaged:
                raise  # it cannot be told what comes after it
            except StoreUnavailable as error:  # it may come back, and the client can continue from its last event
                log.warning("events cannot be told", reason=str(error))
                try:
                    patience.bear(error)
                except StoreUnavailable:
                    yield b"event: error\ndata: %s\nretry: %d\n\n" % (refusal_of(error).document(), RETRY_MILLISECONDS)
                    return
                events, is_over = [], False
            for event in events:
                yield written(event)
                after = event.number
                if event.kind is EventKind.DONE:
                    return
            if service.closing.is_set():
                yield b'event: closing\ndata: {"reason": "the service is stopping"}\nretry: 1000\n\n'
                return
            if is_over and not events:
                return  # its last event is lost
            if not events and not await _woken(happened):
                is_over = await _is_over(service, job.id)
                yield b": still here\n\n"


async def _is_over(service: Service, id_: str) -> bool:
    """Return whether the job has ended or is gone; False if the store cannot be asked."""
    with contextlib.suppress(StoreUnavailable):
        job = await asyncio.to_thread(service.store.job, id_)
        return job is None or job.state.is_final
    return False


async def _woken(happened: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(QUIET_SECONDS):
            await happened.wait()
    except TimeoutError:
        return False
    return True


def written(event: Event) -> bytes:
    """Return one event as sent."""
    data = json.dumps(dict(event.data), allow_nan=False)
    return f"id: {event.number}\nevent: {event.kind.value}\ndata: {data}\n\n".encode("ascii")
