"""The problem format memplan/1 as it appears in a file. Every field's description here is the one that users read in the JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from solvers.model.instance import Term

from ...model.problem import MAX_ADDRESS, MAX_TEXT, MAX_TIME
from ..json.strict import STRICT, BufferIdField, Items

TEXT_LIMIT: dict[str, Any] = {"maxLength": MAX_TEXT}
"""For the schema alone: planner.checks sees to it, whatever a problem was written in."""


def described(text: str, default: Any = None, *, min_items: int | None = None) -> Any:
    """Return a field's description with its default, and a length for the schema that planner.checks enforces."""
    extra: dict[str, Any] = {} if default is None else {"default": default}
    if min_items is not None:
        extra["minItems"] = min_items
    return Field(description=text, json_schema_extra=extra)


Bytes = Annotated[int, Field(ge=0, le=MAX_ADDRESS)]
Alignment = Annotated[int, Field(ge=1, le=MAX_ADDRESS)]
Positive = Annotated[int, Field(ge=1, le=MAX_ADDRESS)]
Time = Annotated[int, Field(ge=-MAX_TIME, le=MAX_TIME)]
Text = Annotated[str, Field(json_schema_extra=TEXT_LIMIT)]
Name = Annotated[str, Field(min_length=1, json_schema_extra=TEXT_LIMIT)]
Range = Annotated[list[Bytes], Field(min_length=2, max_length=2)]
Interval = Annotated[list[Time], Field(min_length=2, max_length=2)]
Pair = Annotated[list[BufferIdField], Field(min_length=2, max_length=2)]


@with_config(STRICT)
class PoolWire(TypedDict):
    """A memory to put buffers in."""

    name: Annotated[Name, described("Unique name of the pool.")]
    size: NotRequired[Annotated[Bytes | None, described("Capacity in bytes; null or left out: unlimited.")]]
    alignment: NotRequired[
        Annotated[
            Alignment,
            described("Every address in the pool is a multiple of this (any positive integer), its base included.", 1),
        ]
    ]
    base: NotRequired[
        Annotated[
            Bytes | None, described("Address of offset 0; a multiple of the pool's alignment. Left out: 0 is assumed.")
        ]
    ]
    reserved: NotRequired[
        Annotated[Items[Range], described("Offset ranges [start, end) that no buffer may touch, end not included.", [])]
    ]
    cost: NotRequired[Annotated[Bytes, described("Cost of one byte of this pool's peak in the sum of peaks.", 1)]]
    rank: NotRequired[
        Annotated[
            Bytes, described("Order of preference, 0 is the fastest. Left out: the position in the list of pools.")
        ]
    ]
    read_only: NotRequired[
        Annotated[bool, described("True if the pool holds only buffers of the kind constant.", False)]
    ]
    clock_frequency_hz: NotRequired[Annotated[Positive, described("Cycles of the memory per second.")]]
    read_bandwidth_bytes_per_cycle: NotRequired[Annotated[Positive, described("Bytes read per cycle.")]]
    write_bandwidth_bytes_per_cycle: NotRequired[Annotated[Positive, described("Bytes written per cycle.")]]
    read_latency_cycles: NotRequired[Annotated[Bytes, described("Cycles before the first byte is read. Left out: 0.")]]
    write_latency_cycles: NotRequired[
        Annotated[Bytes, described("Cycles before the first byte is written. Left out: 0.")]
    ]
    target_burst_bytes: NotRequired[
        Annotated[Positive, described("Transfers are rounded up to a multiple of this. Left out: 1.")]
    ]


@with_config(STRICT)
class FixedWire(TypedDict):
    """The place that a buffer must have."""

    pool: Annotated[Name, described("The pool that the buffer must be in.")]
    offset: NotRequired[
        Annotated[Bytes | None, described("The offset that it must have there. Left out: the planner chooses.")]
    ]


@with_config(STRICT)
class BufferWire(TypedDict):
    """A piece of memory that is needed at certain times."""

    id: Annotated[
        BufferIdField, described('Unique id: an integer, or a string that is not empty. 1 and "1" are different ids.')
    ]
    size: Annotated[Bytes, described("Bytes; may be 0.")]
    alignment: NotRequired[
        Annotated[Alignment, described("The buffer's address is a multiple of this (any positive integer).", 1)]
    ]
    live: NotRequired[
        Annotated[
            Items[Interval] | None,
            described(
                "When the buffer is needed: [start, end] intervals, read as `lifetimes` says. Left out: it conflicts only "
                "as the constraints say."
            ),
        ]
    ]
    pools: NotRequired[
        Annotated[
            Items[Name] | None,
            described(
                "The pools that the buffer may be in, in order of preference. Left out: all, by rank.", min_items=1
            ),
        ]
    ]
    fixed: NotRequired[
        Annotated[FixedWire | None, described("A pool, and optionally an offset, that are decided already.")]
    ]
    hint: NotRequired[Annotated[Bytes | None, described("An offset that solvers may try first; it is not binding.")]]
    max_offset: NotRequired[Annotated[Bytes | None, described("The buffer's offset must not be above this.")]]
    kind: NotRequired[
        Annotated[
            Text | None,
            described(
                "A label: input, output, intermediate, constant, workspace, mutable, or any other text. If some pool is read_only, "
                "constants go there, and all other buffers elsewhere; it has no other effect on the plan."
            ),
        ]
    ]
    device: NotRequired[
        Annotated[
            Name | None,
            described(
                "The buffer's device: only buffers of one device share a storage object. It has no effect on offsets."
            ),
        ]
    ]
    dtype: NotRequired[
        Annotated[
            Name | None,
            described(
                "The type of its elements: only buffers of one type share a storage object. It has no effect on offsets."
            ),
        ]
    ]
    accesses: NotRequired[
        Annotated[
            Bytes,
            described("How often the buffer is read or written; counts as reads in the term access_cost.", 0),
        ]
    ]
    reads: NotRequired[Annotated[Bytes, described("How often all of it is read; counts in the term access_cost.", 0)]]
    writes: NotRequired[
        Annotated[Bytes, described("How often all of it is written; counts in the term access_cost.", 0)]
    ]
    data: NotRequired[
        Annotated[
            str | None,
            described("Contents of a constant in base64, as many bytes as its size. They do not affect planning."),
        ]
    ]


@with_config(STRICT)
class ColocationWire(TypedDict):
    """One buffer inside, or just behind, another: a view, a slice, an in-place result, a part of a concatenation."""

    buffer: Annotated[BufferIdField, described("The buffer that follows.")]
    base: Annotated[BufferIdField, described("The buffer that it follows.")]
    offset: Annotated[Bytes, described("The address of `buffer` is the address of `base` plus this.")]


@with_config(STRICT)
class ReusePenaltyWire(TypedDict):
    """The cost if two buffers share addresses."""

    first: Annotated[BufferIdField, described("One buffer.")]
    second: Annotated[BufferIdField, described("The other buffer.")]
    cost: Annotated[
        Bytes, described("Counts in the term reuse_cost if both are in one pool and their address ranges overlap.")
    ]


@with_config(STRICT)
class ConstraintsWire(TypedDict):
    """Everything that relates buffers to each other."""

    conflicts: NotRequired[
        Annotated[Items[Pair], described("Pairs that must not share addresses, whatever their lifetimes.", [])]
    ]
    exclusions: NotRequired[
        Annotated[
            Items[Pair],
            described(
                "Pairs that are never in use at the same time although their lifetimes overlap: they may share addresses.",
                [],
            ),
        ]
    ]
    colocations: NotRequired[
        Annotated[
            Items[ColocationWire],
            described("Buffers at a fixed distance from others. Members of one such group may overlap each other.", []),
        ]
    ]
    same_pool: NotRequired[
        Annotated[Items[Items[BufferIdField]], described("Groups of buffers that must share a pool.", [])]
    ]
    different_pool: NotRequired[
        Annotated[Items[Items[BufferIdField]], described("Groups of buffers no two of which may share a pool.", [])]
    ]
    reuse_penalties: NotRequired[
        Annotated[
            Items[ReusePenaltyWire],
            described("Pairs that should not share addresses if possible; several penalties of one pair add up.", []),
        ]
    ]


if TYPE_CHECKING:
    TermName = str
else:
    TermName = Literal[tuple(term.value for term in Term)]


@with_config(STRICT)
class WasWire(TypedDict):
    """The place of a buffer in an older plan."""

    buffer: Annotated[BufferIdField, described("The buffer.")]
    pool: Annotated[Name, described("The pool that it was in.")]
    offset: Annotated[Bytes, described("Its offset there.")]


@with_config(STRICT)
class ObjectiveWire(TypedDict):
    """What to minimise."""

    terms: NotRequired[
        Annotated[
            Items[TermName],
            described(
                "Minimised in this order: a later term decides only between plans that are equal in all earlier ones.",
                ["sum_of_peaks"],
                min_items=1,
            ),
        ]
    ]
    peak_price: NotRequired[
        Annotated[
            Bytes,
            described(
                "Weight of one byte of the sum of peaks: in access cost in the term balanced, in moved bytes in the term stability.",
                1,
            ),
        ]
    ]
    was: NotRequired[
        Annotated[
            Items[WasWire],
            described(
                "The places of buffers in an older plan, for the terms moved_buffers, moved_bytes and stability. Buffers that are not listed do not count.",
                [],
            ),
        ]
    ]


@with_config(STRICT)
class StepWire(TypedDict):
    """The name of a time."""

    time: Annotated[Time, described("The time.")]
    name: Annotated[Name, described("The name of what happens then, for people.")]


@with_config(STRICT)
class ProblemWire(TypedDict):
    """A memory planning problem."""

    format: Annotated[Literal["memplan/1"], described("The version of this format.")]
    name: NotRequired[Annotated[Text | None, described("A name for people; it has no effect on the plan.")]]
    lifetimes: NotRequired[
        Annotated[
            Literal["half_open", "inclusive"] | None,
            described(
                "The meaning of the end of a live interval: no longer needed at `end` (half_open), or still needed then (inclusive). "
                "Required if any buffer has a live list."
            ),
        ]
    ]
    pools: NotRequired[
        Annotated[
            Items[PoolWire],
            described(
                "The memories. Left out: one of unlimited size with the name default.",
                [{"name": "default"}],
                min_items=1,
            ),
        ]
    ]
    buffers: Annotated[Items[BufferWire], described("The buffers to place; may be empty.")]
    constraints: NotRequired[Annotated[ConstraintsWire, described("Everything that relates buffers to each other.")]]
    steps: NotRequired[
        Annotated[
            Items[StepWire], described("Names of times, which pictures show; they have no effect on the plan.", [])
        ]
    ]
    objective: NotRequired[Annotated[ObjectiveWire, described("What to minimise. Left out: the sum of peaks.")]]
