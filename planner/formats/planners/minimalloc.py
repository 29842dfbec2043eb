"""The CSV format of minimalloc: one buffer per row, lifetimes half-open, one pool whose capacity is given elsewhere.

Columns, in any order: id (also buffer, buffer_id), lower (start, begin), upper, size; and optionally alignment, offset (a fixed one), hint
(negative: none), gaps and kind. A column `end` instead of `upper` is inclusive, and so are then the ends of gaps. Gaps are intervals,
`12-15 20-22`, in which the buffer is not needed, or only a part of it, its window (`12-15@0:64`). omnimalloc may state in a line before all
others where the memory begins: `# pool_offset=4096`.

Columns of memplan's own: pool says in which memory each buffer is, label what it is if omnimalloc has no such kind.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import BytesIO, TextIOWrapper
from typing import cast

import numpy as np

from solvers.model.instance import Ints

from ...checks import sound_as_read
from ...checks.report import Place, Report, bad_input, cut, quoted
from ...facts.intervals import merged
from ...model.columns.buffers import ids
from ...model.columns.gathered import Gathered, Numbers
from ...model.columns.pools import named_pools
from ...model.columns.relations import tie_columns
from ...model.deadline import tick
from ...model.errors import BadInput, Code
from ...model.problem import (
    MAX_ADDRESS,
    MAX_TIME,
    Buffer,
    BufferId,
    Colocation,
    Constraints,
    Fixed,
    Interval,
    Lifetimes,
    Pool,
    Problem,
)
from ..documents import LEAST_BYTES, Source
from ..json.scan import EMPTY, is_empty, not_utf_8, undecodable
from ..text.lines import header
from .minimalloc_clocks import MARK, Clocks
from .minimalloc_columns import DEFAULT, read_columns
from .minimalloc_windows import name_of

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
    "kind": "kind",
    "label": "label",
    "pool": "pool",
}
_REQUIRED = ("id", "lower", "upper", "size")
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,20}\s*", re.ASCII)
_LONG_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*", re.ASCII)
_GAP = re.compile(r"(-?[0-9]{1,20})-(-?[0-9]{1,20})(@.*)?", re.ASCII)
_WINDOW = re.compile(r"@([0-9]{1,20}):([0-9]{1,20})", re.ASCII)
_BASE = re.compile(rb"(?:\xef\xbb\xbf)?# pool_offset=([0-9]{1,18})\r?\n")

PINNED = "the column offset fixes every buffer that has one; leave it out to plan their addresses anew"


def first_row(head: bytes) -> str:
    """Return the first line that is not empty, as programs end lines."""
    return head.lstrip(b"\xef\xbb\xbf\r\n").replace(b"\r", b"\n").split(b"\n", 1)[0].decode("utf-8", "replace")


def looks_like_csv(data: bytes) -> bool:
    """True if the first line names the columns, after an optional line with the memory's beginning."""
    base = _BASE.match(data)
    head = data[:4096] if base is None else data[base.end() : base.end() + 4096]
    first = first_row(head)
    names = {_COLUMNS.get(cell.strip().strip('"')) for cell in first.split(",")}
    return names.issuperset(_REQUIRED)


def read(source: Source, *, inclusive: bool = False) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem of a CSV file, checked, and warnings. `inclusive`: as if the column `upper` were called `end`."""
    data = source.data
    base = _BASE.match(data)
    if len(data) >= LEAST_BYTES:
        quick = read_columns(data, 0 if base is None else base.end(), _header, inclusive=inclusive)
        if quick is not None:
            try:
                buffers, pool = quick
                return sound_as_read(Problem(buffers, _pools([pool], base), lifetimes=Lifetimes.HALF_OPEN)), ()
            except BadInput:  # which reports the faults, but without lines
                del quick, buffers
    if is_empty(data):
        raise bad_input(Code.MISSING_FIELD, (), EMPTY)
    problem, is_pinned = _read_rows(data, base, inclusive=inclusive)
    return sound_as_read(problem), (PINNED,) if is_pinned else ()


def _read_rows(data: bytes, base: re.Match[bytes] | None, *, inclusive: bool) -> tuple[Problem, bool]:
    """Return the Problem, not checked yet, and whether any row fixes a buffer."""
    report = Report()
    listed = rows(data if base is None else b"\n" + data[base.end() :])
    columns, is_inclusive = _header(next(listed, (1, []))[1])
    reader = _Reader(columns, 1 if inclusive or is_inclusive else 0, report)
    gathered = Gathered()
    with_clocks: list[BufferId] = []
    """Of the rows with clocks of threads."""
    for i, (line, cells) in enumerate(listed):
        buffer = reader.buffer(i, line, cells)
        if buffer is not None and not reader.clocks.are_too_many:
            gathered.add(buffer)
            with_clocks += [buffer.id] if reader.clocks else []
    report.raise_if_any()
    conflicts = reader.clocks.conflicts(with_clocks, len(data)) if reader.clocks else ()
    count = len(gathered)
    gathered.take(reader.parts)
    pools = _pools([*reader.pools] or [DEFAULT], base)
    buffers = gathered.all(pools)
    constraints = Constraints(conflicts, colocations=reader.windows(ids(buffers), count))
    return Problem(buffers, pools, constraints, lifetimes=Lifetimes.HALF_OPEN), reader.is_pinned


def _pools(names: Sequence[str], base: re.Match[bytes] | None) -> Sequence[Pool]:
    """Return the memories of these names. Raises BadInput if the file says where several begin."""
    if base is None:
        return named_pools(names)
    if len(names) > 1:
        raise bad_input(Code.UNSUPPORTED, (), f"line 1 says where one memory begins, and there are {len(names)}")
    return (Pool(names[0], base=int(base[1])),)


def rows(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and cells of all rows that are not empty."""
    byte = undecodable(data)
    if byte is not None:
        raise bad_input(Code.UNREADABLE, (), not_utf_8(data, byte))
    reader = csv.reader(TextIOWrapper(BytesIO(data), "utf-8-sig", newline=""), strict=True)
    try:
        for cells in reader:
            tick("reading")
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        is_long = "field limit" in str(error)
        what = f"a cell has more than {csv.field_size_limit()} characters" if is_long else f"is not CSV: {error}"
        raise bad_input(Code.UNREADABLE, (), f"{what} at line {reader.line_num}") from None


def _header(cells: list[str]) -> tuple[dict[str, int], bool]:
    columns = header(cells, _COLUMNS, _REQUIRED)
    return columns, any(cell.strip() == "end" for cell in cells)


class _Reader:
    """Turns rows into buffers."""

    def __init__(self, columns: dict[str, int], extra: int, report: Report) -> None:
        self._columns = columns
        self._extra = extra
        """The number added to an end to make it half-open."""
        self._report = report
        self.parts = Gathered()
        """The parts of buffers needed within gaps with windows."""
        self._wholes, self._offsets = Numbers(), Numbers()
        """The row of each part's buffer, and the part's place there."""
        self.pools: dict[str, None] = {}
        """The names of the memories, in the order of the rows."""
        self.is_pinned = False
        """True if any row fixes a buffer."""
        self.clocks = Clocks(report)
        self._has_clocks: bool | None = None
        """What the first row has."""

    def buffer(self, row: int, line: int, cells: list[str]) -> Buffer | None:
        """Return the buffer of a row; None, with findings, if it is faulty."""
        before = self._report.found
        if len(cells) != len(self._columns):
            text = f"line {line} has {len(cells)} cells, but the header has {len(self._columns)}"
            self._report.add(Code.INVALID_VALUE, ("rows", row), text)
            return None
        where = (row, line)
        size = self._number(where, "size", cells, 0, MAX_ADDRESS)
        alignment = self._optional(where, "alignment", cells, 1)
        offset = self._optional(where, "offset", cells, 0)
        hint = self._optional(where, "hint", cells, -MAX_ADDRESS)
        id_ = cells[self._columns["id"]]
        live = self._needed(where, cells, id_, size or 0)
        if size is None or self._report.found > before:
            return None
        self.is_pinned = self.is_pinned or offset is not None
        pool = self._cell(cells, "pool") or DEFAULT
        self.pools[pool] = None
        return Buffer(
            id=id_,
            size=size,
            alignment=1 if alignment is None else alignment,
            live=live,
            pools=(pool,) if "pool" in self._columns else None,
            fixed=None if offset is None else Fixed(pool, offset),
            hint=hint if hint is not None and hint >= 0 else None,
            kind=self._cell(cells, "kind").lower() or self._cell(cells, "label") or None,
        )

    def windows(self, ids: Sequence[BufferId], count: int) -> Sequence[Colocation]:
        """Return what ties the parts to their buffers. `ids` are those of so many rows, and then of the parts."""
        parts = cast(Ints, np.arange(count, len(ids), dtype=np.min_scalar_type(-len(ids))))
        return tie_columns(ids, parts, self._wholes.all(), self._offsets.all())

    def _cell(self, cells: list[str], column: str) -> str:
        """Return the text in an optional column."""
        return cells[self._columns[column]].strip() if column in self._columns else ""

    def _number(self, where: tuple[int, int], column: str, cells: list[str], low: int, high: int) -> int | None:
        row, line = where
        cell = cells[self._columns[column]]
        place: Place = ("rows", row, column)
        if not _LONG_INTEGER.fullmatch(cell):
            self._report.add(Code.WRONG_TYPE, place, f"line {line}: {column} must be an integer, not {quoted(cell)}")
            return None
        value = int(cell) if _INTEGER.fullmatch(cell) else None
        if value is None or not low <= value <= high:
            text = f"line {line}: {column} must be from {low} to {high}, not {cut(cell.strip())}"
            self._report.add(Code.OUT_OF_RANGE, place, text)
            return None
        return value

    def _optional(self, where: tuple[int, int], column: str, cells: list[str], low: int) -> int | None:
        if column not in self._columns or not cells[self._columns[column]].strip():
            return None
        return self._number(where, column, cells, low, MAX_ADDRESS)

    def _needed(self, where: tuple[int, int], cells: list[str], id_: str, size: int) -> tuple[Interval, ...] | None:
        """Return when the row's buffer is needed; None if it has clocks, or is faulty."""
        row, line = where
        times = [cells[self._columns[column]] for column in ("lower", "upper")]
        is_clock = any(MARK in time for time in times)
        self._has_clocks = is_clock if self._has_clocks is None else self._has_clocks
        if is_clock or self._has_clocks:
            if self._cell(cells, "gaps") or self._extra or not self._has_clocks:
                text = "clocks of threads stand in all rows or in none, end exclusively, and have no gaps"
                self._report.add(Code.UNSUPPORTED, ("rows", row, "lower"), f"line {line}: {text}")
            else:
                self.clocks.add(row, line, *times)
            return None
        start = self._number(where, "lower", cells, -MAX_TIME, MAX_TIME)
        end = self._number(where, "upper", cells, -MAX_TIME, MAX_TIME - self._extra)
        if start is None or end is None:
            return None
        end += self._extra
        if end < start or (self._extra and end == start):
            text = f"line {line}: the end {end - self._extra} comes before the start {start}"
            self._report.add(Code.INTERVAL_REVERSED, ("rows", row), text)
            return None
        return self._live(where, cells, start, end, id_, size)

    def _live(
        self, where: tuple[int, int], cells: list[str], start: int, end: int, id_: str, size: int
    ) -> tuple[Interval, ...]:
        """Return the row's lifetime without its gaps. What is needed within a gap, its window, becomes a part of the buffer."""
        cell = cells[self._columns["gaps"]] if "gaps" in self._columns else ""
        if not cell.strip():
            return ((start, end),) if end > start else ()
        gaps = self._gaps(where, cell, size)
        for number, (gap, window) in enumerate(gaps):
            first, last = max(gap[0], start), min(gap[1], end)
            if window is not None and window[0] < window[1] and first < last:
                self.parts.add_plain(name_of(id_, number), window[1] - window[0], first, last)
                self._wholes.append(where[0])
                self._offsets.append(window[0])
        live: list[Interval] = []
        for low, high in merged([gap for gap, _ in gaps]):
            live.append((start, min(low, end)))
            start = max(start, high)
        live.append((start, end))
        return merged(live)

    def _gaps(self, where: tuple[int, int], cell: str, size: int) -> list[tuple[Interval, Interval | None]]:
        row, line = where
        place: Place = ("rows", row, "gaps")
        gaps: list[tuple[Interval, Interval | None]] = []
        for text in cell.split():
            match = _GAP.fullmatch(text)
            window = None if match is None or match[3] is None else _WINDOW.fullmatch(match[3])
            if match is None or (match[3] is not None and window is None):
                message = f"line {line}: a gap must look like 12-15, or 12-15@0:64, not {quoted(text)}"
                self._report.add(Code.INVALID_VALUE, place, message)
            elif int(match[2]) + self._extra < int(match[1]):
                message = f"line {line}: the gap {quoted(text)} ends before it starts"
                self._report.add(Code.INTERVAL_REVERSED, place, message)
            elif window is not None and not int(window[1]) <= int(window[2]) <= size:
                message = f"line {line}: the window of {quoted(text)} is not within the buffer's {size} bytes"
                self._report.add(Code.OUT_OF_RANGE, place, message)
            else:
                shown = None if window is None else (int(window[1]), int(window[2]))
                gaps.append(((int(match[1]), int(match[2]) + self._extra), shown))
        return gaps
