"""When tensors are needed across the functions of a program."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from planner import read_problem

Made = dict[str, Any]


def function(name: str, tensors: Sequence[str], operators: Sequence[Made], outputs: Sequence[str] = ()) -> Made:
    """Return a function; tensors whose names begin with `>` are its inputs."""
    made = [{"id": id_.lstrip(">"), "shape": [64], **({"kind": "input"} if id_[0] == ">" else {})} for id_ in tensors]
    inputs = [id_[1:] for id_ in tensors if id_[0] == ">"]
    return {"name": name, "inputs": inputs, "outputs": [*outputs], "tensors": made, "operators": [*operators]}


def step(kind: str, inputs: str, outputs: str, *functions: str, **more: Any) -> Made:
    made: Made = {"kind": kind, "inputs": inputs.split(), "outputs": outputs.split(), **more}
    return made | {"functions": [*functions]} if functions else made


def lives(*functions: Made) -> dict[str, Sequence[tuple[int, int]]]:
    document = {"format": "memplan-graph/2", "functions": [*functions], "entries": ["main"]}
    problem, _ = read_problem(json.dumps(document).encode())
    return {str(buffer.id): buffer.live or () for buffer in problem.buffers}


def test_an_input_that_is_given_out_unchanged_is_needed_throughout_a_loop_that_comes_first() -> None:
    found = lives(
        function("main", [">x"], [step("loop", "", "", "body", condition="cond")], ["x"]),
        function("body", ["t"], [step("compute", "", "t")]),
        function("cond", ["q"], [step("compute", "", "q")], ["q"]),
    )
    assert found["main/x"] == ((0, 4),)
    assert found["body/t"] == ((2, 3),)


def test_a_transfer_that_a_function_began_goes_on_until_its_caller_waits() -> None:
    found = lives(
        function(
            "main",
            [">x", "y", "z", "w"],
            [step("call", "x", "y", "start"), step("compute", "x", "z"), step("idma_wait", "y", "w")],
            ["z", "w"],
        ),
        function("start", [">x", "t", "y"], [step("compute", "x", "t"), step("idma_load", "t", "y")], ["y"]),
    )
    assert found["start/t"] == ((0, 4),)  # the wait is at 3
    assert found["main/y"] == ((1, 4),)


def test_a_transfer_of_what_a_function_was_handed_goes_on_by_its_caller_s_name() -> None:
    """The function is called twice, so that its input has no memory of its own."""
    found = lives(
        function(
            "main",
            [">a", ">b", "x", "y", "z", "w", "v"],
            [
                step("compute", "a", "x"),
                step("call", "x", "y", "start"),
                step("compute", "b", "z"),
                step("idma_wait", "y", "w"),
                step("call", "w", "v", "start"),
            ],
            ["z"],
        ),
        function("start", [">s", "r"], [step("idma_load", "s", "r")], ["r"]),
    )
    assert found["main/x"] == ((0, 4),)  # the wait is at 3


def test_a_transfer_to_the_same_place_needs_both_sides_until_the_next_begins() -> None:
    found = lives(
        function(
            "main",
            [">x", "t", "k", "h"],
            [
                step("compute", "x", "t"),
                step("call", "t", "", "send"),
                step("compute", "x", "k"),
                step("compute", "k", "h"),
                step("call", "h", "", "send"),
            ],
            ["h"],
        ),
        function("send", [">p", "d"], [step("idma_store", "p", "d")]),
    )
    assert found["main/t"] == ((0, 5),)  # the other begins at 4
    assert found["send/d"] == ((1, 6),)


def test_a_transfer_that_nobody_awaits_goes_on_in_both_arms_of_a_branch_after_it() -> None:
    arms = [
        function(name, [">x", "u", "z"], [step("compute", "x", "u"), step("compute", "u", "z")], ["z"])
        for name in ("left", "right")
    ]
    found = lives(
        function("main", [">x", ">i", "z"], [step("call", "x i", "z", "start")], ["z"]),
        function(
            "start",
            [">x", ">i", "t", "y", "z"],
            [step("compute", "x", "t"), step("idma_load", "t", "y"), step("branch", "i x", "z", "left", "right")],
            ["z"],
        ),
        *arms,
    )
    assert found["start/t"] == ((0, 8),)
    assert found["left/u"] == ((3, 5),)
    assert found["right/u"] == ((5, 7),)


def test_a_transfer_of_a_turn_needs_both_sides_in_the_next_one_too() -> None:
    """What the turn computes before the transfer must not lie over what the last turn's transfer still reads."""
    found = lives(
        function("main", [], [step("loop", "", "", "body", condition="cond")]),
        function(
            "body",
            ["u", "t", "y", "z"],
            [
                step("compute", "", "u"),
                step("compute", "u", "t"),
                step("idma_store", "t", "y"),
                step("compute", "", "z"),
            ],
        ),
        function("cond", ["q"], [step("compute", "", "q")], ["q"]),
    )
    assert found["body/u"] == ((2, 4),)
    assert found["body/t"] == found["body/y"] == ((0, 7),)
