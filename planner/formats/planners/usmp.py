"""Buffers and pools of TVM's USMP in JSON: sizes and conflicts, or sizes and inclusive intervals.

Conflicts may be written on one side only, and a buffer may name itself; both are corrected, and the original lists are kept for planners that
follow TVM's to the letter. Pairs that are not named do not conflict. The order of `pool_candidates` is the buffer's order of preference.
"""

from __future__ import annotations

from array import array
from functools import cache
from typing import Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from ...checks import sound_as_read
from ...checks.report import Report, printable, quoted
from ...facts.constants import CONSTANT
from ...model.columns.buffers import buffer_columns
from ...model.errors import MAX_ECHO, Code
from ...model.problem import MAX_ADDRESS, MAX_TIME, Buffer, Fixed, Lifetimes, Pool, Problem, Speed
from ..documents import Source
from ..json.strict import STRICT_VALUES, TOLERANT, Items, Part, Wire, once, unknown_keys
from ..json.validate import validate
from ..memories import SPEED_FIELDS, read_data
from ..memplan.wire import Alignment, Bytes, Name, Time
from .usmp_buffers import Buffers, BufferWire

_ASIDE = ("expected", "expected_peak", "note")
_Speed = Annotated[int, Field(ge=-1, le=MAX_ADDRESS)] | None
"""TVM writes -1 for unknown."""
SPEEDS = "the pools' speeds are not used, because clock and bandwidths are not known of all of them"


@with_config(TOLERANT)
class _ConstantWire(TypedDict):
    name_hint: Name
    byte_alignment: NotRequired[Alignment]
    byte_offset: NotRequired[Annotated[int, Field(ge=-1, le=MAX_ADDRESS)] | None]
    size_bytes: NotRequired[Bytes]
    data: NotRequired[str | None]
    """In base64; it may replace the size."""
    reads: NotRequired[Bytes]
    writes: NotRequired[Bytes]
    accesses: NotRequired[Bytes]


@with_config(TOLERANT)
class _PoolWire(TypedDict):
    pool_name: Name
    size_hint_bytes: NotRequired[Annotated[int, Field(ge=-1, le=MAX_ADDRESS)] | None]
    clock_frequency_hz: NotRequired[_Speed]
    read_bandwidth_bytes_per_cycle: NotRequired[_Speed]
    write_bandwidth_bytes_per_cycle: NotRequired[_Speed]
    read_latency_cycles: NotRequired[_Speed]
    write_latency_cycles: NotRequired[_Speed]
    target_burst_bytes: NotRequired[Any]
    """A number of bytes, or one for each target; checked by _check_burst, since one error is better than one for each choice."""
    constant_info_arr: NotRequired[Items[_ConstantWire] | None]
    """If there, this is a pool of constants; None: it is not there."""


@with_config(TOLERANT)
class _ConflictsWire(TypedDict):
    name: NotRequired[str | None]
    pools: NotRequired[Items[_PoolWire]]
    buffers: Items[BufferWire]
    memory_pressure: NotRequired[Bytes | None]
    """The largest sum of live bytes, computed by TVM; memplan proves its own bound."""
    expected_peak: NotRequired[Any]
    note: NotRequired[Any]
    expected: NotRequired[Any]


@with_config(TOLERANT)
class _IntervalsWire(TypedDict):
    name: NotRequired[str | None]
    lifetimes: Literal["half_open", "inclusive"]
    intervals: Items[Annotated[list[Time], Field(min_length=3, max_length=3)]]
    """For a long document, _Rows."""
    memory_pressure: NotRequired[Bytes | None]
    """The largest sum of live bytes, computed by TVM; memplan proves its own bound."""
    expected_peak: NotRequired[Any]
    note: NotRequired[Any]
    expected: NotRequired[Any]


_DEFAULT_POOL: _PoolWire = {"pool_name": "default"}


@cache
def _conflicts_wire() -> Wire:
    return Wire(
        TypeAdapter(_ConflictsWire),
        once(
            lambda: {
                ("pools",): Part(TypeAdapter(_PoolWire)),
                ("buffers",): Part(TypeAdapter(BufferWire), kept=Buffers),
            }
        ),
        is_open=True,
    )


@cache
def _intervals_wire() -> Wire:
    row = Annotated[list[Time], Field(min_length=3, max_length=3)]
    part = Part(TypeAdapter(row, config=STRICT_VALUES), kept=_Rows)
    return Wire(TypeAdapter(_IntervalsWire), lambda: {("intervals",): part}, is_open=True)


class _Rows:
    """Very many rows of three numbers, in columns."""

    def __init__(self, rows: list[list[int]]) -> None:
        self.clear()
        self.extend(rows)

    def extend(self, rows: list[list[int]]) -> None:
        for column, numbers in zip(self.columns, zip(*rows, strict=True), strict=False):
            column.extend(numbers)

    def clear(self) -> None:
        self.columns = tuple(array("q") for _ in range(3))


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem of a document of either kind, checked, and warnings."""
    if "intervals" in source.top:
        intervals: _IntervalsWire = validate(_intervals_wire(), source.data, source.scanned)
        problem = _from_intervals(intervals)
        warnings = _aside(intervals) + _unknown(unknown_keys(intervals, _IntervalsWire))
    else:
        conflicts: _ConflictsWire = validate(_conflicts_wire(), source.data, source.scanned)
        given = conflicts["buffers"]
        kept = given if isinstance(given, Buffers) else Buffers(given)
        conflicts["buffers"] = []
        problem, warnings = _from_conflicts(conflicts, kept), _warnings(conflicts, kept)
    return sound_as_read(problem), tuple(warnings)


def _from_intervals(document: _IntervalsWire) -> Problem:
    """Return buffers numbered in the order of their rows [start, end, size]."""
    report = Report()
    lifetimes = Lifetimes(document["lifetimes"])
    extra = 1 if lifetimes is Lifetimes.INCLUSIVE else 0
    given = document["intervals"]
    kept = given if isinstance(given, _Rows) else _Rows(given)
    start, end, size = (np.frombuffer(column, np.int64) for column in kept.columns)
    document["intervals"] = []
    for i in np.flatnonzero((end < start) | (end > MAX_TIME - extra) | (size < 0)).tolist():
        if end[i] < start[i]:
            text = f"the end {end[i]} comes before the start {start[i]}"
            report.add(Code.INTERVAL_REVERSED, ("intervals", i), text)
        elif end[i] + extra > MAX_TIME:
            report.add(Code.OUT_OF_RANGE, ("intervals", i, 1), "must be below 2^62, because the interval includes it")
        if size[i] < 0:
            report.add(Code.OUT_OF_RANGE, ("intervals", i, 2), f"must be 0 or more, not {size[i]}")
    report.raise_if_any()
    end += extra
    buffers = buffer_columns(range(len(start)), size, np.ones_like(size), start, end)
    return Problem(buffers, name=document.get("name"), lifetimes=lifetimes)


def _from_conflicts(document: _ConflictsWire, kept: Buffers) -> Problem:
    report = Report()
    kept.check(report)
    for i, pool in enumerate(document.get("pools", ())):
        _check_burst(pool.get("target_burst_bytes"), i, report)
    constants = _constants(document, kept, report)
    constraints = kept.conflicts(report)
    buffers = kept.all(constants, report)
    report.raise_if_any()
    pools = document.get("pools", [_DEFAULT_POOL])
    speeds = [_speed(pool) for pool in pools]
    known = None not in speeds
    return Problem(
        buffers,
        tuple(
            Pool(
                pool["pool_name"],
                _size(pool.get("size_hint_bytes")),
                rank=i,
                speed=speed if known else None,
                read_only=pool.get("constant_info_arr") is not None,
            )
            for i, (pool, speed) in enumerate(zip(pools, speeds, strict=True))
        ),
        constraints,
        name=document.get("name"),
    )


def _constants(document: _ConflictsWire, kept: Buffers, report: Report) -> list[Buffer]:
    """Return the constants of all pools of constants, after all other buffers."""
    found: list[Buffer] = []
    are_any = any(pool.get("constant_info_arr") for pool in document.get("pools", ()))
    names = kept.index() if are_any else {}
    for i, pool in enumerate(document.get("pools", ())):
        for j, constant in enumerate(pool.get("constant_info_arr") or ()):
            place = ("pools", i, "constant_info_arr", j)
            name = constant["name_hint"]
            if names.setdefault(name, len(kept) + len(found)) != len(kept) + len(found):
                report.add(Code.DUPLICATE_ID, (*place, "name_hint"), f"another buffer is called {quoted(name)}, too")
            data = read_data(constant.get("data"), (*place, "data"), report)
            size = constant.get("size_bytes", None if data is None else len(data))
            if size is None:
                report.add(Code.MISSING_FIELD, (*place, "size_bytes"), "is needed where there is no data")
            offset = constant.get("byte_offset")
            found.append(
                Buffer(
                    name,
                    size or 0,
                    constant.get("byte_alignment", 1),
                    fixed=Fixed(pool["pool_name"], None if offset is None or offset < 0 else offset),
                    kind=CONSTANT,
                    accesses=constant.get("accesses", 0),
                    reads=constant.get("reads", 0),
                    writes=constant.get("writes", 0),
                    data=data,
                )
            )
    return found


def _speed(pool: _PoolWire) -> Speed | None:
    """Return the known parts of the speed; -1 marks unknown ones."""
    fields: dict[str, Any] = {name: pool.get(name) for name in SPEED_FIELDS[:-1]}
    known = {name: value for name, value in fields.items() if value is not None and value >= 0}
    burst = pool.get("target_burst_bytes")
    sizes = list(burst.values()) if isinstance(burst, dict) else [burst or 1]
    if any(not known.get(name) for name in SPEED_FIELDS[:3]):
        return None
    return Speed(**known, target_burst_bytes=max([1, *sizes]))


def _check_burst(burst: Any, pool: int, report: Report) -> None:
    """Check a number of bytes, or one for each target."""
    sizes = list(burst.values()) if isinstance(burst, dict) else [] if burst is None else [burst]
    if any(type(size) is not int for size in sizes):
        text = "must be an integer, or an object with one for each target"
        report.add(Code.WRONG_TYPE, ("pools", pool, "target_burst_bytes"), text)
    elif any(not 0 <= size <= MAX_ADDRESS for size in sizes):
        report.add(Code.OUT_OF_RANGE, ("pools", pool, "target_burst_bytes"), "must be 0 or more, and 2^62 or less")


def _size(hint: int | None) -> int | None:
    return None if hint is None or hint < 0 else hint


def _warnings(document: _ConflictsWire, kept: Buffers) -> list[str]:
    extra = unknown_keys(document, _ConflictsWire)
    for pool in document.get("pools", []):
        extra += unknown_keys(pool, _PoolWire)
        for constant in pool.get("constant_info_arr") or ():
            extra += unknown_keys(constant, _ConstantWire)
    extra += kept.unknown
    pools = document.get("pools", [])
    has_speeds = any(name in pool for pool in pools for name in SPEED_FIELDS)
    unused = has_speeds and any(_speed(pool) is None for pool in pools)
    return _aside(document) + _unknown(extra) + ([SPEEDS] if unused else [])


def _aside(document: _ConflictsWire | _IntervalsWire) -> list[str]:
    """Return one warning for comments on the problem in test files."""
    names = [name for name in _ASIDE if name in document]
    return [f"ignored, because no part of the problem: {', '.join(names)}"] if names else []


def _unknown(names: list[str]) -> list[str]:
    """Return one warning for all unknown fields."""
    if not names:
        return []
    different = list(dict.fromkeys(names))
    shown = printable(", ".join(name[:MAX_ECHO] for name in different[:10]))[: MAX_ECHO - 20]
    more = f" and {len(different) - 10} more" if len(different) > 10 else ""
    return [f"ignored, because their meaning is not known: {shown}{more}"]
