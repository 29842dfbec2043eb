"""Files made to take much time or memory: equal names, messages of two bytes, lists of empty objects.

Each is read or refused in memory proportional to its length.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import pytest

from planner.formats import read_problem
from planner.formats.binary import protobuf
from planner.formats.dumps import buffer_assignment
from planner.formats.json import loading, pieces, scan, validate
from planner.formats.models.onnx import counts
from planner.model.errors import BadInput, Code
from tests.planner.formats.dumps.test_executorch import kernel, method, program, value
from tests.planner.formats.models.onnx.models import inside, node, number
from tests.planner.formats.models.onnx.models import value as declared

COUNT = 2000
MOST = 5
"""Bytes of memory for each byte of JSON, besides a fixed amount."""


def onnx(graph: bytes, functions: bytes = b"") -> bytes:
    return number(1, 8) + functions + inside(7, graph) + inside(8, number(2, 18))


def relus(names: str) -> bytes:
    """Return a model with an input and COUNT operators of one name that read it."""
    made = (node("Relu", "a", f"b{i}", name=names) for i in range(COUNT))
    return onnx(
        inside(11, declared("a", [4])) + b"".join(inside(1, each) for each in made) + inside(12, declared("b0", None))
    )


def one_constant_given_out() -> bytes:
    return onnx(inside(5, inside(8, "w") + number(2, 1)) + inside(12, inside(1, "w")) * COUNT)


def one_function_run() -> bytes:
    """Return a model that runs a function COUNT times; its inner value is called `x` each time."""
    inner = inside(1, "F") + inside(10, "own") + inside(4, "p") + inside(5, "q")
    inner += inside(7, node("Relu", "p", "x")) + inside(7, node("Relu", "x", "q"))
    runs = (node("F", "a", f"b{i}", domain="own") for i in range(COUNT))
    graph = (
        inside(11, declared("a", [4])) + b"".join(inside(1, each) for each in runs) + inside(12, declared("b0", None))
    )
    return onnx(graph, inside(25, inner))


def one_method_again() -> bytes:
    return program(*[method([value(8)], [kernel(0)], [0], [0], name="m")] * COUNT)


@pytest.mark.parametrize("made", [lambda: relus("n"), one_constant_given_out, one_function_run, one_method_again])
def test_files_that_repeat_one_name_get_short_names(made: Callable[[], bytes]) -> None:
    problem, _ = read_problem(made())
    assert len(problem.buffers) >= COUNT
    assert max(len(str(buffer.id)) for buffer in problem.buffers) < 20


def refused(data: bytes) -> BadInput:
    with pytest.raises(BadInput) as caught:
        read_problem(data)
    return caught.value


def test_a_short_file_that_runs_many_nodes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "NODES", COUNT // 2)
    for made in (one_function_run(), one_constant_given_out()):
        assert refused(made).findings[0].code is Code.TOO_LARGE
    assert len(read_problem(onnx(inside(11, declared("a", [4])) + inside(12, declared("a", None))))[0].buffers) == 1


def test_a_model_may_have_as_many_nodes_as_its_file_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "NODES", 100)
    monkeypatch.setattr(protobuf, "MEMORY", 1 << 10)
    names = [f"/layers.{i}/Relu_output_0" for i in range(COUNT + 1)]
    nodes = b"".join(inside(1, node("Relu", a, b, name=a)) for a, b in pairwise(names))
    made = onnx(inside(11, declared(names[0], [4])) + nodes + inside(12, declared(names[-1], None)))
    assert len(read_problem(made)[0].buffers) == COUNT + 1


def test_more_messages_than_a_file_of_this_length_should_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = onnx(inside(11, declared("a", [4])) + inside(12, declared("a", None))) + inside(8, b"") * COUNT
    assert read_problem(data)[0].buffers
    monkeypatch.setattr(protobuf, "MESSAGES", COUNT // 4)
    found = refused(data).findings[0]
    assert (found.code, "more messages" in found.message) == (Code.TOO_LARGE, True)


def test_more_events_than_a_file_of_this_length_should_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    buffers = b"".join(inside(1, number(1, i) + number(2, 8)) for i in range(COUNT))
    events = [inside(1, number(2, i)) for i in range(COUNT)]
    for traces in (inside(4, b"".join(events)), b"".join(inside(4, each) for each in events), inside(4, b"") * COUNT):
        assert read_problem(buffers + traces, format="xla")
        with monkeypatch.context() as patch:
            patch.setattr(buffer_assignment, "ENTRIES", COUNT // 2)
            with pytest.raises(BadInput, match="more buffers and events"):
                read_problem(buffers + traces, format="xla")


EMPTY: list[dict[str, int]] = [{}] * 10_000
DOCUMENTS = {
    "memplan": {"format": "memplan/1", "buffers": EMPTY},
    "dsa": {"schema_version": 1, "problem": {"buffers": EMPTY}},
    "dsa's pairs": {"schema_version": 1, "problem": {"constraints": {"colocations": EMPTY}}},
    "usmp": {"buffers": EMPTY},
    "graph": {"format": "memplan-graph/1", "tensors": EMPTY},
    "program": {"format": "memplan-graph/2", "functions": EMPTY},
    "cascade": {"format": "memplan-cascade/1", "operators": EMPTY},
    "st-edge-ai": {"memory_pools": EMPTY, "buffers": EMPTY, "memory_footprint": {}},
    "torch-snapshot": {"device_traces": [EMPTY]},
    "chrome-trace": {"traceEvents": EMPTY},
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_lists_of_empty_objects_are_refused_in_little_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_CHUNK", 1 << 10)
    monkeypatch.setattr(validate, "LARGE", 1 << 12)
    for module in (pieces, scan, loading):
        monkeypatch.setattr(module, "PIECE", 1 << 10)
    data = json.dumps(DOCUMENTS[name], separators=(",", ":")).encode()
    refused(data)  # imports modules and fills caches
    tracemalloc.start()
    try:
        error = refused(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert error.findings
    assert peak < MOST * len(data) + (1 << 18)
