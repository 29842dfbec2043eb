"""The CSV dump of XLA's memory space assignment: one buffer per row, from its definition to its last use, and what the alternate memory gains for it."""

from __future__ import annotations

import re
from array import array
from dataclasses import replace
from typing import TYPE_CHECKING

from solvers.model.instance import Term

from ...checks import sound_as_read
from ...checks.report import Report, bad_input, quoted
from ...model.columns.gathered import Gathered
from ...model.columns.numbered import Numbered
from ...model.errors import Code
from ...model.problem import MAX_TIME, Buffer, Lifetimes, Pool, Problem
from ..planners.minimalloc import first_row, rows
from ..text.lines import decimal, whole

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
OLDER = COLUMNS[:-1]
ALTERNATE, DEFAULT = "alternate", "default"
"""The memories: the fast one, and the one where everything else is."""
GREATEST = 1_000_000
"""What the greatest benefit of a file counts as accesses; all others in proportion."""
BUFFERS, BYTES_A_BUFFER = 1 << 15, 100
"""The buffers that any file may have, and the bytes per further one; XLA's own, with the names of their uses, mostly take more."""
SCOPED = {"": False, "0": False, "false": False, "1": True, "true": True}
"""What may stand in the last column."""
_BETWEEN = re.compile(r"[;,\s]+")


def looks_like(data: bytes) -> bool:
    """True if the first line names these columns."""
    return [cell.strip().strip('"') for cell in first_row(data[:4096]).split(",")] in (COLUMNS, OLDER)


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem: which buffers are in the alternate memory, so that the benefits of all others are least. A buffer is needed at its last time too."""
    report = Report()
    buffers, benefits = Gathered(), array("d")
    taken = Numbered()
    lines = rows(source.data)
    columns = next(lines, (1, []))[1]
    if columns not in (COLUMNS, OLDER):
        raise bad_input(Code.MISSING_FIELD, ("header",), f"the first line must be {','.join(COLUMNS)}")
    for number, cells in lines:
        if len(cells) != len(columns):
            text = f"line {number} has {len(cells)} cells, but the header has {len(columns)}"
            report.add(Code.INVALID_VALUE, ("lines", number), text)
            continue
        id_, name, benefit, size, start, uses, _, scoped = (cell.strip() for cell in [*cells, "0"][: len(COLUMNS)])
        name = name or id_
        if name in taken:
            report.add(Code.DUPLICATE_ID, ("lines", number), f"line {number}: there is another buffer of that name")
        taken.append(name)
        if len(taken) > BUFFERS + len(source.data) // BYTES_A_BUFFER:
            text = f"line {number}: more buffers than a file of this length should have"
            raise bad_input(Code.TOO_LARGE, ("lines", number), text)
        begun = whole(start, number, "the definition time", report, MAX_TIME - 1)
        times = [whole(each, number, "a use time", report, MAX_TIME - 1) for each in _BETWEEN.split(uses) if each]
        live = (begun, max([begun, *times]) + 1)
        if scoped not in SCOPED:
            text = f"line {number}: is_scoped must be 0, 1, false or true, not {quoted(scoped)}"
            report.add(Code.INVALID_VALUE, ("lines", number), text)
        homes = (ALTERNATE,) if SCOPED.get(scoped) else None
        buffers.add(Buffer(name, whole(size, number, "the size", report), live=(live,), pools=homes))
        benefits.append(_benefit(benefit, number, report))
        if report.is_full:
            break
    report.raise_if_any()
    taken.clear()
    unit = max(benefits, default=0) / GREATEST
    every = Gathered()
    for buffer, gain in zip(buffers.rows(), benefits, strict=True):
        every.add(replace(buffer, accesses=round(gain / unit)) if unit and gain > 0 else buffer)
    del buffers
    pools = (Pool(ALTERNATE), Pool(DEFAULT, rank=1))
    terms = (Term.ACCESS_COST, Term.SUM_OF_PEAKS)
    return sound_as_read(Problem(every.all(), pools, terms=terms, lifetimes=Lifetimes.HALF_OPEN)), ()


def _benefit(cell: str, number: int, report: Report) -> float:
    """Return a number; 0, with a finding, if it is none."""
    value = decimal(cell)
    if value is not None:
        return value
    text = f"line {number}: the benefit must be a number such as 0.5 or 2e-06, not {quoted(cell)}"
    report.add(Code.WRONG_TYPE, ("lines", number), text)
    return 0
