"""Plans and jobs as responses."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from planner.formats.tables.format import JSON
from planner.model.problem import MAX_TEXT

from ...errors import HttpCode, Refusal
from ...store.records import Job, PlanHead, StoredPlan

WITHOUT_PLAN = {"infeasible": HttpCode.INFEASIBLE, "unknown": HttpCode.NO_PLAN}
SENTENCES = {
    "infeasible": "it is proven that no plan fits within the capacities",
    "unknown": "neither a plan nor a proof that there is none was found within the limits",
}


def require_feasible(plan: StoredPlan) -> None:
    """Raise Refusal unless it places everything."""
    status = plan.summary.status
    if status in WITHOUT_PLAN:
        raise Refusal(422, WITHOUT_PLAN[status], SENTENCES[status], members={"plan": json.loads(plan.data)})


def plan_response(request: Request, plan: StoredPlan, *, hit: bool) -> Response:
    """Return a plan, or that the client has it already."""
    headers = plan_headers(plan, hit=hit)
    return not_modified(request, headers) or Response(plan.data, 200, headers, JSON)


def plan_headers(plan: StoredPlan | PlanHead, *, hit: bool) -> dict[str, str]:
    headers = {"ETag": plan.etag, "X-Cache": "hit" if hit else "miss", "Cache-Control": "private, no-cache"}
    return headers | {"Age": str(max(0, int(time.time() - plan.created)))} if hit else headers


def not_modified(request: Request, headers: dict[str, str]) -> Response | None:
    """Return that the client has it already, if it has."""
    if matches(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return None


def matches(request: Request, etag: str) -> bool:
    """True if the tag is in an If-None-Match header of the request."""
    tags = [
        tag.strip().removeprefix("W/") for each in request.headers.getlist("if-none-match") for tag in each.split(",")
    ]
    return "*" in tags or etag in tags


def job_document(job: Job) -> dict[str, Any]:
    """Return a job as clients see it."""
    here = f"/v1/jobs/{job.id}"
    return {
        "id": job.id,
        "kind": job.about.kind,
        "state": job.state.value,
        "cancelling": job.cancelling and not job.state.is_final,
        "created": moment(job.created),
        "started": moment(job.started),
        "finished": moment(job.finished),
        "attempt": job.attempt,
        "name": job.about.name,
        "buffers": job.about.buffers,
        "digest": job.about.digest,
        "options": dict(job.about.options),
        "status": job.status,
        "stop": job.stop,
        "best": job.best,
        "bound": job.bound,
        "gap": job.gap,
        "failure": None if job.failure is None else {name: job.failure[name] for name in ("code", "detail")},
        "batch": job.batch,
        "line": job.line,
        "links": {
            "self": here,
            "events": f"{here}/events",
            "plan": f"{here}/plan" if job.has_plan else None,
        },
    }


def listed_job(job: Job) -> dict[str, Any]:
    """Return a job in a list. Long options (sizes of many pools, many shapes) are only in the job's own document, so that lists stay short."""
    document = job_document(job)
    for name, value in document["options"].items():
        if value and len(json.dumps(value)) > MAX_TEXT:
            document["options"][name] = None
    return document


def job_response(job: Job, status: int = 200) -> Response:
    """Return a job; a new one with its address."""
    headers = {} if status == 200 else {"Location": f"/v1/jobs/{job.id}"}
    return json_response(job_document(job), status, headers)


def json_response(document: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return any document, in ASCII, since lone surrogates cannot be sent as UTF-8."""
    return Response(json.dumps(document, allow_nan=False), status, headers, JSON)


def moment(seconds: float | None) -> str | None:
    """Return a time in the form of RFC 3339."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
