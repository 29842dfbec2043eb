"""JSON Schemas of answers, for the OpenAPI document: what every client may rely on, and nothing that may change."""

from __future__ import annotations

from functools import cache
from typing import Any

from planner.formats import schema
from planner.model.plan import PlanStatus
from solvers.model.errors import StopReason

from ...jobs.kinds import KINDS
from ...store.records import EventKind, JobState

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
YES_OR_NO: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
MOMENT: Schema = {"type": "string", "format": "date-time"}


def part(name: str) -> Schema:
    """Return a reference to a schema among the document's components."""
    return {"$ref": f"#/components/schemas/{name}"}


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def words(*known: str) -> Schema:
    return {"type": "string", "enum": list(known)}


def perhaps(schema: Schema) -> Schema:
    """Return the schema with null as an alternative."""
    return {"anyOf": [schema, {"type": "null"}]}


def record(**fields: Schema) -> Schema:
    """Return an object with at least these fields."""
    return {"type": "object", "required": list(fields), "properties": fields}


STATUS = words(*PlanStatus)
STOP = words(*StopReason)
WORTH = {"status": perhaps(STATUS), "stop": perhaps(STOP), "best": perhaps(WHOLE), "bound": perhaps(WHOLE)}
GAP = perhaps({"type": "number", "minimum": 0})

PARTS: dict[str, Schema] = {
    "Finding": record(code=TEXT, pointer=TEXT, message=TEXT),
    "Refusal": {
        **record(
            type=TEXT, title=TEXT, status={"type": "integer", "minimum": 400, "maximum": 599}, detail=TEXT, code=TEXT
        ),
        "dependentRequired": {"errors": ["more"]},
    },
    "Plan": record(
        format={"const": "memplan-plan/1"},
        status=STATUS,
        stop=STOP,
        peak=perhaps(WHOLE),
        bound=perhaps(WHOLE),
        gap=GAP,
        objective=OBJECT,
        pools=listed(record(name=TEXT, size=perhaps(WHOLE), peak=perhaps(WHOLE))),
        placements=listed(record(pool=TEXT, offset=WHOLE, size=WHOLE)),
        solver=perhaps(TEXT),
        seed=WHOLE,
        reproducible=YES_OR_NO,
        versions=OBJECT,
        problem_digest=TEXT,
        certificate=listed(OBJECT),
        shortage=perhaps(OBJECT),
        warnings=listed(TEXT),
        run=OBJECT,
    ),
    "Frontier": record(
        format={"const": "memplan-frontier/1"},
        complete=YES_OR_NO,
        within=GAP,
        infeasible=YES_OR_NO,
        missing=perhaps(TEXT),
        stop=STOP,
        reproducible=YES_OR_NO,
        problem_digest=TEXT,
        points=listed(
            record(
                status=STATUS,
                cost=WHOLE,
                cost_bound=perhaps(WHOLE),
                costs=OBJECT,
                memory=WHOLE,
                memory_bound=WHOLE,
                plan=OBJECT,
            )
        ),
        warnings=listed(TEXT),
        run=OBJECT,
    ),
    "Proved": record(
        format={"const": "memplan-proved/1"}, height=WHOLE, proof=perhaps(TEXT), why_not=perhaps(TEXT), plan=OBJECT
    ),
    "Sweep": record(
        format={"const": "memplan-sweep/1"},
        name=perhaps(TEXT),
        terms=listed(TEXT),
        points=listed(
            record(capacity=OBJECT, status=STATUS, bound=listed(WHOLE), solved=YES_OR_NO, plan=perhaps(OBJECT))
        ),
        smallest=perhaps(OBJECT),
        reproducible=YES_OR_NO,
        problem_digest=TEXT,
        warnings=listed(TEXT),
        run=OBJECT,
    ),
    "Shapes": record(
        format={"const": "memplan-shapes/1"},
        mode=TEXT,
        symbols=OBJECT,
        exact=YES_OR_NO,
        shapes=listed(record(at=OBJECT, used=WHOLE, optimum=perhaps(WHOLE), bound=WHOLE)),
        problem_digest=TEXT,
        warnings=listed(TEXT),
    ),
    "Job": record(
        id=TEXT,
        kind=words(*KINDS),
        state=words(*JobState),
        cancelling=YES_OR_NO,
        created=MOMENT,
        started=perhaps(MOMENT),
        finished=perhaps(MOMENT),
        attempt=WHOLE,
        name=perhaps(TEXT),
        buffers=WHOLE,
        digest=TEXT,
        options=OBJECT,
        **WORTH,
        gap=GAP,
        failure=perhaps(record(code=TEXT, detail=TEXT)),
        batch=perhaps(TEXT),
        line=perhaps(WHOLE),
        links=record(self=TEXT, events=TEXT, plan=perhaps(TEXT)),
    ),
    "Event": record(event=words(*EventKind, "closing", "error"), data=TEXT),
    "Jobs": record(jobs=listed(part("Job")), next=perhaps(TEXT)),
    "Explanation": record(
        status=STATUS,
        sentences=listed(TEXT),
        peak=perhaps(WHOLE),
        bound=perhaps(WHOLE),
        gap=GAP,
        certificate=listed(OBJECT),
        shortage=perhaps(OBJECT),
        warnings=listed(TEXT),
    ),
    "Verification": record(valid=YES_OR_NO, findings=listed(OBJECT), notes=listed(TEXT), warnings=listed(TEXT)),
    "Validation": {
        **record(valid=YES_OR_NO),
        "if": {"properties": {"valid": {"const": True}}},
        "then": record(name=perhaps(TEXT), buffers=WHOLE, pools=listed(TEXT), digest=TEXT, warnings=listed(TEXT)),
        "else": record(errors=listed(part("Finding")), more=WHOLE),
    },
}
PARTS["Refusal"]["properties"] |= {"errors": listed(part("Finding")), "more": WHOLE}


@cache
def components() -> dict[str, Any]:
    """Return the schemas of answers and of problems, with all their parts side by side as OpenAPI requires."""
    whole = schema()
    parts = whole.pop("$defs")
    whole.pop("$schema")
    found: dict[str, Any] = PARTS | _moved({"Problem": whole, **parts})
    found["Problem"]["properties"]["solve"] = {"type": "object", "description": "Options, as in the query."}
    return found


def _moved(part: Any) -> Any:
    """Return it with references to the parts' new places."""
    if isinstance(part, list):
        return [_moved(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        name: value.replace("#/$defs/", "#/components/schemas/") if name == "$ref" else _moved(value)
        for name, value in part.items()
    }
