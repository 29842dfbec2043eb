"""A plan for all shapes as memplan-shapes/1."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...planning.shapes import Behind, ShapesPlan
from ..documents import SHAPES_FORMAT
from ..json.lines import document
from .plan_writer import write_plan_json


def write_shapes_plan(found: ShapesPlan, warnings: Sequence[str] = (), c: bytes | None = None) -> bytes:
    """Return the plan as JSON, with its C functions if `c` is set."""
    more: dict[str, Any] = {"c": c.decode("utf-8")} if c is not None else {}
    fields = {**shapes_plan_fields(found), **more, "warnings": [*warnings, *found.notes]}
    return document(fields, listed=("buffers", "pools", "shapes"))


def shapes_plan_fields(found: ShapesPlan) -> dict[str, Any]:
    """Return the plan as plain Python values, in the order of the document."""
    fields: dict[str, Any] = {
        "format": SHAPES_FORMAT,
        "mode": str(found.mode),
        "symbols": {name: list(span) for name, span in found.symbols.items()},
        "exact": found.exact,
        "pools": [{"name": p.name, "size": p.size, "peak": str(p.peak), "exact": p.exact} for p in found.pools],
        "buffers": [_behind(each) for each in found.behind],
        "shapes": [
            {"at": dict(row.values), "used": row.used, "optimum": row.optimum, "bound": row.bound} for row in found.rows
        ],
        "problem_digest": found.problem_digest,
    }
    if found.plan is not None:
        del fields["pools"], fields["buffers"]
        fields["plan"] = json.loads(write_plan_json(found.plan))
    return fields


def _behind(each: Behind) -> dict[str, Any]:
    return {
        "id": each.id,
        "pool": each.pool,
        "size": str(each.size),
        "alignment": each.alignment,
        "after": list(each.after),
        "offset" if each.exact else "offset_at_most": str(each.offset),
    }
