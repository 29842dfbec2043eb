"""memplan-trace/1: what a run allocated, used and freed, one event per line, as written by programs or instrumented runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NotRequired

from pydantic import TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from ....checks import sound_as_read
from ....checks.report import Place, Report, bad_input
from ....graph.trace import Trace
from ....model.errors import BadInput, Code, Finding
from ....model.problem import Pool
from ...json.scan import scan
from ...json.sentences import describe_error
from ...json.strict import STRICT, BufferIdField, Items
from ..read import read_pools
from ..wire import Alignment, Bytes, Name, PoolWire

if TYPE_CHECKING:
    from ....model.problem import Problem
    from ...documents import Source


@with_config(STRICT)
class _Head(TypedDict):
    format: Literal["memplan-trace/1"]
    name: NotRequired[str | None]
    pools: NotRequired[Items[PoolWire]]


@with_config(STRICT)
class _Alloc(TypedDict):
    event: Literal["alloc"]
    id: BufferIdField
    size: Bytes
    alignment: NotRequired[Alignment]
    pools: NotRequired[Items[Name]]
    kind: NotRequired[Name]


@with_config(STRICT)
class _Share(TypedDict):
    event: Literal["share"]
    id: BufferIdField
    base: BufferIdField
    offset: NotRequired[Bytes]
    size: Bytes
    alignment: NotRequired[Alignment]


@with_config(STRICT)
class _Use(TypedDict):
    event: Literal["use"]
    ids: Items[BufferIdField]
    name: NotRequired[Name]


@with_config(STRICT)
class _Free(TypedDict):
    event: Literal["free"]
    id: BufferIdField


@with_config(STRICT)
class _Begin(TypedDict):
    event: Literal["begin"]
    name: NotRequired[Name]


@with_config(STRICT)
class _Call(TypedDict):
    event: Literal["call"]
    function: Name


@with_config(STRICT)
class _Plain(TypedDict):
    event: Literal["end", "return"]


_EVENTS = {
    "alloc": _Alloc,
    "share": _Share,
    "use": _Use,
    "free": _Free,
    "begin": _Begin,
    "end": _Plain,
    "call": _Call,
    "return": _Plain,
}


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem of the events, and warnings. Raises BadInput with the faulty line."""
    lines = _lines(source.data)
    number, first = next(lines, (1, b"{}"))
    head = _valid(number, first, _Head)
    report = Report()
    pools = read_pools(head["pools"], report) if "pools" in head else (Pool("default"),)
    trace = Trace(pools, report)
    for number, line in lines:
        _apply(trace, number, _valid(number, line, None))
        if report.is_full:
            break
    report.raise_if_any()
    trace.close()
    report.raise_if_any()
    return sound_as_read(trace.problem(head.get("name"))), ()


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    number = begin = 0
    while begin <= len(data):
        number, end = number + 1, data.find(b"\n", begin)
        line = data[begin : len(data) if end < 0 else end]
        begin += len(line) + 1
        if line.strip():
            yield number, line


def _valid(number: int, line: bytes, kind: Any) -> Any:
    """Return the line's object. Raises BadInput with its number."""
    at = f"/lines/{number}"
    try:
        scanned = scan(line)
    except BadInput as error:
        raise BadInput(
            *(Finding(each.code, at + each.pointer, f"line {number}: {each.message}") for each in error.findings)
        ) from None
    if scanned.top is None:
        raise bad_input(Code.WRONG_TYPE, ("lines", number), f"line {number} is not a JSON object")
    if kind is None:
        named = scanned.top.get("event")
        if not isinstance(named, str) or named not in _EVENTS:
            text = f"line {number}: the field 'event' is one of {', '.join(_EVENTS)}"
            raise bad_input(Code.INVALID_VALUE, ("lines", number, "event"), text)
        kind = _EVENTS[named]
    try:
        return _adapter(kind).validate_json(line)
    except ValidationError as error:
        report = Report()
        for detail in error.errors(include_url=False):
            code, where, message = describe_error(detail, (), _adapter(kind).core_schema)
            report.add(code, ("lines", number, *where), f"line {number}: {message}")
        report.raise_if_any()
        raise  # not reached: an error that pydantic reports is listed above


def _apply(trace: Trace, number: int, event: Any) -> None:
    place: Place = ("lines", number)
    match event["event"]:
        case "alloc":
            pools = event.get("pools")
            trace.alloc(
                place,
                event["id"],
                event["size"],
                event.get("alignment", 1),
                None if pools is None else tuple(pools),
                event.get("kind"),
            )
        case "share":
            trace.share(
                place,
                event["id"],
                event["base"],
                event.get("offset", 0),
                event["size"],
                event.get("alignment", 1),
            )
        case "use":
            trace.use(place, event["ids"], event.get("name"))
        case "free":
            trace.free(place, event["id"])
        case "begin":
            trace.begin(place, event.get("name"))
        case "call":
            trace.call(place, event["function"])
        case kind:
            trace.end(place, kind)
