"""From a posted problem to an answer: described by a reader process, looked up, queued, awaited."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from starlette.requests import Request

from planner.model.errors import Code, Finding

from ..errors import HttpCode, Refusal
from ..jobs.attempt import Attempt, Posted, about_in, as_stored
from ..jobs.processes.messages import as_failure
from ..jobs.requests.endpoints import PLANS, Endpoint
from ..service import Service
from ..settings import Settings
from ..store import BatchEnded, KeyReused, QueueFull, StoreUnavailable
from ..store.records import About, Added, End, Job, JobState, NewJob, Once, QueueLimits, StoredPlan, Where
from .http.body import PROBLEM_TYPES, format_of, read_body, require_type
from .http.parameters import QUERIES, ProblemQuery
from .http.sending import until_gone

Result = TypeVar("Result")
SMALL = 1 << 18
"""Up to here hashing is faster than asking a thread to do it."""
BUSY_SECONDS = 5
LOOK_SECONDS = 30.0
"""The interval at which the store is asked without a wake-up."""
LOOKS_PER_SECOND = 20
"""The limit for all waiters together: a batch may wait for thousands."""
AGAIN_SECONDS = 0.5
"""The delay before it is asked again after a failure."""


@dataclass(frozen=True, slots=True)
class Order:
    """A request for a plan that can be carried out."""

    owner: str
    body: bytes | bytearray
    about: About
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Received:
    """A body, and how to read and plan it."""

    posted: Posted
    fingerprint: str
    name: str | None = None
    """The name of a problem without one."""

    def order(self, about: About) -> Order:
        """Return the order, once it is known what was received."""
        named = replace(about, name=about.name or self.name)
        return Order(self.posted.owner, self.posted.body, named, self.fingerprint)


async def receive(request: Request, service: Service, query: ProblemQuery, endpoint: Endpoint = PLANS) -> Received:
    """Read the body, without examining it. Raises Refusal."""
    kind = require_type(request, *PROBLEM_TYPES)
    format_ = format_of(kind, query.format, service.settings)
    options = QUERIES[endpoint.name].options(query)
    body = await read_body(request, service.settings)
    seconds = service.settings.max_explain_seconds
    given = options.model_dump(exclude_unset=True)
    got = await fingerprinted(Posted(request.state.owner, body, format_, kind, given, seconds, endpoint.name))
    return replace(got, name=query.name)


async def fingerprinted(posted: Posted) -> Received:
    """Return what was posted, with what tells whether the same was received before."""
    rest = json.dumps([posted.endpoint, posted.format, posted.media_type, posted.query], sort_keys=True)
    body = posted.body
    hashed = hashlib.sha256(body) if len(body) <= SMALL else await asyncio.to_thread(hashlib.sha256, body)
    hashed.update(rest.encode("ascii"))
    return Received(posted, hashed.hexdigest())


def known(service: Service, got: Received) -> Order | None:
    """Return the description of a body that was sent before, and need not be read again."""
    about = service.problems.get(got.posted.owner, got.fingerprint)
    return None if about is None else got.order(about)


async def understand(service: Service, got: Received) -> Order:
    """Have a reader process check that it is a problem that can be planned. Raises Refusal."""
    if (order := known(service, got)) is not None:
        return order
    posted = got.posted
    about = about_in((await service.read("read", posted.body, owner=posted.owner, **posted.header)).header)
    service.problems.put(posted.owner, got.fingerprint, about)
    return got.order(about)


async def begin_early(service: Service, got: Received) -> tuple[Order, Attempt] | None:
    """Have a small unknown problem read by the solver process that then plans it, if one is free. Raises Refusal."""
    if len(got.posted.body) > SMALL:
        return None
    attempt = await service.dispatcher.unread(got.posted)
    if attempt is None:
        return None
    try:
        about = await attempt.about
    except asyncio.CancelledError:
        attempt.stop()
        raise
    service.problems.put(got.posted.owner, got.fingerprint, about)
    return got.order(about), attempt


async def look_up(service: Service, order: Order) -> StoredPlan | None:
    """Return the plan kept for the same request, and count the request."""
    plan = await kept_plan(service, order)
    count(service, order, plan)
    return plan


async def kept_plan(service: Service, order: Order) -> StoredPlan | None:
    """Return the plan kept for the same request."""
    owner, key = order.owner, order.about.key
    plan = service.plans.get(owner, key)
    if plan is None:
        plan = await asyncio.to_thread(service.store.kept, owner, key)
        if plan is not None:
            service.plans.put(owner, key, plan)
    return plan


def count(service: Service, order: Order, plan: StoredPlan | None) -> None:
    """Count a request by its kind, and whether its plan was kept already."""
    service.metrics.requests_by_kind.labels(order.about.kind).inc()
    service.metrics.cache.labels("miss" if plan is None else "hit").inc()


async def enqueue(
    service: Service,
    order: Order,
    *,
    once: Once | None = None,
    outcome: StoredPlan | Refusal | None = None,
    urgent: bool = False,
    batch: str | None = None,
    line: int | None = None,
) -> Added:
    """Queue a job for it; with a plan it has already succeeded, with a refusal it has failed. Raises Refusal, for example if there are too many already."""
    is_for_cluster = batch is not None and service.settings.cluster is not None
    new = NewJob(order.owner, order.about, urgent, batch, line, Where.CLUSTER if is_for_cluster else Where.HERE)
    limits, end = limits_of(service.settings), None if outcome is None else _end_with(outcome)
    try:
        added = await asyncio.to_thread(service.store.add, new, order.body, limits, once, end)
    except QueueFull as full:
        headers = {"Retry-After": str(BUSY_SECONDS)}
        raise Refusal(429, HttpCode.QUEUE_FULL, f"{full}; try again later", headers=headers) from None
    except BatchEnded:
        raise batch_ended() from None
    except KeyReused:
        text = "the Idempotency-Key was used for another request before"
        raise Refusal(422, HttpCode.KEY_REUSED, text) from None
    if added.is_new and not added.job.state.is_final:
        service.dispatcher.wake()
    return added


def _end_with(outcome: StoredPlan | Refusal) -> End:
    if isinstance(outcome, Refusal):
        return End(JobState.FAILED, failure=as_failure(outcome))
    return End(JobState.SUCCEEDED, outcome.summary, outcome)


def batch_ended() -> Refusal:
    return Refusal(
        409, HttpCode.BATCH_ENDED, "the batch was ended by DELETE: begin another one, with a new Idempotency-Key"
    )


def limits_of(settings: Settings) -> QueueLimits:
    each = settings.max_queue, settings.jobs_per_token, settings.max_store_bytes
    return QueueLimits(*each, has_several_owners=settings.has_several_tokens)


async def wait_for(request: Request, service: Service, job: Job, seconds: float) -> tuple[Job | None, bool]:
    """Return the job when it has ended, the time is up, or the service stops; and whether the client is still there."""
    over = asyncio.create_task(until_over(service, job.id, seconds))
    gone = asyncio.create_task(until_gone(request.receive))
    try:
        await asyncio.wait((over, gone), return_when=asyncio.FIRST_COMPLETED)
        if over.done():
            return over.result(), True
        return await asyncio.to_thread(service.store.job, job.id), False
    finally:
        for task in (over, gone):
            task.cancel()


async def wait_for_attempt(
    request: Request, service: Service, attempt: Attempt, seconds: float
) -> StoredPlan | Job | None:
    """Return the plan, or the job that an attempt has become when the time is up or the service stops; None: the client is gone.

    Raises Refusal, WorkerDied and WorkerFault.
    """
    gone = asyncio.create_task(until_gone(request.receive))
    closing = asyncio.create_task(service.closing.wait())
    try:
        await asyncio.wait((attempt.reply, gone, closing), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if attempt.reply.done():
            reply = attempt.reply.result()
            plan = as_stored(reply)
            if reply.header["lasting"]:
                service.keep(attempt.owner, attempt.about.result().key, plan)
            return plan
        if gone.done():
            attempt.stop()
            return None
        return await asyncio.shield(service.spawn(attempt.become_job()))
    except asyncio.CancelledError:
        attempt.stop()
        raise
    finally:
        gone.cancel()
        closing.cancel()


async def while_there(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return its result. Cancelled when the client goes away: raises Refusal, which nobody receives."""
    answering = asyncio.create_task(work)
    gone = asyncio.create_task(until_gone(request.receive))
    try:
        await asyncio.wait((answering, gone), return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise Refusal(400, HttpCode.TOO_SLOW, "the client went away before its answer was there")
        return answering.result()
    finally:
        for task in (answering, gone):
            task.cancel()


async def until_over(service: Service, id_: str, seconds: float | None = None) -> Job | None:
    """Return the job when it has ended, the time is up, or the service stops; None: it is gone."""
    end = None if seconds is None else time.monotonic() + seconds
    with service.hub.watch(id_) as happened:
        while True:
            happened.clear()
            look = max(LOOK_SECONDS, len(service.hub) / LOOKS_PER_SECOND)
            left = look if end is None else end - time.monotonic()
            try:
                job = await asyncio.to_thread(service.store.job, id_)
                if job is None or job.state.is_final or left <= 0 or service.closing.is_set():
                    return job
            except StoreUnavailable:
                if left <= 0 or service.closing.is_set():
                    raise
                look = AGAIN_SECONDS  # it may be back before long
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, look)):
                    await happened.wait()


async def stop_job(service: Service, job: Job) -> Job | None:
    """End a job, keeping the best plan."""
    now = await asyncio.to_thread(service.store.cancel, job.id, job.owner)
    service.dispatcher.stop_job(job.id)
    return now


def failure_of(job: Job) -> Refusal:
    """Return why a job failed or ended without a plan, as a refusal."""
    if job.failure is None:
        word = "cancelled" if job.state is JobState.CANCELLED else job.state.value
        return Refusal(409, HttpCode.NO_PLAN_YET, f"the job is {word} and has no plan")
    code = job.failure["code"]
    return Refusal(
        job.failure["status"],
        Code(code) if code in tuple(Code) else HttpCode(code),
        job.failure["detail"],
        findings=[Finding(Code(kind), pointer, text) for kind, pointer, text in job.failure["findings"]],
        more=job.failure["more"],
    )
