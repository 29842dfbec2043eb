"""Questions whose answer is more than one plan: frontiers, sweeps, plans for all shapes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from ..jobs.doors import PARETO, SHAPES, SWEEP
from .openapi.examples import FRONTIER_ANSWERS, SHAPED_BODY, SHAPES_ANSWERS, SWEEP_ANSWERS, SWEEP_BODY, VARIANTS_BODY
from .plans import Behind, answered
from .query import QUERIES, IdempotencyKey, Prefer, RequestQuery

router = APIRouter(tags=["plans"])
ParetoOptions = Annotated[RequestQuery, Depends(QUERIES[PARETO.name])]
SweepOptions = Annotated[RequestQuery, Depends(QUERIES[SWEEP.name])]
ShapesOptions = Annotated[RequestQuery, Depends(QUERIES[SHAPES.name])]


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


@router.post(
    "/v1/sweep",
    summary="Sweep sizes of memory",
    responses=SWEEP_ANSWERS,
    openapi_extra=SWEEP_BODY | QUERIES[SWEEP.name].parameters(),
)
async def sweep(
    request: Request,
    service: Behind,
    query: SweepOptions,
    prefer: Prefer = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """What each size of memory buys, with a plan for each, and the smallest that there is room in; as a job where that takes long, which tells of sizes as they are settled."""
    return await answered(request, service, query, prefer, idempotency_key, SWEEP)


@router.post(
    "/v1/shapes",
    summary="Plan all shapes",
    responses=SHAPES_ANSWERS,
    openapi_extra=SHAPED_BODY | QUERIES[SHAPES.name].parameters(),
)
async def shapes(
    request: Request,
    service: Behind,
    query: ShapesOptions,
    prefer: Prefer = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """One plan for all values of the symbols that sizes depend on, with what is proven of it, and C functions if asked for."""
    return await answered(request, service, query, prefer, idempotency_key, SHAPES)
