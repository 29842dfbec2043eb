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
NOT_READY: dict[int | str, dict[str, Any]] = {200: shown("Everything works.", {"status": "ready"})}


@router.get("/v1/solvers", summary="List the solvers", responses={200: shown("The solvers.", {"solvers": []})})
async def solvers(service: TheService) -> Response:
    """List the solvers with their features, and whether this service offers them."""
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
    "is_program": False,
}
FORMATS_ANSWER: dict[int | str, dict[str, Any]] = {200: shown("The formats.", {"formats": [EXAMPLE_FORMAT]})}


@router.get("/v1/formats", summary="List the formats", responses=FORMATS_ANSWER)
async def formats(service: TheService) -> dict[str, Any]:
    """List the formats of problems that this service reads: the name for `?format=`, file endings and media types."""
    shown = ("name", "title", "endings", "media_types", "is_text", "is_program")
    read = [FORMATS[name] for name in FORMATS if name in service.settings.formats]
    return {"formats": [{field: getattr(row, field) for field in shown} for row in read]}


SCHEMA_TYPE = "application/schema+json"
SCHEMA: dict[int | str, dict[str, Any]] = {200: shown("The schema.", {"type": "object"}, SCHEMA_TYPE)}


@router.get("/v1/schema", summary="The schema of problems", response_class=Response, responses=SCHEMA)
async def problem_schema() -> Response:
    """Return the JSON Schema (draft 2020-12) of memplan/1."""
    return Response(await asyncio.to_thread(_schema), media_type=SCHEMA_TYPE)


@cache
def _schema() -> bytes:
    return as_json(schema())


@router.get("/healthz", summary="Liveness", responses={200: shown("The service is alive.", {"status": "alive"})})
async def healthz() -> dict[str, str]:
    """Show that the service answers. Nothing else is checked."""
    return {"status": "alive"}


@router.get("/readyz", summary="Readiness", responses=NOT_READY)
async def readyz(service: TheService) -> dict[str, Any]:
    """Check the service by solving five buffers with each solver and writing to the store; the result is kept for some seconds.

    `set_aside` is the number of jobs that were found damaged and failed, if there are any. If a cluster carries out batches, `cluster` is its state. Without the cluster only batches wait, and the service is still ready.
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
    if found["set_aside"]:
        ready["set_aside"] = found["set_aside"]
    if "cluster" in found:
        ready["cluster"] = "ready" if found["cluster"] is None else found["cluster"]
    return ready


FIGURES: dict[int | str, dict[str, Any]] = {
    200: shown("The figures.", "memplan_streams 0.0\n", CONTENT_TYPE_LATEST.partition(";")[0], TEXT)
}


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response, responses=FIGURES)
async def metrics(request: Request, service: TheService) -> Response:
    """Return figures about all tokens' jobs in Prometheus's text format, for tokens that may see them. If metrics have their own port (`metrics_port`), they are served only there."""
    if service.settings.metrics_port is not None:
        raise Refusal(404, HttpCode.NOT_FOUND, "metrics are served on a port of their own (metrics_port)")
    if not service.settings.may_see_metrics(request.state.owner):
        text = "these figures are of everybody's jobs, and this token may not see them: name it in metrics_tokens, or set metrics_port"
        raise Refusal(403, HttpCode.FORBIDDEN, text)
    return Response(await asyncio.to_thread(service.metrics.expose), media_type=CONTENT_TYPE_LATEST)
