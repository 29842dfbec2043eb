"""Operators that make tensors from numbers give out as many as the numbers say, in their type."""

from __future__ import annotations

import struct

import pytest

from planner import BadInput, read_problem
from tests.planner.formats.models.onnx.models import FLOAT, graph, inside, model, node, number, value

DOUBLE = 11


def counted(numbers: tuple[float, float, float], element: int = FLOAT) -> bytes:
    constants = [
        number(2, element) + inside(8, name) + inside(9, struct.pack("<f" if element == FLOAT else "<d", given))
        for name, given in zip("abc", numbers, strict=True)
    ]
    nodes = [node("Range", "a b c", "r"), node("Add", "x r", "y")]
    return model(graph(nodes, [value("x", [1], element)], [value("y", None)], constants))


@pytest.mark.parametrize(
    ("numbers", "element", "count"),
    [
        ((-4.7, 15.0, 0.1), FLOAT, 198),
        ((-4.7, 15.0, 0.1), DOUBLE, 197),
        ((11 / 3, 29 / 3, 1 / 3), FLOAT, 18),
        ((0.0, 0.3, 0.1), FLOAT, 4),
        ((3.0, 0.0, -1.0), FLOAT, 3),
        ((0.0, 3.0, -1.0), FLOAT, 0),
    ],
)
def test_a_range_has_as_many_numbers_as_its_type_makes_of_its_ends(
    numbers: tuple[float, float, float], element: int, count: int
) -> None:
    """The distance of the ends is rounded to the type, and decides whether another step fits."""
    problem, _ = read_problem(counted(numbers, element))
    assert problem.buffers[-1].size == count * (4 if element == FLOAT else 8)


@pytest.mark.parametrize("end", [float("inf"), float("nan")])
def test_a_range_without_an_end_is_refused(end: float) -> None:
    with pytest.raises(BadInput) as caught:
        read_problem(counted((0.0, end, 1.0)))
    assert caught.value.findings[0].pointer == "/graph/node/0"
    assert "it counts without an end" in caught.value.findings[0].message
