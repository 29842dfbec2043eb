"""POST /v1/plans, the main thing: a problem comes in, its plan goes out, or a job that will have it."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.tables.format import JSON

from ..jobs.attempt import Attempt
from ..jobs.requests.endpoints import EXPLAIN, PLANS, Endpoint
from ..service import Service
from ..store.records import About, Job, NewJob, Once, StoredPlan
from .http.answers import job_response, not_modified, plan_headers, plan_response, require_feasible
from .http.parameters import (
    PLAN_PARAMETERS,
    QUERIES,
    IdempotencyKey,
    PlanOptions,
    Prefer,
    Preferences,
    RequestQuery,
    TheService,
    once_of,
    wants_anew,
)
from .openapi.examples import EXPLANATION_ANSWERS, PLAN_ANSWERS, PROBLEM_BODY
from .steps import (
    Order,
    Received,
    begin_early,
    enqueue,
    failure_of,
    known,
    look_up,
    receive,
    stop_job,
    understand,
    wait_for,
    wait_for_attempt,
    while_there,
)

router = APIRouter(tags=["plans"])
NOBODY = Response(status_code=499)
"""For a client that is gone."""


@router.post(
    "/v1/plans", summary="Plan a problem", responses=PLAN_ANSWERS, openapi_extra=PROBLEM_BODY | PLAN_PARAMETERS
)
async def make_plan(
    request: Request,
    service: TheService,
    query: PlanOptions,
    prefer: Prefer = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Return the plan if it is ready within the service's waiting time (`sync_seconds`), otherwise a job that continues."""
    return await answered(request, service, query, prefer, idempotency_key)


async def answered(
    request: Request,
    service: Service,
    query: RequestQuery,
    prefer: list[str] | None,
    key: str | None,
    endpoint: Endpoint = PLANS,
) -> Response:
    """Return an endpoint's answer, or the job that will have it."""
    got = await receive(request, service, query, endpoint)
    answer = await Exchange.of(request, service, got, prefer, key, query.require).answer()
    return plan_response(request, answer.plan, hit=answer.hit)


@router.post(
    "/v1/explain",
    summary="Explain a bound",
    responses=EXPLANATION_ANSWERS,
    openapi_extra=PROBLEM_BODY | QUERIES[EXPLAIN.name].parameters(),
)
async def explain(
    request: Request,
    service: TheService,
    query: Annotated[RequestQuery, Depends(QUERIES[EXPLAIN.name])],
    prefer: Prefer = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Explain why no plan can be better, or which buffers cannot be placed together; as a job if that takes long."""
    got = await receive(request, service, query, EXPLAIN)
    answer = await Exchange.of(request, service, got, prefer, idempotency_key, query.require).answer()
    headers = plan_headers(answer.plan, hit=answer.hit)
    headers["ETag"] = f'{headers["ETag"][:-1]}-explained"'
    if (same := not_modified(request, headers)) is not None:
        return same
    work = service.read("explain", got.posted.body, answer.plan.data, owner=got.posted.owner, **answer.about.header)
    reply = await while_there(request, work)
    return Response(reply.payload, 200, headers, JSON)


@dataclass(frozen=True, slots=True)
class Answer:
    """A plan, its problem, and whether it existed already."""

    about: About
    plan: StoredPlan
    hit: bool


class NotYet(Exception):
    """There is no plan to return now; the response tells what there is instead."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request for a plan on its way to an answer."""

    request: Request
    service: Service
    got: Received
    prefers: Preferences
    once: Once | None
    must_place: bool
    """True if an answer without a plan is refused."""

    @classmethod
    def of(
        cls,
        request: Request,
        service: Service,
        got: Received,
        prefer: list[str] | None,
        key: str | None,
        require: str | None,
    ) -> Exchange:
        """Return the exchange. Raises Refusal for an invalid idempotency key."""
        once = once_of(key, request.url.path, got.fingerprint)
        return cls(request, service, got, Preferences(prefer), once, require == "feasible")

    @property
    def may_answer_at_once(self) -> bool:
        """True unless a job is required: to be found again by its key, or because the client does not want to wait."""
        return self.once is None and not self.prefers.is_async

    @property
    def seconds(self) -> float:
        """Return how long the client waits at most."""
        budget = self.service.settings.sync_seconds
        return budget if self.prefers.wait is None else min(budget, self.prefers.wait)

    async def answer(self) -> Answer:
        """Return the plan. Raises NotYet if there is none in time, Refusal if there can be none or it is not what the client requires."""
        found = await self.found()
        if self.must_place:
            require_feasible(found.plan)
        return found

    async def found(self) -> Answer:
        """Return the answer, with or without a plan in it. Raises NotYet and Refusal."""
        order, attempt, kept = await self.look_up()
        if self.may_answer_at_once:
            if kept is not None:
                return Answer(order.about, kept, hit=True)
            attempt = attempt or self.service.dispatcher.at_once(NewJob(order.owner, order.about), order.body)
            if attempt is not None:
                return Answer(order.about, await self.await_attempt(attempt), hit=False)
        added = await enqueue(self.service, order, once=self.once, outcome=kept, urgent=not self.prefers.is_async)
        if self.prefers.is_async:
            response = job_response(added.job, 202)
            response.headers["Preference-Applied"] = "respond-async"
            raise NotYet(response)
        job = await self.await_job(added.job)
        return Answer(order.about, await self.take_plan(job), hit=kept is not None or not added.is_new)

    async def look_up(self) -> tuple[Order, Attempt | None, StoredPlan | None]:
        """Return the request, an attempt that may have begun meanwhile, and the plan if it exists already."""
        order, attempt = known(self.service, self.got), None
        if order is None and self.may_answer_at_once:
            order, attempt = await begin_early(self.service, self.got) or (None, None)
        if order is None:
            order = await while_there(self.request, understand(self.service, self.got))
        kept = None
        with ExitStack() as unless_new:
            if attempt is not None:
                unless_new.callback(attempt.stop)
            if not wants_anew(self.request):
                kept = await look_up(self.service, order)
            if kept is None:
                unless_new.pop_all()
        return order, attempt, kept

    async def await_attempt(self, attempt: Attempt) -> StoredPlan:
        """Return the plan of an attempt that is no job, if made in time; otherwise it becomes a job."""
        found = await wait_for_attempt(self.request, self.service, attempt, self.seconds)
        if isinstance(found, StoredPlan):
            return found
        raise NotYet(NOBODY if found is None else job_response(found, 202))

    async def await_job(self, job: Job) -> Job:
        """Return the job when it has ended. Stop it if nobody waits for it any more, or can ask for it."""
        ended, is_there = await wait_for(self.request, self.service, job, self.seconds)
        if ended is None or (not is_there and self.once is None and not ended.state.is_final):
            await stop_job(self.service, job)
            raise NotYet(NOBODY)
        if not ended.state.is_final:
            raise NotYet(job_response(ended, 202))
        return ended

    async def take_plan(self, job: Job) -> StoredPlan:
        """Return its plan. Raises Refusal if it ended without one."""
        plan = await asyncio.to_thread(self.service.store.plan, job.id)
        if self.once is None:
            self.service.forget(job.id)  # it is answered, and nobody was told of it
        if plan is None:
            raise failure_of(job)
        return plan
