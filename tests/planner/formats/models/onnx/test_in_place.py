"""Results share memory only with what holds them, also in models whose declarations do not fit."""

from __future__ import annotations

import pytest

from planner import BadInput, Colocation, Problem, read_problem
from tests.planner.formats.models.onnx.models import BOOL, INT64, graph, model, node, tensor, value


def read(made: bytes, *, in_place: bool = True, more: str = "") -> Problem:
    return read_problem(model(made), format=f"onnx:in_place{more}" if in_place else "onnx")[0]


def split(first: list[int], second: list[int]) -> bytes:
    """Return a model whose parts are as large as it declares: their sizes are an input."""
    inputs = [value("x", [1, 6]), value("sizes", [2], INT64)]
    return graph([node("Split", "x sizes", "p q", axis=1)], inputs, [value("p", first), value("q", second)])


def test_parts_lie_in_the_whole() -> None:
    found = read(split([1, 2], [1, 4])).constraints.colocations
    assert found == (Colocation("p", "x", 0), Colocation("q", "x", 8))


@pytest.mark.parametrize("alignment", [4, 24, 128])
def test_an_alignment_that_is_asked_for_takes_the_place_of_the_usual_one(alignment: int) -> None:
    """A part at 8 bytes keeps no memory's alignment, so that all that lies in no other has it itself."""
    found = read(split([1, 2], [1, 4]), more=f",alignment={alignment}")
    assert [max(each.alignment, found.pools[0].alignment) for each in found.buffers[:2]] == [alignment] * 2


@pytest.mark.parametrize(
    ("first", "second"),
    [([1, 2], [4]), ([1, 5], [1, 4]), ([1], [1, 4]), ([], [1, 4]), ([1, 2], [1, 4, 1]), ([1, 2], [2, 4])],
)
def test_parts_that_do_not_fit_the_whole_do_not_lie_in_it(first: list[int], second: list[int]) -> None:
    made = split(first, second)
    assert read(made).buffers == read(made, in_place=False).buffers
    assert read(made).constraints.colocations == ()


def test_a_slice_from_an_unknown_place_does_not_lie_in_its_source() -> None:
    inputs = [value("x", [8]), value("start", [1], INT64), value("end", [1], INT64)]
    made = graph([node("Slice", "x start end", "y")], inputs, [value("y", None)])
    assert read(made).buffers == read(made, in_place=False).buffers


@pytest.mark.parametrize(("step", "lies_there"), [(1, True), (-1, False)])
def test_a_slice_lies_in_its_source_unless_it_turns_a_dimension(step: int, lies_there: bool) -> None:
    """Rows 1 and 2 of four, and all of each, forwards or backwards."""
    ends = (("starts", [1, 0 if step > 0 else -1]), ("ends", [3, 9 * step]), ("axes", [0, 1]), ("steps", [1, step]))
    nodes = [node("Slice", "x starts ends axes steps", "y")]
    made = graph(nodes, [value("x", [4, 6])], [value("y", None)], [tensor(*each) for each in ends])
    assert {buffer.id: buffer.size for buffer in read(made).buffers} == {"x": 96, "y": 48}
    assert bool(read(made).constraints.colocations) == lies_there


@pytest.mark.parametrize(
    ("operator", "opset", "lies_there"),
    [
        (node("Dropout", "a", "d"), 17, True),
        (node("Dropout", "a ratio no", "d"), 17, True),
        (node("Dropout", "a ratio yes", "d"), 17, False),
        (node("Dropout", "a ratio t", "d"), 17, False),
        (node("Dropout", "a", "d"), 6, False),
        (node("Dropout", "a", "d", is_test=1), 6, True),
        (node("BatchNormalization", "a s s s s", "d"), 17, True),
        (node("BatchNormalization", "a s s s s", "d", training_mode=1), 17, False),
    ],
)
def test_in_training_results_do_not_lie_in_what_is_read(operator: bytes, opset: int, lies_there: bool) -> None:
    truths = [tensor("no", [0], [], BOOL), tensor("yes", [1], [], BOOL)]
    inputs = [value("x", [2, 3]), value("s", [3]), value("t", [], BOOL), value("ratio", [])]
    made = graph([node("Relu", "x", "a"), operator], inputs, [value("d", None)], truths)
    found = read_problem(model(made, opset), format="onnx:in_place")[0].constraints.colocations
    assert ("d" in {each.buffer for each in found}) == lies_there


@pytest.mark.parametrize(
    ("operator", "inputs", "lies_there"),
    [
        ("Add", "w a", True),
        ("Add", "a w", True),
        ("Sum", "w w a", True),
        ("Add", "w one", False),
        ("MatMul", "w a", False),
    ],
)
def test_an_operator_writes_over_the_first_input_that_is_no_constant(
    operator: str, inputs: str, *, lies_there: bool
) -> None:
    nodes = [node("Relu", "x", "a"), node(operator, inputs, "d")]
    given = [value("x", [2, 2], INT64), value("one", [1], INT64)]
    made = graph(nodes, given, [value("d", None)], [tensor("w", [1, 2, 3, 4], [2, 2])])
    found = read(made).constraints.colocations
    assert ("d" in {each.buffer for each in found}) == lies_there


@pytest.mark.parametrize(
    ("operator", "inputs", "lies_over"),
    [
        ("Add", "a b", "b"),
        ("Sum", "a one b", "b"),
        ("Where", "c a b", "b"),
        ("Where", "c b a", "b"),
        ("Where", "c one b", "b"),
        ("Where", "c one a", None),
    ],
)
def test_an_operator_writes_over_an_input_that_is_not_needed_later(
    operator: str, inputs: str, lies_over: str | None
) -> None:
    """Of a, which is, nothing is lost; one is repeated for each number."""
    nodes = [
        node("Relu", "x", "a"),
        node("MatMul", "x x", "b"),
        node(operator, inputs, "d"),
        node("MatMul", "a d", "y"),
    ]
    given = [value("x", [2, 2]), value("c", [2, 2], BOOL), value("one", [1])]
    found = read(graph(nodes, given, [value("y", None)])).constraints.colocations
    assert [each.base for each in found if each.buffer == "d"] == [lies_over] * (lies_over is not None)


def test_what_a_scan_joins_along_another_dimension_has_its_shape() -> None:
    """Row 1 of two rows of three: a column of each turn's part."""
    body = graph([node("Relu", "part", "out")], [value("part", [2])], [value("out", [2])])
    ends = [("starts", [1]), ("ends", [2]), ("axes", [0])]
    nodes = [
        node("Scan", "x", "y", body=("graph", body), num_scan_inputs=1, scan_output_axes=[1]),
        node("Slice", "y starts ends axes", "z"),
    ]
    made = graph(nodes, [value("x", [3, 2])], [value("z", None)], [tensor(*each) for each in ends])
    found = read(made)
    assert {str(b.id): b.size for b in found.buffers} == {"main/x": 24, "main/y": 24, "main/y.parts": 24, "main/z": 12}
    assert [(each.base, each.offset) for each in found.constraints.colocations] == [("main/y", 12)]
    wrong = graph(
        [node("Scan", "x", "y", body=("graph", body), num_scan_inputs=1, scan_output_axes=[1, 0])],
        [value("x", [3, 2])],
        [value("y", None)],
    )
    with pytest.raises(BadInput, match="scan_output_axes"):
        read(wrong)
