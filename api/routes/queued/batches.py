"""/v1/batches: many problems at once, a line each, and their answers as they finish."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from planner.formats.tables.format import JSON

from ...errors import HttpCode, Refusal, bad_option, too_large
from ...service import Service
from ...store import StoreDamaged
from ...store.records import NONE_ENDED, Job, JobState, new_id
from ..http.answers import job_document
from ..http.body import LINES, format_of, require_type
from ..http.parameters import LINES_QUERY, IdempotencyKey, LinesOptions, TheService, once_of
from ..http.sending import Following, plan_in_pieces, refusal_of
from ..openapi.examples import BATCH_ANSWERS, BATCH_BODY, ENDED_BATCH_ANSWERS
from ..steps import batch_ended, failure_of
from .batch_intake import BatchIntake
from .jobs import ID
from .patience import QUIET_SECONDS, Patience

router = APIRouter(tags=["jobs"])
LOOK_SECONDS = 0.1
MOST_LOOK_SECONDS = 1.0
"""The greatest interval at which the store is asked for ended jobs, reached if none has ended lately."""
HAVE = "Lines whose answers the client already has, as in `0-511,600`; they are left out."


@router.post(
    "/v1/batches",
    summary="Plan many problems",
    response_class=Response,
    responses=BATCH_ANSWERS,
    openapi_extra=BATCH_BODY | LINES_QUERY.parameters(),
)
async def add(
    request: Request, service: TheService, query: LinesOptions, idempotency_key: IdempotencyKey = None
) -> Response:
    """Plan many problems, one per line, each optionally with its own `solve`. Every line becomes a job as it arrives; answers come in the order of finishing, the first ones while lines are still being sent."""
    require_type(request, LINES)
    format_ = format_of(JSON, query.format, service.settings)
    options = LINES_QUERY.options(query)
    once_of(idempotency_key, "", "")
    owner = request.state.owner
    batch = new_id() if idempotency_key is None else batch_of(owner, idempotency_key)
    if idempotency_key is not None and await asyncio.to_thread(service.store.has_ended, owner, batch):
        raise batch_ended()
    service.open_stream(owner)
    intake = BatchIntake(request, service, batch, format_, options, idempotency_key)
    try:
        await intake.begin()
    except BaseException:
        service.close_stream(owner)
        raise
    return BatchAnswer(service, owner, batch, set(), intake)


@router.get("/v1/batches/{id}", summary="A batch's answers", response_class=Response, responses=BATCH_ANSWERS)
async def answers(
    request: Request,
    service: TheService,
    id: str,  # noqa: A002 - the name in the path
    have: Annotated[str, Query(description=HAVE)] = "",
) -> Response:
    """Return all answers, or those that the client does not have yet; wait for unfinished ones."""
    owner, known = request.state.owner, numbers_in(have, service.settings.max_batch)
    await counts_of(service, owner, id)
    service.open_stream(owner)
    return BatchAnswer(service, owner, id, known, None)


@router.delete("/v1/batches/{id}", summary="End a batch", responses=ENDED_BATCH_ANSWERS)
async def end(request: Request, service: TheService, id: str) -> JSONResponse:  # noqa: A002
    """Cancel waiting lines, and stop those in progress, which keep their best plans. Further lines are refused, whether a request is still sending them or sends them again. Existing answers stay available."""
    owner = request.state.owner
    await counts_of(service, owner, id)
    await asyncio.to_thread(service.store.end_batch, owner, id)
    while cancelled := await asyncio.to_thread(service.store.cancel_lines, owner, id):
        for job in cancelled:
            service.dispatcher.stop_job(job)
    problems, unfinished = await counts_of(service, owner, id)
    return JSONResponse({"batch": id, "problems": problems, "unfinished": unfinished})


async def counts_of(service: Service, owner: str, id_: str) -> tuple[int, int]:
    """Return the number of lines of the client's batch, and of those that have not ended. Raises Refusal if there is none."""
    counts = (0, 0)
    if ID.fullmatch(id_):
        counts = await asyncio.to_thread(service.store.batch_counts, owner, id_)
    if not counts[0]:
        raise Refusal(404, HttpCode.NOT_FOUND, "there is no such batch")
    return counts


def batch_of(owner: str, key: str) -> str:
    """Return the batch of this name of its client: sent again, it is the same one."""
    return hashlib.sha256(json.dumps(["batch", owner, key]).encode()).hexdigest()[:32]


def numbers_in(text: str, most: int) -> set[int]:
    """Return the numbers in `0-511,600`. Raises Refusal."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, dash, last = part.partition("-")
        ends = (first, last if dash else first)
        if not all(each.isascii() and each.isdigit() and len(each) <= 9 for each in ends):
            raise bad_option("have", "lines are said as in 0-511,600")
        low, high = map(int, ends)
        if low > high:
            raise bad_option("have", f"{low} to {high} goes backwards: the first line comes first")
        if high - low >= most or len(found) > most:
            raise too_large(f"a batch has {most} lines at most")
        found.update(range(low, high + 1))
    return found


class BatchAnswer(Following):
    """The answers of a batch, as long as it lasts."""

    def __init__(self, service: Service, owner: str, batch: str, known: set[int], intake: BatchIntake | None) -> None:
        headers = {"Location": f"/v1/batches/{batch}", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(service, owner, _lines(_Ended(service, owner, batch, intake), known), headers, LINES)
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._intake is None:
            await super().__call__(scope, receive, send)
            return
        taking = asyncio.create_task(self._intake.take())
        try:
            await super().__call__(scope, self._intake.receive, send)
        finally:
            self._intake.stop()
            taking.cancel()
            await asyncio.wait((taking,))


async def _lines(ended: _Ended, known: set[int]) -> AsyncGenerator[bytes, None]:
    """Yield the batch's name, then its answers, and finally that these are all. Without that last line there are more."""
    yield json.dumps({"batch": ended.batch}).encode("ascii") + b"\n"
    async for job in ended.jobs():
        if job is None:
            yield b" "  # before the next line, where JSON may have one
        elif job.line is not None and job.line not in known:
            known.add(job.line)
            async for piece in _written(ended.service, job):
                yield piece
    if ended.count is None:
        return
    last: dict[str, Any] = {"batch": ended.batch, "problems": ended.count}
    if ended.intake is not None and ended.intake.refusal is not None:
        last["error"] = _document(ended.intake.refusal)
    yield json.dumps(last).encode("ascii") + b"\n"


class _Ended:
    """The jobs of a batch that have ended, until all have or the service closes."""

    def __init__(self, service: Service, owner: str, batch: str, intake: BatchIntake | None) -> None:
        self.service, self._owner = service, owner
        self.batch, self.intake = batch, intake
        self.count: int | None = None
        """How many jobs there are, once all have ended."""
        self._patience = Patience()

    async def jobs(self) -> AsyncGenerator[Job | None, None]:
        """Yield them in the order in which they end, and None now and then if none does. A few come twice, since all are looked at once more in the end.

        Raises StoreUnavailable.
        """
        after, seconds, count, told = NONE_ENDED, LOOK_SECONDS, None, time.monotonic()
        while True:
            found = await self._patience.asked(self.service.store.ended, self._owner, self.batch, after)
            for job in found or ():
                assert job.finished is not None
                after = (job.finished, job.id)
                yield job
                told = time.monotonic()
            if found:
                seconds = LOOK_SECONDS
                continue
            if found is not None and count is not None:
                self.count = count
                return
            if self.service.closing.is_set():
                return
            count = await self._count_if_over()
            if count is not None:  # with several services, one may record an end a moment after a later one
                after = NONE_ENDED
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.service.closing.wait()
            seconds = min(seconds * 1.5, MOST_LOOK_SECONDS)
            if time.monotonic() - told > QUIET_SECONDS:
                yield None
                told = time.monotonic()

    async def _count_if_over(self) -> int | None:
        """Return how many jobs there are if all have ended; None if some have not, or the store cannot be asked."""
        if self.intake is not None and not self.intake.is_over:
            return None
        count, left = await self._patience.asked(self.service.store.batch_counts, self._owner, self.batch) or (0, 1)
        return None if left else count


async def _written(service: Service, job: Job) -> AsyncGenerator[bytes, None]:
    """Yield a job's line. Its plan is one line in several pieces, and is loaded only when it is to be sent."""
    document = job_document(job)
    answer = {name: document[name] for name in ("state", "status", "stop", "best", "bound", "gap", "failure")}
    answer = {"line": job.line, "job": job.id, **answer}
    if job.state is JobState.FAILED:
        answer["error"] = _document(failure_of(job))
    piece: bytes | None = None
    try:
        head = await asyncio.to_thread(service.store.plan_head, job.id) if job.has_plan else None
        if head is not None:
            pieces = plan_in_pieces(service.store, job.id, head.size)
            piece = await anext(pieces, None)
    except StoreDamaged as damaged:
        answer["error"] = _document(refusal_of(damaged))
    if piece is None:
        yield json.dumps({**answer, "plan": None}, allow_nan=False).encode("ascii") + b"\n"
        return
    yield b'%s, "plan": ' % json.dumps(answer, allow_nan=False).encode("ascii")[:-1]
    while piece is not None:
        yield piece.replace(b"\n", b"")  # JSON's strings contain no line ends
        piece = await anext(pieces, None)
    yield b"}\n"


def _document(refusal: Refusal) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(refusal.document())
    return found
