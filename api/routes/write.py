"""Plans in the form for compilers, linkers and runtimes: POST /v1/write."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.tables.plans import PLAN_FORMATS, USUAL, plan_format
from planner.model.errors import BadInput

from ..errors import refused
from .checks import VerifyQuery, look_at_both
from .http.parameters import TheService
from .openapi.examples import VERIFY_BODY, WRITTEN_ANSWERS

router = APIRouter(tags=["plans"])
WHAT = f"The form: {', '.join(PLAN_FORMATS)}; with settings, as in `c:prefix=net`."


class WriteQuery(VerifyQuery):
    """The same, with the form in which the plan is written."""

    wanted: str = Field(default=USUAL, alias="as", max_length=256, description=WHAT)


@router.post(
    "/v1/write", summary="Write a plan", response_class=Response, responses=WRITTEN_ANSWERS, openapi_extra=VERIFY_BODY
)
async def write(request: Request, service: TheService, query: Annotated[WriteQuery, Query()]) -> Response:
    """Write the plan as a header, a linker script, or the model with its offsets. A wrong plan is refused."""
    try:
        row = plan_format(query.wanted)
    except BadInput as error:
        raise refused(error) from None
    reply = await look_at_both(request, service, "write", query, **{"as": query.wanted})
    headers = {"Content-Disposition": f'attachment; filename="plan{row.endings[0]}"'}
    return Response(reply.payload, 200, headers, row.media_type)
