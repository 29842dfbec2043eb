"""Questions whose answer is more than one plan: the frontier of memory and cost."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from ..jobs.doors import PARETO
from .openapi.examples import FRONTIER_ANSWERS, VARIANTS_BODY
from .plans import Behind, answered
from .query import QUERIES, IdempotencyKey, Prefer, RequestQuery

router = APIRouter(tags=["plans"])
ParetoOptions = Annotated[RequestQuery, Depends(QUERIES[PARETO.name])]


@router.post(
    "/v1/pareto",
    summary="Find a frontier",
    responses=FRONTIER_ANSWERS,
    openapi_extra=VARIANTS_BODY | QUERIES[PARETO.name].parameters(),
)
async def pareto(
    request: Request,
    service: Behind,
    query: ParetoOptions,
    prefer: Prefer = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """The frontier of memory and cost of a problem with variants, with a plan for each point; as a job where that takes long, which tells of points as they are found."""
    return await answered(request, service, query, prefer, idempotency_key, PARETO)
