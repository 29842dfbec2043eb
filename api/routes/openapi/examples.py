"""OpenAPI's descriptions of bodies and answers: a schema and an example for each."""

from __future__ import annotations

import json
from typing import Any

from planner.formats import FORMATS
from planner.formats.tables.format import BYTES, CSV, JSON
from planner.formats.tables.format import TEXT as PLAIN

from ...errors import CONTENT_TYPE
from ..http.body import FORM, LINES
from .shapes import OBJECT, TEXT, WHOLE, part, record

PROBLEM = {
    "format": "memplan/1",
    "name": "three",
    "lifetimes": "half_open",
    "pools": [{"name": "arena", "size": 96, "alignment": 16}],
    "buffers": [
        {"id": "image", "size": 64, "live": [[0, 2]]},
        {"id": "edges", "size": 20, "live": [[1, 3]]},
        {"id": "score", "size": 40, "live": [[2, 4]]},
    ],
}
ROWS = "id,lower,upper,size\na,0,2,64\nb,1,3,20\n"
PLAN: dict[str, Any] = {
    "format": "memplan-plan/1",
    "status": "optimal",
    "stop": "proved",
    "peak": 84,
    "bound": 84,
    "gap": 0.0,
    "objective": {"value": 84, "bound": 84, "terms": [{"name": "sum_of_peaks", "value": 84, "bound": 84}]},
    "pools": [{"name": "arena", "size": 96, "peak": 84, "bound": 84}],
    "placements": [
        {"id": "image", "pool": "arena", "offset": 0, "size": 64},
        {"id": "edges", "pool": "arena", "offset": 64, "size": 20},
        {"id": "score", "pool": "arena", "offset": 0, "size": 40},
    ],
    "solver": "greedy",
    "seed": 0,
    "reproducible": True,
    "versions": {"memplan": "0.1.0"},
    "problem_digest": "5d8d41127dff0df40ef169e102a17fa9565e79f784d53d56bbb5662c6a96fa73",
    "certificate": [
        {
            "proof": "live_together",
            "value": 84,
            "pool": "arena",
            "time": 1,
            "buffers": ["image", "edges"],
            "weights": [],
            "solver": None,
        }
    ],
    "shortage": None,
    "warnings": [],
    "run": {"seconds": 0.01, "trace": [], "machine": {}},
}
VARIANTS = {
    "format": "memplan/1",
    "name": "stripes",
    "lifetimes": "half_open",
    "pools": [{"name": "sram", "size": 65536}],
    "buffers": [{"id": "image", "size": 20000, "live": [[0, 2]]}],
    "variants": {
        "costs": [{"name": "cycles"}],
        "groups": [
            {
                "name": "conv",
                "alternatives": [
                    {
                        "name": "whole",
                        "costs": {"cycles": 1000},
                        "buffers": [{"id": "features", "size": 40000, "live": [[1, 3]]}],
                    },
                    {
                        "name": "stripes",
                        "costs": {"cycles": 1400},
                        "buffers": [{"id": "features", "size": 5000, "live": [[1, 3]]}],
                        "live": [{"buffer": "image", "live": [[2, 3]]}],
                    },
                ],
            }
        ],
    },
}
PROOF = "memplan-proof/1\nproblem 5d8d41127dff0df40ef169e102a17fa9565e79f784d53d56bbb5662c6a96fa73\nrefutes 83\nt 1\ns 0 1\n"
PROVED: dict[str, Any] = {
    "format": "memplan-proved/1",
    "height": 83,
    "proof": PROOF,
    "why_not": None,
    "plan": PLAN,
}
FRONTIER: dict[str, Any] = {
    "format": "memplan-frontier/1",
    "complete": True,
    "within": 0.0,
    "infeasible": False,
    "missing": None,
    "stop": "proved",
    "reproducible": True,
    "problem_digest": PLAN["problem_digest"],
    "points": [
        {
            "status": "optimal",
            "cost": 1000,
            "cost_bound": 1000,
            "costs": {"cycles": 1000},
            "memory": 60000,
            "memory_bound": 60000,
            "plan": {},
        },
        {
            "status": "optimal",
            "cost": 1400,
            "cost_bound": 1400,
            "costs": {"cycles": 1400},
            "memory": 25000,
            "memory_bound": 25000,
            "plan": {},
        },
    ],
    "warnings": [],
    "run": {"seconds": 0.02, "trace": [], "machine": {}},
}
SWEEP: dict[str, Any] = {
    "format": "memplan-sweep/1",
    "name": "three",
    "terms": ["sum_of_peaks"],
    "points": [
        {
            "capacity": {"arena": 96},
            "status": "optimal",
            "value": [84],
            "bound": [84],
            "peaks": {"arena": 84},
            "access_cost": 0,
            "spilled_bytes": 0,
            "solved": True,
            "plan": {},
        }
    ],
    "smallest": {"pool": "arena", "capacity": 84, "bound": 84, "status": "optimal"},
    "reproducible": True,
    "problem_digest": PLAN["problem_digest"],
    "warnings": [],
    "run": {"seconds": 0.02},
}
SHAPED = {
    "format": "memplan/1",
    "lifetimes": "half_open",
    "symbols": {"n": [1, 2048]},
    "buffers": [
        {"id": "scores", "size": "4*n*n", "live": [[0, 2]]},
        {"id": "rows", "size": "64*n", "live": [[1, 3]]},
    ],
}
SHAPES: dict[str, Any] = {
    "format": "memplan-shapes/1",
    "mode": "expressions",
    "symbols": {"n": [1, 2048]},
    "exact": True,
    "pools": [{"name": "default", "size": None, "peak": "4*n*n + 64*n", "exact": True}],
    "buffers": [
        {"id": "scores", "pool": "default", "size": "4*n*n", "alignment": 1, "after": [], "offset": "0"},
        {"id": "rows", "pool": "default", "size": "64*n", "alignment": 1, "after": ["scores"], "offset": "4*n*n"},
    ],
    "shapes": [{"at": {"n": 1}, "used": 68, "optimum": 68, "bound": 68}],
    "problem_digest": PLAN["problem_digest"],
    "warnings": [],
}
REFUSAL = {
    "type": "urn:memplan:problem:out_of_range",
    "title": "Unprocessable Entity",
    "status": 422,
    "detail": "/buffers/3/size: must be 0 or more, not -4",
    "code": "out_of_range",
    "errors": [{"code": "out_of_range", "pointer": "/buffers/3/size", "message": "must be 0 or more, not -4"}],
    "more": 0,
}
JOB = {
    "id": "1a1f92db7dd6fdd0775a76f2769308d3ab2",
    "kind": "plan",
    "state": "running",
    "cancelling": False,
    "created": "2026-01-31T12:00:00.000Z",
    "started": "2026-01-31T12:00:00.010Z",
    "finished": None,
    "attempt": 1,
    "name": "three",
    "buffers": 3,
    "digest": PLAN["problem_digest"],
    "options": {"time_limit": 60.0},
    "status": None,
    "stop": None,
    "best": 90,
    "bound": 84,
    "gap": 0.0714,
    "failure": None,
    "batch": None,
    "line": None,
    "links": {"self": "/v1/jobs/1a1f…", "events": "/v1/jobs/1a1f…/events", "plan": None},
}
EXPLANATION = {
    "status": "optimal",
    "sentences": ["The peak of pool 'arena' cannot be below 84: at time 1 these are live together, 84 bytes in all."],
    "peak": 84,
    "bound": 84,
    "gap": 0.0,
    "certificate": PLAN["certificate"],
    "shortage": None,
    "warnings": [],
}
EVENTS = 'id: 1\nevent: state\ndata: {"state": "queued"}\n\n'


def shown(description: str, example: object, kind: str = JSON, schema_: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return one answer."""
    return {"description": description, "content": {kind: {"schema": schema_ or OBJECT, "example": example}}}


def body(kinds: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the required body."""
    return {"requestBody": {"required": True, "content": kinds}}


REFUSED = shown("The error in the form of RFC 9457; `code` is stable.", REFUSAL, CONTENT_TYPE, part("Refusal"))
ERRORS: dict[int | str, dict[str, Any]] = dict.fromkeys(
    (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 431, 503), REFUSED
)
JOB_ACCEPTED = shown("A job, at the address in `Location`.", JOB, JSON, part("Job"))
WITH_OPTIONS = {"summary": "with options in the body", "value": {**PROBLEM, "solve": {"time_limit": 5, "goal": "fit"}}}
BINARY = {**TEXT, "format": "binary"}


def problem_body() -> dict[str, Any]:
    """Return every format's example, under its media type."""
    kinds: dict[str, dict[str, Any]] = {JSON: {"schema": part("Problem"), "examples": {"options": WITH_OPTIONS}}}
    for row in FORMATS.values():
        for kind in row.media_types:
            shown_as = json.loads(row.example) if kind == JSON else row.example
            content = kinds.setdefault(kind, {"schema": TEXT if row.is_text else BINARY, "examples": {}})
            title = row.title if row.is_text else f"{row.title}, in base64"
            content["examples"][row.name] = {"summary": title, "value": shown_as}
    rows = {"rows": {"value": ROWS}}
    return body({**kinds, BYTES: {"schema": BINARY, "examples": rows}})


PROBLEM_BODY = problem_body()
PLAN_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("The plan; `status` says whether it is proven optimal.", PLAN, JSON, part("Plan")),
    202: JOB_ACCEPTED,
    304: {"description": "The plan has not changed: its ETag is the one in If-None-Match."},
}
PROVABLE_BODY = body({JSON: {"schema": part("Problem"), "examples": {"options": WITH_OPTIONS}}})
PROVED_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("The plan and its proof.", PROVED, JSON, part("Proved")),
    202: JOB_ACCEPTED,
    304: PLAN_ANSWERS[304],
}
PROOF_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("The proof.", PROOF, "text/plain", TEXT),
    304: PLAN_ANSWERS[304],
}
VARIANTS_BODY = body(
    {JSON: {"schema": part("Problem"), "examples": {"variants": {"summary": "two ways", "value": VARIANTS}}}}
)
FRONTIER_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("The frontier, with a plan in each point.", FRONTIER, JSON, part("Frontier")),
    202: JOB_ACCEPTED,
    304: PLAN_ANSWERS[304],
}
SIZES = {**PROBLEM, "solve": {"capacity": ["64..96"], "step": 8}}
SWEEP_BODY = body(
    {JSON: {"schema": part("Problem"), "examples": {"sizes": {"summary": "sizes in the body", "value": SIZES}}}}
)
SWEEP_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("The sweep, with a plan in each point.", SWEEP, JSON, part("Sweep")),
    202: JOB_ACCEPTED,
    304: PLAN_ANSWERS[304],
}
SHAPED_BODY = body(
    {JSON: {"schema": part("Problem"), "examples": {"symbols": {"summary": "n tokens", "value": SHAPED}}}}
)
SHAPES_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("The plan for all shapes.", SHAPES, JSON, part("Shapes")),
    202: JOB_ACCEPTED,
    304: PLAN_ANSWERS[304],
}
EXPLANATION_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("The arguments.", EXPLANATION, JSON, part("Explanation")),
    202: JOB_ACCEPTED,
    304: {"description": "The explanation has not changed: its ETag is the one in If-None-Match."},
}
JOB_ANSWERS: dict[int | str, dict[str, Any]] = {200: shown("The job.", JOB, JSON, part("Job"))}
JOBS_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("A page.", {"jobs": [JOB], "next": None}, JSON, part("Jobs"))
}
NEW_JOB_ANSWERS: dict[int | str, dict[str, Any]] = {202: JOB_ACCEPTED}
EVENT_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("The events.", EVENTS, "text/event-stream", part("Event")),
    204: {"description": "The job has ended, and there are no events after the given one."},
}
VERIFY_BODY = body(
    {
        JSON: {
            "schema": {
                "type": "object",
                "required": ["problem", "plan"],
                "properties": {"problem": {}, "plan": OBJECT},
                "additionalProperties": False,
            },
            "examples": {"both": {"summary": "A problem and its plan", "value": {"problem": PROBLEM, "plan": PLAN}}},
        },
        FORM: {
            "schema": {
                "type": "object",
                "required": ["problem", "plan"],
                "properties": {name: {"type": "string", "format": "binary"} for name in ("problem", "plan")},
                "additionalProperties": False,
            },
            "examples": {
                "files": {
                    "summary": "Two files: the problem in any readable format, or a model, and its plan",
                    "value": {"problem": json.dumps(PROBLEM), "plan": json.dumps(PLAN)},
                }
            },
        },
    }
)
VERIFY_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown(
        "What was found.",
        {"valid": True, "findings": [], "notes": [], "warnings": []},
        JSON,
        part("Verification"),
    )
}
REPORT_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown(
        "The report.", {"format": "memplan-report/1", "status": "optimal", "peak": 96, "pools": []}, JSON, OBJECT
    )
}
PICTURE = "<svg>…</svg>"
DRAWING: dict[str, Any] = shown("The drawing.", PICTURE, "image/svg+xml", TEXT)
DRAWING["content"][JSON] = {"schema": OBJECT, "example": {"format": "memplan-map/1"}}
DRAWING["content"][CSV] = {"schema": TEXT, "example": ROWS}
DRAWING_ANSWERS: dict[int | str, dict[str, Any]] = {200: DRAWING}
WRITTEN: dict[str, Any] = shown("The plan in this form.", "#define ARENA_SIZE 96\n", PLAIN, TEXT)
WRITTEN["content"] |= {
    JSON: {"schema": OBJECT, "example": PLAN},
    CSV: {"schema": TEXT, "example": ROWS},
    BYTES: {"schema": {"type": "string", "format": "binary"}, "example": "…"},
}
WRITTEN_ANSWERS: dict[int | str, dict[str, Any]] = {200: WRITTEN}
POSTED: dict[str, Any] = shown("The problem.", PROBLEM)
POSTED["content"][CSV] = {"schema": TEXT, "example": ROWS}
PROBLEM_ANSWERS: dict[int | str, dict[str, Any]] = {200: POSTED}
VALIDATE_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown(
        "Whether it is sound, and if not, what is wrong.",
        {
            "valid": True,
            "name": "three",
            "buffers": 3,
            "pools": ["arena"],
            "digest": PLAN["problem_digest"],
            "warnings": [],
        },
        JSON,
        part("Validation"),
    )
}
LINE_ANSWER = '{"line": 0, "job": "1a1f…", "state": "succeeded", "status": "optimal", "plan": {}}\n'
BATCH_BODY = body(
    {
        LINES: {
            "schema": TEXT,
            "examples": {"lines": {"summary": "A problem a line", "value": f"{json.dumps(PROBLEM)}\n" * 2}},
        }
    }
)
BATCH_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown("A line for each problem, as they finish.", LINE_ANSWER, LINES, TEXT)
}
ENDED_BATCH_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: shown(
        "How many lines it has, and how many of them are still being stopped.",
        {"batch": JOB["id"], "problems": 10_000, "unfinished": 2},
        JSON,
        record(batch=TEXT, problems=WHOLE, unfinished=WHOLE),
    )
}
