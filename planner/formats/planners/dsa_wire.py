"""The JSON of dsa-solver (schema version 1), as far as it describes what to plan; provenance is not read."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from ..json.strict import STRICT, Items
from ..memplan.wire import Alignment, Bytes, Time

Id = Annotated[int, Field(ge=0, le=(1 << 32) - 1)]
Unsigned = Annotated[int, Field(ge=0, le=(1 << 64) - 1)]


@with_config(STRICT)
class RangeWire(TypedDict):
    begin: Unsigned
    end: Unsigned


@with_config(STRICT)
class BankGeometryWire(TypedDict):
    bank_size: Annotated[int, Field(ge=1, le=(1 << 64) - 1)]
    num_banks: Annotated[int, Field(ge=1, le=(1 << 32) - 1)]


@with_config(STRICT)
class PoolWire(TypedDict):
    id: Id
    name: str
    capacity: Unsigned | None
    reserved_ranges: Items[RangeWire]
    bank_geometry: NotRequired[BankGeometryWire]


@with_config(STRICT)
class IntervalWire(TypedDict):
    lower: Time
    upper: Time


@with_config(STRICT)
class BufferWire(TypedDict):
    id: Id
    name: str
    size: Bytes
    alignment: Alignment
    live_intervals: Annotated[Items[IntervalWire], Field(min_length=1)]
    allowed_pools: Annotated[Items[Id], Field(min_length=1)]


@with_config(STRICT)
class PairWire(TypedDict):
    first: Id
    second: Id


@with_config(STRICT)
class SeparationWire(TypedDict):
    first: Id
    second: Id
    reasons: NotRequired[Items[str]]


@with_config(STRICT)
class PinWire(TypedDict):
    buffer: Id
    pool: Id
    offset: Bytes
    exclusive_for_all_time: bool


@with_config(STRICT)
class ConstraintsWire(TypedDict):
    colocations: Items[PairWire]
    separations: Items[SeparationWire]
    no_partial_overlaps: NotRequired[Items[PairWire]]
    temporal_exclusions: Items[PairWire]
    pinned_allocations: Items[PinWire]


@with_config(STRICT)
class PenaltyWire(TypedDict):
    first: Id
    second: Id
    cost: Bytes
    reason: NotRequired[str]


@with_config(STRICT)
class CostModelWire(TypedDict):
    reuse_penalties: Items[PenaltyWire]


@with_config(STRICT)
class ObjectiveWire(TypedDict):
    aggregation: Literal["lexicographic"]
    terms: Annotated[
        Items[Literal["capacity_overflow", "total_peak", "max_peak", "reuse_cost", "bank_cost"]], Field(min_length=1)
    ]


@with_config(STRICT)
class ProblemWire(TypedDict):
    pools: Annotated[Items[PoolWire], Field(min_length=1)]
    buffers: Items[BufferWire]
    constraints: ConstraintsWire
    cost_model: NotRequired[CostModelWire]
    pypto_structure: NotRequired[dict[str, Any]]
    objective: ObjectiveWire


@with_config(STRICT)
class DocumentWire(TypedDict):
    schema_version: Literal[1]
    profile: str
    instance: str
    relaxed_from: NotRequired[str]
    relaxed_features: NotRequired[Items[str]]
    metadata: NotRequired[dict[str, Any]]
    problem: ProblemWire
