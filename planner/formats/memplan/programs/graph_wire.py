"""memplan-graph/1 and memplan-graph/2 as they appear in a file."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from ....model.problem import MAX_ADDRESS, MAX_TEXT
from ...json.strict import STRICT, BufferIdField, Items
from ..wire import Alignment, Bytes, Name, PoolWire, Positive

Index = Annotated[int, Field(ge=-MAX_ADDRESS, le=MAX_ADDRESS)]
Kind = Literal["intermediate", "input", "constant", "mutable"]
ShortName = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
"""It stands before the names of tensors and of steps."""


@with_config(STRICT)
class FlatTensorWire(TypedDict):
    id: BufferIdField
    shape: Items[Bytes]
    element_bits: NotRequired[Alignment]
    kind: NotRequired[Kind]
    is_output: NotRequired[bool]
    alignment: NotRequired[Alignment]


@with_config(STRICT)
class FlatOperatorWire(TypedDict):
    kind: Literal[
        "compute", "view", "slice", "select", "concatenate", "in_place", "idma_load", "idma_store", "idma_wait"
    ]
    inputs: NotRequired[Items[BufferIdField]]
    outputs: NotRequired[Items[BufferIdField]]
    dim: NotRequired[Index]
    start: NotRequired[Index]
    step: NotRequired[Index]
    over: NotRequired[Positive]


@with_config(STRICT)
class FlatGraphWire(TypedDict):
    format: Literal["memplan-graph/1"]
    name: NotRequired[str | None]
    tensors: Items[FlatTensorWire]
    operators: Items[FlatOperatorWire]


@with_config(STRICT)
class ItemWire(TypedDict):
    """One item of a tuple."""

    shape: NotRequired[Items[Bytes]]
    element_bits: NotRequired[Alignment]
    items: NotRequired[Items[ItemWire]]


@with_config(STRICT)
class TensorWire(TypedDict):
    id: BufferIdField
    shape: NotRequired[Items[Bytes]]
    element_bits: NotRequired[Alignment]
    items: NotRequired[Items[ItemWire]]
    kind: NotRequired[Kind]
    alignment: NotRequired[Alignment]
    pools: NotRequired[Items[Name]]
    device: NotRequired[Name]


@with_config(STRICT)
class WorkspaceWire(TypedDict):
    size: Bytes
    alignment: NotRequired[Alignment]
    pools: NotRequired[Items[Name]]


@with_config(STRICT)
class OperatorWire(TypedDict):
    kind: Literal[
        "compute",
        "view",
        "slice",
        "select",
        "concatenate",
        "in_place",
        "idma_load",
        "idma_store",
        "idma_wait",
        "copy",
        "tuple",
        "item",
        "call",
        "branch",
        "loop",
    ]
    name: NotRequired[ShortName]
    inputs: NotRequired[Items[BufferIdField]]
    outputs: NotRequired[Items[BufferIdField]]
    dim: NotRequired[Index]
    start: NotRequired[Index]
    step: NotRequired[Index]
    over: NotRequired[Positive]
    workspaces: NotRequired[Items[WorkspaceWire]]
    functions: NotRequired[Items[Name]]
    condition: NotRequired[Name]
    carried: NotRequired[Bytes]
    scanned: NotRequired[Bytes]


@with_config(STRICT)
class FunctionWire(TypedDict):
    name: ShortName
    inputs: NotRequired[Items[BufferIdField]]
    outputs: NotRequired[Items[BufferIdField]]
    tensors: Items[TensorWire]
    operators: Items[OperatorWire]


@with_config(STRICT)
class DeviceWire(TypedDict):
    name: Name
    pools: Items[Name]


@with_config(STRICT)
class OptionsWire(TypedDict):
    plan_inputs: NotRequired[bool]
    plan_outputs: NotRequired[bool]
    plan_state: NotRequired[bool]
    opt_level: NotRequired[Bytes]
    offset_multiple: NotRequired[Alignment]
    fastest: NotRequired[Name]


@with_config(STRICT)
class ProgramWire(TypedDict):
    format: Literal["memplan-graph/2"]
    name: NotRequired[str | None]
    pools: NotRequired[Items[PoolWire]]
    devices: NotRequired[Items[DeviceWire]]
    options: NotRequired[OptionsWire]
    tensors: NotRequired[Items[TensorWire]]
    functions: Items[FunctionWire]
    entries: NotRequired[Items[Name]]
