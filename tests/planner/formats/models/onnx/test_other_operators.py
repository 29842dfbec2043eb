"""The shapes that less common operators give out; their sizes are those in onnx's own node tests (1.23)."""

from __future__ import annotations

import struct
from math import prod
from typing import Any

import pytest

from planner import BadInput, read_problem
from tests.planner.formats.models.onnx.models import (
    BOOL,
    FLOAT,
    INT64,
    graph,
    inside,
    model,
    node,
    number,
    tensor,
    value,
)
from tests.planner.formats.models.onnx.test_reading import refused

TRAINING = "ai.onnx.preview.training"
LEARNED = "ai.onnx.ml"


@pytest.mark.parametrize(
    ("operator", "domain", "shapes", "more", "results"),
    [
        ("LinearAttention", "", [(2, 3, 16), (2, 3, 8), (2, 3, 12)], {"q_num_heads": 4, "kv_num_heads": 2}, [(2, 3, 24), (2, 2, 4, 6)]),
        ("CausalConvWithState", "", [(2, 4, 9), (4, 1, 3)], {}, [(2, 4, 9), (2, 4, 2)]),
        ("FlexAttention", "ai.onnx.preview", [(1, 4, 5, 8), (1, 2, 7, 8), (1, 2, 7, 6)], {}, [(1, 4, 5, 6)]),
        ("Momentum", TRAINING, [(), (), (2, 3), (4,), (2, 3), (4,), (2, 3), (4,)], {}, [(2, 3), (4,), (2, 3), (4,)]),
        ("Adam", TRAINING, [(), (), (5,), (5,), (5,), (5,)], {}, [(5,), (5,), (5,)]),
        ("Binarizer", LEARNED, [(3, 4)], {}, [(3, 4)]),
        ("Scaler", LEARNED, [(3, 4)], {}, [(3, 4)]),
        ("TfIdfVectorizer", "", [(2, 6)], {"ngram_indexes": [0, 1, 6, 2]}, [(2, 7)]),
        ("LinearRegressor", LEARNED, [(3, 4)], {"targets": 2}, [(3, 2)]),
        ("TreeEnsemble", LEARNED, [(3, 4)], {"n_targets": 5}, [(3, 5)]),
    ],
)  # fmt: skip
def test_results_have_the_expected_sizes(
    operator: str, domain: str, shapes: list[tuple[int, ...]], more: dict[str, Any], results: list[tuple[int, ...]]
) -> None:
    names, outputs = ([f"{what}{i}" for i in range(len(list_))] for what, list_ in (("x", shapes), ("y", results)))
    made = graph(
        [node(operator, " ".join(names), " ".join(outputs), domain=domain, **more)],
        [value(*each) for each in zip(names, shapes, strict=True)],
        [value(name, None) for name in outputs],
    )
    problem, _ = read_problem(model(made, 27), format="onnx")
    sizes = {buffer.id: buffer.size for buffer in problem.buffers}
    assert [sizes[name] for name in outputs] == [4 * prod(shape) for shape in results]


def test_picked_features_and_encoded_labels_have_their_sizes() -> None:
    made = graph(
        [
            node("ArrayFeatureExtractor", "x some", "y", domain=LEARNED),
            node("LabelEncoder", "x", "z", domain=LEARNED, values_int64s=[1, 2]),
        ],
        [value("x", [5, 9])],
        [value("y", None), value("z", None)],
        [tensor("some", [1, 3, 4])],
    )
    problem, _ = read_problem(model(made), format="onnx")
    assert {buffer.id: buffer.size for buffer in problem.buffers} == {"x": 180, "y": 60, "z": 360}


@pytest.mark.parametrize("labels", [{"classlabels_int64s": [3, 4, 5]}, {"classlabels_strings": ["a", "b", "c"]}])
def test_the_values_of_maps_are_planned(labels: dict[str, Any]) -> None:
    """scikit-learn's classifiers return a class for each row, and a map of the scores of all classes."""
    made = graph(
        [
            node("TreeEnsembleClassifier", "x", "class scores", domain=LEARNED, **labels),
            node("ZipMap", "scores", "maps", domain=LEARNED, **labels),
        ],
        [value("x", [5, 9])],
        [value("class", None), value("maps", None)],
    )
    problem, warnings = read_problem(model(made), format="onnx")
    sizes = {buffer.id: buffer.size for buffer in problem.buffers}
    assert sizes == {"x": 180, "class": 40, "scores": 60, "maps": 60}
    assert warnings == ("of maps the values in them are planned, and not the maps",)


def a_map(name: str, keys: int, values: bytes) -> bytes:
    """Return a ValueInfoProto of a map."""
    return inside(1, name) + inside(2, inside(5, number(1, keys) + inside(2, values)))


@pytest.mark.parametrize(
    ("operator", "said", "size"),
    [
        ("DictVectorizer", {"string_vocabulary": ["a", "b", "c", "d", "e"]}, 20),
        ("CastMap", {"cast_to": "TO_INT64"}, 24),
        ("CastMap", {"cast_to": "TO_FLOAT", "map_form": "SPARSE", "max_map": 7}, 28),
    ],
)
def test_a_map_as_an_input_has_as_many_values_as_are_given(operator: str, said: dict[str, Any], size: int) -> None:
    floats = inside(1, number(1, FLOAT))
    made = model(graph([node(operator, "m", "y", domain=LEARNED, **said)], [a_map("m", 8, floats)], [value("y", None)]))
    problem, warnings = read_problem(made, format="onnx:dim=m=3")
    assert {buffer.id: buffer.size for buffer in problem.buffers} == {"m": 12, "y": size}
    assert warnings == ("of maps the values in them are planned, and not the maps",)
    with pytest.raises(BadInput) as caught:
        read_problem(made, format="onnx")
    assert "give dim m=4" in caught.value.findings[0].message


def test_other_inputs_that_are_no_tensors_are_refused() -> None:
    for kind in (inside(8, number(1, FLOAT)), inside(7, b""), inside(4, inside(1, inside(5, number(1, 8))))):
        made = graph([node("Identity", "m", "y")], [inside(1, "m") + inside(2, kind)], [value("y", None)])
        with pytest.raises(BadInput) as caught:
            read_problem(model(made), format="onnx")
        assert (str(caught.value.findings[0].code), "give the model tensors" in str(caught.value)) == (
            "unsupported",
            True,
        )


@pytest.mark.parametrize(
    ("operator", "domain", "inputs"),
    [("LinearAttention", "", "x x x"), ("Adam", TRAINING, "x x x x x"), ("TfIdfVectorizer", "", "x")],
)
def test_unknown_shapes_are_refused_at_their_operator(operator: str, domain: str, inputs: str) -> None:
    made = graph([node(operator, inputs, "y", domain=domain)], [value("x", [2, 3, 4])], [value("y", None)])
    with pytest.raises(BadInput) as caught:
        read_problem(model(made, 27), format="onnx")
    assert caught.value.findings[0].pointer == "/graph/node/0"


def test_products_and_comparisons_of_constants_with_fractions_are_worked_out() -> None:
    made = graph(
        [
            node("Cast", "numbers", "real", to=FLOAT),
            node("Div", "real two", "halves"),
            node("ReduceProd", "halves", "product", keepdims=0),
            node("Shape", "x", "s"),
            node("Cast", "s", "sizes", to=FLOAT),
            node("Equal", "sizes halves", "same"),
            node("Relu", "x", "y"),
        ],
        [value("x", ["n", 3])],
        [value("y", None), value("same", None)],
        [tensor("numbers", [3, 5], element=INT64), tensor("two", [0, 0, 0, 64], [], FLOAT)],
    )
    problem, _ = read_problem(model(made), format="onnx:dim=n=1..4")
    assert {buffer.id: buffer.size for buffer in problem.buffers}["y"] == 48


@pytest.mark.parametrize("operator", ["NonMaxSuppression", "Loop"])
def test_fractions_where_whole_numbers_are_needed_are_refused(operator: str) -> None:
    half = number(2, FLOAT) + inside(8, "k") + inside(9, struct.pack("<f", 2.5))
    if operator == "Loop":
        body = [node("Identity", "c", "d"), node("Relu", "v", "w"), node("Relu", "v", "r")]
        inner = graph(
            body,
            [value("i", [], INT64), value("c", [], BOOL), value("v", [4])],
            [value("d", [], BOOL), value("w", [4]), value("r", [4])],
        )
        made = graph(
            [node("Loop", "k - x", "y z", body=("graph", inner))], [value("x", [4])], [value("y", None)], [half]
        )
    else:
        boxes = [value("b", [1, 6, 4]), value("s", [1, 2, 6])]
        made = graph([node(operator, "b s k", "y")], boxes, [value("y", None)], [number(1, 1) + half])
    code, place, message = refused(model(made))
    assert (code, place) == ("invalid_value", "/graph/node/0")
    assert "whole number" in message
