"""Operators that rearrange elements give out as many as the standard says."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from planner import BadInput, read_problem, read_shaped
from tests.planner.formats.models.onnx.models import FLOAT, graph, inside, model, node, number, tensor, value

FAR = 1 << 63
"""How exporters write a place behind every end."""


def sliced(size: int | str, start: int, end: int, step: int) -> bytes:
    constants = [tensor(name, [number]) for name, number in zip("sead", (start, end, 0, step), strict=True)]
    return model(graph([node("Slice", "x s e a d", "y")], [value("x", [size])], [value("y", None)], constants))


def length(made: bytes, options: str = "") -> int:
    """Return how many numbers of 4 bytes the result has."""
    problem, _ = read_problem(made, format=f"onnx:{options}" if options else "onnx")
    return {buffer.id: buffer.size for buffer in problem.buffers}["y"] // 4


@pytest.mark.parametrize(
    ("start", "end", "step", "count"),
    [
        (-10, -100, -1, 1),
        (-6, -FAR, -2, 1),
        (-10, 0, -1, 0),
        (-10, 2, -1, 0),
        (10, -100, -1, 5),
        (10, 0, -1, 4),
        (-1, -FAR, -2, 3),
        (3, -5, -1, 3),
        (3, -6, -1, 4),
        (2, 4, -1, 0),
        (-10, 10, 1, 5),
        (-FAR, FAR - 1, 2, 3),
        (-10, -100, 1, 0),
        (10, 20, 1, 0),
    ],
)
def test_places_of_a_slice_are_moved_into_its_dimension(start: int, end: int, step: int, count: int) -> None:
    """Going backwards it begins at the first index at least, and ends before it at most."""
    assert length(sliced(5, start, end, step)) == count
    assert length(sliced(0, start, end, step)) == 0


@pytest.mark.parametrize(("start", "most"), [(-FAR, 9), (-3, 3)])
def test_places_of_a_slice_are_moved_into_a_dimension_of_several_sizes(start: int, most: int) -> None:
    shaped, _ = read_shaped(sliced("n", start, FAR - 1, 1), format="onnx:dim=n=0..9")
    for n in (0, 1, 2, 3, 9):
        assert {buffer.id: buffer.size for buffer in shaped.at({"n": n}).buffers}["y"] == 4 * min(n, most)


def test_what_a_slice_takes_backwards_from_a_place_in_symbols_is_not_known() -> None:
    """It was taken to begin at the first number."""
    made = graph(
        [
            node("Shape", "z", "n"),
            node("Shape", "x", "dims"),
            node("Slice", "dims n far zero minus", "turned"),
            node("Expand", "x turned", "y"),
        ],
        [value("x", [1, 1, 3]), value("z", ["n"])],
        [value("y", None)],
        [tensor("minus", [-1]), tensor("zero", [0]), tensor("far", [-FAR])],
    )
    assert length(model(made), "dim=n=1") == 3
    with pytest.raises(BadInput) as caught:
        read_problem(model(made), format="onnx:dim=n=1..2")
    assert "what is in input 1 ('turned'), which is not known" in caught.value.findings[0].message


def resized(size: int | str, scale: float) -> bytes:
    scales = number(1, 1) + number(2, FLOAT) + inside(8, "scales") + inside(9, struct.pack("<f", scale))
    return model(graph([node("Resize", "x - scales", "y")], [value("x", [size])], [value("y", None)], [scales]))


@pytest.mark.parametrize(
    ("size", "scale", "found"),
    [(3, 7 / 3, 7), (9, 7 / 9, 7), (5, 0.5, 2), (5, 1.5, 7), (7, 1.0, 7), ((1 << 24) + 1, 1.0, (1 << 24) + 1)],
)
def test_a_dimension_times_a_factor_is_rounded_in_single_precision(size: int, scale: float, found: int) -> None:
    """With more digits the first two are less than 7. A dimension that has more digits than a factor keeps them."""
    assert length(resized(size, scale)) == found


@pytest.mark.parametrize("scale", [7 / 3, 7 / 9, 0.7, 1 / 3, 0.5, 2.0])
def test_a_dimension_in_symbols_times_a_factor_has_room_for_what_it_is_rounded_to(scale: float) -> None:
    shaped, _ = read_shaped(resized("n", scale), format="onnx:dim=n=1..90")
    single = np.float32(scale)
    for n in range(1, 91):
        room = {buffer.id: buffer.size for buffer in shaped.at({"n": n}).buffers}["y"] // 4
        assert int(np.floor(single * np.float32(n))) <= room <= n * scale + 1e-5


def test_a_factor_that_is_a_symbol_is_refused() -> None:
    made = graph(
        [node("Shape", "z", "n"), node("Cast", "n", "scales", to=FLOAT), node("Resize", "x - scales", "y")],
        [value("x", [5]), value("z", ["n"])],
        [value("y", None)],
    )
    assert length(model(made), "dim=n=3") == 15
    with pytest.raises(BadInput) as caught:
        read_problem(model(made), format="onnx:dim=n=1..3")
    assert "depends on a factor that has several values" in caught.value.findings[0].message


def test_proportions_of_no_dimension_are_kept() -> None:
    made = inside(1, "axes") + number(20, 7)
    resize = node("Resize", "x - - sizes", "y", keep_aspect_ratio_policy="not_larger") + inside(5, made)
    assert length(model(graph([resize], [value("x", [6])], [value("y", None)], [tensor("sizes", [])]), 19)) == 6


@pytest.mark.parametrize(("first", "second"), [(7, 32), (13, 59)])
def test_proportions_are_kept_with_room_for_what_either_precision_gives(first: int, second: int) -> None:
    """27 * 7 / 6 is 31.5, and less in single precision; 27 * 13 / 6 is 58.5, and less in double precision."""
    made = node("Resize", "x - - sizes", "y", keep_aspect_ratio_policy="not_larger")
    sizes = tensor("sizes", [first, 99])
    assert length(model(graph([made], [value("x", [6, 27])], [value("y", None)], [sizes]), 19)) == first * second


def test_places_beyond_31_bits_are_places() -> None:
    ends = [tensor("s", [1 << 31]), tensor("e", [1 << 32])]
    made = graph([node("Slice", "x s e", "y")], [value("x", [1 << 32], 2)], [value("y", None)], ends)
    problem, _ = read_problem(model(made), format="onnx")
    assert problem.buffers[-1].size == 1 << 31
