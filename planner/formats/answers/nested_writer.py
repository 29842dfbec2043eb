"""memplan-nested/1: the plan of each function's arena, and what all need together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...graph.nested import NestedArena, NestedPlan
from ..documents import NESTED_FORMAT
from .plan_writer import write_plan_json


def write_nested_json(made: NestedPlan, warnings: Sequence[str] = ()) -> bytes:
    """The arenas in the order in which they were planned."""
    fields = {
        "format": NESTED_FORMAT,
        "peak": made.peak,
        "pools": None if made.peaks is None else [{"name": name, "peak": peak} for name, peak in made.peaks],
        "arenas": [
            {"function": arena.function, "plan": json.loads(write_plan_json(arena.plan))} for arena in made.arenas
        ],
        "warnings": list(warnings),
    }
    return (json.dumps(fields, indent=1, allow_nan=False, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def arena_fields(arena: NestedArena) -> dict[str, Any]:
    """What one arena comes to, without its plan."""
    plan = arena.plan
    return {"function": arena.function, "status": plan.status.value, "peak": plan.peak, "bound": plan.bound}
