"""The plan format memplan-plan/1 as it appears in a file."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from ...model.plan import MAX_PROSE
from ...model.problem import MAX_ADDRESS, MAX_TEXT
from ..json.sentences import BUFFER_ID_ERROR, LABEL_ERROR
from ..json.strict import STRICT, Items, OneError
from ..memplan.wire import Bytes, TermName, Time

Amount = Annotated[int, Field(ge=0)]
"""A size or a cost; sums of them may go beyond what one size may be."""

MOST_OF_ALL_CHOICES = 8
"""The most certificates of all choices in one plan: each may try a hundred million choices. memplan writes two."""

Price = Annotated[int, Field(ge=0, lt=1 << 62)]
Name = Annotated[str, Field(max_length=MAX_TEXT)]
Prose = Annotated[str, Field(max_length=MAX_PROSE)]
Id = Annotated[
    Annotated[int, Field(ge=-MAX_ADDRESS, le=MAX_ADDRESS)] | Annotated[str, Field(min_length=1, max_length=MAX_TEXT)],
    OneError(BUFFER_ID_ERROR),
]
"""Of a buffer. A problem's are looked at one by one when it has been read; an answer's nowhere else."""
Label = Annotated[Name | int, OneError(LABEL_ERROR)]

Status = Literal["optimal", "feasible", "infeasible", "unknown"]
Stop = Literal["proved", "goal_met", "time_limit", "work_limit", "memory_limit", "cancelled", "solver_failed"]
"""Of plans and of sharings."""


@with_config(STRICT)
class TermWire(TypedDict):
    name: TermName
    value: Amount | None
    bound: Amount | None


@with_config(STRICT)
class ObjectiveWire(TypedDict):
    value: Amount | None
    bound: Amount | None
    terms: Items[TermWire]


@with_config(STRICT)
class PoolUseWire(TypedDict):
    name: Name
    size: Bytes | None
    peak: Amount | None
    bound: Amount


@with_config(STRICT)
class PlacementWire(TypedDict):
    id: Id
    pool: Name
    offset: Annotated[int, Field(ge=0, le=(1 << 63) - 1)]
    size: Bytes


@with_config(STRICT)
class WeightWire(TypedDict):
    """Part of a bound over several pools: one pool at one time, and the weight of what is live there."""

    pool: Name
    time: Time
    numerator: int
    denominator: Annotated[int, Field(ge=1)]


@with_config(STRICT)
class SetWire(TypedDict):
    """Buffers some of which must share addresses, or have moved, and how much of that counts."""

    buffers: Items[Id]
    numerator: int
    denominator: Annotated[int, Field(ge=1)]


@with_config(STRICT)
class CrowdWire(TypedDict):
    """Buffers that are live together, not all of which fit into the pool, the votes of each (one, if there are none), and the price of a vote there."""

    pool: Name
    time: Time
    buffers: Items[Id]
    votes: NotRequired[Items[Annotated[int, Field(ge=1, le=1000)]]]
    numerator: int
    denominator: Annotated[int, Field(ge=1)]


@with_config(STRICT)
class HeldWire(TypedDict):
    """An earlier term, what it is at most, and its price in the bound of a later one."""

    term: TermName
    most: Amount
    numerator: int
    denominator: Annotated[int, Field(ge=1)]


@with_config(STRICT)
class CertificateWire(TypedDict):
    proof: Literal[
        "live_together",
        "conflict_clique",
        "conflict_weights",
        "single_block",
        "pool_sharing",
        "priced_room",
        "must_share",
        "must_move",
        "too_few_pools",
        "search",
    ]
    value: Amount
    pool: NotRequired[Name | None]
    term: NotRequired[TermName | None]
    time: NotRequired[Time | None]
    buffers: NotRequired[Items[Id]]
    weights: NotRequired[Items[WeightWire]]
    sets: NotRequired[Items[SetWire]]
    crowds: NotRequired[Items[CrowdWire]]
    held: NotRequired[Items[HeldWire]]
    solver: NotRequired[Name | None]


@with_config(STRICT)
class ShortageWire(TypedDict):
    message: Prose
    pool: NotRequired[Name | None]
    bytes_short: NotRequired[Amount | None]
    time: NotRequired[Time | None]
    buffers: NotRequired[Items[Id]]
    subset: NotRequired[Items[Id] | None]
    irreducible: NotRequired[bool | None]
    max_cost: NotRequired[int | None]


@with_config(STRICT)
class TracePointWire(TypedDict):
    seconds: float
    value: Amount | None
    bound: Amount | None


@with_config(STRICT)
class RunWire(TypedDict):
    seconds: float
    trace: NotRequired[Items[TracePointWire]]
    machine: NotRequired[dict[Name, Label]]


@with_config(STRICT)
class PickWire(TypedDict):
    group: Name
    alternative: Name


@with_config(STRICT)
class PaidWire(TypedDict):
    name: Name
    value: int


@with_config(STRICT)
class PriceWire(TypedDict):
    """The price of each byte that is live in a pool at a time."""

    pool: Name
    time: Time
    price: Price


@with_config(STRICT)
class ChoiceCertificateWire(TypedDict):
    """Of all choices, or those `within` some memory: `memory` times what one needs and `cost` times what it costs are together `value` or more."""

    value: int | None
    memory: Price
    cost: Price
    weights: Items[PriceWire]
    within: NotRequired[int | None]


@with_config(STRICT)
class ChoiceWire(TypedDict):
    goal: Literal["size", "speed", "point"]
    cost: int
    cost_bound: int | None
    most_cost: int | None
    costs: Items[PaidWire]
    alternatives: Items[PickWire]
    certificate: NotRequired[Annotated[Items[ChoiceCertificateWire], Field(max_length=MOST_OF_ALL_CHOICES)]]


@with_config(STRICT)
class PlanWire(TypedDict):
    format: Literal["memplan-plan/1"]
    status: Status
    stop: Stop
    peak: Amount | None
    bound: Amount
    gap: float | None
    objective: ObjectiveWire
    pools: Items[PoolUseWire]
    choice: NotRequired[ChoiceWire | None]
    placements: Items[PlacementWire]
    solver: Name | None
    seed: int
    reproducible: bool
    versions: NotRequired[dict[Name, Name]]
    problem_digest: Name
    certificate: NotRequired[Items[CertificateWire]]
    shortage: NotRequired[ShortageWire | None]
    warnings: NotRequired[Items[Prose]]
    run: NotRequired[RunWire]
