"""Functions that call functions too often or too deep are refused, and all others are read fast."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner import BadInput, read_problem
from planner.graph import Function, Operator, OperatorKind, Program, program_problem
from planner.model.problem import Pool

X = {"id": "x", "shape": [4], "kind": "input"}
Y = {"id": "y", "shape": [4]}


def plain(name: str) -> dict[str, Any]:
    """Return a function that calls no other."""
    operators = [{"kind": "compute", "inputs": ["x"], "outputs": ["y"]}]
    return {"name": name, "inputs": ["x"], "outputs": ["y"], "tensors": [X, Y], "operators": operators}


def test_functions_that_would_run_for_ever_are_refused() -> None:
    doubling = [
        {
            "name": f"f{i}",
            "inputs": ["x"],
            "outputs": ["y"],
            "tensors": [X, {"id": "m", "shape": [4]}, Y],
            "operators": [
                {"kind": "call", "inputs": ["x"], "outputs": ["m"], "functions": [f"f{i + 1}"]},
                {"kind": "call", "inputs": ["m"], "outputs": ["y"], "functions": [f"f{i + 1}"]},
            ],
        }
        for i in range(40)
    ]
    idle = {"name": "f40", "inputs": ["x"], "outputs": ["x"], "tensors": [X], "operators": []}
    for last in (plain("f40"), idle):
        whole = {"format": "memplan-graph/2", "functions": [*doubling, last], "entries": ["f0"]}
        with pytest.raises(BadInput) as caught:
            read_problem(json.dumps(whole).encode())
        assert (caught.value.findings[0].code, caught.value.findings[0].pointer) == ("too_large", "/functions/22")


def test_an_entry_that_runs_itself_is_a_circle_first() -> None:
    """That it is called is no fault of its own then."""

    def call(target: str) -> dict[str, Any]:
        return {"kind": "call", "inputs": ["x"], "outputs": ["y"], "functions": [target]}

    for functions in (
        [{**plain("main"), "operators": [call("main")]}],
        [{**plain("main"), "operators": [call("a")]}, {**plain("a"), "operators": [call("main")]}],
    ):
        with pytest.raises(BadInput, match="a function cannot run itself: 'main' runs") as caught:
            read_problem(
                json.dumps({"format": "memplan-graph/2", "functions": functions, "entries": ["main"]}).encode()
            )
        last = len(functions) - 1
        assert caught.value.findings[0].pointer == f"/functions/{last}/operators/0/functions"


def test_functions_within_functions_without_end_are_refused() -> None:
    deep = [
        {
            "name": f"f{i}",
            "tensors": [],
            "operators": [{"kind": "call", "inputs": [], "outputs": [], "functions": [f"f{i + 1}"]}],
        }
        for i in range(100)
    ]
    whole = {
        "format": "memplan-graph/2",
        "functions": [*deep, {"name": "f100", "tensors": [], "operators": []}],
        "entries": ["f0"],
    }
    with pytest.raises(BadInput) as caught:
        read_problem(json.dumps(whole).encode())
    assert caught.value.findings[0].code == "too_deep"


def test_the_depth_of_calls_is_found_in_linear_time() -> None:
    class Name(str):
        __slots__ = ()
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            Name.compared += 1
            return str.__eq__(self, other)

    count = 1000
    chain = tuple(
        Function(Name(f"f{i}"), (), (Operator(OperatorKind.CALL, (), (), functions=(Name(f"f{i + 1}"),)),))
        for i in range(count)
    )
    with pytest.raises(BadInput) as caught:
        program_problem(Program((*chain, Function(Name(f"f{count}"), (), ())), ("f0",)), (Pool("p"),))
    assert caught.value.findings[0].code == "too_deep"
    assert Name.compared < 50 * count


def test_nested_loops_are_read_fast() -> None:
    """Each loop is read twice, however deep it lies."""
    functions = [
        {
            "name": f"f{i}",
            "inputs": ["x"],
            "outputs": ["y"],
            "tensors": [X, Y],
            "operators": [
                {"kind": "loop", "inputs": ["x"], "outputs": ["y"], "functions": [f"f{i + 1}"], "carried": 1}
            ],
        }
        for i in range(60)
    ]
    whole = {"format": "memplan-graph/2", "functions": [*functions, plain("f60")], "entries": ["f0"]}
    problem, _ = read_problem(json.dumps(whole).encode())
    assert len(problem.buffers) > 60


def test_one_tensor_in_two_pools_is_refused_where_it_is_handed_over() -> None:
    pools = [{"name": "fast"}, {"name": "slow"}]
    inner, main = plain("inner"), plain("main")
    inner["tensors"][0] = {**X, "pools": ["fast"]}
    main["tensors"][0] = {**X, "pools": ["slow"]}
    main["operators"] = [{"kind": "call", "inputs": ["x"], "outputs": ["y"], "functions": ["inner"]}]
    whole = {"format": "memplan-graph/2", "pools": pools, "functions": [main, inner], "entries": ["main"]}
    with pytest.raises(BadInput) as caught:
        read_problem(json.dumps(whole).encode())
    assert [(each.code, each.pointer) for each in caught.value.findings] == [
        ("contradiction", "/functions/1/tensors/0")
    ]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"tensors": "t" * 1022}, "/functions/1/tensors/1/id"),
        ({"name": "n" * 1010}, "/functions/1/operators/0/name"),
        ({"function": "f" * 1024}, "/functions/1/tensors/0/id"),
    ],
)
def test_names_too_long_for_a_plan_are_refused_at_their_own_place(change: dict[str, str], place: str) -> None:
    """In a plan a tensor is called after its function, too, and memory of an operator after that."""
    inner, main = plain("in"), plain("main")
    inner["name"] = change.get("function", "in")
    id_ = change.get("tensors", "y")
    inner["tensors"] = [X, {**Y, "id": id_}]
    inner["outputs"], inner["operators"][0]["outputs"] = [id_], [id_]
    inner["operators"][0] |= {"name": change.get("name", "o"), "workspaces": [{"size": 4}]}
    main["operators"] = [{"kind": "call", "inputs": ["x"], "outputs": ["y"], "functions": [inner["name"]]}]
    whole = {"format": "memplan-graph/2", "functions": [main, inner], "entries": ["main"]}
    with pytest.raises(BadInput) as caught:
        read_problem(json.dumps(whole).encode())
    assert (caught.value.findings[0].code, caught.value.findings[0].pointer) == ("too_large", place)
