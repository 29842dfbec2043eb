"""Pictures of plans: POST /v1/draw for any plan, GET /v1/jobs/{id}/drawing for a job's; and what else the page needs to draw."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.tables.problems import JSON, USUAL, format_named

from ..errors import HttpCode, Refusal
from .checks import VerifyQuery, look_at_both
from .http.sending import Stream, in_pieces, loaded
from .openapi.examples import DRAWING_ANSWERS, PROBLEM_ANSWERS, VERIFY_BODY
from .plans import Behind
from .queued.jobs import Part, answer_of, job_of
from .steps import failure_of, while_there

router = APIRouter(tags=["drawings"])
SVG = "image/svg+xml"
ATTACHED = {
    "Content-Disposition": 'attachment; filename="memory-map.svg"',
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
}
"""A picture is for a file, and not for looking at here; nothing in it could run, or fetch anything, if it were."""
KEPT = {"Cache-Control": "private, no-cache"}

Wanted = Literal["svg", "map"]
WHAT = "`svg`: a picture; `map`: what there is to draw, as JSON (memplan-map/1)."


class DrawQuery(VerifyQuery):
    """And what the drawing is wanted as."""

    wanted: Wanted = Field(default="svg", alias="as", description=WHAT)


@router.post("/v1/draw", summary="Draw a plan", responses=DRAWING_ANSWERS, openapi_extra=VERIFY_BODY)
async def draw(request: Request, service: Behind, query: Annotated[DrawQuery, Query()]) -> Response:
    """Its memory map: time across, address up. A plan that is wrong is drawn too, with what is wrong marked."""
    reply = await look_at_both(request, service, "draw", query, **{"as": query.wanted})
    return drawing(reply.payload, query.wanted)


@router.get("/v1/jobs/{id}/drawing", summary="Draw a job's plan", responses=DRAWING_ANSWERS)
async def drawn(
    request: Request,
    service: Behind,
    id: str,  # noqa: A002 - the name in the path
    wanted: Annotated[Wanted, Query(alias="as", description=WHAT)] = "svg",
    part: Part = None,
) -> Response:
    """The memory map of the best plan so far; of a frontier the curve, and the map of each `part`."""
    job = await job_of(request, service, id)
    answer = await answer_of(request, service, job)
    size = await asyncio.to_thread(service.store.problem_size, job.id)
    problem = None
    if size is not None:
        problem = await loaded(request.state.bodies, size, partial(service.store.problem, job.id))
    if problem is None:
        raise failure_of(job)
    header = {**job.about.header, "as": wanted, "part": part}
    reply = await while_there(request, service.read("draw_job", problem, answer, owner=job.owner, **header))
    return drawing(reply.payload, wanted)


@router.get("/v1/jobs/{id}/problem", summary="A job's problem", responses=PROBLEM_ANSWERS)
async def problem(request: Request, service: Behind, id: str) -> Response:  # noqa: A002
    """As it was sent, options and all."""
    job = await job_of(request, service, id)
    size = await asyncio.to_thread(service.store.problem_size, job.id)
    if size is None:
        raise Refusal(404, HttpCode.NOT_FOUND, "the problem is not kept any more")
    pieces = in_pieces(size, partial(service.store.problem_piece, job.id))
    kind = format_named(job.about.format or USUAL).media_types[0]
    return Stream(pieces, KEPT | {"Content-Length": str(size)}, kind)


def drawing(data: bytes, wanted: Wanted) -> Response:
    """A picture, or the data of one."""
    return Response(data, 200, KEPT | ATTACHED, SVG) if wanted == "svg" else Response(data, 200, KEPT, JSON)
