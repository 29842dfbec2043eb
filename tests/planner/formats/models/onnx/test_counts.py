"""Short models that describe very much are refused: what runs, reads, computes or is named too often for the length of the file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner import BadInput, read_problem
from planner.formats.models.onnx import counts
from tests.planner.formats.models.onnx.models import BOOL, attribute, graph, inside, model, node, number, tensor, value

RUNS, WIDE = 40, 200
A, B = value("a", [4]), value("b0", None)
WORDS = " ".join(["p"] * WIDE)


def runs(*inner: bytes, more: bytes = b"", given: str = "a", inputs: str = "p") -> bytes:
    """Return a model that runs a function of these nodes RUNS times."""
    head = inside(1, "F") + inside(10, "own") + b"".join(inside(4, each) for each in inputs.split()) + inside(5, "q")
    function = head + b"".join(inside(7, each) for each in inner) + more
    nodes = [node("F", given, f"b{i}", domain="own") for i in range(RUNS)]
    return model(graph(nodes, [A, value("c", [], BOOL)], [B]), functions=[function])


def wide_nodes_in_a_function() -> bytes:
    return runs(node("Sum", WORDS, "q"))


def wide_nodes_in_an_arm() -> bytes:
    arm = graph([node("Sum", WORDS, "z")], (), [value("z", None)])
    return runs(node("If", "c", "q", then_branch=("graph", arm), else_branch=("graph", arm)), given="a c", inputs="p c")


def versions_of_many_domains() -> bytes:
    return runs(
        node("Relu", "p", "q"), more=b"".join(inside(9, inside(1, f"d{i}") + number(2, 1)) for i in range(WIDE))
    )


def many_attributes() -> bytes:
    many = b"".join(inside(5, attribute(f"x{i}", 1)) for i in range(WIDE))
    return runs(node("Relu", "p", "q") + many)


def a_sequence_joined_again_and_again() -> bytes:
    made = node("SequenceConstruct", " ".join(["a"] * WIDE), "s")
    return model(graph([made, *(node("ConcatFromSequence", "s", f"b{i}", axis=0) for i in range(RUNS))], [A], [B]))


def turns_that_read_much() -> bytes:
    grows = node("Concat", "x x", "y", axis=0)
    body = graph(
        [node("Identity", "k", "k2"), grows, node("Sum", " ".join(["a"] * WIDE), "w")],
        [value("i", [], 7), value("k", [], BOOL), value("x", None)],
        [value("k2", None), value("y", None)],
    )
    constants = [tensor("m", [RUNS], []), tensor("t", [1], [], BOOL)]
    return model(graph([node("Loop", "m t a", "b0", body=("graph", body))], [A], [B], constants))


@pytest.mark.parametrize(
    "make",
    [
        wide_nodes_in_a_function,
        wide_nodes_in_an_arm,
        versions_of_many_domains,
        many_attributes,
        a_sequence_joined_again_and_again,
        turns_that_read_much,
    ],
)
def test_short_models_that_read_very_much_are_refused(
    make: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = make()
    assert read_problem(data)[0].buffers
    monkeypatch.setattr(counts, "USES", 0)
    with pytest.raises(BadInput, match="its nodes read and write more than") as caught:
        read_problem(data)
    assert caught.value.findings[0].code == "too_large"
    assert caught.value.findings[0].pointer.startswith(("/graph/node/", "/functions/0/node/0"))


def numbers_computed_again_and_again() -> bytes:
    nodes = [node("Concat", "w", f"w{i}", axis=0) for i in range(RUNS)]
    return model(graph([*nodes, node("Relu", "a", "b0")], [A], [B], [tensor("w", [3] * WIDE)]))


def many_numbers_of_one_node() -> bytes:
    most = node("Max", " ".join(["w"] * WIDE), "o")
    return model(graph([most, node("Relu", "a", "b0")], [A], [B], [tensor("w", [3] * WIDE)]))


@pytest.mark.parametrize("make", [numbers_computed_again_and_again, many_numbers_of_one_node])
def test_short_models_that_compute_very_much_are_refused(
    make: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = make()
    assert read_problem(data)[0].buffers
    monkeypatch.setattr(counts, "NUMBERS", 0)
    with pytest.raises(BadInput, match="its constants hold and give more than"):
        read_problem(data)


def test_long_names_in_functions_that_run_often_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "n" * 1000
    data = runs(node("Relu", "p", long), node("Relu", long, "q"))
    assert read_problem(data)[0].buffers
    monkeypatch.setattr(counts, "LETTERS", 0)
    with pytest.raises(BadInput, match="names have more than"):
        read_problem(data)


def test_a_file_may_say_as_much_as_it_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("USES", "NUMBERS", "LETTERS"):
        monkeypatch.setattr(counts, limit, 0)
    nodes = [node("Sum", f"b{i} b{i} b{i}", f"b{i + 1}", name=f"sum{i}") for i in range(WIDE)]
    nodes.append(inside(1, "a") + inside(2, "s") + inside(4, "Shape") + inside(5, attribute("start", 0)))
    data = model(graph([node("Relu", "a", "b0"), *nodes], [A], [value(f"b{WIDE}", None)]))
    assert len(read_problem(data)[0].buffers) == WIDE + 2


def test_what_is_wrong_with_the_program_is_said_of_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.graph.running.sizes.MANY_LETTERS", 1)
    monkeypatch.setattr("planner.graph.running.sizes.TIMES", 0)
    arm = graph([node("Sum", "a a", "z", name="n" * 50)], (), [value("z", None)])
    nodes = [node("If", "c", "b0", then_branch=("graph", arm), else_branch=("graph", arm))]
    data = model(graph(nodes, [A, value("c", [], BOOL)], [B]))
    with pytest.raises(BadInput) as caught:
        read_problem(data)
    assert caught.value.findings[0].pointer == "/graph"
