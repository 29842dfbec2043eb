"""memplan-nested/1: the plan of each function's arena, and the total need."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...checks.report import bad_input, quoted
from ...model.deadline import about, tick
from ...model.errors import Code
from ...model.plan import Plan
from ..documents import NESTED_FORMAT, require_format
from ..json.scan import scan
from .plan_writer import write_plan_json

if TYPE_CHECKING:
    from ...graph.nested import NestedAnswer, NestedArena, NestedPlan
    from ...graph.verify import CheckedArena


def write_nested_json(made: NestedPlan, warnings: Sequence[str] = ()) -> bytes:
    """Return the arenas in the order in which they were planned."""
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


def arena_fields(arena: NestedArena | CheckedArena) -> dict[str, Any]:
    """Return an arena's figures, without its plan."""
    plan = arena.plan
    return {"function": arena.function, "status": plan.status.value, "peak": plan.peak, "bound": plan.bound}


@about("plan")
def read_nested(data: bytes) -> NestedAnswer:
    """Return the plans by function in the order in which they were made, and the total need (None: not all could be planned). Raises BadInput."""
    from ...graph.nested import NestedAnswer
    from .plan_reader import plan_of_answer  # imports pydantic, which writing does not need

    require_format(scan(data), NESTED_FORMAT, "a plan function by function")
    document = json.loads(data)
    arenas, peak, pools = document.get("arenas"), document.get("peak"), document.get("pools")
    if not isinstance(arenas, list):
        raise bad_input(Code.WRONG_TYPE, ("arenas",), "must be a list of arenas")
    if not (peak is None or type(peak) is int):
        raise bad_input(Code.WRONG_TYPE, ("peak",), "must be a whole number or null")
    found: dict[str, Plan] = {}
    for i, arena in enumerate(arenas):
        tick("reading")
        if not isinstance(arena, dict) or not isinstance(arena.get("function"), str):
            raise bad_input(Code.WRONG_TYPE, ("arenas", i), "must be an arena with the name of its function")
        if arena["function"] in found:
            text = f"there are two arenas of {quoted(arena['function'])}"
            raise bad_input(Code.DUPLICATE_ID, ("arenas", i, "function"), text)
        found[arena["function"]] = plan_of_answer(arena.get("plan"), ("arenas", i, "plan"))
    return NestedAnswer(found, _peaks(pools), peak)


def _peaks(pools: Any) -> tuple[tuple[str, int], ...] | None:
    if pools is None:
        return None
    if not isinstance(pools, list):
        raise bad_input(Code.WRONG_TYPE, ("pools",), "must be a list of pools or null")
    for i, pool in enumerate(pools):
        if not (isinstance(pool, dict) and isinstance(pool.get("name"), str) and type(pool.get("peak")) is int):
            raise bad_input(Code.WRONG_TYPE, ("pools", i), "must be a pool with its name and its peak, a whole number")
    return tuple((pool["name"], pool["peak"]) for pool in pools)
