"""memplan-frontier/1: what each point of a frontier is worth, and where its plan is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...model.plan import Frontier, Plan
from ..documents import FRONTIER_FORMAT
from ..json.lines import document
from .plan_writer import run_fields


def write_frontier_json(frontier: Frontier, files: Sequence[str]) -> bytes:
    """Always the same bytes for the same frontier, but for `run`."""
    fields = {
        "format": FRONTIER_FORMAT,
        "complete": frontier.is_complete,
        "infeasible": frontier.is_infeasible,
        "stop": str(frontier.stop),
        "reproducible": frontier.reproducible,
        "problem_digest": frontier.problem_digest,
        "points": [_point(plan, file) for plan, file in zip(frontier.points, files, strict=True)],
        "run": run_fields(frontier.run),
    }
    return document(fields, listed=("points", "run"))


def _point(plan: Plan, file: str) -> dict[str, Any]:
    assert plan.choice is not None
    return {
        "plan": file,
        "status": str(plan.status),
        "cost": plan.choice.cost,
        "cost_bound": plan.choice.cost_bound,
        "costs": dict(plan.choice.costs),
        "memory": plan.objective.value,
        "memory_bound": plan.objective.bound,
    }
