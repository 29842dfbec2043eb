"""memplan-nested/1: the plans of a program's functions, and what they come to."""

from __future__ import annotations

import json
from typing import Any

from ...checks.report import bad_input
from ...model.errors import BadInput, Code
from ...model.plan import Plan
from ..documents import NESTED_FORMAT
from ..json.scan import require_format, scan
from .plan_reader import read_plan_json


def is_nested(data: bytes) -> bool:
    """Do the bytes say that they are such plans?"""
    try:
        return (scan(data).top or {}).get("format") == NESTED_FORMAT
    except BadInput:
        return False


def read_nested(data: bytes) -> tuple[dict[str, Plan], int | None]:
    """The plans by their functions, in the order in which they were made, and what all need together; None: not all could be planned. Raises BadInput."""
    require_format(scan(data), NESTED_FORMAT, "a plan function by function")
    document = json.loads(data)
    arenas, peak = document.get("arenas"), document.get("peak")
    if not isinstance(arenas, list):
        raise bad_input(Code.WRONG_TYPE, ("arenas",), "must be a list of arenas")
    if not (peak is None or type(peak) is int):
        raise bad_input(Code.WRONG_TYPE, ("peak",), "must be a whole number or null")
    found: dict[str, Plan] = {}
    for i, arena in enumerate(arenas):
        if not isinstance(arena, dict) or not isinstance(arena.get("function"), str):
            raise bad_input(Code.WRONG_TYPE, ("arenas", i), "must be an arena with the name of its function")
        found[arena["function"]] = _plan(arena.get("plan"), i)
    return found, peak


def _plan(plan: Any, number: int) -> Plan:
    if not isinstance(plan, dict):
        raise bad_input(Code.WRONG_TYPE, ("arenas", number, "plan"), "must be a plan")
    data = json.dumps(plan).encode("ascii")
    return read_plan_json(data, scan(data))
