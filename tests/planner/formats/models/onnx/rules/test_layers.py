"""Layers whose operands do not go together are refused, as ONNX Runtime refuses them."""

from __future__ import annotations

from math import prod

import pytest

from planner import read_problem
from tests.planner.formats.models.onnx.models import graph, model, node, value
from tests.planner.formats.models.onnx.test_reading import refused


def convolved(operator: str, shapes: list[tuple[int, ...]], group: int) -> bytes:
    names = ["x", "w"]
    given = [value(*each) for each in zip(names, shapes, strict=True)]
    return model(graph([node(operator, "x w", "y", group=group)], given, [value("y", None)]))


@pytest.mark.parametrize(
    ("operator", "shapes", "group", "words"),
    [
        ("Conv", [(1, 8, 5), (6, 4, 3)], 0, "0 groups"),
        ("Conv", [(1, 8, 5), (6, 8, 3)], -1, "-1 groups"),
        ("Conv", [(1, 8, 5), (6, 4, 3)], 1, "1 times 4 channels, for data of 8"),
        ("Conv", [(1, 8, 5), (6, 4, 3)], 4, "4 times 4 channels, for data of 8"),
        ("ConvInteger", [(1, 8, 5), (6, 4, 3)], 1, "1 times 4 channels, for data of 8"),
        ("ConvTranspose", [(1, 8, 5), (8, 4, 3)], 0, "0 groups"),
    ],
)
def test_convolutions_of_other_channels_are_refused(
    operator: str, shapes: list[tuple[int, ...]], group: int, words: str
) -> None:
    assert words in refused(convolved(operator, shapes, group))[2]


@pytest.mark.parametrize(
    ("operator", "shapes", "group", "result"),
    [
        ("Conv", [(1, 8, 5), (6, 4, 3)], 2, (1, 6, 3)),
        ("Conv", [(1, 8, 5), (16, 1, 3)], 8, (1, 16, 3)),
        ("ConvTranspose", [(1, 8, 5), (8, 3, 3)], 2, (1, 6, 7)),
    ],
)
def test_those_of_the_same_channels_are_planned(
    operator: str, shapes: list[tuple[int, ...]], group: int, result: tuple[int, ...]
) -> None:
    problem, _ = read_problem(convolved(operator, shapes, group), format="onnx")
    assert {buffer.id: buffer.size for buffer in problem.buffers}["y"] == 4 * prod(result)
