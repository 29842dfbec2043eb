"""GET what there is to know: solvers, the schema, whether all is well, and figures."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

import planner
from planner.formats import schema

from ..errors import HttpCode, Refusal
from ..jobs.tasks import as_json
from ..service import Service
from .body import JSON
from .examples import shown
from .plans import Behind

router = APIRouter(tags=["about"])
NOT_READY: dict[int | str, dict[str, Any]] = {200: shown("All is well.", {"status": "ready"})}


@router.get("/v1/solvers", summary="List the solvers", responses={200: shown("The solvers.", {"solvers": []})})
async def solvers(service: Behind) -> Response:
    """What each solver takes, and whether it can be asked for here."""
    return Response(await asyncio.to_thread(_solvers, service.settings.allowed_solvers), media_type=JSON)


def _solvers(offered: tuple[str, ...]) -> bytes:
    listed = [
        {
            "name": solver.name,
            "features": sorted(feature.value for feature in solver.features),
            "available": solver.available and (not offered or solver.name in offered),
            "reason": solver.reason or (None if not offered or solver.name in offered else "not offered here"),
        }
        for solver in planner.solver_list()
    ]
    return as_json({"solvers": listed})


@router.get("/v1/schema", summary="The schema of problems", responses={200: shown("The schema.", {"type": "object"})})
async def problem_schema() -> Response:
    """JSON Schema (draft 2020-12) of memplan/1."""
    return Response(await asyncio.to_thread(_schema), media_type="application/schema+json")


@cache
def _schema() -> bytes:
    return as_json(schema())


@router.get("/healthz", summary="Does it live?", responses={200: shown("It does.", {"status": "alive"})})
async def healthz() -> dict[str, str]:
    """The service answers. Nothing else is looked at."""
    return {"status": "alive"}


@router.get("/readyz", summary="Can it plan?", responses=NOT_READY)
async def readyz(service: Behind) -> dict[str, Any]:
    """Really solves five buffers with each solver, and writes to the store; what was found is used again for some seconds."""
    if service.closing.is_set():
        raise Refusal(503, HttpCode.STOPPING, "the service is stopping")
    found = await service.readiness()
    broken = [f"{name}: {why}" for name, why in found["solvers"].items() if why is not None]
    if found["store"] is not None:
        broken.append(f"store: {found['store']}")
    if broken:
        text = f"not everything works: {'; '.join(broken)}"[:500]
        raise Refusal(503, HttpCode.NOT_READY, text, headers={"Retry-After": "5"}, members={"checks": found})
    return {"status": "ready", "solvers": sorted(found["solvers"])}


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
async def metrics(service: Behind) -> Response:
    """In Prometheus's text format."""
    return Response(await asyncio.to_thread(_figures, service), media_type=CONTENT_TYPE_LATEST)


def _figures(service: Service) -> bytes:
    told = service.metrics
    for name, crew in (("readers", service.readers), ("solvers", service.solvers)):
        told.busy.labels(name).set(crew.busy)
        told.size.labels(name).set(crew.size)
        told.deaths.labels(name).set(crew.deaths)
    told.streams.set(service.streams)
    return told.expose(service.store.counts())
