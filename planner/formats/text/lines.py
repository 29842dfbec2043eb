"""Lines of text with their numbers, and numbers in them that are what they should be, or a finding with the line."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

from ...checks.report import Report, bad_input, quoted
from ...model.deadline import tick
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, MAX_TIME


def lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Each line with its number. What is no text in between does not matter."""
    for number, line in enumerate(BytesIO(data), 1):
        tick("reading")
        yield number, line.decode("utf-8", "replace").rstrip("\r\n")


def whole(text: str, number: int, what: str, report: Report, most: int = MAX_ADDRESS) -> int:
    """A number of a line, written in decimal or 0x; 0 and a finding if it is none, or out of range."""
    digits = text.removeprefix("0x")
    try:
        if len(digits) > 20:
            raise ValueError
        value = int(digits, 16 if digits != text else 10)
    except ValueError:
        text = f"line {number}: {what} must be a number, not {quoted(text)}"
        report.add(Code.WRONG_TYPE, ("lines", number), text)
        return 0
    if not 0 <= value <= most:
        report.add(Code.OUT_OF_RANGE, ("lines", number), f"line {number}: {what} must be from 0 to 2^62, not {value}")
        return 0
    return value


def times(first: str, last: str, number: int, report: Report) -> tuple[int, int]:
    """The half-open interval from the first to the last time, both of which count."""
    start = whole(first, number, "the first time", report, MAX_TIME - 1)
    end = whole(last, number, "the last time", report, MAX_TIME - 1)
    if end < start:
        text = f"line {number}: the last time {end} comes before the first, {start}"
        report.add(Code.INTERVAL_REVERSED, ("lines", number), text)
    return start, end + 1


def require_any(found: object, what: str) -> None:
    """Raises BadInput if a log had nothing to read."""
    if not found:
        raise bad_input(Code.MISSING_FIELD, (), f"the file has no line such as {what}")
