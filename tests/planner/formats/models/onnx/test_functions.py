"""Functions of an ONNX model's own: inlined, with what they are given and what they declare."""

from __future__ import annotations

import pytest

from tests.planner.formats.models.onnx.models import (
    BOOL,
    INT64,
    graph,
    inside,
    model,
    node,
    number,
    tensor,
    value,
)
from tests.planner.formats.models.onnx.test_reading import read, refused
from tests.planner.formats.reading import sizes

TENSOR, INT = 4, 2
"""Kinds of attributes."""


def function(inputs: str, nodes: list[bytes], output: str = "w", *, name: str = "f", more: bytes = b"") -> bytes:
    """Return a FunctionProto."""
    head = inside(1, name) + b"".join(inside(4, each) for each in inputs.split()) + inside(5, output)
    return head + b"".join(inside(7, each) for each in nodes) + inside(10, "own") + more


def referring(made: bytes, name: str, to: str, kind: int) -> bytes:
    """Return the node with an attribute that is the function's."""
    return made + inside(5, inside(1, name) + inside(21, to) + number(20, kind))


def branch(*arms: bytes) -> bytes:
    """Return an If over `c` whose arms make `u`."""
    made = [("graph", graph([arm], outputs=[value("u", None)])) for arm in arms]
    return node("If", "c", "w", then_branch=made[0], else_branch=made[1])


def test_functions_of_the_model_are_inlined() -> None:
    twice = inside(1, "Twice") + inside(4, "v") + inside(5, "w")
    twice += inside(7, node("Add", "v v", "u")) + inside(7, node("Relu", "u", "w")) + inside(10, "own")
    made = graph([node("Twice", "x", "y", domain="own")], [value("x", [8])], [value("y", None)])
    problem = read(model(made, functions=[twice]))
    assert list(sizes(problem).values()) == [32, 32, 32]
    forever = (
        inside(1, "Twice")
        + inside(4, "v")
        + inside(5, "w")
        + inside(7, node("Twice", "v", "w", domain="own"))
        + inside(10, "own")
    )
    assert refused(model(made, functions=[forever]))[0] == "too_deep"


def test_a_function_may_be_of_the_standard_s_own_domain() -> None:
    twice = inside(1, "Twice") + inside(4, "v") + inside(5, "w") + inside(7, node("Add", "v v", "w"))
    made = graph([node("Twice", "x", "y")], [value("x", [8])], [value("y", None)])
    for name in "", "ai.onnx":
        assert list(sizes(read(model(made, functions=[twice + inside(10, name)]))).values()) == [32, 32]


def test_what_a_function_is_given_counts_in_its_graphs_too() -> None:
    condition = value("c", [], BOOL)
    joined = referring(node("Concat", "v v", "u"), "axis", "along", INT)
    made = graph([node("f", "x c", "y", domain="own", along=1)], [value("x", [2, 4]), condition], [value("y", None)])
    assert sizes(read(model(made, functions=[function("v c", [branch(joined, joined)])])))["main/w"] == 64
    filled = referring(node("ConstantOfShape", "v", "u"), "value", "what", TENSOR)
    call = node("f", "x c", "y", domain="own", what=("tensor", tensor("", [7])))
    made = graph([call], [value("x", [1], INT64), condition], [value("y", None)])
    problem = read(model(made, functions=[function("v c", [branch(filled, filled)])]), "dim=x.0=4")
    assert sizes(problem)["main/w"] == 4 * 8


def test_an_input_that_is_left_out_is_so_in_graphs_too() -> None:
    clipped = node("Clip", "v low high", "u")
    inputs = [value("x", [2, 4]), value("c", [], BOOL)]
    made = graph([node("f", "x c", "y", domain="own")], inputs, [value("y", None)])
    problem = read(model(made, functions=[function("v c low high", [branch(clipped, clipped)])]))
    assert sizes(problem)["main/w"] == 32


def test_functions_of_one_name_are_told_apart_by_their_overload() -> None:
    two, three = (function("v", [node("Concat", " ".join("v" * n), "w", axis=0)]) for n in (2, 3))
    calls = [node("f", "x", name, domain="own") + inside(8, which) for name, which in (("a", "two"), ("b", "three"))]
    made = graph(calls, [value("x", [4])], [value("a", None), value("b", None)])
    overloads = [three + inside(13, "three"), two + inside(13, "two")]
    assert list(sizes(read(model(made, functions=overloads))).values()) == [16, 32, 48]
    twice = refused(model(made, functions=[*overloads, two + inside(13, "two")]))
    assert twice == ("duplicate_id", "/functions/2", "there is another function 'f:two'")
    text = refused(model(made, functions=overloads[:1]))[2]
    assert text.startswith("f:two: memplan knows no operator own.f:two, and the file does not say which shape 'a' has")


@pytest.mark.parametrize("dim", [3, "n"])
def test_what_a_function_declares_counts_in_it_unless_it_is_a_name(dim: int | str) -> None:
    """A name need not mean there what it means in the graph."""
    known = inside(12, value("t", [dim, 3]))
    unknown = function("v", [node("Odd", "v", "t", domain="x"), node("Relu", "t", "w")], more=known)
    made = model(
        graph([node("f", "x", "y", domain="own")], [value("x", ["n", 3])], [value("y", None)]), functions=[unknown]
    )
    if dim == 3:
        assert list(sizes(read(made, "dim=n=2")).values()) == [24, 36, 36]
    else:
        assert refused(made, "dim=n=2")[0] == "invalid_value"
