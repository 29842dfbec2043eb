"""Sequences whose length, or whose order, depends on data have room for whatever a run makes of them."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from planner import BadInput, read_problem
from tests.planner.formats.models.onnx.models import BOOL, INT64, graph, model, node, tensor, value
from tests.planner.formats.models.onnx.test_sequences import branches, lives, read, refused

PAIR = [node("Relu", "x", "a"), node("SequenceConstruct", "a x", "out")]
ONE = [node("SequenceConstruct", "x", "out")]
MODELS = 60
JOINED = node("ConcatFromSequence", "s", "y", axis=0)


def test_arms_may_give_out_sequences_of_different_lengths() -> None:
    other = [node("Exp", "x", "b"), node("SequenceConstruct", "x b", "out")]
    assert lives(read(branches(PAIR, other, JOINED)))["y"][0] == 64
    for arms in ((PAIR, ONE), (ONE, PAIR)):
        _, warnings = read_problem(branches(*arms, JOINED), format="onnx")
        assert "the most that it can have are planned" in warnings[0]
        assert lives(read(branches(*arms, JOINED)))["y"][0] == 64
    lost = [node("Identity", "x", "out")]
    assert refused(branches(PAIR, lost, JOINED))[:2] == ("invalid_value", "/graph/node/0")
    assert "a tensor for 's', the other one a sequence" in refused(branches(PAIR, lost, JOINED))[2]


def test_the_arm_that_runs_may_be_given() -> None:
    arms = [
        graph([node("SequenceConstruct", "x", "a")], [], [value("a", None)]),
        graph([node("SequenceConstruct", "x x", "b")], [], [value("b", None)]),
    ]
    nodes = [node("If", "go", "s", then_branch=("graph", arms[0]), else_branch=("graph", arms[1])), JOINED]
    made = model(graph(nodes, [value("x", [8]), value("go", [], BOOL)], [value("y", None)]))
    assert [lives(read(made, f"go.0={go}"))["y"][0] for go in (0, 1)] == [64, 32]
    assert lives(read(made))["y"][0] == 64


def test_the_length_is_known_only_when_the_model_runs() -> None:
    """If it were taken for two, the arm for shorter sequences would be left out."""
    arms = [graph([node("Concat", names, "z", axis=0)], [], [value("z", None)]) for names in ("x", "x x x")]
    nodes = [
        node("SequenceLength", "s", "n"),
        node("Sub", "n n", "none"),
        node("Equal", "n none", "is_empty"),
        node("If", "is_empty", "y", then_branch=("graph", arms[1]), else_branch=("graph", arms[0])),
    ]
    assert lives(read(branches(PAIR, ONE, *nodes)))["y"][0] == 96


def test_a_negative_place_of_an_insertion_counts_from_the_last_tensor() -> None:
    nodes = [
        node("SplitToSequence", "x sizes", "s"),
        node("Exp", "x", "e"),
        node("SequenceInsert", "s e last", "t"),
        node("SequenceAt", "t last", "y"),
    ]
    constants = [tensor("sizes", [3, 1]), tensor("last", [-1], [])]
    found = lives(read(model(graph(nodes, [value("x", [4])], [value("y", None)], constants))))
    assert found["s.1"] == (4, ((0, 3),))  # given out
    assert found["e"] == (16, ((1, 2),))


def loose(chance: random.Random) -> tuple[bytes, list[int], int]:
    """Return a model of sequences whose lengths follow from the input `go`, and whose places may follow from others; the inputs' lengths, and how many
    places are asked for."""
    sizes = [chance.sample(range(1, 9), chance.randint(1, 3)) for _ in range(2)]
    arms = [
        graph(
            [node("SplitToSequence", f"x{k} parts", f"out{k}")], [], [value(f"out{k}", None)], [tensor("parts", each)]
        )
        for k, each in enumerate(sizes)
    ]
    nodes = [node("If", "go", "s0", then_branch=("graph", arms[0]), else_branch=("graph", arms[1]))]
    constants, asked = [tensor("front", [0], []), tensor("back", [-1], [])], 0
    for i in range(chance.randint(1, 4)):
        operator = chance.choice(["SequenceInsert", "SequenceInsert", "SequenceErase", "SequenceAt"])
        place = chance.choice(["-", "front", "back", f"i{asked}"])
        if operator == "SequenceAt":
            place = place.replace("-", "front")
            nodes += [node(operator, f"s{i} {place}", f"at{i}"), node("SequenceConstruct", f"at{i} x0", f"s{i + 1}")]
        else:
            nodes.append(node(operator, f"s{i} {'x1 ' * (operator == 'SequenceInsert')}{place}", f"s{i + 1}"))
        asked += place.startswith("i")
    nodes.append(node("ConcatFromSequence", f"s{i + 1}", "y", axis=0))
    lengths = [sum(each) for each in sizes]
    given = [value(f"x{k}", [length]) for k, length in enumerate(lengths)]
    given += [value("go", [], BOOL), *(value(f"i{k}", [], INT64) for k in range(asked))]
    return model(graph(nodes, given, [value("y", None)], constants)), lengths, asked


def test_every_run_finds_room() -> None:
    """Against ONNX's own evaluator: whatever the inputs hold, the result is as large as planned, or smaller; for most models some are as large."""
    onnx = pytest.importorskip("onnx")
    evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator
    met = 0
    for seed in range(MODELS):
        made, lengths, asked = loose(random.Random(seed))
        try:
            planned = lives(read(made))["y"][0]
        except BadInput:  # no run has such a place
            planned = 0
        run = evaluator(onnx.load_from_string(made))
        given = {f"x{k}": np.zeros(length, np.float32) for k, length in enumerate(lengths)}
        most = 0
        for go, *places in product((True, False), *(range(-3, 4) for _ in range(asked))):
            numbers = {f"i{k}": np.array(place) for k, place in enumerate(places)}
            try:
                (made_,) = run.run(None, given | numbers | {"go": np.array(go)})
            except (IndexError, ZeroDivisionError, ValueError):  # there is no such place
                continue
            most = max(most, made_.nbytes)
        assert most <= planned, seed
        met += most == planned
    assert met > MODELS // 2
