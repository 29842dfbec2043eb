"""The CSV dump of XLA's memory space assignment: one buffer per row, from its definition to its last use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...checks import sound_as_read
from ...checks.report import Report, bad_input
from ...model.errors import Code
from ...model.gathered import Gathered
from ...model.numbered import Numbered
from ...model.problem import MAX_TIME, Buffer, Lifetimes, Pool, Problem
from ..planners.minimalloc import rows
from ..text.lines import whole

if TYPE_CHECKING:
    from ..documents import Source

COLUMNS = [
    "buffer_id",
    "buffer_name",
    "alt_mem_benefit",
    "size",
    "definition_time",
    "use_times",
    "use_names",
    "is_scoped",
]
_BETWEEN = re.compile(r"[;,\s]+")


def looks_like(data: bytes) -> bool:
    """True if the first line names these columns."""
    first = data[:4096].split(b"\n", 1)[0].decode("utf-8", "replace")
    return [cell.strip().strip('"') for cell in first.split(",")] == COLUMNS


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem: a buffer is needed at its last time too."""
    report = Report()
    buffers = Gathered()
    taken = Numbered()
    lines = rows(source.data)
    if next(lines, (1, []))[1] != COLUMNS:
        raise bad_input(Code.MISSING_FIELD, ("header",), f"the first line must be {','.join(COLUMNS)}")
    for number, cells in lines:
        if len(cells) != len(COLUMNS):
            text = f"line {number} has {len(cells)} cells, but the header has {len(COLUMNS)}"
            report.add(Code.INVALID_VALUE, ("lines", number), text)
            continue
        id_, name, _, size, start, uses, _, _ = (cell.strip() for cell in cells)
        name = name or id_
        if name in taken:
            report.add(Code.DUPLICATE_ID, ("lines", number), f"line {number}: there is another buffer of that name")
        taken.append(name)
        begun = whole(start, number, "the definition time", report, MAX_TIME - 1)
        times = [whole(each, number, "a use time", report, MAX_TIME - 1) for each in _BETWEEN.split(uses) if each]
        live = (begun, max([begun, *times]) + 1)
        buffers.add(Buffer(name, whole(size, number, "the size", report), live=(live,)))
        if report.is_full:
            break
    report.raise_if_any()
    taken.clear()
    problem = Problem(buffers.all(), (Pool("alternate memory"),), lifetimes=Lifetimes.HALF_OPEN)
    return sound_as_read(problem), ()
