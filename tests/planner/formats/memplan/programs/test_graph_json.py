"""Graphs in JSON are read, or refused with the place of the error."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from planner.formats import read_graph, read_problem
from planner.formats.memplan.programs.graph_wire import OperatorWire
from planner.graph import Graph, Operator, OperatorKind, Tensor, TensorKind, graph_problem
from planner.model.errors import BadInput
from planner.model.problem import Pool

DOCUMENT: dict[str, Any] = {
    "format": "memplan-graph/1",
    "name": "two",
    "tensors": [
        {"id": "x", "shape": [4, 6], "element_bits": 32, "kind": "input", "alignment": 16},
        {"id": 1, "shape": [6], "element_bits": 32, "is_output": True},
    ],
    "operators": [{"kind": "select", "inputs": ["x"], "outputs": [1], "dim": 0, "start": -1}],
}


LONG = {"id": 1, "shape": [2, 6], "element_bits": 32, "is_output": True}
"""A part of two indices."""
PART = "/operators/0/outputs/0"


def changed(**fields: Any) -> dict[str, Any]:
    return {**DOCUMENT, **fields}


def tensor(**fields: Any) -> dict[str, Any]:
    return changed(tensors=[{**DOCUMENT["tensors"][0], **fields}, DOCUMENT["tensors"][1]])


def operator(**fields: Any) -> dict[str, Any]:
    return changed(operators=[{**DOCUMENT["operators"][0], **fields}])


def test_a_graph_is_read() -> None:
    assert read_graph(json.dumps(DOCUMENT).encode()) == Graph(
        (Tensor("x", (4, 6), 32, TensorKind.INPUT, alignment=16), Tensor(1, (6,), 32, is_output=True)),
        (Operator(OperatorKind.SELECT, ("x",), (1,), 0, -1),),
        "two",
    )


@pytest.mark.parametrize(
    ("document", "code", "place"),
    [
        (changed(format="memplan/1"), "unknown_format", "/format"),
        (changed(colour="red"), "unknown_field", "/colour"),
        (tensor(shape=[4, -6]), "out_of_range", "/tensors/0/shape/1"),
        (tensor(shape=[4, 6.0]), "wrong_type", "/tensors/0/shape/1"),
        (tensor(shape=[1 << 40, 1 << 40]), "too_large", "/tensors/0/shape"),
        (tensor(element_bits=5000), "out_of_range", "/tensors/0/element_bits"),
        (tensor(kind="weights"), "invalid_value", "/tensors/0/kind"),
        (tensor(id=1), "duplicate_id", "/tensors/1/id"),
        (tensor(alignment=0), "out_of_range", "/tensors/0/alignment"),
        (operator(kind="matmul"), "invalid_value", "/operators/0/kind"),
        (operator(inputs=["y"]), "unknown_buffer", "/operators/0/inputs/0"),
        (operator(inputs=["x", "x"]), "invalid_value", "/operators/0/inputs"),
        (operator(inputs=[1]), "contradiction", "/operators/0/inputs/0"),
        (operator(outputs=["x"]), "contradiction", "/operators/0/outputs/0"),
        (operator(dim=2), "out_of_range", "/operators/0/dim"),
        (operator(start=4), "out_of_range", "/operators/0/start"),
        (operator(start=-5), "out_of_range", "/operators/0/start"),
        (operator(kind="slice", step=0), "out_of_range", "/operators/0/step"),
        (operator(kind="slice", start=3) | {"tensors": [DOCUMENT["tensors"][0], LONG]}, "out_of_range", PART),
        (operator(kind="slice", start=-1) | {"tensors": [DOCUMENT["tensors"][0], LONG]}, "out_of_range", PART),
        (operator(kind="slice", start=4), "out_of_range", PART),
        (operator(kind="slice", start=0, step=4) | {"tensors": [DOCUMENT["tensors"][0], LONG]}, "out_of_range", PART),
        (operator() | {"tensors": [DOCUMENT["tensors"][0], LONG]}, "out_of_range", PART),
        (operator(start="0"), "wrong_type", "/operators/0/start"),
        (changed(operators=[]), "contradiction", "/tensors/1"),
        (changed(operators=DOCUMENT["operators"] * 2), "contradiction", "/operators/1/outputs/0"),
    ],
)
def test_wrong_graphs_are_named_with_the_place(document: dict[str, Any], code: str, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_graph(json.dumps(document).encode())
    assert (code, place) in [(str(finding.code), finding.pointer) for finding in caught.value.findings]


def test_a_slice_may_take_all_that_is_left() -> None:
    for cut in ({"start": 2}, {"start": -2}, {"start": 0, "step": 3}, {"start": 1, "step": 2}):
        graph = operator(kind="slice", **cut) | {"tensors": [DOCUMENT["tensors"][0], LONG]}
        assert read_graph(json.dumps(graph).encode()).operators[0].kind is OperatorKind.SLICE


def test_concatenations_of_tensors_of_other_ranks_are_refused() -> None:
    tensors = [
        {"id": "x", "shape": [4, 6], "kind": "input"},
        {"id": "y", "shape": [4], "kind": "input"},
        {"id": "z", "shape": [28]},
    ]
    joined = [{"kind": "concatenate", "inputs": ["x", "y"], "outputs": ["z"]}]
    with pytest.raises(BadInput) as caught:
        read_graph(json.dumps(changed(tensors=tensors, operators=joined)).encode())
    assert [finding.pointer for finding in caught.value.findings] == ["/operators/0/inputs/1"]


def test_repeated_keys_are_refused() -> None:
    with pytest.raises(BadInput):
        read_graph(b'{"format": "memplan-graph/1", "format": 2}')


def test_a_program_in_json_says_all_of_an_operator() -> None:
    assert OperatorWire.__annotations__.keys() == {field.name for field in fields(Operator)}


@pytest.mark.parametrize("form", ["memplan-graph/1", "memplan-graph/2"])
@pytest.mark.parametrize("over", [None, 1, 2])
def test_results_in_place_lie_over_as_many_inputs_as_are_said(form: str, over: int | None) -> None:
    """The first input is needed afterwards, so that only the second allows it."""
    kinds = {"w": "input", "x": "intermediate", "y": "intermediate", "z": "intermediate"}
    is_flat = form == "memplan-graph/1"
    tensors: list[dict[str, Any]] = [{"id": id_, "shape": [64], "kind": kind} for id_, kind in kinds.items()]
    operators: list[dict[str, Any]] = [
        {"kind": "compute", "inputs": ["w"], "outputs": ["x"]},
        {"kind": "in_place", "inputs": ["w", "x"], "outputs": ["y"], **({} if over is None else {"over": over})},
        {"kind": "compute", "inputs": ["y", "w"], "outputs": ["z"]},
    ]
    function = {"name": "main", "tensors": tensors, "operators": operators, "inputs": ["w"], "outputs": ["z"]}
    document = {
        "format": form,
        **({"tensors": tensors, "operators": operators} if is_flat else {"functions": [function]}),
    }
    if is_flat:
        tensors[-1]["is_output"] = True
    problem = read_problem(json.dumps(document).encode())[0]
    tied = [(tie.buffer, tie.base) for tie in problem.constraints.colocations]
    assert tied == ([("y", "x")] if over == 2 else [])
    if is_flat:
        graph = read_graph(json.dumps(document).encode())
        assert graph.operators[1].over == (over or 1)
        assert graph_problem(graph, (Pool("default"),)).problem.constraints == problem.constraints


@pytest.mark.parametrize(("over", "code"), [(0, "out_of_range"), (3, "out_of_range"), (1.0, "wrong_type")])
def test_an_operator_lies_over_inputs_that_it_has(over: float, code: str) -> None:
    operators = [{"kind": "in_place", "inputs": ["x", "x"], "outputs": [1], "over": over}]
    with pytest.raises(BadInput) as caught:
        read_graph(json.dumps(changed(operators=operators)).encode())
    assert [(f.code, f.pointer) for f in caught.value.findings] == [(code, "/operators/0/over")]


def test_a_program_without_functions_is_told_so() -> None:
    """It was told to name entries, since there were several functions."""
    with pytest.raises(BadInput) as caught:
        read_problem(json.dumps({"format": "memplan-graph/2", "functions": []}).encode())
    assert [(f.pointer, f.message) for f in caught.value.findings] == [
        ("/functions", "there must be at least one function")
    ]


def test_a_tensor_that_is_too_large_is_named() -> None:
    """Findings of models point to the whole graph, so the tensor would have to be guessed."""
    with pytest.raises(BadInput, match="the tensor 'x' has more than"):
        read_problem(json.dumps(tensor(shape=[1 << 40, 1 << 40])).encode())
