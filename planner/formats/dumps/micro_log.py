"""The plans that TFLite Micro's planners print (PrintMemoryPlan): a line for each buffer, lifetimes inclusive at both ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...checks import sound_as_read
from ...checks.report import Report
from ...model.columns.gathered import Gathered
from ...model.errors import Code
from ...model.problem import Buffer, Lifetimes, Problem
from ..text.lines import integer, lines, require_any, times, whole
from .shared_places import OwnPlan

if TYPE_CHECKING:
    from ..documents import Source

ARENA, ALIGNMENT = "arena", 16
"""The memory, and what TFLite Micro aligns all tensors in it to."""
SAMPLE = "a (id=0): size=64, offset=0, first_used=0 last_used=1"
_ROW = re.compile(
    r"\(id=(?P<id>[^)]{1,40})\): size=(?P<size>\S{1,40}), offset=(?P<offset>\S{1,40}), "
    r"first_used=(?P<first>\S{1,40}) last_used=(?P<last>\S{1,40}?)(?=\S \(id=|\s|$)"
)
"""Where the end of a line was lost without a space for it, the next row's letter or digit follows."""


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem that was planned; the log's offsets are hints. A line printed twice counts once."""
    report = Report()
    buffers, rows = Gathered(), dict[str, int]()
    own = OwnPlan()
    for number, line in lines(source.data):
        left = max(line.count("first_used="), line.count("): size="))
        for match in _ROW.finditer(line) if left else ():
            left -= 1
            id_, size, offset, first, last = match.group("id", "size", "offset", "first", "last")
            place = None if (integer(offset) or 0) < 0 else whole(offset, number, "the offset", report)
            bytes_ = whole(size, number, "the size", report)
            live = times(first, last, number, report)
            buffer = Buffer(id_, bytes_, live=(live,), hint=place)
            before = rows.setdefault(id_, len(buffers))
            if before == len(buffers):
                buffers.add(buffer)
            elif buffers.row(before) != buffer:
                text = f"line {number}: buffer {id_} was something else before"
                report.add(Code.DUPLICATE_ID, ("lines", number), text)
            own.add(ARENA, place or 0, bytes_)
            if report.is_full:
                break
        if left and not report.is_full:
            report.add(Code.INVALID_VALUE, ("lines", number), f"line {number} does not look like {SAMPLE}")
        if report.is_full:
            break
    report.raise_if_any()
    require_any(rows, SAMPLE)
    name = f"TFLite Micro's own plan: {own}"
    pools = own.pools(ALIGNMENT)
    rows.clear()
    return sound_as_read(Problem(buffers.all(), pools, name=name, lifetimes=Lifetimes.HALF_OPEN)), ()
