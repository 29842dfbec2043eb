"""The JSON Schema of memplan/1, from the same types that read it."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from .wire import ProblemWire


def problem_schema() -> dict[str, Any]:
    generated = TypeAdapter(ProblemWire).json_schema(ref_template="#/$defs/{model}")
    definitions = {name.removesuffix("Wire"): _tidy(part) for name, part in generated.pop("$defs").items()}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        **_tidy(generated),
        "title": "memplan/1 problem",
        "$defs": definitions,
    }


def _tidy(part: Any) -> Any:
    """Without the titles that only repeat names, and without the suffix of the types' names."""
    if isinstance(part, list):
        return [_tidy(item) for item in part]
    if not isinstance(part, dict):
        return part
    tidied = {name: _tidy(value) for name, value in part.items() if name != "title" or not isinstance(value, str)}
    if isinstance(reference := tidied.get("$ref"), str):
        tidied["$ref"] = reference.removesuffix("Wire")
    return tidied
