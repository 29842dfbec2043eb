"""GET information: solvers, the schema, the service's health, and metrics."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

import planner
from planner.formats import FORMATS, schema
from planner.formats.tables.format import JSON

from ..errors import HttpCode, Refusal
from ..jobs.processes.tasks import as_json
from .http.parameters import TheService
from .openapi.examples import shown
from .openapi.shapes import TEXT

router = APIRouter(tags=["about"])
NOT_READY: dict[int | str, dict[str, Any]] = {200: shown("All is well.", {"status": "ready"})}


@router.get("/v1/solvers", summary="List the solvers", responses={200: shown("The solvers.", {"solvers": []})})
async def solvers(service: TheService) -> Response:
    """What each solver takes, and whether it can be asked for here."""
    return Response(await asyncio.to_thread(_solvers, service.settings.allowed_solvers), media_type=JSON)


def _solvers(offered: tuple[str, ...]) -> bytes:
    listed = [
        {
            "name": solver.name,
            "kind": solver.kind,
            "summary": solver.summary,
            "features": sorted(feature.value for feature in solver.features),
            "available": solver.available and (not offered or solver.name in offered),
            "reason": solver.reason or (None if not offered or solver.name in offered else "not offered here"),
        }
        for solver in planner.solver_list()
    ]
    return as_json({"solvers": listed})


EXAMPLE_FORMAT = {
    "name": "minimalloc",
    "title": "minimalloc CSV",
    "endings": [".csv"],
    "media_types": ["text/csv"],
    "is_text": True,
}
FORMATS_ANSWER: dict[int | str, dict[str, Any]] = {200: shown("The formats.", {"formats": [EXAMPLE_FORMAT]})}


@router.get("/v1/formats", summary="Which formats are read", responses=FORMATS_ANSWER)
async def formats(service: TheService) -> dict[str, Any]:
    """What a problem may be written in: the name for `?format=`, endings of files, and as what it is sent."""
    told = ("name", "title", "endings", "media_types", "is_text")
    read = [FORMATS[name] for name in FORMATS if name in service.settings.formats]
    return {"formats": [{field: getattr(row, field) for field in told} for row in read]}


SCHEMA_TYPE = "application/schema+json"
SCHEMA: dict[int | str, dict[str, Any]] = {200: shown("The schema.", {"type": "object"}, SCHEMA_TYPE)}


@router.get("/v1/schema", summary="The schema of problems", response_class=Response, responses=SCHEMA)
async def problem_schema() -> Response:
    """JSON Schema (draft 2020-12) of memplan/1."""
    return Response(await asyncio.to_thread(_schema), media_type=SCHEMA_TYPE)


@cache
def _schema() -> bytes:
    return as_json(schema())


@router.get("/healthz", summary="Does it live?", responses={200: shown("It does.", {"status": "alive"})})
async def healthz() -> dict[str, str]:
    """The service answers. Nothing else is looked at."""
    return {"status": "alive"}


@router.get("/readyz", summary="Can it plan?", responses=NOT_READY)
async def readyz(service: TheService) -> dict[str, Any]:
    """Really solves five buffers with each solver, and writes to the store; what was found is used again for some seconds.

    Where a cluster carries out batches, `cluster` says how it is. Without it all else goes on, and batches wait: that is no reason to be unready.
    """
    if service.closing.is_set():
        raise Refusal(503, HttpCode.STOPPING, "the service is stopping")
    found = await service.readiness()
    broken = [f"{name}: {why}" for name, why in found["solvers"].items() if why is not None]
    if found["store"] is not None:
        broken.append(f"store: {found['store']}")
    if broken:
        text = f"not everything works: {'; '.join(broken)}"[:500]
        raise Refusal(503, HttpCode.NOT_READY, text, headers={"Retry-After": "5"}, members={"checks": found})
    ready = {"status": "ready", "solvers": sorted(found["solvers"])}
    if "cluster" in found:
        ready["cluster"] = "ready" if found["cluster"] is None else found["cluster"]
    return ready


FIGURES: dict[int | str, dict[str, Any]] = {
    200: shown("The figures.", "memplan_streams 0.0\n", CONTENT_TYPE_LATEST.partition(";")[0], TEXT)
}


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response, responses=FIGURES)
async def metrics(request: Request, service: TheService) -> Response:
    """In Prometheus's text format, of all tokens' jobs together, for tokens that may see that. If the figures have a port of their own, they are there and not here."""
    if service.settings.metrics_port is not None:
        raise Refusal(404, HttpCode.NOT_FOUND, "metrics are served on a port of their own (metrics_port)")
    if not service.settings.may_see_metrics(request.state.owner):
        text = "these figures are of everybody's jobs, and this token may not see them: name it in metrics_tokens, or set metrics_port"
        raise Refusal(403, HttpCode.FORBIDDEN, text)
    return Response(await asyncio.to_thread(service.metrics.expose), media_type=CONTENT_TYPE_LATEST)
