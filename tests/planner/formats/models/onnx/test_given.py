"""A caller may state shapes that the file leaves open, and numbers in small inputs from which shapes follow."""

from __future__ import annotations

import pytest

from planner import read_shaped
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
from tests.planner.formats.models.onnx.test_sequences import lives, optional, read, refused, sequence

PLAIN = inside(1, "x") + inside(2, inside(1, number(1, FLOAT)))
"""A tensor whose shape the file does not state."""
EXPANDED = model(
    graph(
        [node("Add", "size size", "twice"), node("Expand", "x twice", "y")],
        [value("x", [1, 1]), value("size", [2], INT64)],
        [value("y", None)],
    )
)


def test_stated_input_values_decide_shapes_that_are_still_planned() -> None:
    assert lives(read(EXPANDED, "size.0=3", "size.1=4")) == {
        "x": (4, ((0, 2),)),
        "size": (16, ((0, 1),)),
        "twice": (16, ((0, 2),)),
        "y": (4 * 6 * 8, ((1, 3),)),
    }


def test_numbers_of_an_input_may_have_ranges() -> None:
    shaped, _ = read_shaped(EXPANDED, format="onnx:dim=size.0=1..3,dim=size.1=4")
    assert [lives(shaped.at({"size_0": n}))["y"][0] for n in (1, 3)] == [64, 192]


def test_the_input_that_has_to_be_known_is_named() -> None:
    assert refused(EXPANDED)[:2] == ("invalid_value", "/graph/node/1")
    assert "give dim size.0=4" in refused(EXPANDED)[2]
    assert refused(EXPANDED, "size.1=4")[:2] == ("missing_field", "/graph/input/1")
    assert "give dim size.0=4" in refused(EXPANDED, "size.1=4")[2]
    assert refused(EXPANDED, "size.0=1", "size.1=4", "size.2=4")[0] == "invalid_option"
    assert refused(EXPANDED, "size.0=-1..4", "size.1=4")[0] == "invalid_option"
    assert "Say what" not in refused(EXPANDED, "size.0=-1", "size.1=4")[2]


def test_an_input_is_named_that_decides_whether_a_wrong_arm_runs() -> None:
    """Voice models have an arm for each rate of samples, and a window of samples fits one of them."""
    arms = [
        ("graph", graph([node("MatMul", f"x {weights}", "u")], outputs=[value("u", None)], constants=[constant]))
        for weights, constant in (("a", tensor("a", [1] * 8, [8])), ("b", tensor("b", [1] * 4, [4])))
    ]
    nodes = [
        node("Equal", "rate usual", "c"),
        node("If", "c", "y", then_branch=arms[0], else_branch=arms[1]),
    ]
    inputs = [value("x", [8], INT64), value("rate", [], INT64)]
    made = model(graph(nodes, inputs, [value("y", None)], [tensor("usual", [16], [])]))
    assert refused(made)[1] == "/graph/node/1/attribute/else_branch/node/0"
    assert refused(made)[2].endswith(
        "Say what the input 'rate' holds: give dim rate.0=4, if this arm does not run then"
    )
    assert "y" in lives(read(made, "rate.0=16"))


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("size.0=-3..5", "'size.0=-3..5': a range cannot begin below 0"),
        ("size.0=-5..-3", "'size.0=-5..-3': a range cannot begin below 0"),
        ("size.0=5..3", "'size.0=5..3' ends before it begins"),
        ("size.0=0..4611686018427387904", "numbers must stay below 2^62"),
        ("size.0=1.5", "not of the form batch=4"),
        ("size.2=4", "no dimension or number 'size.2'; it has size.0, size.1"),
    ],
)
def test_wrong_numbers_are_refused_with_the_reason(option: str, text: str) -> None:
    found = refused(EXPANDED, "size.1=4", option, *(() if "size.0" in option else ("size.0=1",)))
    assert found[0] == "invalid_option"
    assert text in found[2]


@pytest.mark.parametrize(
    ("element", "good", "bad"),
    [(3, "127", "128"), (3, "-128", "-129"), (2, "0..255", "0..256"), (2, "0", "-1"), (6, "7", "2147483648")],
)
def test_numbers_that_the_input_cannot_hold_are_refused(element: int, good: str, bad: str) -> None:
    inputs = [value("x", [8]), value("small", [1], element)]
    nodes = [node("Cast", "small", "size", to=INT64), node("Abs", "size", "far"), node("Relu", "x", "y")]
    made = model(graph(nodes, inputs, [value("y", None), value("far", None)]))
    read(made, f"small.0={good}")
    found = refused(made, f"small.0={bad}")
    assert found[0] == "invalid_option"
    assert "'small.0': by its type, the input holds numbers from" in found[2]


def test_a_boolean_is_0_or_1() -> None:
    made = model(graph([node("Not", "go", "y")], [value("go", [], BOOL)], [value("y", None)]))
    assert refused(made, "go.0=2")[0] == "invalid_option"


def test_numbers_go_through_parts_and_the_arm_that_runs() -> None:
    arm = graph([node("Split", "size", "a b", num_outputs=2)], [], [value("a", None), value("b", None)])
    nodes = [
        node("If", "go", "c d", then_branch=("graph", arm), else_branch=("graph", arm)),
        node("Concat", "d c", "turned", axis=0),
        node("Expand", "x turned", "y"),
    ]
    inputs = [value("x", [5, 1, 1]), value("size", [2], INT64), value("go", [], BOOL)]
    made = model(graph(nodes, inputs, [value("y", None)]))
    assert lives(read(made, "go.0=1", "size.0=3", "size.1=4"))["y"][0] == 4 * 5 * 12
    assert "give dim size.0=4" in refused(made, "go.0=1")[2]


def test_a_number_may_count_from_the_end() -> None:
    nodes = [node("SequenceConstruct", "x z", "s"), node("SequenceAt", "s i", "y0"), node("Relu", "y0", "y")]
    made = model(graph(nodes, [value("x", [8]), value("z", [2]), value("i", [], INT64)], [value("y", None)]))
    assert [lives(read(made, f"i.0={i}"))["y"][0] for i in (0, -1)] == [32, 8]
    assert lives(read(made))["y"][0] == 32


def test_a_shape_missing_in_the_file_may_be_stated() -> None:
    made = model(graph([node("Relu", "x", "y")], [PLAIN], [value("y", None)]))
    assert lives(read(made, "x_0=3", "x_1=5"))["y"][0] == 60
    assert refused(made)[:2] == ("missing_field", "/graph/input/0")
    assert "give dim x_0=4" in refused(made)[2]
    assert refused(made, "x_0=3", "x_2=5")[0] == "invalid_option"
    assert refused(made, "x_0=-3")[0] == "invalid_option"


def test_a_loop_carries_optional_values() -> None:
    turn = [value("i", [], INT64), value("go", [], BOOL)]
    body = graph(
        [node("Identity", "go", "on"), node("OptionalGetElement", "s", "got"), node("Relu", "got", "t")],
        [*turn, value("s", None)],
        [value("on", [], BOOL), value("t", None)],
    )
    nodes = [node("Loop", "n - o", "p", body=("graph", body)), node("OptionalHasElement", "p", "y")]
    made = model(graph(nodes, [optional("o", [8])], [value("y", None)], [tensor("n", [3], [])]))
    assert {name: size for name, (size, _) in lives(read(made)).items()}["o"] == 32


def test_an_optional_sequence_grows_in_a_loop() -> None:
    arms = [
        graph([node("OptionalGetElement", "s", "a")], [], [value("a", None)]),
        graph([node("SequenceConstruct", "x", "b")], [], [value("b", None)]),
    ]
    nodes = [
        node("Identity", "go", "on"),
        node("OptionalHasElement", "s", "has"),
        node("If", "has", "either", then_branch=("graph", arms[0]), else_branch=("graph", arms[1])),
        node("SequenceInsert", "either x", "t"),
    ]
    turn = [value("i", [], INT64), value("go", [], BOOL), value("s", None)]
    body = graph(nodes, turn, [value("on", [], BOOL), value("t", None)])
    whole = [node("Loop", "n - o", "p", body=("graph", body)), node("ConcatFromSequence", "p", "y", axis=0)]
    inputs = [value("x", [8]), sequence("o", [8], is_optional=True)]
    made = model(graph(whole, inputs, [value("y", None)], [tensor("n", [3], [])]))
    assert lives(read(made, "o=1"))["y"][0] == 4 * 32
    assert lives(read(made, "o=2"))["y"][0] == 5 * 32
