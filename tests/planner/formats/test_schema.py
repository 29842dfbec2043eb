"""The JSON Schema says what the reader does, as far as a schema can."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from planner.errors import BadInput
from planner.formats import read_problem, schema
from tests.planner.formats.reading import corpus, encoded, problem


def valid(value: Any, part: dict[str, Any], whole: dict[str, Any]) -> bool:
    """A validator for just the keywords that our schema uses; any other keyword fails the test."""
    known = {
        "$ref", "$schema", "$defs", "title", "description", "default", "type", "const", "enum", "anyOf", "properties",
        "required", "additionalProperties", "items", "minItems", "maxItems", "minimum", "maximum", "minLength",
    }  # fmt: skip
    assert set(part) <= known, set(part) - known
    if "$ref" in part:
        match = re.fullmatch(r"#/\$defs/(\w+)", part["$ref"])
        assert match
        return valid(value, whole["$defs"][match[1]], whole)
    kinds = {"integer": int, "string": str, "array": list, "object": dict, "null": type(None), "boolean": bool}
    if "type" in part and type(value) is not kinds[part["type"]]:
        return False
    if "const" in part and value != part["const"]:
        return False
    if "enum" in part and value not in part["enum"]:
        return False
    if "anyOf" in part and not any(valid(value, option, whole) for option in part["anyOf"]):
        return False
    if isinstance(value, int) and not part.get("minimum", value) <= value <= part.get("maximum", value):
        return False
    if isinstance(value, str) and len(value) < part.get("minLength", 0):
        return False
    if isinstance(value, list):
        if not part.get("minItems", 0) <= len(value) <= part.get("maxItems", len(value)):
            return False
        return all(valid(item, part["items"], whole) for item in value) if "items" in part else True
    if isinstance(value, dict) and "properties" in part:
        assert part["additionalProperties"] is False
        if not set(part.get("required", [])) <= set(value) <= set(part["properties"]):
            return False
        return all(valid(item, part["properties"][name], whole) for name, item in value.items())
    return True


def test_it_is_a_draft_2020_12_schema() -> None:
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema()["required"] == ["format", "buffers"]
    assert set(schema()["$defs"]) == {
        "Buffer", "Colocation", "Constraints", "Fixed", "Objective", "Pool", "ReusePenalty",
    }  # fmt: skip


def test_every_field_is_described() -> None:
    whole = schema()
    for part in (whole, *whole["$defs"].values()):
        assert part["description"]
        for name, field in part["properties"].items():
            assert "description" in field or "description" in whole["$defs"][field["$ref"].rsplit("/", 1)[1]], name


def test_defaults_are_what_the_reader_assumes() -> None:
    whole = schema()
    spelled = {
        name: field["default"] for name, field in whole["$defs"]["Buffer"]["properties"].items() if "default" in field
    }
    assert spelled == {"alignment": 1, "accesses": 0, "reads": 0, "writes": 0}
    pool = {
        "name": "default",
        **{n: f["default"] for n, f in whole["$defs"]["Pool"]["properties"].items() if "default" in f},
    }
    document = {
        "format": "memplan/1",
        "pools": [pool],
        "buffers": [{"id": 1, "size": 1, **spelled}],
        "objective": {"terms": whole["$defs"]["Objective"]["properties"]["terms"]["default"]},
        "constraints": {n: f["default"] for n, f in whole["$defs"]["Constraints"]["properties"].items()},
    }
    assert valid(document, whole, whole)
    short = {"format": "memplan/1", "buffers": [{"id": 1, "size": 1}]}
    assert read_problem(encoded(document)) == read_problem(encoded(short))


GOOD: dict[str, Any] = problem({"id": 1}, {"id": "a", "fixed": {"pool": "default"}})


@pytest.mark.parametrize(
    "broken",
    [
        {**GOOD, "format": "memplan/2"},
        {**GOOD, "x": 1},
        {**GOOD, "pools": []},
        {**GOOD, "pools": [{"name": ""}]},
        {**GOOD, "buffers": [{"id": 1}]},
        {**GOOD, "buffers": [{"id": "", "size": 1}]},
        {**GOOD, "buffers": [{"id": 1, "size": -1}]},
        {**GOOD, "buffers": [{"id": 1, "size": 1, "live": [[1]]}]},
        {**GOOD, "buffers": [{"id": 1, "size": 1, "alignment": None}]},
        {**GOOD, "constraints": {"conflicts": [[1, 2, 3]]}},
        {**GOOD, "objective": {"terms": ["x"]}},
        {**GOOD, "objective": {"terms": []}},
        {**GOOD, "lifetimes": "open"},
    ],
)
def test_what_the_schema_refuses_the_reader_refuses(broken: dict[str, Any]) -> None:
    assert valid(GOOD, schema(), schema())
    assert not valid(broken, schema(), schema())
    with pytest.raises(BadInput):
        read_problem(encoded(broken))


@pytest.mark.parametrize("path", corpus("nets/*.json"))
def test_the_networks_of_the_corpus_satisfy_it(path: Any) -> None:
    assert valid(json.loads(path.read_bytes()), schema(), schema())
