"""Memory maps of plans, as pictures or as data: POST /v1/draw for any plan, GET /v1/jobs/{id}/drawing for a job's."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.tables.format import JSON

from .checks import VerifyQuery, look_at_both
from .http.parameters import TheService
from .http.sending import loaded, problem_in_pieces
from .openapi.examples import DRAWING_ANSWERS, VERIFY_BODY
from .queued.jobs import Part, answer_of, job_of
from .steps import failure_of, while_there

router = APIRouter(tags=["drawings"])
SVG = "image/svg+xml"
ATTACHED = {
    "Content-Disposition": 'attachment; filename="memory-map.svg"',
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
}
"""A picture is for a file, not for display here; even if displayed, nothing in it could run or load anything."""
KEPT = {"Cache-Control": "private, no-cache"}

Wanted = Literal["svg", "map"]
WHAT = "`svg`: a picture; `map`: the contents of the picture as JSON (memplan-map/1)."


class DrawQuery(VerifyQuery):
    """The same, with the form of the drawing."""

    wanted: Wanted = Field(default="svg", alias="as", description=WHAT)


@router.post("/v1/draw", summary="Draw a plan", responses=DRAWING_ANSWERS, openapi_extra=VERIFY_BODY)
async def draw(request: Request, service: TheService, query: Annotated[DrawQuery, Query()]) -> Response:
    """Draw the plan's memory map: time across, address up. A wrong plan is drawn too, with its faults marked."""
    reply = await look_at_both(request, service, "draw", query, **{"as": query.wanted})
    return drawing(reply.payload, query.wanted)


@router.get("/v1/jobs/{id}/drawing", summary="Draw a job's plan", responses=DRAWING_ANSWERS)
async def drawn(
    request: Request,
    service: TheService,
    id: str,  # noqa: A002 - the name in the path
    wanted: Annotated[Wanted, Query(alias="as", description=WHAT)] = "svg",
    part: Part = None,
) -> Response:
    """Draw the memory map of the best plan so far; for a frontier, its curve, or the map of the plan `part`."""
    job = await job_of(request, service, id)
    answer = await answer_of(request, service, job)
    size = await asyncio.to_thread(service.store.problem_size, job.id)
    if size is None:
        raise failure_of(job)
    problem = await loaded(request.state.bodies, problem_in_pieces(service.store, job.id, size))
    header = {**job.about.header, "as": wanted, "part": part}
    reply = await while_there(request, service.read("draw_job", problem, answer, owner=job.owner, **header))
    return drawing(reply.payload, wanted)


def drawing(data: bytes, wanted: Wanted) -> Response:
    """Return a picture, or the data of one."""
    return Response(data, 200, KEPT | ATTACHED, SVG) if wanted == "svg" else Response(data, 200, KEPT, JSON)
