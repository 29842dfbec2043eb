"""Buffers and pools as TVM's USMP knows them, in JSON: sizes and conflicts, or sizes and inclusive intervals.

Conflicts may be written on one side only, and a buffer may name itself; both are put right, and the lists as they were are kept for planners that
follow TVM's to the letter. Pairs that are not named do not conflict.
The order of `pool_candidates` is the buffer's order of preference.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from ..checks import require_sound
from ..checks.limits import MAX_ADDRESS, MAX_TIME
from ..checks.report import Report, printable, quoted
from ..errors import MAX_ECHO, Code
from ..problem import Buffer, Constraints, Lifetimes, Pair, Pool, Problem
from .scan import Scanned
from .strict import STRICT_VALUES, TOLERANT, Items, Part, Wire, unknown_keys, validate
from .wire import Alignment, Bytes, Name, Time

_SPEEDS = (
    "clock_frequency_hz",
    "read_bandwidth_bytes_per_cycle",
    "write_bandwidth_bytes_per_cycle",
    "read_latency_cycles",
    "write_latency_cycles",
    "target_burst_bytes",
)
SPEEDS = "the pools' speeds are not used: the order of pool_candidates says which pool is preferred"


@with_config(TOLERANT)
class _PoolWire(TypedDict):
    pool_name: Name
    size_hint_bytes: NotRequired[Annotated[int, Field(ge=-1, le=MAX_ADDRESS)] | None]
    clock_frequency_hz: NotRequired[Any]
    read_bandwidth_bytes_per_cycle: NotRequired[Any]
    write_bandwidth_bytes_per_cycle: NotRequired[Any]
    read_latency_cycles: NotRequired[Any]
    write_latency_cycles: NotRequired[Any]
    target_burst_bytes: NotRequired[Any]


@with_config(TOLERANT)
class _BufferWire(TypedDict):
    name_hint: Name
    size_bytes: Bytes
    alignment: NotRequired[Alignment]
    pool_candidates: NotRequired[Items[Name]]
    conflicts: NotRequired[Items[Name]]
    kind: NotRequired[str]


@with_config(TOLERANT)
class _ConflictsWire(TypedDict):
    name: NotRequired[str | None]
    pools: NotRequired[Items[_PoolWire]]
    buffers: Items[_BufferWire]
    memory_pressure: NotRequired[Any]
    expected_peak: NotRequired[Any]
    note: NotRequired[Any]
    expected: NotRequired[Any]


@with_config(TOLERANT)
class _IntervalsWire(TypedDict):
    name: NotRequired[str | None]
    lifetimes: Literal["half_open", "inclusive"]
    intervals: Items[Annotated[list[Time], Field(min_length=3, max_length=3)]]
    memory_pressure: NotRequired[Any]
    expected_peak: NotRequired[Any]
    note: NotRequired[Any]
    expected: NotRequired[Any]


_DEFAULT_POOL: _PoolWire = {"pool_name": "default"}


@cache
def _conflicts_wire() -> Wire:
    return Wire(
        TypeAdapter(_ConflictsWire),
        lambda: {("pools",): Part(TypeAdapter(_PoolWire)), ("buffers",): Part(TypeAdapter(_BufferWire))},
    )


@cache
def _intervals_wire() -> Wire:
    row = Annotated[list[Time], Field(min_length=3, max_length=3)]
    return Wire(TypeAdapter(_IntervalsWire), lambda: {("intervals",): Part(TypeAdapter(row, config=STRICT_VALUES))})


def read_usmp(data: bytes, scanned: Scanned) -> tuple[Problem, tuple[str, ...]]:
    """The Problem of a document of either kind, checked, and warnings."""
    if "intervals" in (scanned.top or {}):
        intervals: _IntervalsWire = validate(_intervals_wire(), data, scanned)
        problem, warnings = _from_intervals(intervals), _unknown(unknown_keys(intervals, _IntervalsWire))
    else:
        conflicts: _ConflictsWire = validate(_conflicts_wire(), data, scanned)
        problem, warnings = _from_conflicts(conflicts), _warnings(conflicts)
    require_sound(problem)
    return problem, tuple(warnings)


def _from_intervals(document: _IntervalsWire) -> Problem:
    """Buffers are numbered in the order of their rows [start, end, size]."""
    report = Report()
    lifetimes = Lifetimes(document["lifetimes"])
    extra = 1 if lifetimes is Lifetimes.INCLUSIVE else 0
    buffers: list[Buffer] = []
    for i, (start, end, size) in enumerate(document["intervals"]):
        if end < start:
            text = f"the end {end} comes before the start {start}"
            report.add(Code.INTERVAL_REVERSED, ("intervals", i), text)
        elif end + extra > MAX_TIME:
            report.add(Code.OUT_OF_RANGE, ("intervals", i, 1), "must be below 2^62, because the interval includes it")
        if size < 0:
            report.add(Code.OUT_OF_RANGE, ("intervals", i, 2), f"must be 0 or more, not {size}")
        buffers.append(Buffer(i, size, live=((start, end + extra),) if end + extra > start else ()))
    report.raise_if_any()
    return Problem(tuple(buffers), name=document.get("name"), lifetimes=lifetimes)


def _from_conflicts(document: _ConflictsWire) -> Problem:
    report = Report()
    names = {buffer["name_hint"]: i for i, buffer in reversed(list(enumerate(document["buffers"])))}
    pairs: dict[Pair, None] = {}
    listed: dict[Pair, None] = {}
    buffers: list[Buffer] = []
    for i, buffer in enumerate(document["buffers"]):
        name = buffer["name_hint"]
        if names[name] != i:
            text = f"buffer {i} has the same name {quoted(name)} as buffer {names[name]}"
            report.add(Code.DUPLICATE_ID, ("buffers", i, "name_hint"), text)
        for j, other in enumerate(buffer.get("conflicts", [])):
            if other not in names:
                text = f"there is no buffer {quoted(other)}"
                report.add(Code.UNKNOWN_BUFFER, ("buffers", i, "conflicts", j), text)
                continue
            listed[name, other] = None
            if names[other] != i:
                pairs[(name, other) if i < names[other] else (other, name)] = None
        candidates = buffer.get("pool_candidates")
        buffers.append(
            Buffer(
                name,
                buffer["size_bytes"],
                buffer.get("alignment", 1),
                pools=None if candidates is None else tuple(candidates),
                kind=buffer.get("kind"),
            )
        )
    pools = tuple(
        Pool(pool["pool_name"], _size(pool.get("size_hint_bytes")), rank=i)
        for i, pool in enumerate(document.get("pools", [_DEFAULT_POOL]))
    )
    report.raise_if_any()
    symmetric = all(name != other and (other, name) in listed for name, other in listed)
    constraints = Constraints(conflicts=tuple(pairs), listed=() if symmetric else tuple(listed))
    return Problem(tuple(buffers), pools, constraints, name=document.get("name"))


def _size(hint: int | None) -> int | None:
    return None if hint is None or hint < 0 else hint


def _warnings(document: _ConflictsWire) -> list[str]:
    extra = unknown_keys(document, _ConflictsWire)
    for pool in document.get("pools", []):
        extra += unknown_keys(pool, _PoolWire)
    for buffer in document["buffers"]:
        extra += unknown_keys(buffer, _BufferWire)
    timed = any(speed in pool for pool in document.get("pools", []) for speed in _SPEEDS)
    return _unknown(extra) + ([SPEEDS] if timed else [])


def _unknown(names: list[str]) -> list[str]:
    """One warning for all fields that nobody here understands."""
    if not names:
        return []
    different = list(dict.fromkeys(names))
    shown = printable(", ".join(name[:MAX_ECHO] for name in different[:10]))[: MAX_ECHO - 20]
    more = f" and {len(different) - 10} more" if len(different) > 10 else ""
    return [f"ignored, because their meaning is not known: {shown}{more}"]
