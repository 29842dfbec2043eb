"""Requests whose answer is more than one plan: frontiers, sweeps, plans for all shapes, proofs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from ..jobs.requests.endpoints import PARETO, PROOF, SHAPES, SWEEP, Endpoint
from .http.parameters import QUERIES, IdempotencyKey, Prefer, RequestQuery, TheService
from .openapi.examples import (
    FRONTIER_ANSWERS,
    PROVABLE_BODY,
    PROVED_ANSWERS,
    SHAPED_BODY,
    SHAPES_ANSWERS,
    SWEEP_ANSWERS,
    SWEEP_BODY,
    VARIANTS_BODY,
)
from .plans import answered

router = APIRouter(tags=["plans"])
Described = dict[str, Any]


def offer(
    endpoint: Endpoint, summary: str, description: str, body: Described, answers: dict[int | str, Described]
) -> None:
    """Add the path of an endpoint: answered in time, or with a job."""
    options = Depends(QUERIES[endpoint.name])

    async def study(
        request: Request,
        service: TheService,
        query: RequestQuery = options,
        prefer: Prefer = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        return await answered(request, service, query, prefer, idempotency_key, endpoint)

    router.add_api_route(
        f"/v1/{endpoint.name}",
        study,
        methods=["POST"],
        name=endpoint.name,
        summary=summary,
        description=description,
        responses=answers,
        openapi_extra=body | QUERIES[endpoint.name].parameters(),
    )


offer(
    PARETO,
    "Find a frontier",
    "Find the frontier of memory and cost of a problem with variants, with a plan for each point. If that takes long, the answer is a job, whose events report points as they are found.",
    VARIANTS_BODY,
    FRONTIER_ANSWERS,
)
offer(
    SWEEP,
    "Sweep sizes of memory",
    "Find the best plan for each size of memory, and the smallest sufficient size. If that takes long, the answer is a job, whose events report sizes as they are settled.",
    SWEEP_BODY,
    SWEEP_ANSWERS,
)
offer(
    SHAPES,
    "Plan all shapes",
    "Find one plan for all values of the symbols that sizes depend on, with proven claims, and C functions on request.",
    SHAPED_BODY,
    SHAPES_ANSWERS,
)
offer(
    PROOF,
    "Prove a bound",
    "Find a plan and, in the remaining time, a proof that no plan is lower or that nothing fits. If that takes long, the answer is a job.",
    PROVABLE_BODY,
    PROVED_ANSWERS,
)
