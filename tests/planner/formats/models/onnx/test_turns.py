"""In loops with a known number of turns, the tensors and sequences carried may grow."""

from __future__ import annotations

from typing import Any

import pytest

from planner import Problem, plan, read_problem, verify
from tests.planner.formats import reading
from tests.planner.formats.models.onnx.models import BOOL, INT64, graph, inside, model, node, number, tensor, value
from tests.planner.formats.reading import sizes


def sequence(name: str, shape: list[int]) -> bytes:
    element = inside(1, number(1, 1) + inside(2, b"".join(inside(1, number(1, dim)) for dim in shape)))
    return inside(1, name) + inside(2, inside(4, inside(1, element)))


TURN = [value("i", [], INT64), value("go", [], BOOL)]
GROWN = [node("Relu", "x", "a"), node("SequenceInsert", "s a", "t"), node("Identity", "go", "on")]
LONGER = [node("Concat", "c x", "d", axis=0), node("Relu", "d", "e"), node("Identity", "go", "on")]

BY_INPUT = node("Identity", "again", "on")
"""The end of a loop's body when an input decides whether there is another turn."""
ENDING = [
    node("Constant", "", "two", value=("tensor", tensor("two", [2], []))),
    *GROWN[:2],
    node("Less", "i two", "on"),
]
"""A loop's body whose condition ends it after three turns."""


def looped(
    nodes: list[bytes], carried: bytes, back: str, *rest: bytes, trips: int | None = 3, parts: str = "", test: str = "-"
) -> bytes:
    """Return a model with a loop that carries one value, called `y` after it, and operators before and after it."""
    body = graph(nodes, [*TURN, carried], [value(each, None) for each in ("on", back, *parts.split())])
    inputs = [value("x", [1, 8]), value("n", [], INT64), value("again", [], BOOL)]
    counts = [] if trips is None else [tensor("n", [trips], [])]
    loop = node("Loop", f"n {test} first", f"y {parts and 'all'}", body=("graph", body))
    return model(graph([*rest[:1], loop, *rest[1:]], inputs, [value("z", None)], counts))


def read(data: bytes) -> Problem:
    problem = read_problem(data)[0]
    assert verify(problem, plan(problem)) == ()
    return problem


def refused(data: bytes, format_: str = "onnx") -> tuple[str, str, str]:
    return reading.refused(data, format=format_)


EMPTY = node("SequenceEmpty", "", "first")
JOINED = node("ConcatFromSequence", "y", "z", axis=0)
CACHE = node("Identity", "x", "first")
AFTER = node("Relu", "y", "z")


def test_a_sequence_grows_by_one_each_turn() -> None:
    problem = read(looped(GROWN, sequence("s", [1, 8]), "t", EMPTY, JOINED))
    live = {buffer.id: buffer.live for buffer in problem.buffers}
    assert sizes(problem)["z"] == 3 * 32
    assert [live[name] for name in ("a", "a'", "a'2")] == [((begin, 4),) for begin in range(3)]


def test_a_tensor_grows_by_a_row_each_turn() -> None:
    found = sizes(read(looped(LONGER, value("c", [1, 8]), "e", CACHE, AFTER)))
    assert found["z"] == 4 * 32
    assert sorted(size for name, size in found.items() if str(name)[0] in "de") == [64, 64, 96, 96, 128, 128]


def test_outputs_of_all_turns_are_joined() -> None:
    nodes = [*GROWN, node("Exp", "a", "part")]
    found = sizes(read(looped(nodes, sequence("s", [1, 8]), "t", EMPTY, JOINED, parts="part")))
    assert found["all"] == 3 * 32
    grown = refused(looped(LONGER, value("c", [1, 8]), "e", CACHE, AFTER, parts="d"))
    assert (grown[:2], "of 3 shapes" in grown[2]) == (("invalid_value", "/graph/node/1"), True)


def test_a_known_condition_ends_the_loop() -> None:
    nodes = [node("Constant", "", "two", value=("tensor", tensor("two", [2], []))), *GROWN[:2]]
    nodes.append(node("Less", "i two", "on"))
    assert sizes(read(looped(nodes, sequence("s", [1, 8]), "t", EMPTY, JOINED, trips=9)))["z"] == 3 * 32


@pytest.mark.parametrize("condition", [{"trips": None}, {"test": "again"}, {"trips": None, "test": "again"}])
def test_the_number_of_turns_may_be_stated(condition: dict[str, Any]) -> None:
    """An option may state the number of turns if an input, or a value computed, decides it."""
    for data in (
        looped([*LONGER[:2], BY_INPUT], value("c", [1, 8]), "e", CACHE, AFTER, **condition),
        looped([*GROWN[:2], BY_INPUT], sequence("s", [1, 8]), "t", EMPTY, JOINED, **condition),
    ):
        found = sizes(read_problem(data, format="onnx:dim=y_turns=2")[0])
        assert found["z"] == (3 if "e" in found else 2) * 32
        most, warnings = read_problem(data, format="onnx:dim=y_turns=1..2")
        assert (sizes(most), len(warnings)) == (sizes(read_problem(data, format="onnx:dim=y_turns=2")[0]), 1)


@pytest.mark.parametrize(
    ("nodes", "condition", "option", "turns", "warnings"),
    [
        (GROWN, {}, "1..9", 3, 0),
        (GROWN, {}, "3", 3, 0),
        ([*GROWN[:2], BY_INPUT], {"test": "again"}, "1..2", 2, 1),
        ([*GROWN[:2], BY_INPUT], {"test": "again"}, "3..9", 3, 0),
        (GROWN, {"test": "again"}, "0..3", 3, 1),
        (ENDING, {"trips": None}, "1..9", 3, 1),
        (ENDING, {"trips": 9}, "1..9", 3, 0),
    ],
)
def test_known_and_stated_numbers_of_turns_are_combined(
    nodes: list[bytes], condition: dict[str, Any], option: str, turns: int, warnings: int
) -> None:
    """A warning says whether the loop may end earlier."""
    made = looped(nodes, sequence("s", [1, 8]), "t", EMPTY, JOINED, **condition)
    problem, found = read_problem(made, format=f"onnx:dim=y_turns={option}")
    assert (sizes(problem)["z"], len(found)) == (turns * 32, warnings)


@pytest.mark.parametrize(
    ("nodes", "trips", "option", "text"),
    [
        (GROWN, 4, "8..16", "takes 4 turns at most, and y_turns=8..16 is given"),
        (GROWN, 4, "8", "takes 4 turns at most, and y_turns=8 is given"),
        (GROWN, 4, "1..2", "takes more than 2 turns, and y_turns=1..2 is given"),
        (GROWN, 4, "2", "takes more than 2 turns, and y_turns=2 is given"),
        (ENDING, None, "4..9", "takes 3 turns at most"),
        (ENDING, 9, "1..2", "takes more than 2 turns"),
    ],
)
def test_stated_turns_that_contradict_the_file_are_refused(
    nodes: list[bytes], trips: int | None, option: str, text: str
) -> None:
    made = looped(nodes, sequence("s", [1, 8]), "t", EMPTY, JOINED, trips=trips)
    found = refused(made, f"onnx:dim=y_turns={option}")
    assert (found[:2], text in found[2]) == (("invalid_value", "/graph/node/1"), True), found


@pytest.mark.parametrize(
    ("made", "code", "text"),
    [
        (looped(GROWN, sequence("s", [1, 8]), "t", EMPTY, JOINED, trips=None), "invalid_value", "how many turns"),
        (looped(GROWN, sequence("s", [1, 8]), "t", EMPTY, JOINED, test="again"), "invalid_value", "another turn"),
        (looped(LONGER, value("c", [1, 8]), "e", CACHE, AFTER, trips=None), "invalid_value", "give dim y_turns=4"),
        (looped(LONGER, value("c", [1, 8]), "e", CACHE, AFTER, test="again"), "invalid_value", "another turn"),
        (looped(GROWN[1:], sequence("s", [1, 8]), "t", EMPTY, JOINED), "unknown_buffer", "'a'"),
        (looped(GROWN, sequence("s", [1, 8]), "t", EMPTY, JOINED, trips=1 << 60), "too_large", "more than"),
        (looped(LONGER, value("c", [1, 8]), "e", CACHE, AFTER, trips=1 << 60), "too_large", "more than"),
        (looped(GROWN, sequence("s", [1, 8]), "t", EMPTY, JOINED, trips=0), "invalid_value", "empty"),
    ],
)
def test_unknown_numbers_of_turns_are_refused_with_the_place(made: bytes, code: str, text: str) -> None:
    found = refused(made)
    assert found[0] == code
    assert found[1].startswith("/graph/")
    assert text in found[2]
