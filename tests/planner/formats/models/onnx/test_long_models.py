"""Models of very many operators: the limit on time holds while they are read, and memory stays in proportion."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from planner.formats import read_problem
from planner.formats.models.onnx.function import Value
from planner.formats.models.onnx.messages import read_model
from planner.formats.models.onnx.model import Model
from planner.graph.outcomes import GraphProblem
from planner.graph.problem import program_problem
from planner.model import deadline
from tests.planner.formats.models.onnx.models import graph, model, node, value

COUNT = 5000
FEW = 1000
BYTES_PER_NODE = 1700
READER = "planner.formats.models.onnx.read"


def chain(count: int) -> bytes:
    """So many tiny operators, one after the other."""
    nodes = [node("Relu", f"t{k}", f"t{k + 1}") for k in range(count)]
    return model(graph(nodes, [value("t0", [1])], [value(f"t{count}", [1])]))


def test_every_step_after_the_file_is_read_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_nothing_of_the_file_is_kept_once_it_is_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []

    def makes(*given: object) -> GraphProblem:
        left.append(sum(isinstance(each, Value) for each in gc.get_objects()))
        return program_problem(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(f"{READER}.program_problem", makes)
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
