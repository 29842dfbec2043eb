"""Answers as pictures or as data: POST /v1/draw for any, GET /v1/jobs/{id}/drawing for a job's."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.tables.answers import FORMS

from .checks import VerifyQuery, look_at_both
from .http.parameters import TheService
from .http.sending import loaded, problem_in_pieces
from .openapi.examples import DRAWING_ANSWERS, VERIFY_BODY
from .queued.jobs import Part, answer_of, job_of
from .steps import failure_of, while_there

router = APIRouter(tags=["drawings"])
FILES = {"svg": "memory-map.svg", "csv": "figures.csv"}
"""What is for a file, not for display here, and the file's name."""
HARMLESS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"}
"""Even if a picture is displayed, nothing in it could run or load anything."""
QUALITY = re.compile(r"[01](\.[0-9]{0,3})?")
"""As in RFC 9110."""
KEPT = {"Cache-Control": "private, no-cache"}

Wanted = Literal["svg", "map", "csv"]
WHAT = (
    "`svg`: a picture; `map`: the contents of a memory map as JSON (memplan-map/1), of other pictures their figures; "
    "`csv`: the figures as a table. By default what `Accept` prefers of their media types, or `svg`."
)


class DrawQuery(VerifyQuery):
    """The same, with the form of the drawing."""

    wanted: Wanted | None = Field(default=None, alias="as", description=WHAT)


@router.post("/v1/draw", summary="Draw an answer", responses=DRAWING_ANSWERS, openapi_extra=VERIFY_BODY)
async def draw(request: Request, service: TheService, query: Annotated[DrawQuery, Query()]) -> Response:
    """Draw a plan's memory map: time across, address up; of a frontier, a sweep or a plan for all shapes the curve. A wrong plan is drawn too, with its faults marked."""
    wanted = query.wanted or accepted(request)
    reply = await look_at_both(request, service, "draw", query, **{"as": wanted})
    return drawing(reply.payload, wanted)


@router.get("/v1/jobs/{id}/drawing", summary="Draw a job's plan", responses=DRAWING_ANSWERS)
async def drawn(
    request: Request,
    service: TheService,
    id: str,  # noqa: A002 - the name in the path
    wanted: Annotated[Wanted | None, Query(alias="as", description=WHAT)] = None,
    part: Part = None,
) -> Response:
    """Draw the memory map of the best plan so far; for a frontier, its curve, or the map of the plan `part`."""
    job = await job_of(request, service, id)
    answer = await answer_of(request, service, job)
    size = await asyncio.to_thread(service.store.problem_size, job.id)
    if size is None:
        raise failure_of(job)
    problem = await loaded(request.state.bodies, problem_in_pieces(service.store, job.id, size))
    form = wanted or accepted(request)
    header = {**job.about.header, "as": form, "part": part}
    reply = await while_there(request, service.read("draw_job", problem, answer, owner=job.owner, **header))
    return drawing(reply.payload, form)


def accepted(request: Request) -> str:
    """Return the form that the client prefers (RFC 9110); of equally good ones the first in the table."""
    wanted: dict[str, float] = {}
    for each in request.headers.get("accept", "*/*").split(","):
        media_type, *parameters = (piece.strip().lower() for piece in each.split(";"))
        given = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
        wanted[media_type] = float(given) if QUALITY.fullmatch(given) else 0.0

    def worth(form: str) -> float:
        own = FORMS[form]
        names = (own, f"{own.partition('/')[0]}/*", "*/*")
        return next((wanted[name] for name in names if name in wanted), 0.0)

    return max(FORMS, key=worth)


def drawing(data: bytes, form: str) -> Response:
    """Return a picture, the data of one, or a table."""
    headers = {**KEPT, "Vary": "Accept"}
    if form in FILES:
        headers |= {"Content-Disposition": f'attachment; filename="{FILES[form]}"', **HARMLESS}
    return Response(data, 200, headers, FORMS[form])
