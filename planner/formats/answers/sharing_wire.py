"""The format memplan-sharing/1 as it stands in a file."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from ..json.strict import STRICT, BufferIdField, Items
from ..memplan.wire import Bytes, Time
from .plan_wire import Amount, RunWire, ShortageWire, Status, Stop

Number = Annotated[int, Field(ge=0, le=(1 << 63) - 1)]


@with_config(STRICT)
class PoolTotalWire(TypedDict):
    name: str
    size: Bytes | None
    total: Amount | None
    bound: Amount


@with_config(STRICT)
class ObjectWire(TypedDict):
    id: Number
    size: Amount
    pool: str
    device: NotRequired[str | None]
    dtype: NotRequired[str | None]


@with_config(STRICT)
class AssignmentWire(TypedDict):
    id: BufferIdField
    object: Number


@with_config(STRICT)
class WitnessWire(TypedDict):
    time: NotRequired[Time | None]
    buffers: Items[BufferIdField]


@with_config(STRICT)
class SharingCertificateWire(TypedDict):
    proof: Literal["ranked", "search"]
    value: Amount
    pool: str
    device: NotRequired[str | None]
    dtype: NotRequired[str | None]
    sets: NotRequired[Items[WitnessWire]]
    solver: NotRequired[str | None]


@with_config(STRICT)
class SharingWire(TypedDict):
    format: Literal["memplan-sharing/1"]
    status: Status
    stop: Stop
    total: Amount | None
    bound: Amount
    gap: float | None
    pools: Items[PoolTotalWire]
    objects: Items[ObjectWire]
    assignments: Items[AssignmentWire]
    solver: str | None
    seed: int
    reproducible: bool
    versions: NotRequired[dict[str, str]]
    problem_digest: str
    certificate: NotRequired[Items[SharingCertificateWire]]
    shortage: NotRequired[ShortageWire | None]
    warnings: NotRequired[Items[str]]
    run: NotRequired[RunWire]
