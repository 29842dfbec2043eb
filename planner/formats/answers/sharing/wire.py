"""The format memplan-sharing/1 as it stands in a file."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from ...json.strict import STRICT, Items
from ...memplan.wire import Bytes, Time
from ..plan_wire import Amount, Id, Name, Prose, RunWire, ShortageWire, Status, Stop

Number = Annotated[int, Field(ge=0, le=(1 << 63) - 1)]


@with_config(STRICT)
class PoolTotalWire(TypedDict):
    name: Name
    size: Bytes | None
    total: Amount | None
    bound: Amount


@with_config(STRICT)
class ObjectWire(TypedDict):
    id: Number
    size: Amount
    pool: Name
    device: NotRequired[Name | None]
    dtype: NotRequired[Name | None]


@with_config(STRICT)
class AssignmentWire(TypedDict):
    id: Id
    object: Number


@with_config(STRICT)
class WitnessWire(TypedDict):
    time: NotRequired[Time | None]
    buffers: Items[Id]


@with_config(STRICT)
class SharingCertificateWire(TypedDict):
    proof: Literal["ranked", "search"]
    value: Amount
    pool: Name
    device: NotRequired[Name | None]
    dtype: NotRequired[Name | None]
    sets: NotRequired[Items[WitnessWire]]
    solver: NotRequired[Name | None]


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
    solver: Name | None
    seed: int
    reproducible: bool
    versions: NotRequired[dict[Name, Name]]
    problem_digest: Name
    certificate: NotRequired[Items[SharingCertificateWire]]
    shortage: NotRequired[ShortageWire | None]
    warnings: NotRequired[Items[Prose]]
    run: NotRequired[RunWire]
