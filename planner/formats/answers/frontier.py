"""memplan-frontier/1: each point's figures, and its plan or that plan's file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from solvers.model.errors import StopReason

from ...checks.report import bad_input
from ...model.deadline import about
from ...model.errors import BadInput, Code
from ...model.plan import MAX_PROSE, Frontier, Plan, Run
from ..documents import FRONTIER_FORMAT, require_format
from ..json.lines import Written, compact, document
from ..json.scan import scan
from .plan_writer import run_fields, write_plan_json


def write_frontier_json(frontier: Frontier, files: Sequence[str] | None, warnings: Sequence[str] = ()) -> bytes:
    """Return the same bytes for the same frontier, except for `run`. Without files it contains the plans."""
    if files is not None and len(files) < len(frontier.points):
        text = f"must name a file for each of the {len(frontier.points)} points, not {len(files)}"
        raise bad_input(Code.INVALID_VALUE, ("files",), text)
    fields = {
        "format": FRONTIER_FORMAT,
        "complete": frontier.is_complete,
        "within": frontier.within,
        "infeasible": frontier.is_infeasible,
        **({} if frontier.most_cost is None else {"max_cost": frontier.most_cost}),
        "missing": None if frontier.missing is None else frontier.missing[:MAX_PROSE],
        "stop": str(frontier.stop),
        "reproducible": frontier.reproducible,
        "problem_digest": frontier.problem_digest,
        "points": Written(
            _with_plan(plan) if files is None else compact({"plan": files[i], **point_fields(plan)})
            for i, plan in enumerate(frontier.points)
        ),
        "warnings": list(warnings),
        "run": run_fields(frontier.run),
    }
    return document(fields, listed=("points", "run"))


def point_fields(plan: Plan) -> dict[str, Any]:
    """Return a point's figures."""
    if plan.choice is None:
        raise bad_input(Code.INVALID_VALUE, ("points",), "each point is the plan of a choice; one has no choice")
    return {
        "status": str(plan.status),
        "cost": plan.choice.cost,
        "cost_bound": plan.choice.cost_bound,
        "costs": dict(plan.choice.costs),
        "memory": plan.objective.value,
        "memory_bound": plan.objective.bound,
    }


def _with_plan(plan: Plan) -> str:
    """Return it on one line; JSON's strings contain no line ends."""
    lines = write_plan_json(plan).decode("utf-8").replace("\n", "")
    return f'{compact(point_fields(plan))[:-1]}, "plan": {lines}}}'


def is_frontier(data: bytes) -> bool:
    """True if the bytes claim to be a frontier."""
    try:
        return FRONTIER_FORMAT.encode() in data and (scan(data).top or {}).get("format") == FRONTIER_FORMAT
    except BadInput:
        return False


@about("frontier")
def read_frontier_json(data: bytes, read_file: Callable[[str], bytes] | None = None) -> Frontier:
    """Return the frontier. Raises BadInput if it is none, or its points differ from their plans. Of its run only the duration is read.

    `read_file` returns the plan of a point that names a file; without it such a frontier is refused.
    """
    scanned = scan(data)
    require_format(scanned, FRONTIER_FORMAT, "a frontier")
    document = json.loads(data)
    points = document.get("points")
    if not isinstance(points, list):
        raise bad_input(Code.WRONG_TYPE, ("points",), "must be a list of points")
    plans = tuple(_plan(point, i, read_file) for i, point in enumerate(points))
    try:
        flags = [document[name] for name in ("complete", "infeasible", "reproducible")]
        of_points = plans[0].choice.most_cost if plans and plans[0].choice is not None else None
        most_cost = document.get("max_cost", of_points)
        missing, within = document.get("missing"), document.get("within")
        amounts = [document["run"]["seconds"], 0 if within is None else within]
        texts = [document["problem_digest"], "" if missing is None else missing]
        if (
            any(type(each) is not bool for each in flags)
            or any(type(each) not in (int, float) for each in amounts)
            or any(type(each) is not str for each in texts)
            or type(most_cost) not in (int, type(None))
        ):
            raise TypeError
        return Frontier(
            plans,
            document["complete"],
            document["infeasible"],
            StopReason(document["stop"]),
            document["reproducible"],
            str(document["problem_digest"]),
            Run(float(document["run"]["seconds"])),
            None if within is None else float(within),
            None if missing is None else missing[:MAX_PROSE],
            most_cost,
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise bad_input(Code.INVALID_VALUE, (), "the frontier lacks fields that concern all its points") from error


def _plan(point: Any, number: int, read_file: Callable[[str], bytes] | None) -> Plan:
    from .plan_reader import plan_of_answer  # imports pydantic, which writing does not need

    place = ("points", number, "plan")
    plan = plan_of_answer(point.get("plan") if isinstance(point, dict) else None, place, read_file)
    if plan.choice is None or plan.objective.value is None:
        raise bad_input(Code.INVALID_VALUE, place, "must be a plan with a choice")
    for name, value in point_fields(plan).items():
        if name in point and point[name] != value:
            raise bad_input(Code.INVALID_VALUE, ("points", number, name), f"its plan says {json.dumps(value)}")
    return plan
