"""Files with sizes that depend on symbols are read and planned, or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner import (
    BadInput,
    Code,
    Options,
    OutOfTime,
    plan,
    read_problem,
    read_shaped,
    time_limit,
    verify_shapes,
    write_shaped,
)
from planner.formats import read_shapes_plan, write_shapes_plan
from planner.formats.memplan import shapes
from planner.generate import shaped_transformer
from planner.planning.shapes import Mode, plan_shapes
from planner.planning.shapes.expression import Expression, parse
from planner.planning.shapes.ranges import greatest, size_range
from tests.planner.planning.shapes.shaped_problems import random_problem

OPTIONS = Options(time_limit=60, workers=1)


def document(*buffers: dict[str, Any], **fields: Any) -> bytes:
    filled = [{"id": f"b{i}", "live": [[0, 1]], **buffer} for i, buffer in enumerate(buffers)]
    symbols = {"symbols": {"n": [1, 8], "m": [2, 4]}} if "symbols" not in fields else {}
    return json.dumps(
        {"format": "memplan/1", "lifetimes": "half_open", "buffers": filled, **symbols, **fields}
    ).encode()


def refused(data: bytes) -> list[tuple[str, str]]:
    with pytest.raises(BadInput) as found:
        read_shaped(data)
    with pytest.raises(BadInput) as also:
        read_problem(data)
    assert found.value.findings == also.value.findings
    return [(str(f.code), f.pointer) for f in found.value.findings]


def test_sizes_are_at_their_largest_unless_shapes_are_asked_for() -> None:
    data = document({"size": "4*n*(n+m)"}, {"size": 7}, {"size_range": [0, "16*m"]}, {"size_range": [1, 2]})
    problem, warnings = read_problem(data)
    assert [b.size for b in problem.buffers] == [4 * 8 * 12, 7, 64, 2]
    assert "largest" in warnings[0]
    assert plan(problem, OPTIONS).peak == 384 + 7 + 64 + 2
    found, warnings = read_shaped(data)
    assert warnings == ()
    assert [b.size for b in found.at({"n": 1, "m": 3}).buffers] == [16, 7, 48, 2]
    assert [None if low is None else str(low) for low in found.least] == [None, None, "0", "1"]


def test_long_lists_of_ranges_are_read_without_searching_and_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what cannot be told from the ends is searched for: whether the greatest is always at least the least."""
    many = document(*({"size_range": [i, f"{i}*n"]} for i in range(3000)))
    searched = []

    def counted(made: Expression, *rest: Any) -> object:
        searched.append(made)
        return size_range(made, *rest)

    monkeypatch.setattr(shapes, "size_range", counted)
    found, _ = read_shaped(many)
    assert (len(found.sizes), len(searched)) == (3000, 3000)
    with pytest.raises(OutOfTime, match=r"while (reading|preparing) the problem"), time_limit(1.0, -1e9):
        read_shaped(many)


def test_a_search_for_the_extremes_of_a_size_looks_at_the_clock() -> None:
    tangled = "+".join(f"ceildiv({i}*n*m, n+{i})" for i in range(1, 9))
    with pytest.raises(OutOfTime), time_limit(1.0, -1e9):
        greatest(parse(tangled, ("n", "m")), {"n": (1, 10**6), "m": (1, 10**6)})


def test_a_problem_without_symbols_has_one_shape() -> None:
    data = b'{"format": "memplan/1", "name": "\\"symbols\\" \\"size_range\\"", "buffers": [{"id": 1, "size": 4}]}'
    found, warnings = read_shaped(data)
    assert (found.symbols, warnings) == ({}, ())
    assert found.at({}) == found.largest == read_problem(data)[0]
    assert read_problem(data)[1] == ()


@pytest.mark.parametrize("decode", [False, True])
def test_written_problems_with_symbols_are_read_again(*, decode: bool) -> None:
    problem = shaped_transformer(decode=decode)
    assert read_shaped(write_shaped(problem)) == (problem, ())
    ranged, _ = read_shaped(document({"size": "max(n, 3) - 1"}, {"size_range": ["n", "2*n"]}))
    assert read_shaped(write_shaped(ranged)) == (ranged, ())


def test_a_plan_for_all_shapes_is_written_as_json() -> None:
    problem, _ = read_shaped(document({"size": "n"}, {"size": "2*n"}))
    made = json.loads(write_shapes_plan(plan_shapes(problem, Mode.EXPRESSIONS, [{"n": 3, "m": 2}], OPTIONS)))
    assert made["format"] == "memplan-shapes/1"
    assert made["pools"] == [{"name": "default", "size": None, "peak": "3*n", "exact": True}]
    assert made["shapes"] == [{"at": {"n": 3, "m": 2}, "used": 9, "optimum": 9, "bound": 9}]
    assert {b["id"]: b["size"] for b in made["buffers"]} == {"b0": "n", "b1": "2*n"}
    fixed = json.loads(write_shapes_plan(plan_shapes(problem, Mode.MAXIMUM, (), OPTIONS)))
    assert fixed["plan"]["format"] == "memplan-plan/1"


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("seed", range(4))
def test_a_plan_is_read_as_it_was_written(mode: Mode, seed: int) -> None:
    problem = random_problem(seed)
    written = write_shapes_plan(plan_shapes(problem, mode, [{"n": 1, "m": 0}, {"n": 5, "m": 3}], OPTIONS))
    again = read_shapes_plan(written)
    assert write_shapes_plan(again) == written
    assert verify_shapes(problem, again) == ()


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        ({"mode": "some"}, "invalid_value", "/mode"),
        ({"mode": "maximum"}, "unknown_field", "/pools"),
        ({"symbols": {"n": [2, 1]}}, "out_of_range", "/symbols/n"),
        ({"symbols": {}}, "invalid_expression", "/buffers/0/size"),
        ({"buffers": [{}]}, "missing_field", "/buffers/0/id"),
        ({"shapes": [{"at": {"n": "1"}, "used": 1, "optimum": 1, "bound": 1}]}, "wrong_type", "/shapes/0/at/n"),
        ({"format": "memplan-plan/1"}, "unknown_format", "/format"),
        ({"more": 1}, "unknown_field", "/more"),
    ],
)
def test_wrong_plans_for_all_shapes_are_refused(change: dict[str, Any], code: str, place: str) -> None:
    problem, _ = read_shaped(document({"size": "n"}))
    fields = json.loads(write_shapes_plan(plan_shapes(problem, Mode.EXPRESSIONS, [{"n": 3, "m": 2}], OPTIONS)))
    with pytest.raises(BadInput) as found:
        read_shapes_plan(json.dumps({**fields, **change}).encode())
    assert (str(found.value.findings[0].code), found.value.findings[0].pointer) == (code, place)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (document({"size": "k"}), [("invalid_expression", "/buffers/0/size")]),
        (document({"size": "n - 2"}), [("invalid_expression", "/buffers/0/size")]),
        (document({"size": ""}), [("invalid_expression", "/buffers/0/size")]),
        (document({"size": "n*4611686018427387904"}), [("invalid_expression", "/buffers/0/size")]),
        (document({"size": "n"}, {"size": "n/2"}), [("invalid_expression", "/buffers/1/size")]),
        (document({"size": 1.5}), [("wrong_type", "/buffers/0/size")]),
        (document({"size": True}), [("wrong_type", "/buffers/0/size")]),
        (document({"size": None}), [("wrong_type", "/buffers/0/size")]),
        (document({}), [("missing_field", "/buffers/0/size")]),
        (document({"size": 1, "size_range": [0, 1]}), [("invalid_value", "/buffers/0/size_range")]),
        (document({"size_range": [0]}), [("invalid_value", "/buffers/0/size_range")]),
        (document({"size_range": 3}), [("wrong_type", "/buffers/0/size_range")]),
        (document({"size_range": [0, None]}), [("wrong_type", "/buffers/0/size_range/1")]),
        (document({"size_range": [-1, 3]}), [("invalid_expression", "/buffers/0/size_range/0")]),
        (document({"size_range": ["n", 3]}), [("invalid_expression", "/buffers/0/size_range")]),
        (document({"size_range": [True, 3]}), [("wrong_type", "/buffers/0/size_range/0")]),
        (document({"size": "n"}, symbols=[]), [("wrong_type", "/symbols")]),
        (document({"size": "n"}, symbols={"n": 3}), [("wrong_type", "/symbols/n")]),
        (document({"size": "n"}, symbols={"n": [1]}), [("invalid_value", "/symbols/n")]),
        (document({"size": "n"}, symbols={"n": [1, None]}), [("wrong_type", "/symbols/n")]),
        (document({"size": "n"}, symbols={"n": [1, 2.0]}), [("wrong_type", "/symbols/n")]),
        (document({"size": "n"}, symbols={"n": [3, 2]}), [("out_of_range", "/symbols/n")]),
        (document({"size": "n"}, symbols={"n": [0, 1 << 62]}), [("out_of_range", "/symbols/n")]),
        (document({"size": "n"}, symbols={"ceildiv": [0, 1]}), [("invalid_value", "/symbols/ceildiv")]),
        (document({"size": 1}, symbols={"a/b~": [0, 1]}), [("invalid_value", "/symbols/a~1b~0")]),
        (document({"size": 1}, size_range=[0, 1]), [("not_supported_yet", "/size_range")]),
        (document({"size": 1}, buffers=3), [("wrong_type", "/buffers")]),
        (document({"size": 1}, buffers=[3]), [("wrong_type", "/buffers/0")]),
        (document({"size": "4*n", "hint": -1}), [("out_of_range", "/buffers/0/hint")]),
    ],
)
def test_wrong_problems_are_refused_with_the_place(data: bytes, expected: list[tuple[str, str]]) -> None:
    assert refused(data) == expected


def test_findings_are_limited_in_number() -> None:
    with pytest.raises(BadInput) as found:
        read_shaped(document(*({"size": "k"} for _ in range(100))))
    assert len(found.value.findings) == 20
    assert found.value.more == 80


def test_many_entangled_sizes_are_refused_after_limited_effort() -> None:
    tangled = "ceildiv(n*m, 7) + n*m*m - ceildiv(n*m, 3)*m + 99999999"
    buffers = [{"size": f"{tangled} + {i}"} for i in range(100)]
    with pytest.raises(BadInput, match="entangled"):
        read_shaped(document(*buffers, symbols={"n": [1, 1 << 20], "m": [1, 1 << 10]}))


def test_very_many_different_expressions_are_refused_and_equal_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.formats.memplan.shapes.MOST_PARTS", 1000)
    long = "+".join(["n"] * 90)
    with pytest.raises(BadInput) as found:
        read_shaped(document(*({"size": f"{long}+{i}"} for i in range(20))))
    assert [str(f.code) for f in found.value.findings] == ["too_large"]
    assert len(read_shaped(document(*({"size": long} for _ in range(20))))[0].sizes) == 20


@pytest.mark.parametrize(("size", "is_told"), [("n", True), ("4*n", True), ("64", False)])
def test_a_size_with_undeclared_symbols_is_refused_with_advice(size: str, is_told: bool) -> None:
    with pytest.raises(BadInput) as caught:
        read_problem(json.dumps({"format": "memplan/1", "buffers": [{"id": 1, "size": size}]}).encode())
    (found,) = caught.value.findings
    assert (found.code, found.pointer) == (Code.WRONG_TYPE, "/buffers/0/size")
    assert ("'symbols': {'n': [1, 2048]}" in found.message) is is_told


def test_a_symbol_with_one_bound_is_refused() -> None:
    with pytest.raises(BadInput) as error:
        read_shaped(document({"size": "n"}, symbols={"n": [1]}))
    found = error.value.findings[0]
    assert (found.code, found.pointer) == (Code.INVALID_VALUE, "/symbols/n")
    assert found.message.endswith("not a list of 1")
