"""The CSV format of minimalloc: one buffer a row, lifetimes half-open, one pool whose capacity is given elsewhere.

Columns, in any order: id (also buffer, buffer_id), lower (start, begin), upper, size; and, where present, alignment, offset (a fixed one),
hint (negative: none) and gaps. A column `end` instead of `upper` is inclusive, and so are then the ends of gaps. Gaps are stretches of
time, `12-15 20-22`, in which the buffer is not needed; gaps with a window (`12-15@0:64`: only part of it is needed then) are refused.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from ..checks import sound_as_read
from ..checks.limits import MAX_ADDRESS, MAX_TIME
from ..checks.report import Place, Report, bad_input, quoted
from ..facts.intervals import merged
from ..model.errors import Code
from ..model.problem import Buffer, Fixed, Interval, Lifetimes, Pool, Problem
from .documents import Source

_COLUMNS = {
    "id": "id",
    "buffer": "id",
    "buffer_id": "id",
    "lower": "lower",
    "start": "lower",
    "begin": "lower",
    "upper": "upper",
    "end": "upper",
    "size": "size",
    "alignment": "alignment",
    "offset": "offset",
    "hint": "hint",
    "gaps": "gaps",
}
_REQUIRED = ("id", "lower", "upper", "size")
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,20}\s*", re.ASCII)
_GAP = re.compile(r"(-?[0-9]{1,20})-(-?[0-9]{1,20})(@.*)?", re.ASCII)
_POOL = Pool("default")

PINNED = "the column offset fixes every buffer that has one; leave it out to plan their addresses anew"


def looks_like_csv(data: bytes) -> bool:
    """Does the first line name the columns?"""
    first = data[:4096].lstrip(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    names = {_COLUMNS.get(cell.strip().strip('"')) for cell in first.split(",")}
    return names.issuperset(_REQUIRED)


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """The Problem of a CSV file, checked, and warnings."""
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad_input(Code.UNREADABLE, (), f"is not UTF-8: byte {error.start} cannot be decoded") from None
    report = Report()
    rows = _rows(text)
    columns, inclusive = _header(next(rows, (1, []))[1])
    reader = _Reader(columns, 1 if inclusive else 0, report)
    buffers = tuple(
        buffer for i, (line, cells) in enumerate(rows) if (buffer := reader.buffer(i, line, cells)) is not None
    )
    report.raise_if_any()
    problem = Problem(buffers, pools=(_POOL,), lifetimes=Lifetimes.HALF_OPEN)
    return sound_as_read(problem), (PINNED,) if any(buffer.fixed for buffer in buffers) else ()


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells of all rows that are not empty."""
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise bad_input(Code.UNREADABLE, (), f"is not CSV: {error} at line {reader.line_num}") from None


def _header(cells: list[str]) -> tuple[dict[str, int], bool]:
    columns: dict[str, int] = {}
    for i, cell in enumerate(cells):
        name = _COLUMNS.get(cell.strip())
        if name is None:
            raise bad_input(Code.UNKNOWN_FIELD, ("header", i), f"there is no column {quoted(cell)}")
        if name in columns:
            raise bad_input(Code.DUPLICATE_KEY, ("header", i), f"the column {quoted(name)} is there twice")
        columns[name] = i
    for name in _REQUIRED:
        if name not in columns:
            raise bad_input(Code.MISSING_FIELD, ("header",), f"the first line must name the column {quoted(name)}")
    return columns, any(cell.strip() == "end" for cell in cells)


class _Reader:
    """Turns rows into buffers."""

    def __init__(self, columns: dict[str, int], extra: int, report: Report) -> None:
        self._columns = columns
        self._extra = extra
        """What is added to an end to make it half-open."""
        self._report = report

    def buffer(self, row: int, line: int, cells: list[str]) -> Buffer | None:
        """The buffer of a row; None (and findings) if something is wrong with it."""
        before = self._report.found
        if len(cells) != len(self._columns):
            text = f"line {line} has {len(cells)} cells, but the header has {len(self._columns)}"
            self._report.add(Code.INVALID_VALUE, ("rows", row), text)
            return None
        where = (row, line)
        start = self._number(where, "lower", cells, -MAX_TIME, MAX_TIME)
        end = self._number(where, "upper", cells, -MAX_TIME, MAX_TIME - self._extra)
        size = self._number(where, "size", cells, 0, MAX_ADDRESS)
        alignment = self._number(where, "alignment", cells, 1, MAX_ADDRESS) if "alignment" in self._columns else 1
        offset = self._optional(where, "offset", cells, 0)
        hint = self._optional(where, "hint", cells, -MAX_ADDRESS)
        if start is None or end is None or size is None or alignment is None:
            return None
        end += self._extra
        if end < start or (self._extra and end == start):
            text = f"line {line}: the end {end - self._extra} comes before the start {start}"
            self._report.add(Code.INTERVAL_REVERSED, ("rows", row), text)
            return None
        live = self._live(where, cells, start, end)
        if self._report.found > before:
            return None
        return Buffer(
            id=cells[self._columns["id"]],
            size=size,
            alignment=alignment,
            live=live,
            fixed=None if offset is None else Fixed(_POOL.name, offset),
            hint=hint if hint is not None and hint >= 0 else None,
        )

    def _number(self, where: tuple[int, int], column: str, cells: list[str], low: int, high: int) -> int | None:
        row, line = where
        cell = cells[self._columns[column]]
        place: Place = ("rows", row, column)
        if not _INTEGER.fullmatch(cell):
            self._report.add(Code.WRONG_TYPE, place, f"line {line}: {column} must be an integer, not {quoted(cell)}")
            return None
        value = int(cell)
        if not low <= value <= high:
            text = f"line {line}: {column} must be from {low} to {high}, not {value}"
            self._report.add(Code.OUT_OF_RANGE, place, text)
            return None
        return value

    def _optional(self, where: tuple[int, int], column: str, cells: list[str], low: int) -> int | None:
        if column not in self._columns or not cells[self._columns[column]].strip():
            return None
        return self._number(where, column, cells, low, MAX_ADDRESS)

    def _live(self, where: tuple[int, int], cells: list[str], start: int, end: int) -> tuple[Interval, ...]:
        """The row's lifetime without its gaps."""
        cell = cells[self._columns["gaps"]] if "gaps" in self._columns else ""
        if not cell.strip():
            return ((start, end),) if end > start else ()
        gaps = self._gaps(where, cell)
        live: list[Interval] = []
        for low, high in merged(gaps):
            live.append((start, min(low, end)))
            start = max(start, high)
        live.append((start, end))
        return merged(live)

    def _gaps(self, where: tuple[int, int], cell: str) -> list[Interval]:
        row, line = where
        place: Place = ("rows", row, "gaps")
        gaps: list[Interval] = []
        for text in cell.split():
            match = _GAP.fullmatch(text)
            if match is None:
                self._report.add(
                    Code.INVALID_VALUE, place, f"line {line}: a gap must look like 12-15, not {quoted(text)}"
                )
            elif match[3] is not None:
                message = f"line {line}: the gap {quoted(text)} has a window; gaps with windows are not supported yet"
                self._report.add(Code.NOT_SUPPORTED_YET, place, message)
            elif int(match[2]) + self._extra < int(match[1]):
                message = f"line {line}: the gap {quoted(text)} ends before it starts"
                self._report.add(Code.INTERVAL_REVERSED, place, message)
            else:
                gaps.append((int(match[1]), int(match[2]) + self._extra))
        return gaps
