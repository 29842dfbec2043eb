"""The JSON Schema agrees with the reader, as far as a schema can."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from planner.formats import read_problem
from planner.formats import schema as written_schema
from planner.model.errors import BadInput
from tests.planner.formats.reading import corpus, encoded, problem

schema = functools.cache(written_schema)
"""The schema as it is written, cached."""


def valid(value: Any, part: dict[str, Any], whole: dict[str, Any]) -> bool:
    """True if the value satisfies this part of the schema; a keyword that our schema does not use fails the test."""
    known = {
        "$ref", "$schema", "$defs", "title", "description", "default", "type", "const", "enum", "anyOf", "properties",
        "required", "additionalProperties", "items", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength",
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
    if set(part) == {"required"}:
        return isinstance(value, dict) and set(part["required"]) <= set(value)
    if isinstance(value, dict) and isinstance(rest := part.get("additionalProperties"), dict):
        return all(valid(item, rest, whole) for item in value.values())
    if isinstance(value, int) and not part.get("minimum", value) <= value <= part.get("maximum", value):
        return False
    if isinstance(value, str) and not part.get("minLength", 0) <= len(value) <= part.get("maxLength", len(value)):
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


def test_the_schema_follows_draft_2020_12() -> None:
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema()["required"] == ["format", "buffers"]
    assert set(schema()["$defs"]) == {
        "Alternative", "Buffer", "BufferOfProblem", "Colocation", "Constraints", "CostTerm", "Fixed", "MoreLife", "Objective", "Pool", "ReusePenalty",
        "Step", "VariantGroup", "Variants", "Was",
    }  # fmt: skip


def test_every_field_is_described() -> None:
    whole = schema()
    for part in (whole, *whole["$defs"].values()):
        assert part["description"]
        for name, field in part["properties"].items():
            assert "description" in field or "description" in whole["$defs"][field["$ref"].rsplit("/", 1)[1]], name


def test_defaults_agree_with_the_reader() -> None:
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


def choice_of(buffer: dict[str, Any]) -> dict[str, Any]:
    return {"groups": [{"name": "g", "alternatives": [{"name": "with", "buffers": [buffer]}, {"name": "without"}]}]}


LONG = "☃" * 1025
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
        {**GOOD, "name": LONG},
        {**GOOD, "pools": [{"name": LONG}]},
        {**GOOD, "buffers": [{"id": LONG, "size": 1}]},
        {**GOOD, "buffers": [{"id": 1, "size": 1, "kind": LONG}]},
        {**GOOD, "buffers": [{"id": 1, "size": 1, "device": LONG}]},
        {**GOOD, "buffers": [{"id": 1, "size": 1, "dtype": LONG}]},
        {**GOOD, "buffers": [{"id": 1, "size": 1, "pools": [LONG]}]},
        {**GOOD, "buffers": [{"id": 1, "size": 1, "fixed": {"pool": LONG}}]},
        {**GOOD, "constraints": {"conflicts": [[1, LONG]]}},
        {**GOOD, "variants": choice_of({"id": 2, "size_range": [1, 2]})},
        {**GOOD, "variants": choice_of({"id": 2, "size": "4"})},
    ],
)
def test_the_reader_refuses_documents_that_the_schema_refuses(broken: dict[str, Any]) -> None:
    assert valid(GOOD, schema(), schema())
    assert not valid(broken, schema(), schema())
    with pytest.raises(BadInput):
        read_problem(encoded(broken))


def test_texts_as_long_as_the_schema_allows_are_read() -> None:
    text = LONG[:-1]
    labels = {"kind": text, "device": text, "dtype": text}
    good = {**GOOD, "name": text, "pools": [{"name": text}], "buffers": [{"id": text, "size": 1, **labels}]}
    assert valid(good, schema(), schema())
    read_problem(encoded(good))


def test_buffers_of_alternatives_are_sized_in_numbers_those_of_the_problem_in_expressions_too() -> None:
    good = {**problem({"id": 1, "size": "4*n"}), "symbols": {"n": [1, 2]}}
    chosen = {**GOOD, "variants": choice_of({"id": 2, "size": 4})}
    for document in (good, chosen):
        assert valid(document, schema(), schema())
        read_problem(encoded(document))


def test_every_free_text_has_a_greatest_length() -> None:
    """The one exception is the data of a constant, which is as long as the constant's size."""
    free = [place for place, part in parts(schema()) if part.get("type") == "string" and "const" not in part]
    limited = [place for place, part in parts(schema()) if part.get("maxLength") == 1024]
    assert {place for place in free if place not in limited} - {
        place for place, part in parts(schema()) if "enum" in part
    } == {f"/$defs/{buffer}/properties/data/anyOf/0" for buffer in ("Buffer", "BufferOfProblem")}


def parts(part: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of a schema with its place."""
    if isinstance(part, dict):
        yield place, part
        for name, value in part.items():
            yield from parts(value, f"{place}/{name}")
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from parts(value, f"{place}/{number}")


@pytest.mark.parametrize("path", corpus("nets/*.json"))
def test_the_networks_of_the_corpus_satisfy_the_schema(path: Any) -> None:
    assert valid(json.loads(path.read_bytes()), schema(), schema())
