"""Lines of text: with their numbers, and checked numbers in them, or findings with the line; and rows of CSV."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO, StringIO
from math import inf, isfinite

from ...checks.report import Report, bad_input, did_you_mean, quoted
from ...model.deadline import tick
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, MAX_TIME

_INTEGER = re.compile(r"-?[0-9]{1,20}|0x[0-9a-fA-F]{1,20}")
_DECIMAL = re.compile(r"-?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?")


def lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, the first without a byte order mark. Lines that are not text may be in between."""
    text = BytesIO(data)
    if data.startswith(BOM_UTF8):
        text.seek(len(BOM_UTF8))
    for number, line in enumerate(text, 1):
        tick("reading")
        yield number, line.decode("utf-8", "replace").rstrip("\r\n")


def integer(text: str) -> int | None:
    """Return the number, in decimal or 0x; None unless it is written as programs print it. Python's int also takes 1_000, +5, and digits of other scripts."""
    return int(text, 16 if text.startswith("0x") else 10) if _INTEGER.fullmatch(text) else None


def decimal(text: str) -> float | None:
    """Return the number, which may have a point and an exponent; None unless it is written as programs print it, and finite."""
    value = float(text) if _DECIMAL.fullmatch(text) else inf
    return value if isfinite(value) else None


def whole(text: str, number: int, what: str, report: Report, most: int = MAX_ADDRESS) -> int:
    """Return a line's number in decimal or 0x; 0, with a finding, if it is invalid or out of range."""
    value = integer(text)
    if value is None:
        text = f"line {number}: {what} must be a number such as 64 or 0x40, not {quoted(text)}"
        report.add(Code.WRONG_TYPE, ("lines", number), text)
        return 0
    if not 0 <= value <= most:
        report.add(Code.OUT_OF_RANGE, ("lines", number), f"line {number}: {what} must be from 0 to 2^62, not {value}")
        return 0
    return value


def times(first: str, last: str, number: int, report: Report) -> tuple[int, int]:
    """Return the half-open interval from the first to the last time, both inclusive."""
    start = whole(first, number, "the first time", report, MAX_TIME - 1)
    end = whole(last, number, "the last time", report, MAX_TIME - 1)
    if end < start:
        text = f"line {number}: the last time {end} comes before the first, {start}"
        report.add(Code.INTERVAL_REVERSED, ("lines", number), text)
    return start, end + 1


def require_any(found: object, what: str) -> None:
    """Raise BadInput if a log contained nothing to read."""
    if not found:
        raise bad_input(Code.MISSING_FIELD, (), f"the file has no line like {what}")


def header(cells: Sequence[str], known: Mapping[str, str], required: Sequence[str]) -> dict[str, int]:
    """Return where each column is. `known`: all names, also older ones, and the column of each. Raises BadInput with every fault of the names."""
    if len(cells) == 1 and (mark := next((mark for mark in OTHER_MARKS if mark in cells[0]), None)):
        text = f"the columns must be separated by commas, not by {OTHER_MARKS[mark]}"
        raise bad_input(Code.UNREADABLE, ("header",), text)
    columns: dict[str, int] = {}
    report, listed = Report(), ", ".join(dict.fromkeys(known.values()))
    for i, cell in enumerate(cells):
        name = known.get(cell.strip())
        if name is None:
            hint = "" if report.is_full else did_you_mean(cell.strip(), known) or f"; known are {listed}"
            report.add(Code.UNKNOWN_FIELD, ("header", i), f"the column {quoted(cell)} is not known{hint}")
        elif name in columns:
            once, again = cells[columns[name]].strip(), cell.strip()
            words = "" if once == again else f", as {quoted(once)} and as {quoted(again)}"
            report.add(Code.DUPLICATE_KEY, ("header", i), f"the column {quoted(name)} appears twice{words}")
        else:
            columns[name] = i
    for name in required:
        if name not in columns:
            others = [quoted(other) for other, its in known.items() if its == name and other != name]
            called = f" (or as {' or '.join(others)})" if others else ""
            text = f"the first line must name the column {quoted(name)}{called}"
            report.add(Code.MISSING_FIELD, ("header",), text)
    report.raise_if_any()
    return columns


OTHER_MARKS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""With what else tables are written."""
END = "\r\n"
"""While rows are written: Python before 3.13 quotes only the characters of this, and some readers end a row at a lone carriage return."""


class _Lines(StringIO):
    """Rows that end with a newline alone."""

    def write(self, row: str) -> int:
        return super().write(row.removesuffix(END) + "\n")


def table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return as CSV the names of the columns, and these columns of the rows. Every reader makes the same rows again."""
    text = _Lines(newline="")
    writer = csv.DictWriter(text, columns, lineterminator=END, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
