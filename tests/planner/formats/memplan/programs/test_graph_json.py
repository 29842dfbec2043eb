"""Graphs in JSON are read, or refused with the place of the error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.formats import read_graph
from planner.graph import Graph, Operator, OperatorKind, Tensor, TensorKind
from planner.model.errors import BadInput

DOCUMENT: dict[str, Any] = {
    "format": "memplan-graph/1",
    "name": "two",
    "tensors": [
        {"id": "x", "shape": [4, 6], "element_bits": 32, "kind": "input", "alignment": 16},
        {"id": 1, "shape": [6], "element_bits": 32, "is_output": True},
    ],
    "operators": [{"kind": "select", "inputs": ["x"], "outputs": [1], "dim": 0, "start": -1}],
}


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
        (operator(start="0"), "wrong_type", "/operators/0/start"),
        (changed(operators=[]), "contradiction", "/tensors/1"),
        (changed(operators=DOCUMENT["operators"] * 2), "contradiction", "/operators/1/outputs/0"),
    ],
)
def test_wrong_graphs_are_named_with_the_place(document: dict[str, Any], code: str, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_graph(json.dumps(document).encode())
    assert (code, place) in [(str(finding.code), finding.pointer) for finding in caught.value.findings]


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
