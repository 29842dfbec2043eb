"""memplan-frontier/1: what each point of a frontier is worth, and its plan or where that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...model.plan import Frontier, Plan
from ..documents import FRONTIER_FORMAT
from ..json.lines import Written, compact, document
from .plan_writer import run_fields, write_plan_json


def write_frontier_json(frontier: Frontier, files: Sequence[str] | None, warnings: Sequence[str] = ()) -> bytes:
    """Always the same bytes for the same frontier, but for `run`. Without files the plans themselves stand in it."""
    fields = {
        "format": FRONTIER_FORMAT,
        "complete": frontier.is_complete,
        "within": frontier.within,
        "infeasible": frontier.is_infeasible,
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
    """What a point is worth."""
    assert plan.choice is not None
    return {
        "status": str(plan.status),
        "cost": plan.choice.cost,
        "cost_bound": plan.choice.cost_bound,
        "costs": dict(plan.choice.costs),
        "memory": plan.objective.value,
        "memory_bound": plan.objective.bound,
    }


def _with_plan(plan: Plan) -> str:
    """On one line: there are no line ends within JSON's strings."""
    lines = write_plan_json(plan).decode("utf-8").replace("\n", "")
    return f'{compact(point_fields(plan))[:-1]}, "plan": {lines}}}'
