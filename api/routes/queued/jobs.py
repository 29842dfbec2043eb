"""/v1/jobs: plans that take longer than a request."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.tables.format import JSON, TEXT
from planner.formats.tables.problems import USUAL, format_named

from ...errors import HttpCode, Refusal
from ...service import Service
from ...store.records import Job, JobFilter, JobState, PlanHead, StoredPlan
from ..http.answers import job_response, json_response, listed_job, not_modified, plan_headers, plan_response
from ..http.body import Bodies, Body
from ..http.parameters import JOB_QUERY, IdempotencyKey, JobOptions, TheService, once_of
from ..http.sending import Stream, loaded, plan_in_pieces, problem_in_pieces
from ..openapi.examples import (
    JOB_ANSWERS,
    JOBS_ANSWERS,
    NEW_JOB_ANSWERS,
    PLAN_ANSWERS,
    PROBLEM_ANSWERS,
    PROBLEM_BODY,
    PROOF_ANSWERS,
)
from ..steps import enqueue, failure_of, look_up, receive, stop_job, understand, while_there

router = APIRouter(tags=["jobs"])
ID = re.compile(r"^[0-9a-f]{1,40}$")


Part = Annotated[
    str | None,
    Query(
        min_length=1,
        description="One plan of an answer with several, by its name in the job's events: a point of a frontier by its cost, one of a sweep by its sizes, a nested arena by its function.",
    ),
]


class JobsQuery(BaseModel):
    """Which jobs to list."""

    model_config = ConfigDict(extra="forbid")

    state: JobState | None = Field(default=None, description="Only jobs in this state.")
    batch: str | None = Field(default=None, pattern=ID.pattern, description="Only jobs of this batch.")
    before: str | None = Field(
        default=None, pattern=ID.pattern, description="Only jobs older than this one: the next page."
    )
    limit: int = Field(default=50, ge=1, le=500, description="Jobs on a page.")


@router.post(
    "/v1/jobs",
    status_code=202,
    summary="Queue a problem",
    responses=NEW_JOB_ANSWERS,
    openapi_extra=PROBLEM_BODY | JOB_QUERY.parameters(),
)
async def add(
    request: Request, service: TheService, query: JobOptions, idempotency_key: IdempotencyKey = None
) -> Response:
    """Queue a problem as a job; the same as `POST /v1/plans` with `Prefer: respond-async`."""
    got = await receive(request, service, query)
    order = await while_there(request, understand(service, got))
    once = once_of(idempotency_key, request.url.path, order.fingerprint)
    added = await enqueue(service, order, once=once, outcome=await look_up(service, order))
    return job_response(added.job, 202)


@router.get("/v1/jobs", summary="List jobs", responses=JOBS_ANSWERS)
async def listed(request: Request, service: TheService, query: Annotated[JobsQuery, Query()]) -> Response:
    """List the client's jobs, the newest first."""
    wanted = JobFilter(request.state.owner, query.state, query.batch, query.before, query.limit)
    jobs = await asyncio.to_thread(service.store.jobs, wanted)
    last = jobs[-1].id if len(jobs) == query.limit else None
    return json_response({"jobs": [listed_job(job) for job in jobs], "next": last})


@router.get("/v1/jobs/{id}", summary="One job", responses=JOB_ANSWERS)
async def one(request: Request, service: TheService, id: str) -> Response:  # noqa: A002 - the name in the path
    """Return the job's state, times, best value, bound and gap."""
    return job_response(await job_of(request, service, id))


@router.get("/v1/jobs/{id}/plan", summary="A job's plan", responses=PLAN_ANSWERS)
async def plan(request: Request, service: TheService, id: str, part: Part = None) -> Response:  # noqa: A002
    """Return the best plan so far; once the job has ended, its answer."""
    job = await job_of(request, service, id)
    if part is not None:
        media_type = TEXT if (job.about.kind, part) == ("proof", "proof") else JSON
        return await part_of(request, service, job, part, media_type)
    head = await asyncio.to_thread(service.store.plan_head, job.id)
    if head is None:
        raise failure_of(job)
    headers = plan_headers(head, hit=job.state.is_final)
    if (same := not_modified(request, headers)) is not None:
        return same
    if job.state.is_final:
        pieces = plan_in_pieces(service.store, job.id, head.size)
        return Stream(pieces, headers | {"Content-Length": str(head.size)}, JSON)
    found = await plan_so_far(service, job, request.state.bodies, head)
    return plan_response(request, found, hit=False)


@router.get("/v1/jobs/{id}/proof", summary="A job's proof", response_class=Response, responses=PROOF_ANSWERS)
async def proof(request: Request, service: TheService, id: str) -> Response:  # noqa: A002
    """Return only the proof of a job made at /v1/proof, in the form that `memplan verify --proof` takes."""
    job = await job_of(request, service, id)
    if job.about.kind != "proof":
        raise Refusal(404, HttpCode.NOT_FOUND, "this job was not asked for a proof")
    return await part_of(request, service, job, "proof", TEXT)


async def part_of(request: Request, service: Service, job: Job, name: str, media_type: str = JSON) -> Response:
    """Return one of the answer's plans. Raises Refusal."""
    answer = await answer_of(request, service, job)
    work = service.read("part", answer, owner=job.owner, kind=job.about.kind, part=name)
    reply = await while_there(request, work)
    headers = {"ETag": reply.header["etag"], "Cache-Control": "private, no-cache"}
    return not_modified(request, headers) or Response(reply.payload, 200, headers, media_type)


async def answer_of(request: Request, service: Service, job: Job) -> Body:
    """Return the whole best answer so far. Raises Refusal."""
    head = await asyncio.to_thread(service.store.plan_head, job.id)
    if head is None:
        raise failure_of(job)
    bodies: Bodies = request.state.bodies
    if job.state.is_final:
        return await loaded(bodies, plan_in_pieces(service.store, job.id, head.size))
    found = await plan_so_far(service, job, bodies, head)
    body = Body(bodies)
    body.add(found.data)
    return body


async def plan_so_far(service: Service, job: Job, bodies: Bodies, head: PlanHead) -> StoredPlan:
    """Return it in one piece, since a better one may replace it. Raises Refusal."""
    bodies.require_room(head.size)
    found = await asyncio.to_thread(service.store.plan, job.id)
    if found is None:
        raise failure_of(job)
    return found


@router.get("/v1/jobs/{id}/problem", summary="A job's problem", responses=PROBLEM_ANSWERS)
async def problem(request: Request, service: TheService, id: str) -> Response:  # noqa: A002
    """Return the problem as it was sent, with its options."""
    job = await job_of(request, service, id)
    size = await asyncio.to_thread(service.store.problem_size, job.id)
    if size is None:
        raise Refusal(404, HttpCode.NOT_FOUND, "the problem is not kept any more")
    pieces = problem_in_pieces(service.store, job.id, size)
    headers = {"Cache-Control": "private, no-cache", "Content-Length": str(size)}
    return Stream(pieces, headers, format_named(job.about.format or USUAL).media_types[0])


@router.delete("/v1/jobs/{id}", summary="Stop a job", responses=JOB_ANSWERS)
async def stop(request: Request, service: TheService, id: str) -> Response:  # noqa: A002
    """Stop the job; it keeps the best plan so far. A job that has ended does not change."""
    job = await stop_job(service, await job_of(request, service, id))
    if job is None:
        raise not_found()
    return job_response(job)


async def job_of(request: Request, service: Service, id_: str) -> Job:
    """Return the job, if it is the client's. Raises Refusal."""
    job = None
    if ID.fullmatch(id_):
        job = await asyncio.to_thread(service.store.job, id_, request.state.owner)
    if job is None:
        raise not_found()
    return job


def not_found() -> Refusal:
    return Refusal(404, HttpCode.NOT_FOUND, "there is no such job")
