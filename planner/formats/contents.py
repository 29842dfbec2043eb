"""What a file contains besides a problem: constants, and the number of operators of each kind. One function per format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .documents import Source
    from .models.onnx.model import Graph, Nodes


class Contents(NamedTuple):
    """The contents of a program."""

    operators: Mapping[str, int]
    """The number of each kind, most frequent first."""
    constants: int
    constant_bytes: int


def _contents(operators: Counter[str], constants: int, constant_bytes: int) -> Contents:
    ordered = dict(sorted(operators.items(), key=lambda item: (-item[1], item[0])))
    return Contents(ordered, constants, constant_bytes)


def of_graph(source: Source, **_: Any) -> Contents:
    """Return the contents of a memplan-graph."""
    from ..graph.operators import TensorKind
    from .memplan.programs.read_graph import read_file

    program = read_file(source).program
    operators = Counter(operator.kind.value for function in program.functions for operator in function.operators)
    tensors = [*program.tensors, *(tensor for function in program.functions for tensor in function.tensors)]
    constants = [tensor.bytes for tensor in tensors if tensor.kind is TensorKind.CONSTANT]
    return _contents(operators, len(constants), sum(constants))


def of_tflite(source: Source, **_: Any) -> Contents:
    """Return the contents of a TensorFlow Lite model."""
    from .models.tflite.model import read_model

    model = read_model(source.data)
    rows = [operator for subgraph in model.subgraphs for operator in subgraph.operators]
    operators = Counter(operator.custom or operator.code for operator in rows)
    held = {tensor.buffer for graph in model.subgraphs for tensor in graph.tensors if tensor.is_constant}
    return _contents(operators, len(held), sum(model.buffers[number][1] for number in held))


def of_onnx(source: Source, **_: Any) -> Contents:
    """Return the contents of an ONNX model: all graphs and functions, each once."""
    from .models.onnx.messages import read_model
    from .models.onnx.model import BITS, Graph

    model = read_model(source.data)
    operators: Counter[str] = Counter()
    sizes: list[int] = []
    waiting: list[Graph | Nodes] = [model.graph, *(body.nodes for body in model.functions)]
    while waiting:
        each = waiting.pop()
        nodes = each.nodes if isinstance(each, Graph) else each
        if isinstance(each, Graph):
            sizes += [-(-prod(one.shape) * BITS[one.element] // 8) for one in each.constants.values()]
        for node in nodes:
            operators[f"{node.domain}.{node.operator}" if node.domain else node.operator] += 1
            waiting += [value for value in node.attributes.values() if isinstance(value, Graph)]
    return _contents(operators, len(sizes), sum(sizes))


def of_vela(source: Source, **_: Any) -> Contents:
    """Return the contents of Vela's log besides what it plans: what is only read."""
    from .dumps.vela import constants

    return _contents(Counter(), *constants(source))


def of_executorch(source: Source, **_: Any) -> Contents:
    """Return the contents of an ExecuTorch program: kernels and delegates as often as they are called."""
    from .dumps.executorch_schema import calls_and_constants

    called, constants = calls_and_constants(source)
    return _contents(called, len(constants), sum(constants.values()))


def of_cascade(source: Source, **_: Any) -> Contents:
    """Return the contents of a memplan-cascade."""
    from .memplan.programs.read_cascade import read_file

    network = read_file(source).network
    return _contents(Counter(operator.kind.value for operator in network.operators), 0, 0)
