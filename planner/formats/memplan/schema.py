"""The JSON Schema of memplan/1, from the same types that read it."""

from __future__ import annotations

import copy
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from .variants_wire import ChoosingProblemWire


def problem_schema() -> dict[str, Any]:
    generated = TypeAdapter(ChoosingProblemWire).json_schema(ref_template="#/$defs/{model}")
    definitions = {name.removesuffix("Wire"): _tidy(part) for name, part in generated.pop("$defs").items()}
    _add_symbols(generated, definitions)
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        **_tidy(generated),
        "title": "memplan/1 problem",
        "$defs": definitions,
    }


def _add_symbols(whole: dict[str, Any], definitions: dict[str, Any]) -> None:
    """Add sizes that depend on symbols, which planner.formats.memplan.shapes reads. Those of alternatives are numbers."""
    buffer = definitions["BufferOfProblem"] = copy.deepcopy(definitions["Buffer"])
    whole["properties"]["buffers"]["items"] = {"$ref": "#/$defs/BufferOfProblem"}
    span = {"type": "array", "minItems": 2, "maxItems": 2}
    whole["properties"]["symbols"] = {
        "description": "Symbols that sizes may use, each with its least and greatest value.",
        "type": "object",
        "additionalProperties": {**span, "items": {"type": "integer"}},
    }
    plain = buffer["properties"]["size"]
    bytes_ = {name: value for name, value in plain.items() if name != "description"}
    expression = {"type": "string", "minLength": 1, "maxLength": 1024}
    buffer["properties"]["size"] = {
        "description": f"{plain['description']} Or an expression over the symbols, such as 4*n*(n+m).",
        "anyOf": [bytes_, expression],
    }
    buffer["properties"]["size_range"] = {
        "description": "Instead of size: the least and the greatest size, if no more is known. It is planned with the greatest.",
        **span,
        "items": {"anyOf": [bytes_, expression]},
    }
    buffer["required"].remove("size")
    buffer["anyOf"] = [{"required": ["size"]}, {"required": ["size_range"]}]


def _tidy(part: Any) -> Any:
    """Remove titles that only repeat names, and the suffix of the types' names."""
    if isinstance(part, list):
        return [_tidy(item) for item in part]
    if not isinstance(part, dict):
        return part
    tidied = {name: _tidy(value) for name, value in part.items() if name != "title" or not isinstance(value, str)}
    if isinstance(reference := tidied.get("$ref"), str):
        tidied["$ref"] = reference.removesuffix("Wire")
    return tidied
