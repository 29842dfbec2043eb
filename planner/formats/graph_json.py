"""memplan-graph/1: a graph as JSON, read as strictly as problems are."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from ..checks.limits import MAX_ADDRESS
from ..graph.check import require_sound_graph
from ..graph.operators import Graph, Operator, OperatorKind, Tensor, TensorKind
from .json.scan import scan
from .json.strict import STRICT, BufferIdField, Items, Part, Wire, field_names, validate
from .memplan.wire import Alignment, Bytes

_Index = Annotated[int, Field(ge=-MAX_ADDRESS, le=MAX_ADDRESS)]


@with_config(STRICT)
class _TensorWire(TypedDict):
    id: BufferIdField
    shape: Items[Bytes]
    element_bits: NotRequired[Alignment]
    kind: NotRequired[Literal["intermediate", "input", "constant", "mutable"]]
    is_output: NotRequired[bool]
    alignment: NotRequired[Alignment]


@with_config(STRICT)
class _OperatorWire(TypedDict):
    kind: Literal[
        "compute", "view", "slice", "select", "concatenate", "in_place", "idma_load", "idma_store", "idma_wait"
    ]
    inputs: NotRequired[Items[BufferIdField]]
    outputs: NotRequired[Items[BufferIdField]]
    dim: NotRequired[_Index]
    start: NotRequired[_Index]
    step: NotRequired[_Index]


@with_config(STRICT)
class _GraphWire(TypedDict):
    format: Literal["memplan-graph/1"]
    name: NotRequired[str | None]
    tensors: Items[_TensorWire]
    operators: Items[_OperatorWire]


@cache
def _wire() -> Wire:
    return Wire(
        TypeAdapter(_GraphWire),
        lambda: {("tensors",): Part(TypeAdapter(_TensorWire)), ("operators",): Part(TypeAdapter(_OperatorWire))},
        field_names(_GraphWire, _TensorWire, _OperatorWire),
    )


def read_graph_json(data: bytes) -> Graph:
    """The Graph in the bytes, checked. Raises BadInput."""
    document: _GraphWire = validate(_wire(), data, scan(data))
    graph = Graph(
        tuple(map(_tensor, document["tensors"])), tuple(map(_operator, document["operators"])), document.get("name")
    )
    require_sound_graph(graph)
    return graph


def _tensor(wire: _TensorWire) -> Tensor:
    return Tensor(
        wire["id"],
        tuple(wire["shape"]),
        wire.get("element_bits", 8),
        TensorKind(wire.get("kind", "intermediate")),
        wire.get("is_output", False),
        wire.get("alignment", 1),
    )


def _operator(wire: _OperatorWire) -> Operator:
    return Operator(
        OperatorKind(wire["kind"]),
        tuple(wire.get("inputs", ())),
        tuple(wire.get("outputs", ())),
        wire.get("dim", 0),
        wire.get("start", 0),
        wire.get("step", 1),
    )
