"""Programs that stand for far more than they say are refused: parts of tuples, functions of a branch, names put together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner import BadInput, read_problem
from planner.formats.documents import PROGRAM_FORMAT
from planner.graph.checks import extent
from planner.model.problem import MAX_TEXT

X = {"id": "x", "shape": [4], "kind": "input"}
Y = {"id": "y", "shape": [4]}
TUPLE = {"id": "t", "kind": "input", "items": [{"shape": [4]}] * 100}


def function(name: str, given: list[str], tensors: list[Any], operators: list[Any]) -> dict[str, Any]:
    return {"name": name, "inputs": given, "outputs": ["y"], "tensors": [*tensors, Y], "operators": operators}


def document(*functions: dict[str, Any], entry: str) -> bytes:
    return json.dumps({"format": PROGRAM_FORMAT, "functions": functions, "entries": [entry]}).encode()


def refused(data: bytes) -> tuple[str, str]:
    with pytest.raises(BadInput) as caught:
        read_problem(data)
    found = caught.value.findings[0]
    return found.code, found.pointer


def tuple_read(times: int) -> bytes:
    reads = [{"kind": "compute", "inputs": ["t"] * times, "outputs": ["y"]}]
    return document(function("main", ["t"], [TUPLE], reads), entry="main")


def branch_of(arms: int) -> bytes:
    names = [f"x{i}" for i in range(100)]
    given = [{**X, "id": name} for name in names]
    arm = function("arm", names, given, [{"kind": "compute", "inputs": ["x0"], "outputs": ["y"]}])
    branch = {"kind": "branch", "inputs": ["x"] * 101, "outputs": ["y"], "functions": ["arm"] * arms}
    return document(arm, function("main", ["x"], [X], [branch]), entry="main")


@pytest.mark.parametrize("make", [tuple_read, branch_of])
def test_little_that_is_used_very_often_is_refused(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(read_problem(make(50))[0].buffers) > 1
    monkeypatch.setattr(extent, "FEW_USES", 2000)
    code, place = refused(make(50))
    assert (code, place.endswith("/operators/0")) == ("too_large", True)


def test_items_of_a_long_tuple_may_be_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extent, "FEW_USES", 250)
    items = [{**Y, "id": f"i{n}"} for n in range(100)]
    takes = [{"kind": "item", "inputs": ["t"], "outputs": [f"i{n}"], "start": n} for n in range(100)]
    last = {"kind": "compute", "inputs": ["i7", "i99"], "outputs": ["y"]}
    problem, _ = read_problem(document(function("main", ["t"], [TUPLE, *items], [*takes, last]), entry="main"))
    tied = {each.buffer: each.base for each in problem.constraints.colocations}
    assert (tied["i7"], tied["i99"]) == ("t.7", "t.99")


def test_long_names_before_very_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{i}" for i in range(200)]
    compute = [
        {
            "kind": "compute",
            "inputs": ["x"],
            "outputs": [*names, "y"],
            "name": "o" * 100,
            "workspaces": [{"size": 8}] * 50,
        }
    ]
    main = function("f" * 100, ["x"], [X, *({**Y, "id": name} for name in names)], compute)
    data = document(
        main, function("g", ["x"], [X], [{"kind": "compute", "inputs": ["x"], "outputs": ["y"]}]), entry="f" * 100
    )
    assert len(read_problem(data)[0].buffers) > 250
    monkeypatch.setattr(extent, "FEW_LETTERS", 1000)
    assert refused(data) == ("too_large", "/functions/0")


def test_names_that_stand_before_others_have_a_limit() -> None:
    compute = {"kind": "compute", "inputs": ["x"], "outputs": ["y"]}
    long = "n" * (MAX_TEXT + 1)
    assert refused(document(function(long, ["x"], [X], [compute]), entry=long)) == ("too_large", "/functions/0/name")
    named = document(function("main", ["x"], [X], [{**compute, "name": long}]), entry="main")
    assert refused(named) == ("too_large", "/functions/0/operators/0/name")
    tensors = [X, {**Y, "id": long}]
    assert refused(document(function("main", ["x"], tensors, [compute]), entry="main")) == (
        "too_large",
        "/functions/0/tensors/1/id",
    )


def test_tensors_that_all_functions_see_are_kept_once() -> None:
    import tracemalloc

    shared = [{"id": f"s{i}", "shape": [4], "kind": "constant"} for i in range(400)]
    empty = [{"name": f"f{i}", "tensors": [], "operators": []} for i in range(400)]
    data = json.dumps({"format": PROGRAM_FORMAT, "tensors": shared, "functions": empty, "entries": ["f0"]}).encode()
    read_problem(data)
    tracemalloc.start()
    read_problem(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * len(data)
