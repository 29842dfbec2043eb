"""memplan-frontier/1 with its plans in it: bytes become a Frontier again."""

from __future__ import annotations

import json
from typing import Any

from solvers.model.errors import StopReason

from ...checks.report import bad_input
from ...model.errors import Code
from ...model.plan import Frontier, Plan, Run
from ..documents import FRONTIER_FORMAT
from ..json.scan import require_format, scan
from .plan_reader import read_plan_json


def read_frontier_json(data: bytes) -> Frontier:
    """Raises BadInput for what is no frontier, or one whose plans are elsewhere. Of its run only how long it took is read."""
    scanned = scan(data)
    require_format(scanned, FRONTIER_FORMAT, "a frontier")
    document = json.loads(data)
    points = document.get("points")
    if not isinstance(points, list):
        raise bad_input(Code.WRONG_TYPE, ("points",), "must be a list of points")
    plans = tuple(_plan(point, i) for i, point in enumerate(points))
    try:
        return Frontier(
            plans,
            document["complete"] is True,
            document["infeasible"] is True,
            StopReason(document["stop"]),
            document["reproducible"] is True,
            str(document["problem_digest"]),
            Run(float(document["run"]["seconds"])),
            None if document.get("within") is None else float(document["within"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise bad_input(Code.INVALID_VALUE, (), "the frontier lacks what is said of all its points") from error


def _plan(point: Any, number: int) -> Plan:
    place = ("points", number, "plan")
    if not isinstance(point, dict) or not isinstance(point.get("plan"), dict):
        raise bad_input(
            Code.WRONG_TYPE, place, "must be a plan: only frontiers that have their plans in them can be read"
        )
    data = json.dumps(point["plan"]).encode("ascii")
    plan = read_plan_json(data, scan(data))
    if plan.choice is None or plan.objective.value is None:
        raise bad_input(Code.INVALID_VALUE, place, "must be a plan with a choice")
    return plan
