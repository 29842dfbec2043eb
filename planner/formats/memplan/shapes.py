"""memplan/1 with `symbols`: reads sizes that are expressions or ranges into a ShapedProblem, and writes them; the rest is as in any problem."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ...checks.report import Place, Report
from ...model.deadline import in_time, look
from ...model.errors import Code
from ...model.problem import Problem
from ...planning.shapes.expression import LIMIT, Expression, ExpressionError, Kind, number, parse, times, total
from ...planning.shapes.ranges import Effort, parts_of, size_range
from ...planning.shapes.shaped import ShapedProblem, check_symbols
from ..documents import Source
from ..json.lines import document as lines_of
from ..json.scan import READING
from ..json.sentences import kind_of
from .write import write_memplan

RANGE = re.compile(rb'"size_range"[ \t\n\r]*:')
MOST_PARTS = 100_000
"""The most parts of all different expressions of a problem."""

ReadPlain = Callable[[Source], tuple[Problem, tuple[str, ...]]]


def shaped_document(source: Source) -> dict[str, Any] | None:
    """Return the document, which is sound JSON, if its sizes may depend on symbols; None otherwise."""
    if "symbols" not in source.top and not RANGE.search(source.data):
        return None
    document = source.loaded()
    if not isinstance(document, dict):
        return None
    buffers = document.get("buffers")
    has_ranges = isinstance(buffers, list) and any(isinstance(b, dict) and "size_range" in b for b in buffers)
    return document if "symbols" in document or has_ranges else None


def read_shaped_document(
    document: dict[str, Any], name: str | None, read_plain: ReadPlain
) -> tuple[ShapedProblem, tuple[str, ...]]:
    """Return the problem, its largest sizes checked like any other problem's. Raises BadInput."""
    report = Report()
    symbols = _symbols(document.pop("symbols", {}), report)
    report.raise_if_any()
    buffers = document.get("buffers")
    sizes: list[Expression] = []
    least: list[Expression | None] = []
    if isinstance(buffers, list):
        reader = _Sizes(symbols, report)
        for i, buffer in enumerate(in_time(buffers, READING, "buffer")):
            size, low = reader.of(buffer, i) if isinstance(buffer, dict) else (number(0), None)
            sizes.append(size)
            least.append(low)
    report.raise_if_any()
    problem, warnings = read_plain(Source(json.dumps(document).encode(), name))
    return ShapedProblem(problem, symbols, tuple(sizes), tuple(least)), warnings


def _symbols(given: Any, report: Report) -> dict[str, tuple[int, int]]:
    if not isinstance(given, dict):
        report.add(Code.WRONG_TYPE, ("symbols",), f"must be an object, not {kind_of(given)}")
        return {}
    found: dict[str, tuple[int, int]] = {}
    for name, span in given.items():
        place: Place = ("symbols", name)
        if not isinstance(span, list) or len(span) != 2:
            text = f"must be the least and the greatest value that {name[:64]!r} can have, as in [1, 2048], not {_pair_of(span)}"
            report.add(Code.INVALID_VALUE if isinstance(span, list) else Code.WRONG_TYPE, place, text)
        elif any(type(end) is not int for end in span):
            wrong = next(end for end in span if type(end) is not int)
            text = f"must be integers, not {kind_of(wrong)}: a symbol needs a least and a greatest value"
            report.add(Code.WRONG_TYPE, place, text)
        else:
            found[name] = (span[0], span[1])
    for finding in check_symbols(found):
        report.listed.append(finding)
    return found


def _pair_of(span: object) -> str:
    """Return a description of what stands in place of a range."""
    return f"a list of {len(span)}" if isinstance(span, list) else kind_of(span)


class _Sizes:
    """Reads the sizes of one document's buffers. Repeated texts are parsed once."""

    def __init__(self, symbols: dict[str, tuple[int, int]], report: Report) -> None:
        self._symbols, self._report = symbols, report
        self._known: dict[str, tuple[Expression, int, int]] = {}
        self._effort = Effort()
        self._parts = 0
        self._is_full = False

    def of(self, buffer: dict[str, Any], i: int) -> tuple[Expression, Expression | None]:
        """Return the buffer's size, and the least if only a range is known. Puts the largest size in its place."""
        if "size_range" not in buffer:
            size = buffer.get("size")
            found = self._read(size, ("buffers", i, "size")) if isinstance(size, str) else None
            if found is None:
                return number(size if type(size) is int else 0), None
            buffer["size"] = found[2]
            return found[0], None
        return self._range(buffer, i)

    def _range(self, buffer: dict[str, Any], i: int) -> tuple[Expression, Expression | None]:
        place: Place = ("buffers", i, "size_range")
        span = buffer.pop("size_range")
        if "size" in buffer:
            self._report.add(Code.INVALID_VALUE, place, "a buffer has a size or a size_range, not both")
        elif not isinstance(span, list) or len(span) != 2:
            text = f"must be the least and the greatest size, as in [0, '4*n'], not {_pair_of(span)}"
            self._report.add(Code.INVALID_VALUE if isinstance(span, list) else Code.WRONG_TYPE, place, text)
        else:
            low, high = (self._read(end, (*place, j)) for j, end in enumerate(span))
            if low is not None and high is not None:
                if high[1] < low[2]:
                    self._check_order(low[0], high[0], place)
                buffer["size"] = high[2]
                return high[0], low[0]
        buffer["size"] = 0
        return number(0), None

    def _check_order(self, low: Expression, high: Expression, place: Place) -> None:
        try:
            size_range(total((high, times((number(-1), low)))), self._symbols, self._effort)
        except ExpressionError as error:
            self._report.add(Code.INVALID_EXPRESSION, place, f"the greatest size less the least: {error}")

    def _read(self, value: Any, place: Place) -> tuple[Expression, int, int] | None:
        """Return the expression with its least and greatest value; None if it is invalid."""
        if type(value) is int:
            if 0 <= value < LIMIT:
                return number(value), value, value
            value = str(value)
        if not isinstance(value, str):
            self._report.add(Code.WRONG_TYPE, place, f"must be an integer or an expression, not {kind_of(value)}")
            return None
        if value not in self._known:
            if self._parts > MOST_PARTS:
                if not self._is_full:
                    text = f"the different expressions up to here have more than {MOST_PARTS} parts; write sizes that are equal alike"
                    self._report.add(Code.TOO_LARGE, place, text)
                self._is_full = True
                return None
            look(READING)
            try:
                made = parse(value, self._symbols)
                self._parts += parts_of(made)
                low, high = size_range(made, self._symbols, self._effort)
            except ExpressionError as error:
                self._report.add(Code.INVALID_EXPRESSION, place, str(error))
                return None
            self._known[value] = made, low.value, high.value
        return self._known[value]


def write_shaped(problem: ShapedProblem) -> bytes:
    """Return the problem as JSON; reading it gives the same one."""
    problem.require_sizes()
    fields = json.loads(write_memplan(problem.largest))
    least = problem.least or (None,) * len(problem.sizes)
    for buffer, size, low in zip(fields["buffers"], problem.sizes, least, strict=True):
        if low is not None:
            del buffer["size"]
            buffer["size_range"] = [str(low), str(size)]
        elif size.kind is not Kind.NUMBER:
            buffer["size"] = str(size)
    symbols = {name: list(span) for name, span in problem.symbols.items()}
    return lines_of({"format": fields.pop("format"), "symbols": symbols, **fields}, listed=("buffers", "pools"))
