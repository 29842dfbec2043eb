"""Models of very many operators are read within the time limit and in memory proportional to their size."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter

import pytest

from planner.checks.report import Place
from planner.formats import read_problem
from planner.formats.binary.protobuf import Part
from planner.formats.documents import Source
from planner.formats.models.onnx import messages
from planner.formats.models.onnx.function import Value
from planner.formats.models.onnx.messages import read_model
from planner.formats.models.onnx.model import Attribute, Model
from planner.formats.models.onnx.read import read_program
from planner.graph.problem import Arrangement, arrangement
from planner.model import deadline
from planner.model.errors import BadInput
from tests.planner.formats.models.onnx.models import BOOL, graph, inside, model, node, number, value

COUNT = 5000
FEW = 1000
BYTES_PER_NODE = 1700
READER = "planner.formats.models.onnx.read"


def chain(count: int) -> bytes:
    """Return a model of so many tiny operators in a chain."""
    nodes = [node("Relu", f"t{k}", f"t{k + 1}") for k in range(count)]
    return model(graph(nodes, [value("t0", [1])], [value(f"t{count}", [1])]))


def test_every_step_after_reading_checks_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    def is_over(self: object, ahead: float = 0.0) -> bool:
        looks.append(ahead)
        return False

    monkeypatch.setattr(deadline._Deadline, "is_over", is_over)

    def reads(data: bytes) -> Model:
        made = read_model(data)
        looks.clear()
        return made

    monkeypatch.setattr(f"{READER}.read_model", reads)
    with deadline.time_limit(60.0):
        read_problem(chain(COUNT))
    assert len(looks) > 6 * (COUNT // deadline.LOOK_EVERY)


def test_the_parsed_file_is_freed_once_it_is_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []

    def makes(*given: object, **more: object) -> Arrangement:
        left.append(sum(isinstance(each, Value) for each in gc.get_objects()))
        return arrangement(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(f"{READER}.arrangement", makes)
    gc.collect()
    gc.disable()
    try:
        read_problem(chain(100))
    finally:
        gc.enable()
    assert left == [0]


def test_memory_is_in_proportion_to_the_operators() -> None:
    data = chain(FEW)
    read_problem(chain(3))
    tracemalloc.start()
    try:
        read_problem(data)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < BYTES_PER_NODE * FEW


def test_functions_are_read_once_for_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real = messages._attribute

    def counted(part: Part, place: Place, depth: int) -> tuple[str, Attribute]:
        read.append(part.start)
        return real(part, place, depth)

    monkeypatch.setattr(messages, "_attribute", counted)
    inner = ("graph", graph([node("Relu", "x", "u", known=1)], outputs=[value("u", None)]))
    body = [node("If", "c", "y", then_branch=inner, else_branch=inner)]
    function = b"".join((inside(1, "f"), inside(10, "m"), inside(4, "x"), inside(4, "c"), inside(5, "y")))
    function += b"".join(inside(7, each) for each in body) + inside(9, number(2, 18))
    calls = [node("f", f"v{i} c", f"v{i + 1}", domain="m") for i in range(50)]
    inputs = [value("v0", [4]), value("c", [], BOOL)]
    opset = inside(8, inside(1, "m") + number(2, 1))
    read_problem(model(graph(calls, inputs, [value("v50", [4])]), functions=[function]) + opset)
    assert max(Counter(read).values()) <= 10


def test_errors_in_a_function_name_its_number() -> None:
    head = b"".join((inside(1, "f"), inside(10, "m"), inside(4, "x"), inside(5, "y")))
    function = head + inside(7, inside(1, "x") + inside(2, "y")) + inside(9, number(2, 18))
    made = model(graph([node("f", "a", "b", domain="m")], [value("a", [4])], [value("b", [4])]), functions=[function])
    with pytest.raises(BadInput) as caught:
        read_problem(made + inside(8, inside(1, "m") + number(2, 1)))
    assert caught.value.findings[0].pointer == "/functions/0/node/0"


def test_nodes_count_alike_within_functions_and_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """They also count as much after calls of a function as before."""
    monkeypatch.setattr("planner.formats.models.onnx.counts.NODES", 25)
    chain = [
        node("Relu", f"x{i}", f"x{i + 1}", name="with a name that is as long as exporters make it") for i in range(30)
    ]
    function = b"".join((inside(1, "f"), inside(10, "m"), inside(4, "x0"), inside(5, "x30")))
    function += b"".join(inside(7, each) for each in chain) + inside(9, number(2, 18))
    calls = [node("f", f"y{i}", f"y{i + 1}", domain="m") for i in range(3)]

    def made(nodes: list[bytes], back: str) -> bytes:
        given = [value("x0", [4]), value("y0", [4])]
        return model(graph(nodes, given, [value(back, None)]), functions=[function]) + inside(
            8, inside(1, "m") + number(2, 1)
        )

    assert len(read_problem(made(calls[:1], "y1"))[0].buffers) == 32
    for nodes in ([*calls[:2], *chain], [*chain, *calls[:2]]):
        assert len(read_problem(made(nodes, "y2"))[0].buffers) == 92
    with pytest.raises(BadInput) as caught:
        read_problem(made([*calls, *chain], "y3"))
    assert caught.value.findings[0].code.value == "too_large"


def test_a_name_that_is_given_and_read_is_held_once() -> None:
    program = read_program(Source(chain(FEW))).program
    operators = program.functions[0].operators
    given = {id_: id_ for operator in operators for id_ in operator.outputs}
    assert all(given[id_] is id_ for operator in operators for id_ in operator.inputs if id_ in given)
