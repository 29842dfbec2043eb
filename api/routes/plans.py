"""POST /v1/plans, the main thing: a problem comes in, its plan goes out, or a job that will have it."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.table import JSON

from ..service import Service
from ..store.records import About, NewJob, StoredPlan
from .answers import job_response, plan_response
from .asking import Received, begun, failure_of, looked_up, queued, received, stopped, tried, understood, waited
from .examples import EXPLANATION_ANSWERS, PLAN_ANSWERS, PROBLEM_BODY
from .query import PLAN_PARAMETERS, IdempotencyKey, PlanOptions, Prefer, Preferences, once_of

router = APIRouter(tags=["plans"])
NOBODY = Response(status_code=499)
"""For a client that is gone."""


async def service_of(request: Request) -> Service:
    """The service behind the routes. Asynchronous, so that no thread is asked for it."""
    service: Service = request.app.state.service
    return service


Behind = Annotated[Service, Depends(service_of)]


@router.post(
    "/v1/plans", summary="Plan a problem", responses=PLAN_ANSWERS, openapi_extra=PROBLEM_BODY | PLAN_PARAMETERS
)
async def make_plan(
    request: Request, service: Behind, query: PlanOptions, prefer: Prefer = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """The plan, when it is done within the service's budget for waiting (`sync_seconds`); otherwise a job that goes on."""
    got = await received(request, service, query)
    found = await obtained(request, service, got, Preferences(prefer), idempotency_key)
    if isinstance(found, Response):
        return found
    _, plan, hit = found
    return plan_response(request, plan, hit=hit, require=query.require)


@router.post(
    "/v1/explain",
    summary="Explain a bound",
    responses=EXPLANATION_ANSWERS,
    openapi_extra=PROBLEM_BODY | PLAN_PARAMETERS,
)
async def explain(
    request: Request, service: Behind, query: PlanOptions, prefer: Prefer = None, idempotency_key: IdempotencyKey = None
) -> Response:
    """Why no plan can be better, or which buffers cannot be placed together; as a job where that takes long."""
    query = query.model_copy(update={"explain": True})
    got = await received(request, service, query)
    found = await obtained(request, service, got, Preferences(prefer), idempotency_key)
    if isinstance(found, Response):
        return found
    about, plan, _hit = found
    reply = await service.read("explain", got.posted.body, plan.data, format=about.format, options=dict(about.options))
    return Response(reply.payload, 200, {"ETag": plan.etag}, JSON)


async def obtained(
    request: Request, service: Service, got: Received, prefers: Preferences, key: str | None
) -> tuple[About, StoredPlan, bool] | Response:
    """What the problem is, its plan, and whether that was there already; or the answer that there is none yet."""
    once = once_of(key, request.url.path, got.fingerprint)
    waits = once is None and not prefers.is_async
    early = await begun(service, got) if waits else None
    asked, attempt = (await understood(service, got), None) if early is None else early
    kept = None
    with ExitStack() as unless_new:
        if attempt is not None:
            unless_new.callback(attempt.stop)
        if "no-cache" not in request.headers.get("cache-control", ""):
            kept = await looked_up(service, asked)
        if kept is None:
            unless_new.pop_all()
    if kept is not None and waits:
        return asked.about, kept, True
    budget = service.settings.sync_seconds
    seconds = budget if prefers.wait is None else min(budget, prefers.wait)
    if waits:
        attempt = attempt or service.runner.at_once(NewJob(asked.owner, asked.about), asked.body)
        if attempt is not None:
            found = await tried(request, service, attempt, seconds)
            if isinstance(found, StoredPlan):
                return asked.about, found, False
            return NOBODY if found is None else job_response(found, 202)
    added = await queued(service, asked, once=once, answer=kept, urgent=not prefers.is_async)
    if prefers.is_async:
        response = job_response(added.job, 202)
        response.headers["Preference-Applied"] = "respond-async"
        return response
    job, is_there = await waited(request, service, added.job, seconds)
    if job is None or (not is_there and once is None and not job.state.is_final):
        await stopped(service, added.job)
        return NOBODY
    if not job.state.is_final:
        return job_response(job, 202)
    plan = await asyncio.to_thread(service.store.plan, job.id)
    if once is None:
        service.forget(job.id)  # it is answered, and nobody was told of it
    if plan is None:
        raise failure_of(job)
    return asked.about, plan, kept is not None or not added.is_new
