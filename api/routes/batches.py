"""/v1/batches: many problems at once, a line each, and their answers as they finish."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Iterable
from functools import partial
from io import BytesIO
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.table import JSON
from planner.model.errors import Code

from ..errors import HttpCode, Refusal, too_large
from ..jobs.doors import RequestOptions
from ..jobs.process_pool import WorkerDied, WorkerFault
from ..process.garbage import forget_frames
from ..service import Service
from ..store import Store, StoreUnavailable
from ..store.ids import new_id
from ..store.records import Job, JobFilter
from .answers import job_document
from .body import LINES, Bodies, format_of, read_body, require_type
from .jobs import ID, not_found
from .openapi.examples import BATCH_ANSWERS, BATCH_BODY
from .plans import Behind
from .query import PLAN_PARAMETERS, PLAN_QUERY, IdempotencyKey, PlanOptions, once_of
from .sending import Following, in_pieces
from .steps import enqueue, fingerprint_of, look_up, understand, until_over

router = APIRouter(tags=["jobs"])


@router.post(
    "/v1/batches",
    summary="Plan many problems",
    response_class=Response,
    responses=BATCH_ANSWERS,
    openapi_extra=BATCH_BODY | PLAN_PARAMETERS,
)
async def add(
    request: Request, service: Behind, query: PlanOptions, idempotency_key: IdempotencyKey = None
) -> Response:
    """A problem on each line, each perhaps with its `solve`. Every line becomes a job; answers come in the order of finishing."""
    require_type(request, LINES)
    format_ = format_of(JSON, query.format, service.settings)
    options = PLAN_QUERY.options(query)
    once_of(idempotency_key, "", "")
    body = await read_body(request, service.settings)
    lines = await asyncio.to_thread(_lines, body, request.state.bodies, service.settings.max_batch)
    if not lines:
        raise Refusal(422, Code.INVALID_VALUE, "the batch has no problem in it")
    batch, owner = new_id(), request.state.owner
    service.open_stream(owner)
    waiting = [
        _line(service, owner, batch, number, line, format_, options, idempotency_key)
        for number, line in enumerate(lines)
    ]
    first = {"batch": batch, "problems": len(lines)}
    return _response(service, owner, batch, _answers(service.store, first, waiting))


@router.get("/v1/batches/{id}", summary="A batch's answers", response_class=Response, responses=BATCH_ANSWERS)
async def answers(request: Request, service: Behind, id: str) -> Response:  # noqa: A002 - the name in the path
    """Those of the problems that became jobs, from the beginning; waits for what has not finished yet."""
    jobs: list[Job] = []
    if ID.fullmatch(id):
        wanted = JobFilter(request.state.owner, batch=id, limit=service.settings.max_batch)
        jobs = await asyncio.to_thread(service.store.jobs, wanted)
    if not jobs:
        raise not_found()
    service.open_stream(request.state.owner)
    waiting = [_finished(service, job) for job in reversed(jobs)]
    return _response(
        service, request.state.owner, id, _answers(service.store, {"batch": id, "problems": len(jobs)}, waiting)
    )


def _response(service: Service, owner: str, batch: str, lines: AsyncGenerator[bytes, None]) -> Response:
    headers = {"Location": f"/v1/batches/{batch}", "Cache-Control": "no-store"}
    return Following(service, owner, lines, headers, LINES)


def _lines(body: bytes, bodies: Bodies, most: int) -> list[bytes]:
    """Those with something on them. One after the other, since a large body may have millions. Raises Refusal if there are too many."""
    lines: list[bytes] = []
    for number, line in enumerate(BytesIO(body)):
        if line.strip():
            lines.append(bodies.counted(line.rstrip(b"\r\n")))
        if len(lines) > most or number > 2 * most:
            raise too_large(f"the batch has too many lines; at most {most} problems are taken")
    return lines


async def _answers(
    store: Store, first: dict[str, Any], waiting: Iterable[Awaitable[dict[str, Any]]]
) -> AsyncGenerator[bytes, None]:
    """A line for each, whichever is first."""
    tasks = [asyncio.ensure_future(each) for each in waiting]
    try:
        yield json.dumps(first).encode("ascii") + b"\n"
        for done in asyncio.as_completed(tasks):
            async for piece in _written(store, await done):
                yield piece
    finally:
        for task in tasks:
            task.cancel()


async def _written(store: Store, answer: dict[str, Any]) -> AsyncGenerator[bytes, None]:
    """On one line: the plan is laid out on several, and is not loaded before its turn has come to be sent."""
    final = answer.pop("plan", None)
    head = None if final is None else await asyncio.to_thread(store.plan_head, answer["job"])
    if "state" in answer and head is None:
        answer["plan"] = None
    line = json.dumps(answer, allow_nan=False).encode("ascii")
    if head is not None:  # there are no line ends within JSON's strings
        yield b'%s, "plan": ' % line[:-1]
        if final:
            async for piece in in_pieces(head.size, partial(store.plan_piece, answer["job"])):
                yield piece.replace(b"\n", b"")
        else:
            plan = await asyncio.to_thread(store.plan, answer["job"])
            yield b"null" if plan is None else plan.data.replace(b"\n", b"")
        line = b"}"
    yield line + b"\n"


async def _line(
    service: Service,
    owner: str,
    batch: str,
    number: int,
    line: bytes,
    format_: str | None,
    options: RequestOptions,
    key: str | None,
) -> dict[str, Any]:
    """From one line of a batch to its answer."""
    try:
        # A client that goes away has its problems planned all the same.
        entered = service.spawn(_enter(service, owner, batch, number, line, format_, options, key))
        del line
        return await _finished(service, await asyncio.shield(entered), number)
    except Refusal as refusal:
        forget_frames(refusal)
        return {"line": number, "job": None, "error": json.loads(refusal.document())}
    except (StoreUnavailable, WorkerDied, WorkerFault) as error:
        forget_frames(error)
        failure = Refusal(503, HttpCode.WORKER_DIED, f"this line could not be carried out: {type(error).__name__}")
        return {"line": number, "job": None, "error": json.loads(failure.document())}


async def _enter(
    service: Service,
    owner: str,
    batch: str,
    number: int,
    line: bytes,
    format_: str | None,
    options: RequestOptions,
    key: str | None,
) -> Job:
    """The job of a line."""
    asked = await understand(service, await fingerprint_of(service, owner, line, format_, JSON, options))
    mine = None if key is None else f"{hashlib.sha256(key.encode()).hexdigest()}#{number}"
    once = once_of(mine, "/v1/batches", asked.fingerprint)
    kept = await look_up(service, asked)
    return (await enqueue(service, asked, once=once, answer=kept, batch=batch, line=number)).job


async def _finished(service: Service, job: Job, number: int | None = None) -> dict[str, Any]:
    """A job's line, when it has ended or the service stops. In place of its plan, if there is one, stands whether it stays the same."""
    now = await until_over(service, job.id) or job
    document = job_document(now)
    answer = {name: document[name] for name in ("state", "status", "stop", "best", "bound", "gap", "failure")}
    line = now.line if number is None else number
    return {"line": line, "job": now.id, **answer, "plan": now.state.is_final if now.has_plan else None}
