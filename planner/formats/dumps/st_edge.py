"""What ST Edge AI Core writes beside the C code (`network_c_info.json`, schema 2): memories, and buffers with their epochs and places.

Epochs count from the first to the last, both included. Weights are not planned; buffers that lie over each other at a common epoch share on purpose.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...checks import sound_as_read
from ...checks.limits import MAX_ADDRESS, MAX_TIME
from ...checks.report import Place, Report, bad_input, quoted
from ...model.errors import Code
from ...model.problem import Buffer, Constraints, Lifetimes, Pool, Problem
from .shared_places import end_of, ties

if TYPE_CHECKING:
    from ..documents import Source

NOWHERE = -1
"""Where a buffer lies that the caller provides, and the size of a memory that is as large as it has to be."""
KINDS = {"STAI_FLAG_INPUTS": "input", "STAI_FLAG_OUTPUTS": "output"}


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """The Problem of its activations: each memory that holds some, and the file's own places as hints."""
    _ = source.scanned
    document = json.loads(source.data)
    report = Report()
    pools = dict(_pools(document, report))
    buffers = list(_buffers(document, pools, report))
    report.raise_if_any()
    used = {(buffer.pools or ("",))[0] for buffer in buffers}
    memories = tuple(pool for pool in pools.values() if pool.name in used) or (Pool("heap_overlay_pool"),)
    own = sum(max(end_of(each) for each in buffers if each.pools == (pool.name,)) for pool in memories if used)
    problem = Problem(
        tuple(buffers),
        memories,
        Constraints(colocations=tuple(ties(buffers, ("buffers",)))),
        name=f"ST Edge AI's own plan: {own} bytes",
        lifetimes=Lifetimes.HALF_OPEN,
    )
    return sound_as_read(problem), ()


def _rows(document: Any, name: str, report: Report) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The objects of a list of the document."""
    rows = document.get(name) if isinstance(document, dict) else None
    if not isinstance(rows, list):
        code = Code.MISSING_FIELD if rows is None else Code.WRONG_TYPE
        raise bad_input(code, (name,), "must be there, a list")
    for i, row in enumerate(rows):
        if isinstance(row, dict):
            yield (name, i), row
        else:
            report.add(Code.WRONG_TYPE, (name, i), "must be an object")


def _pools(document: Any, report: Report) -> Iterator[tuple[int, Pool]]:
    taken: set[str] = set()
    for rank, (place, row) in enumerate(_rows(document, "memory_pools", report)):
        number = _number(row, "id", place, report)
        size = _number(row, "size_bytes", place, report, NOWHERE)
        alignment = _number(row, "alignment", place, report)
        name = _name(row, taken, place, report)
        yield number, Pool(name, None if size == NOWHERE else size, max(alignment, 1), rank=rank)


def _buffers(document: Any, pools: dict[int, Pool], report: Report) -> Iterator[Buffer]:
    taken: set[str] = set()
    numbers: set[int] = set()
    for place, row in _rows(document, "buffers", report):
        id_ = _number(row, "id", place, report)
        if id_ in numbers:
            report.add(Code.DUPLICATE_ID, (*place, "id"), f"there is another buffer {id_}")
        numbers.add(id_)
        if row.get("is_param") is True:
            continue
        number = _number(row, "mpool_id", place, report, NOWHERE)
        offset = _number(row, "offset_start", place, report, NOWHERE)
        if number == NOWHERE or offset == NOWHERE:
            continue
        epochs = row.get("epochs")
        epochs = epochs if isinstance(epochs, dict) else {}
        start = _number(epochs, "start", (*place, "epochs"), report, -MAX_TIME)
        end = _number(epochs, "end", (*place, "epochs"), report, -MAX_TIME)
        size, alignment = _number(row, "size_bytes", place, report), _number(row, "alignment", place, report)
        name = _name(row, taken, place, report)
        if number not in pools:
            report.add(Code.UNKNOWN_POOL, (*place, "mpool_id"), f"there is no memory {number}")
        elif end < start:
            text = f"the last epoch {end} comes before the first, {start}"
            report.add(Code.INTERVAL_REVERSED, (*place, "epochs"), text)
        else:
            flags = str(row.get("flags", "")).split("|")
            kind = next((KINDS[flag] for flag in flags if flag in KINDS), None)
            live, home = ((start, end + 1),), (pools[number].name,)
            yield Buffer(name, size, max(alignment, 1), live=live, pools=home, hint=offset, kind=kind)


def _name(row: dict[str, Any], taken: set[str], place: Place, report: Report) -> str:
    """The object's name, which no other of its list has; "" and a finding if it is none."""
    name = row.get("name")
    if not isinstance(name, str) or not name:
        report.add(Code.WRONG_TYPE, (*place, "name"), "must be a name")
        return ""
    if name in taken:
        report.add(Code.DUPLICATE_ID, (*place, "name"), f"there is another {quoted(name)}")
    taken.add(name)
    return name


def _number(row: dict[str, Any], name: str, place: Place, report: Report, least: int = 0) -> int:
    """A whole number of the object; 0 and a finding if it is none."""
    value = row.get(name)
    if type(value) is int and least <= value <= min(MAX_ADDRESS, MAX_TIME - 1):
        return value
    code = Code.MISSING_FIELD if name not in row else Code.WRONG_TYPE if type(value) is not int else Code.OUT_OF_RANGE
    report.add(code, (*place, name), f"the field {quoted(name)} must be a whole number from {least} to 2^62")
    return 0
