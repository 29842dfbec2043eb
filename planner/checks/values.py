"""What values must be: integers in a range, names, ranges that do not end before they start."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from itertools import chain
from operator import le

from ..model.columns.ranges import RangeColumns
from ..model.errors import Code
from ..model.problem import MAX_ADDRESS, MAX_TEXT, Interval
from .report import Place, Report, quoted

_HALF_PAIR = re.compile("[\ud800-\udfff]")


def are_integers(values: object) -> bool:
    """True for a sequence of integers, and nothing else (True and 4.0 are none)."""
    return isinstance(values, Sequence) and all(type(value) is int for value in values)


def check_numbers(report: Report, place: Place, field: str, values: Sequence[object]) -> None:
    """Check the numbers of one field."""
    if {*map(type, values)} == {int} and min(values) >= 0 and max(values) <= MAX_ADDRESS:  # type: ignore[type-var,operator]
        return
    for i, value in enumerate(values):
        check_number(report, (*place, i, field), value)


def check_number(report: Report, place: Place, value: object, low: int = 0, high: int = MAX_ADDRESS) -> bool:
    """Check that a value is an integer in a range; return whether it is."""
    if type(value) is not int:
        report.add(Code.WRONG_TYPE, place, f"must be an integer, not {type(value).__name__}")
    elif not low <= value <= high:
        report.add(Code.OUT_OF_RANGE, place, f"must be from {low} to {high}, not {quoted(value)}")
    else:
        return True
    return False


def check_name(report: Report, place: Place, name: object, what: str) -> bool:
    """Check that a name is a string, not empty, and not too long; return whether it is."""
    if not isinstance(name, str) or not name:
        report.add(Code.INVALID_VALUE, place, f"{what} needs a name: a string that is not empty")
        return False
    return check_text(report, place, name)


def check_text(report: Report, place: Place, text: str) -> bool:
    """Check that a text is not too long, and can be written; return whether that is so."""
    if len(text) > MAX_TEXT:
        report.add(Code.TOO_LARGE, place, f"must have {MAX_TEXT} characters at most, not {len(text)}")
        return False
    if not is_whole(text):
        message = f"the string {quoted(text)} contains half of a surrogate pair, which UTF-8 has not"
        report.add(Code.INVALID_VALUE, place, message)
        return False
    return True


def is_whole(text: str) -> bool:
    """True if the text has no half of a surrogate pair: what has one can be written, but is refused when it is read."""
    return text.isascii() or _HALF_PAIR.search(text) is None


def check_ranges(report: Report, place: Place, ranges: Sequence[Interval], low: int, high: int) -> None:
    if len(ranges) > 1 and _are_sound_ranges(ranges, low, high):
        return
    for j, (start, end) in enumerate(ranges):
        if (
            check_number(report, (*place, j, 0), start, low, high)
            and check_number(report, (*place, j, 1), end, low, high)
            and end < start
        ):
            report.add(Code.INTERVAL_REVERSED, (*place, j), f"the end {end} comes before the start {start}")


def _are_sound_ranges(ranges: Sequence[Interval], low: int, high: int) -> bool:
    """True if all ranges are sound; checking all together is faster."""
    if isinstance(ranges, RangeColumns):
        return bool(ranges.start[0] >= low and ranges.end[-1] <= high)
    ends = [*chain.from_iterable(ranges)]
    if {*map(type, ends)} != {int} or min(ends) < low or max(ends) > high:
        return False
    return all(map(le, ends[::2], ends[1::2]))


def check_allowed_pools(report: Report, place: Place, pools: Sequence[str], known: Container[str]) -> None:
    """Check the names of the pools in which something may be."""
    if not pools:
        report.add(Code.INVALID_VALUE, place, "must name at least one pool; leave it out to allow all")
    seen = {*pools}
    if len(seen) == len(pools) and all(map(known.__contains__, seen)):
        return
    seen.clear()
    for j, name in enumerate(pools):
        if name not in known:
            report.add(Code.UNKNOWN_POOL, (*place, j), f"there is no pool {quoted(name)}")
        elif name in seen:
            report.add(Code.INVALID_VALUE, (*place, j), f"pool {quoted(name)} is named twice")
        seen.add(name)
