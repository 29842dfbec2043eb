"""Numbers from which sizes follow are computed as a tensor of their type holds them."""

from __future__ import annotations

import struct
from math import inf, nan
from typing import Any

import pytest

from planner import BadInput, read_problem
from tests.planner.formats.models.onnx.models import (
    BOOL,
    FLOAT,
    INT64,
    UINT8,
    graph,
    inside,
    model,
    node,
    number,
    tensor,
    value,
)

INT8, UINT16, INT32, FLOAT16, DOUBLE, UINT32, UINT64, BFLOAT16 = 3, 4, 6, 10, 11, 12, 13, 16
FORMATS = {FLOAT: "f", FLOAT16: "e", DOUBLE: "d", INT64: "q"}


def raw(name: str, numbers: list[Any], element: int = FLOAT) -> bytes:
    data = struct.pack(f"<{len(numbers)}{FORMATS[element]}", *numbers)
    return number(1, len(numbers)) + number(2, element) + inside(8, name) + inside(9, data)


def sized(nodes: list[bytes], constants: list[bytes], size: int | str = 1) -> bytes:
    """Return a model whose result is as long as `length` holds."""
    ends = ([value("x", [1]), value("z", [size])], [value("y", None)])
    return model(graph([*nodes, node("Expand", "x length", "y")], *ends, constants))


def length(made: bytes, option: str = "") -> int:
    problem, _ = read_problem(made, format=f"onnx:{option}" if option else "onnx")
    return {buffer.id: buffer.size for buffer in problem.buffers}["y"] // 4


def require_unknown(made: bytes, option: str = "") -> None:
    with pytest.raises(BadInput) as caught:
        length(made, option)
    assert "('length'), which is not known" in caught.value.findings[0].message


@pytest.mark.parametrize(("element", "found"), [(FLOAT, 7), (DOUBLE, 6), (FLOAT16, 7), (BFLOAT16, 7)])
def test_products_are_rounded_to_their_type(element: int, found: int) -> None:
    """The float nearest to 7/3 is less than that: three times it is 7 as a float, and less than 7 with more digits."""
    nodes = [
        node("Shape", "z", "dims"),
        node("Cast", "dims", "real", to=element),
        node("Cast", "scale", "factor", to=element),
        node("Mul", "real factor", "product"),
        node("Floor", "product", "down"),
        node("Cast", "down", "length", to=INT64),
    ]
    assert length(sized(nodes, [raw("scale", [7 / 3])], 3)) == found


@pytest.mark.parametrize(
    ("element", "most"), [(FLOAT, 1 << 24), (FLOAT16, 1 << 11), (BFLOAT16, 1 << 8), (DOUBLE, 1 << 53)]
)
def test_whole_numbers_are_rounded_to_the_digits_of_their_type(element: int, most: int) -> None:
    nodes = [node("Shape", "z", "n"), node("Cast", "n", "real", to=element), node("Cast", "real", "length", to=INT64)]
    assert length(sized(nodes, [], most + 1)) == most
    assert length(sized(nodes, [], most + 3)) == most + 4
    assert length(sized(nodes, [], "n"), f"dim=n=1..{most}") == most
    require_unknown(sized(nodes, [], "n"), f"dim=n=1..{most + 1}")


@pytest.mark.parametrize(
    ("given", "element", "to", "found"),
    [
        (0.5, FLOAT, [BOOL], 1),
        (-0.25, DOUBLE, [BOOL], 1),
        (1e-7, FLOAT16, [BOOL], 1),
        (1e-9, FLOAT, [FLOAT16, BOOL], 0),
        (-0.0, FLOAT, [BOOL], 0),
        (nan, FLOAT, [BOOL], 1),
        (inf, FLOAT, [BOOL], 1),
        (256, INT64, [BOOL], 1),
        (2.9, FLOAT, [INT32], 2),
        (-2.9, FLOAT, [INT8], -2),
        (255.5, FLOAT, [UINT8], 255),
        (300, INT64, [UINT8], 44),
        (200, INT64, [INT8], -56),
        (-1, INT64, [UINT8], 255),
        (-1, INT64, [UINT16], 65535),
        (-1, INT64, [UINT64, INT64], -1),
        (1 << 32, INT64, [INT32], 0),
        (-5, INT64, [UINT32, INT32], -5),
        (65519, INT64, [FLOAT16], 65504),
        (300.0, FLOAT, [UINT8], None),
        (-1.0, FLOAT, [UINT32], None),
        (65520, INT64, [FLOAT16], None),
        (1e39, DOUBLE, [FLOAT], None),
        (nan, FLOAT, [INT32], None),
        (inf, FLOAT, [INT32], None),
    ],
)
def test_casts_give_what_the_type_holds(given: float, element: int, to: list[int], found: int | None) -> None:
    """Whole numbers lose digits, fractions what is behind the point. What the standard leaves open is not known."""
    nodes = [node("Cast", f"c{i}", f"c{i + 1}", to=each) for i, each in enumerate(to)]
    nodes += [node("Cast", f"c{len(to)}", "whole", to=INT64), node("Add", "whole far", "length")]
    made = sized(nodes, [raw("c0", [given], element), tensor("far", [100000])])
    if found is None:
        require_unknown(made)
    else:
        assert length(made) == 100000 + found


def test_sums_that_their_type_does_not_hold_are_not_known() -> None:
    constants = [tensor("a", [200], element=UINT8), tensor("b", [55], element=UINT8), tensor("c", [56], element=UINT8)]
    cast = node("Cast", "sum", "length", to=INT64)
    assert length(sized([node("Add", "a b", "sum"), cast], constants)) == 255
    require_unknown(sized([node("Add", "a c", "sum"), cast], constants))


@pytest.mark.parametrize(("element", "bits"), [(FLOAT16, 0x4280), (BFLOAT16, 0x4050)])
def test_constants_of_sixteen_bits_are_read(element: int, bits: int) -> None:
    """As bytes, or each as a whole number with these bits."""
    head = number(1, 1) + number(2, element) + inside(8, "half")
    for content in (number(5, bits), inside(9, struct.pack("<H", bits))):
        nodes = [node("Add", "half half", "sum"), node("Cast", "sum", "length", to=INT64)]
        assert length(sized(nodes, [head + content])) == 6


ARMS = [graph([node("Concat", " ".join("x" * n), "a", axis=0)], [], [value("a", None)]) for n in (4, 2)]
RUN = node("If", "go", "y", then_branch=("graph", ARMS[0]), else_branch=("graph", ARMS[1]))


def test_a_fraction_decides_which_arm_runs() -> None:
    made = graph(
        [node("Cast", "half", "go", to=BOOL), RUN], [value("x", [8])], [value("y", None)], [raw("half", [0.5])]
    )
    problem, warnings = read_problem(model(made))
    assert {buffer.id: buffer.size for buffer in problem.buffers} == {"main/x": 32, "main/y": 4 * 32}
    assert warnings == ()


@pytest.mark.parametrize(("least", "most", "copies", "warned"), [(1, 9, 4, 0), (0, 0, 2, 0), (0, 9, 4, 1)])
def test_a_symbol_that_is_not_zero_decides_which_arm_runs(least: int, most: int, copies: int, warned: int) -> None:
    nodes = [
        node("Size", "z", "n"),
        node("Cast", "n", "some", to=BOOL),
        node("Not", "some", "no"),
        node("Not", "no", "go"),
        RUN,
    ]
    made = graph(nodes, [value("x", [8]), value("z", ["n"])], [value("y", None)])
    problem, warnings = read_problem(model(made), format=f"onnx:dim=n={least}..{most}")
    assert {buffer.id: buffer.size for buffer in problem.buffers}["main/y"] == copies * 32
    assert sum("arms of a branch" in text for text in warnings) == warned


@pytest.mark.parametrize(("operator", "counts"), [("Not", [1, 0]), ("And", [0, 1]), ("Or", [0, 1]), ("Where", [2, 1])])
def test_what_is_true_or_false_in_turn_is_not_known(operator: str, counts: list[int]) -> None:
    """A range of both was taken as true."""
    nodes = {
        "Not": [node("Not", "go", "other")],
        "And": [node("And", "go go", "other")],
        "Or": [node("Or", "go go", "other")],
        "Where": [node("Where", "go one two", "other")],
    }[operator]
    nodes += [node("Cast", "other", "length", to=INT64), node("Expand", "x length", "y")]
    inputs = [value("x", [1]), value("go", [1], BOOL)]
    made = model(graph(nodes, inputs, [value("y", None)], [tensor("one", [1]), tensor("two", [2])]))
    assert [length(made, f"dim=go.0={option}") for option in (0, 1)] == counts
    require_unknown(made, "dim=go.0=0..1")


def test_infinities_are_compared() -> None:
    nodes = [node("LessOrEqual", "end end", "c"), node("Cast", "c", "length", to=INT64)]
    assert length(sized(nodes, [raw("end", [inf])])) == 1


@pytest.mark.parametrize(
    ("operator", "found"),
    [
        (node("ReduceSum", "m", "n"), 21),
        (node("ReduceMax", "m", "n", keepdims=0), 6),
        (node("ReduceMin", "m", "n"), 1),
        (node("ReduceProd", "m", "n"), 720),
    ],
    ids=["sum", "max", "min", "product"],
)
def test_numbers_are_reduced_to_one(operator: bytes, found: int) -> None:
    nodes = [operator, node("Reshape", "n one", "length")]
    assert length(sized(nodes, [tensor("m", [1, 2, 3, 4, 5, 6], [2, 3]), tensor("one", [1])])) == found


def test_a_sum_of_fractions_is_not_known() -> None:
    nodes = [node("ReduceSum", "m", "n"), node("Cast", "n", "whole", to=INT64), node("Reshape", "whole one", "length")]
    require_unknown(sized(nodes, [raw("m", [0.5, 1.5]), tensor("one", [1])]))


@pytest.mark.parametrize(("perm", "found"), [({}, 4), ({"perm": [1, 0]}, 4), ({"perm": [0, 1]}, 2)])
def test_numbers_are_turned(perm: dict[str, Any], found: int) -> None:
    """The second number of a table of two rows, read by columns or by rows: so exporters turn the pads of a Pad round."""
    nodes = [
        node("Transpose", "m", "t", **perm),
        node("Reshape", "t all", "flat"),
        node("Gather", "flat one", "length"),
    ]
    constants = [tensor("m", [1, 2, 3, 4, 5, 6], [2, 3]), tensor("all", [-1]), tensor("one", [1])]
    assert length(sized(nodes, constants)) == found


def test_numbers_are_repeated() -> None:
    nodes = [
        node("Expand", "three two", "threes"),
        node("ReduceSum", "threes", "n"),
        node("Reshape", "n one", "length"),
    ]
    assert length(sized(nodes, [tensor("three", [3]), tensor("two", [2]), tensor("one", [1])])) == 6
    vast = [node("Expand", "three vast", "threes"), *nodes[1:]]
    require_unknown(sized(vast, [tensor("three", [3]), tensor("vast", [1 << 40]), tensor("one", [1])]))


@pytest.mark.parametrize(("operator", "given", "found"), [("Sqrt", 16.5, 4), ("Abs", -7.5, 7), ("Round", 2.5, 2)])
def test_numbers_of_one_are_computed(operator: str, given: float, found: int) -> None:
    nodes = [node(operator, "x0", "n"), node("Cast", "n", "length", to=INT64)]
    assert length(sized(nodes, [raw("x0", [given])])) == found


@pytest.mark.parametrize("shape", [(0, 1 << 61), (1 << 40, 0, 1 << 40)])
def test_a_constant_without_elements_may_have_sides_that_no_array_has(shape: tuple[int, ...]) -> None:
    made = model(
        graph([node("Identity", "w", "y")], [value("x", [1])], [value("y", None)], [tensor("w", [], shape, FLOAT)])
    )
    assert {buffer.id: buffer.size for buffer in read_problem(made, format="onnx")[0].buffers}["y"] == 0
