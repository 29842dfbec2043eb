"""Sequences and optional values of ONNX are names for tensors, which stay where they lie."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from planner import Problem, read_problem
from tests.planner.formats import reading
from tests.planner.formats.models.onnx.models import FLOAT, graph, inside, model, node, number, tensor, value


def sequence(name: str, shape: list[int], *, is_optional: bool = False) -> bytes:
    """Return a ValueInfoProto of a sequence of tensors."""
    dims = b"".join(inside(1, number(1, dim)) for dim in shape)
    held = inside(4, inside(1, inside(1, number(1, FLOAT) + inside(2, dims))))
    return inside(1, name) + inside(2, inside(9, inside(1, held)) if is_optional else held)


def optional(name: str, shape: list[int]) -> bytes:
    """Return a ValueInfoProto of a tensor that may be left out."""
    dims = b"".join(inside(1, number(1, dim)) for dim in shape)
    return inside(1, name) + inside(2, inside(9, inside(1, inside(1, number(1, FLOAT) + inside(2, dims)))))


def read(made: bytes, *dims: str) -> Problem:
    return read_problem(made, format="onnx:" + ",".join(f"dim={each}" for each in dims))[0]


def lives(problem: Problem) -> dict[Any, Any]:
    """Return size and lifetime of each tensor; those of the main graph lose its name."""
    return {str(buffer.id).removeprefix("main/"): (buffer.size, buffer.live) for buffer in problem.buffers}


def refused(made: bytes, *dims: str) -> tuple[str, str, str]:
    return reading.refused(made, format="onnx:" + ",".join(f"dim={each}" for each in dims))


def of(*nodes: bytes, outputs: list[str], shape: tuple[int, ...] = (4, 2), constants: tuple[bytes, ...] = ()) -> bytes:
    """Return a model with one input, x."""
    return model(graph(nodes, [value("x", shape)], [value(name, None) for name in outputs], constants))


def test_tensors_of_a_sequence_stay_where_they_were_made() -> None:
    made = of(
        node("Relu", "x", "a"),
        node("Neg", "x", "b"),
        node("SequenceConstruct", "a b", "both"),
        node("SequenceAt", "both last", "again"),
        node("Abs", "again", "y"),
        outputs=["y"],
        constants=(tensor("last", [-1], []),),
    )
    assert lives(read(made)) == {"x": (32, ((0, 2),)), "a": (32, ((0, 1),)), "b": (32, ((1, 3),)), "y": (32, ((2, 4),))}


def test_tensors_are_split_into_sequences_and_joined_again() -> None:
    made = of(
        node("SplitToSequence", "x sizes", "parts"),
        node("SequenceErase", "parts first", "rest"),
        node("Relu", "x", "r"),
        node("SequenceInsert", "rest r first", "more"),
        node("SequenceLength", "more", "count"),
        node("ConcatFromSequence", "more", "y", axis=0),
        outputs=["y", "count"],
        constants=(tensor("sizes", [1, 2, 1]), tensor("first", [0], [])),
    )
    found = lives(read(made))
    assert {name: size for name, (size, _) in found.items()} == {
        "x": 32,
        "parts.0": 8,
        "parts.1": 16,
        "parts.2": 8,
        "r": 32,
        "y": 56,
        "count": 8,
    }
    assert found["parts.0"][1] == ((0, 1),)  # taken out of the sequence
    assert found["parts.1"][1] == ((0, 3),)


def test_rows_become_a_new_dimension() -> None:
    nodes = (
        node("SplitToSequence", "x", "rows", keepdims=0),
        node("ConcatFromSequence", "rows", "y", axis=1, new_axis=1),
    )
    found = lives(read(of(*nodes, outputs=["y"], shape=(3, 5))))
    assert [found[f"rows.{i}"][0] for i in range(3)] == [20] * 3
    assert found["y"][0] == 60


def test_a_graph_is_run_for_every_tensor_of_a_sequence() -> None:
    body = graph(
        [node("Relu", "one", "r"), node("Add", "r other", "out")],
        [value("one", None), value("other", None)],
        [value("out", None)],
    )
    made = of(
        node("SplitToSequence", "x", "parts", axis=0),
        node("SequenceMap", "parts x", "sums", body=("graph", body)),
        node("ConcatFromSequence", "sums", "y", axis=0),
        outputs=["y"],
    )
    found = lives(read(made))
    assert sorted(name for name in found if str(name).startswith("out")) == ["out", "out'", "out'2", "out'3"]
    assert found["y"][0] == 4 * 32


def test_the_length_of_an_input_sequence_must_be_stated() -> None:
    made = model(graph([node("ConcatFromSequence", "xs", "y", axis=0)], [sequence("xs", [4, 2])], [value("y", None)]))
    assert lives(read(made, "xs=3")) == {**{f"xs[{i}]": (32, ((0, 1),)) for i in range(3)}, "y": (96, ((0, 2),))}
    assert refused(made)[:2] == ("missing_field", "/graph/input/0")
    assert "xs=4" in refused(made)[2]
    assert refused(made, "xs=1..4")[:2] == ("out_of_range", "/graph/input/0")


def test_optional_values_have_room() -> None:
    arm = graph([node("OptionalGetElement", "o", "there")], [], [value("there", None)])
    other = graph([node("Neg", "x", "none")], [], [value("none", None)])
    nodes = (
        node("OptionalHasElement", "o", "has"),
        node("If", "has", "y", then_branch=("graph", arm), else_branch=("graph", other)),
    )
    found = lives(read(model(graph(nodes, [value("x", [8]), optional("o", [8])], [value("y", None)]))))
    assert (found["o"][0], found["has"][0]) == (32, 1)


def test_an_optional_value_that_is_known_leaves_one_arm_out() -> None:
    arm = graph([node("OptionalGetElement", "o", "got"), node("Relu", "got", "there")], [], [value("there", None)])
    other = graph([node("Exp", "x", "none")], [], [value("none", None)])
    branch = node("If", "has", "y", then_branch=("graph", arm), else_branch=("graph", other))
    for given, left_out in (("x", "none"), ("", "there")):
        has = node("OptionalHasElement", "o", "has")
        found = lives(read(of(node("Optional", given, "o"), has, branch, outputs=["y"])))
        assert not any(left_out in str(name) for name in found)


def test_an_optional_value_stays_unknown_under_any_name() -> None:
    """If the value were taken as present, the branch for a missing one would be left out."""
    arms = [
        graph([node("OptionalGetElement", "p", "a")], [], [value("a", None)]),
        graph([node("Neg", "x", "b")], [], [value("b", None)]),
    ]
    handed = graph([node("Identity", "o", "out")], [], [value("out", None)])
    branching = (
        node("OptionalHasElement", "p", "has"),
        node("If", "has", "y", then_branch=("graph", arms[0]), else_branch=("graph", arms[1])),
    )
    for nodes in (
        [node("Identity", "o", "p")],
        [node("Optional", "o", "p")],
        [node("If", "test", "p", then_branch=("graph", handed), else_branch=("graph", handed))],
    ):
        inputs = [value("x", [8]), optional("o", [8]), value("test", [], 9)]
        found = lives(read(model(graph([*nodes, *branching], inputs, [value("y", None)]))))
        assert found["has"][0] == 1  # decided when the model runs
    body = graph(
        [node("Identity", "go", "on"), node("Relu", "s", "t")],
        [value("i", [], 7), value("go", [], 9), value("s", [8])],
        [value("on", [], 9), value("t", [8])],
    )
    loop = node("Loop", "n - o", "y", body=("graph", body))
    made = model(graph([loop], [optional("o", [8])], [value("y", [8])], [tensor("n", [3], [])]))
    assert lives(read(made))["y"][0] == 32


def branches(then: list[bytes], otherwise: list[bytes], *more: bytes, output: str = "y") -> bytes:
    arms = [graph(nodes, [], [value("out", None)]) for nodes in (then, otherwise)]
    found = node("If", "test", "s", then_branch=("graph", arms[0]), else_branch=("graph", arms[1]))
    return model(graph([found, *more], [value("x", [8]), value("test", [], 9)], [value(output, None)]))


def test_a_value_of_only_one_arm_has_room_and_may_be_queried() -> None:
    there, absent = [node("Relu", "x", "a"), node("Optional", "a", "out")], [node("Optional", "", "out")]
    has = node("OptionalHasElement", "s", "y")
    for arms in ((there, absent), (absent, there)):
        found = lives(read(branches(*arms, has)))
        assert found["y"][0] == 1
        assert 32 in [size for size, _ in found.values()]
    assert read(branches(absent, absent, has)).buffers[-1].size == 1


HALVES = number(1, 1) + number(2, FLOAT) + inside(8, "halves") + inside(9, struct.pack("<f", 0.5))
CONSTANTS = [tensor("far", [9], []), tensor("none", [], [0]), HALVES]


@pytest.mark.parametrize(
    ("nodes", "code", "text"),
    [
        ([node("SequenceEmpty", "", "s"), node("Relu", "s", "y")], "wrong_type", "'s', which is a sequence"),
        ([node("Optional", "", "s"), node("Relu", "s", "y")], "wrong_type", "not there"),
        ([node("SequenceEmpty", "", "s"), node("ConcatFromSequence", "s", "y")], "invalid_value", "is empty"),
        ([node("SequenceConstruct", "x", "s"), node("SequenceAt", "s far", "y")], "invalid_value", "no place 9"),
        (
            [node("SplitToSequence", "x i", "s"), node("SequenceLength", "s", "y")],
            "invalid_value",
            "depends on what is in 'i'",
        ),
        (
            [node("SplitToSequence", "x", "s", axis=7), node("SequenceLength", "s", "y")],
            "invalid_value",
            "no dimension 7",
        ),
        ([node("SequenceAt", "x far", "y")], "invalid_value", "no sequence"),
        ([node("SequenceConstruct", "x", "s"), node("SequenceAt", "s none", "y")], "invalid_value", "one whole number"),
        (
            [node("SequenceConstruct", "x", "s"), node("Identity", "s", ""), node("Relu", "s", "y")],
            "wrong_type",
            "sequence",
        ),
        (
            [node("SplitToSequence", "x halves", "s"), node("SequenceLength", "s", "y")],
            "invalid_value",
            "whole numbers",
        ),
        ([node("SequenceConstruct", "x", "s"), node("ConcatFromSequence", "s", "y", axis=5)], "invalid_value", "axis"),
        ([node("SequenceLength", "nothing", "y")], "unknown_buffer", "'nothing'"),
        ([node("OptionalGetElement", "", "y")], "invalid_value", "input 0"),
        ([node("SequenceEmpty", "", "x"), node("Relu", "x", "y")], "duplicate_id", "another value 'x'"),
    ],
)
def test_unknown_lengths_and_places_are_refused_with_the_place(nodes: list[bytes], code: str, text: str) -> None:
    inputs = [value("x", [8]), value("i", [], 7)]
    found = refused(model(graph(nodes, inputs, [value("y", None)], CONSTANTS)))
    assert found[0] == code
    assert found[1].startswith("/graph/")
    assert text in found[2]


def test_sequences_longer_than_their_file_allows_are_refused() -> None:
    nodes = [node("SplitToSequence", "x", "s", axis=0)]
    nodes += [node("Identity", "s", f"s{i}") for i in range(3)]
    nodes += [node("SequenceErase", "s", f"t{i}") for i in range(600)]
    made = of(*nodes, outputs=["x"], shape=(4000, 1))
    assert refused(made)[0] == "too_large"
    assert refused(of(nodes[0], outputs=["x"], shape=(5000, 1)))[0] == "too_large"


def test_a_text_takes_as_much_room_as_a_pointer() -> None:
    nodes = [node("StringNormalizer", "x", "y", case_change_action="LOWER")]
    found = lives(read(model(graph(nodes, [value("x", [5], 8)], [value("y", None)]))))
    assert found == {"x": (40, ((0, 1),)), "y": (40, ((0, 2),))}
