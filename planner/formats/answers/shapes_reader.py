"""memplan-shapes/1: from bytes to a ShapesPlan. Whether it is right is for planner.planning.shapes.verify."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from ...checks.report import Place, Report
from ...model.errors import BadInput, Code, Finding
from ...model.plan import Plan
from ...planning.shapes import Behind, Expression, ExpressionError, Mode, PoolPeak, Row, ShapesPlan, parse
from ...planning.shapes.expression import LONGER, number
from ...planning.shapes.shaped import check_symbols
from ..json.scan import scan
from ..json.strict import STRICT, BufferIdField, Items, Part, Wire
from ..json.validate import validate
from ..memplan.wire import Alignment, Bytes, Time
from .plan_reader import read_plan_json

Span = Annotated[list[Time], Field(min_length=2, max_length=2)]
Amount = Annotated[int, Field(ge=0, le=(1 << 67))]


@with_config(STRICT)
class PeakWire(TypedDict):
    name: str
    size: Bytes | None
    peak: str
    exact: bool


@with_config(STRICT)
class BehindWire(TypedDict):
    id: BufferIdField
    pool: str
    size: str
    alignment: Alignment
    after: Items[BufferIdField]
    offset: NotRequired[str]
    offset_at_most: NotRequired[str]


@with_config(STRICT)
class RowWire(TypedDict):
    at: dict[str, Time]
    used: Amount
    optimum: Amount | None
    bound: Amount


@with_config(STRICT)
class ShapesWire(TypedDict):
    format: Literal["memplan-shapes/1"]
    mode: Literal["maximum", "buckets", "expressions"]
    symbols: dict[str, Span]
    exact: bool
    pools: NotRequired[Items[PeakWire]]
    buffers: NotRequired[Items[BehindWire]]
    shapes: Items[RowWire]
    problem_digest: str
    plan: NotRequired[dict[str, Any]]
    c: NotRequired[str]
    warnings: NotRequired[list[str]]


@cache
def _wire() -> Wire:
    return Wire(TypeAdapter(ShapesWire), _lists, free=frozenset({"symbols", "at", "plan"}))


@cache
def _lists() -> dict[tuple[str, ...], Part]:
    return {
        ("pools",): Part(TypeAdapter(PeakWire)),
        ("buffers",): Part(TypeAdapter(BehindWire)),
        ("shapes",): Part(TypeAdapter(RowWire)),
    }


def read_shapes_plan_json(data: bytes) -> ShapesPlan:
    """Return the ShapesPlan in the document. Raises BadInput."""
    document: ShapesWire = validate(_wire(), data, scan(data))
    symbols = {name: (span[0], span[1]) for name, span in document["symbols"].items()}
    findings = list(check_symbols(symbols))
    if findings:
        raise BadInput(*findings)
    mode, report = Mode(document["mode"]), Report()
    wanted = {"pools", "buffers"} if mode is Mode.EXPRESSIONS else {"plan"}
    for name in ("pools", "buffers", "plan"):
        if (name in document) != (name in wanted):
            code = Code.MISSING_FIELD if name in wanted else Code.UNKNOWN_FIELD
            report.add(code, (name,), f"a plan of the mode {mode} has {'a' if name in wanted else 'no'} field {name!r}")
    report.raise_if_any()
    behind = tuple(_behind(each, i, symbols, report) for i, each in enumerate(document.get("buffers", [])))
    pools = tuple(
        PoolPeak(p["name"], p["size"], _expression(p["peak"], symbols, ("pools", i, "peak"), report), p["exact"])
        for i, p in enumerate(document.get("pools", []))
    )
    for i, row in enumerate(document["shapes"]):
        if row["at"].keys() != symbols.keys():
            report.add(Code.INVALID_VALUE, ("shapes", i, "at"), "must have a value for each symbol, and no other")
    report.raise_if_any()
    rows = tuple(Row(row["at"], row["used"], row["optimum"], row["bound"]) for row in document["shapes"])
    plan = _plan(document["plan"]) if "plan" in document else None
    notes = tuple(document.get("warnings", ()))
    return ShapesPlan(mode, symbols, document["problem_digest"], plan, behind, pools, rows, document["exact"], notes)


def _behind(each: BehindWire, i: int, symbols: Collection[str], report: Report) -> Behind:
    place: Place = ("buffers", i)
    exact = "offset" in each
    if exact == ("offset_at_most" in each):
        report.add(Code.INVALID_VALUE, place, "a buffer has an offset or an offset_at_most")
    name = "offset" if exact else "offset_at_most"
    offset = _expression(each.get("offset", each.get("offset_at_most", "0")), symbols, (*place, name), report)
    size = _expression(each["size"], symbols, (*place, "size"), report)
    return Behind(each["id"], each["pool"], size, each["alignment"], tuple(each["after"]), offset, exact)


def _expression(text: str, symbols: Collection[str], place: Place, report: Report) -> Expression:
    try:
        return parse(text, symbols, LONGER)
    except ExpressionError as error:
        report.add(Code.INVALID_EXPRESSION, place, str(error))
        return number(0)


def _plan(fields: dict[str, Any]) -> Plan:
    data = json.dumps(fields).encode()
    try:
        return read_plan_json(data, scan(data))
    except BadInput as error:
        found = (Finding(f.code, f"/plan{f.pointer}", f.message) for f in error.findings)
        raise BadInput(*found, more=error.more) from None
