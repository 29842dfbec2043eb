"""memplan-cascade/1 as it appears in a file."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field, with_config
from typing_extensions import TypedDict

from ...json.sentences import PADDING_ERROR
from ...json.strict import STRICT, BufferIdField, Items, OneError
from ..wire import Alignment, Bytes, Name, PoolWire
from .graph_wire import Index

Pad = Annotated[list[int], Field(min_length=2, max_length=2)]
PaddingField: TypeAlias = Annotated[Literal["valid", "same"] | list[Pad], OneError(PADDING_ERROR)]


@with_config(STRICT)
class CascadeTensorWire(TypedDict):
    id: BufferIdField
    shape: Items[Bytes]
    element_bits: NotRequired[Alignment]
    is_output: NotRequired[bool]


@with_config(STRICT)
class CascadeOperatorWire(TypedDict):
    kind: Literal["convolution", "depthwise", "pooling", "elementwise", "concatenate", "matrix_product"]
    inputs: Items[BufferIdField]
    output: BufferIdField
    name: NotRequired[Name]
    kernel: NotRequired[Items[Bytes]]
    stride: NotRequired[Items[Bytes]]
    dilation: NotRequired[Items[Bytes]]
    padding: NotRequired[PaddingField]
    dim: NotRequired[Index]
    constants: NotRequired[Bytes]


@with_config(STRICT)
class StripesWire(TypedDict):
    modes: NotRequired[Items[Literal["recompute", "rolling"]]]
    axes: NotRequired[Items[Index]]
    most_axes: NotRequired[Bytes]
    blocks: NotRequired[Items[Bytes]]
    longest: NotRequired[Bytes]


@with_config(STRICT)
class RatesWire(TypedDict):
    operations_per_cycle: NotRequired[Alignment]
    bytes_per_cycle: NotRequired[Alignment]
    cycles_per_run: NotRequired[Bytes]


@with_config(STRICT)
class LevelWire(TypedDict):
    pool: Name
    bytes_per_cycle: NotRequired[Alignment]


@with_config(STRICT)
class TilesWire(TypedDict):
    home: Name
    levels: Items[LevelWire]
    blocks: NotRequired[Items[Bytes]]


@with_config(STRICT)
class CascadeWire(TypedDict):
    format: Literal["memplan-cascade/1"]
    name: NotRequired[str | None]
    pools: NotRequired[Items[PoolWire]]
    channels_multiple: NotRequired[Bytes]
    plan_inputs: NotRequired[bool]
    plan_outputs: NotRequired[bool]
    tensors: Items[CascadeTensorWire]
    operators: Items[CascadeOperatorWire]
    stripes: NotRequired[StripesWire]
    tiles: NotRequired[TilesWire]
    cycles: NotRequired[RatesWire]
