"""POST /v1/verify, /v1/report and /v1/validate: is this a plan of this problem, what does it do with memory, and is this a problem?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.tables.format import BYTES, JSON
from planner.planning.options.options import Preference, Stability

from ..jobs.processes.pool import Reply
from ..service import Service
from .http.body import FORM, PROBLEM_TYPES, boundary_of, format_of, read_body, require_type
from .http.parameters import PLAN_QUERY, TheService
from .openapi.examples import PROBLEM_BODY, REPORT_ANSWERS, VALIDATE_ANSWERS, VERIFY_ANSWERS, VERIFY_BODY
from .steps import while_there

router = APIRouter(tags=["checks"])


class FormatQuery(BaseModel):
    """The format, if it must be given."""

    model_config = ConfigDict(extra="forbid")

    format: str | None = Field(default=None, description="The problem's format; by default recognised.")


class VerifyQuery(FormatQuery):
    """The same, with the pool sizes and objective that the plan was made for."""

    capacity: list[str] = Field(default=[], description="Replaces a pool's size, as for `/v1/plans`.")
    prefer: Preference | None = Field(default=None, description="Replaces the objective, as for `/v1/plans`.")
    stability: Stability | None = Field(default=None, description="Adds to the objective, as for `/v1/plans`.")

    def as_options(self) -> dict[str, Any]:
        """Return the given ones as options of a plan."""
        given = self.model_dump(exclude_unset=True, include={"capacity", "prefer", "stability"})
        return PLAN_QUERY.options(PLAN_QUERY.model.model_validate(given)).given()


@router.post("/v1/verify", summary="Verify a plan", responses=VERIFY_ANSWERS, openapi_extra=VERIFY_BODY)
async def verify(request: Request, service: TheService, query: Annotated[VerifyQuery, Query()]) -> Response:
    """Check every rule of the problem and every claim of the plan in exact integers."""
    reply = await look_at_both(request, service, "verify", query)
    return Response(reply.payload, media_type=JSON)


@router.post("/v1/report", summary="Report on a plan", responses=REPORT_ANSWERS, openapi_extra=VERIFY_BODY)
async def report(request: Request, service: TheService, query: Annotated[VerifyQuery, Query()]) -> Response:
    """What a plan, a sharing, a frontier or each of a program's arenas does with memory, when most is in use, and which buffers would have to shrink. A wrong one is refused."""
    reply = await look_at_both(request, service, "report", query)
    return Response(reply.payload, media_type=JSON)


async def look_at_both(request: Request, service: Service, task: str, query: VerifyQuery, **header: Any) -> Reply:
    """Have a reader examine a problem and its plan. Raises Refusal."""
    boundary = boundary_of(request, require_type(request, JSON, FORM))
    header = {"format": format_of(BYTES, query.format, service.settings), "query": query.as_options(), **header}
    body = await read_body(request, service.settings)
    work = service.read(task, body, owner=request.state.owner, boundary=boundary, **header)
    return await while_there(request, work)


@router.post("/v1/validate", summary="Check a problem", responses=VALIDATE_ANSWERS, openapi_extra=PROBLEM_BODY)
async def validate(request: Request, service: TheService, query: Annotated[FormatQuery, Query()]) -> Response:
    """Check that a problem is sound; if not, the answer lists the faults and their places."""
    kind = require_type(request, *PROBLEM_TYPES)
    format_ = format_of(kind, query.format, service.settings)
    body = await read_body(request, service.settings)
    reply = await while_there(
        request, service.read("validate", body, owner=request.state.owner, format=format_, media_type=kind)
    )
    return Response(reply.payload, media_type=JSON)
