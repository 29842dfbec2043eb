"""memplan-sweep/1: what each configuration comes to, one a line, with its plan or without; what depends on the clock comes last."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from solvers.model.instance import Term

from ...checks.report import bad_input
from ...model.errors import Code
from ...model.plan import PlanStatus
from ...planning.sweeping import Sweep, SweepPoint
from ...planning.sweeping.answer import COST
from ..documents import SWEEP_FORMAT
from ..json.lines import Written, compact, document
from ..json.scan import require_format, scan
from .plan_writer import write_plan_json


def write_sweep_json(sweep: Sweep, warnings: Sequence[str] = (), *, with_plans: bool = False) -> bytes:
    """The figures; each configuration's plan is a document of its own, unless it is to stand in it."""
    fields = sweep_fields(sweep, warnings)
    if with_plans:
        fields["points"] = Written(map(_with_plan, sweep.points))
        if sweep.smallest is not None:
            fields["smallest"]["plan"] = json.loads(write_plan_json(sweep.smallest.plan))
    return document(fields, listed=("points",))


def configuration(capacity: Mapping[str, int]) -> str:
    """What a configuration is called where it needs a name: its sizes."""
    return ",".join(str(size) for size in capacity.values())


def sweep_fields(sweep: Sweep, warnings: Sequence[str] = ()) -> dict[str, Any]:
    """The sweep as plain Python values, in the order of the document."""
    least = sweep.smallest
    return {
        "format": SWEEP_FORMAT,
        "name": sweep.name,
        "terms": list(sweep.names),
        "points": [point_fields(point) for point in sweep.points],
        "smallest": None
        if least is None
        else {
            "pool": least.pool,
            "capacity": least.capacity,
            "bound": least.bound,
            "status": str(least.plan.status),
        },
        "reproducible": sweep.reproducible,
        "problem_digest": sweep.problem_digest,
        "warnings": list(warnings),
        "run": {"seconds": sweep.seconds},
    }


def _with_plan(point: SweepPoint) -> str:
    """On one line: there are no line ends within JSON's strings."""
    plan = "null" if point.plan is None else write_plan_json(point.plan).decode("utf-8").replace("\n", "")
    return f'{compact(point_fields(point))[:-1]}, "plan": {plan}}}'


def point_fields(point: SweepPoint) -> dict[str, Any]:
    """A configuration, and what can be had with it."""
    return {
        "capacity": dict(point.capacity),
        "status": str(point.status),
        "value": None if point.value is None else list(point.value),
        "bound": list(point.bound),
        "peaks": None if point.peaks is None else dict(point.peaks),
        "access_cost": point.access_cost,
        "spilled_bytes": point.spilled_bytes,
        "solved": point.solved,
    }


def read_sweep_figures(data: bytes) -> Sweep:
    """Without plans, and without the smallest capacity, whose plan is not in it. Raises BadInput."""
    require_format(scan(data), SWEEP_FORMAT, "a sweep")
    document = json.loads(data)
    try:
        points = tuple(
            SweepPoint(
                dict(point["capacity"]),
                PlanStatus(point["status"]),
                None if point["value"] is None else tuple(point["value"]),
                tuple(point["bound"]),
                point["peaks"],
                point["access_cost"],
                point["spilled_bytes"],
                None,
                point["solved"],
            )
            for point in document["points"]
        )
        chooses = document["terms"][:1] == [COST]
        terms = tuple(Term(term) for term in document["terms"][chooses:])
        found = Sweep(
            document["name"], document["problem_digest"], terms, 0, points, None, document["reproducible"],
            document["run"]["seconds"], chooses,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise bad_input(Code.INVALID_VALUE, (), "this is no sweep that was written here") from error
    return found
