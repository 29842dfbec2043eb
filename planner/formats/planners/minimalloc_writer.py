"""A problem as minimalloc's CSV: id, lower, upper, size, and alignment, hint, offset, gaps and kind if there are any."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ...checks.names import require_ids_as_texts
from ...checks.report import bad_input, quoted
from ...facts.intervals import merged
from ...facts.variants import as_chosen
from ...model.columns.buffers import ids
from ...model.errors import Code
from ...model.problem import Buffer, Problem
from ..memories import in_one_memory, ties, with_aligned_buffers
from ..text.lines import table
from .minimalloc_columns import DEFAULT
from .minimalloc_windows import without_windows

if TYPE_CHECKING:
    from ...model.plan import Plan

KINDS = ("workspace", "constant", "input", "output")
"""Those of omnimalloc, which reads no others, in capitals."""
OPTIONAL = ("alignment", "hint", "offset", "gaps", "kind", "label", "pool")


def write_csv(problem: Problem) -> bytes:
    """Return the rows, half-open. Raises BadInput for what such a file cannot express; sizes of memories are left out."""
    require_ids_as_texts(problem, ids(problem.buffers))
    problem, windows = without_windows(problem)
    problem = in_one_memory(problem) if len(problem.pools) == 1 else _in_named_memories(problem)
    _require_plain(problem)
    names = {pool.name for pool in problem.pools}
    for i, buffer in enumerate(problem.buffers):
        if buffer.live is None:
            raise bad_input(
                Code.LIFETIMES_MISSING, ("buffers", i, "live"), "a row needs a lifetime, and this buffer has none"
            )
    only = "" if names == {DEFAULT} else problem.pools[0].name
    rows = [
        _row(buffer) | {"pool": buffer.pools[0] if buffer.pools else only} | _kind(buffer) for buffer in problem.buffers
    ]
    for row in rows:
        row |= windows.get(str(row["id"]), {})
    return _beginning(problem) + _table(rows)


def _in_named_memories(problem: Problem) -> Problem:
    """Return the problem in which each buffer names its only memory, and has its alignment. Raises BadInput if it may be in several."""
    for i, pool in enumerate(problem.pools):
        if pool.base:
            text = "CSV says where one memory begins, and there are several"
            raise bad_input(Code.UNSUPPORTED, ("pools", i, "base"), text)
        if not pool.name.strip() or pool.name != pool.name.strip():
            text = "in CSV, names of memories have no spaces around them"
            raise bad_input(Code.UNSUPPORTED, ("pools", i, "name"), text)
    buffers = []
    for i, buffer in enumerate(problem.buffers):
        home = buffer.fixed.pool if buffer.fixed is not None else buffer.pools[0] if buffer.pools else ""
        if buffer.fixed is None and len(buffer.pools or ()) != 1:
            text = f"in CSV each buffer names the memory in which it must be, and {quoted(buffer.id)} may be in several"
            raise bad_input(Code.UNSUPPORTED, ("buffers", i, "pools"), text)
        buffers.append(replace(buffer, pools=(home,)))
    return with_aligned_buffers(replace(problem, buffers=tuple(buffers)))


def write_plan_csv(problem: Problem, plan: Plan, _source: bytes) -> bytes:
    """Return the rows with the plan's offsets, as in minimalloc's solutions; with several memories, also each buffer's memory."""
    where = {place.id: place for place in plan.placements}
    rows: list[dict[str, int | str]] = []
    for buffer in as_chosen(problem, plan).buffers:
        place = where[buffer.id]
        placed: dict[str, int | str] = {
            "hint": "",
            "offset": place.offset,
            "pool": place.pool if len(problem.pools) > 1 else "",
        }
        rows.append(_row(buffer) | placed)
    return _beginning(problem) + _table(rows)


def _beginning(problem: Problem) -> bytes:
    """Return the line that says where the only memory begins: without it, alignments could not be checked."""
    base = problem.pools[0].base if len(problem.pools) == 1 else None
    return b"# pool_offset=%d\n" % base if base else b""


def _row(buffer: Buffer) -> dict[str, int | str]:
    live = merged(buffer.live or ())
    begin, end = (live[0][0], live[-1][1]) if live else (0, 0)
    return {
        "id": buffer.id,
        "lower": "" if buffer.live is None else begin,
        "upper": "" if buffer.live is None else end,
        "size": buffer.size,
        "alignment": "" if buffer.alignment == 1 else buffer.alignment,
        "hint": "" if buffer.hint is None else buffer.hint,
        "offset": "" if buffer.fixed is None or buffer.fixed.offset is None else buffer.fixed.offset,
        "gaps": " ".join(f"{a[1]}-{b[0]}" for a, b in pairwise(live)),
        "kind": "",
        "label": "",
        "pool": "",
    }


def _kind(buffer: Buffer) -> dict[str, int | str]:
    """Return the kind in the words of omnimalloc, or as a label, which it passes over."""
    kind = buffer.kind or ""
    return {"kind": kind.upper(), "label": ""} if kind in KINDS else {"kind": "", "label": kind}


def _table(rows: list[dict[str, int | str]]) -> bytes:
    """Return the rows with the required columns, and those that are not empty."""
    columns = [
        name
        for name in ("id", "lower", "upper", "size", *OPTIONAL)
        if name not in OPTIONAL or any(row[name] != "" for row in rows)
    ]
    if "alignment" in columns:
        rows = [row | {"alignment": row["alignment"] or 1} for row in rows]
    try:
        return table(columns, rows).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        broken = next(value for row in rows for value in row.values() if half in str(value))
        text = f"the string {quoted(broken)} contains half of a surrogate pair, which UTF-8 has not"
        raise bad_input(Code.INVALID_VALUE, ("buffers",), text) from None


def _require_plain(problem: Problem) -> None:
    for i, pool in enumerate(problem.pools):
        if pool.reserved:
            raise bad_input(Code.UNSUPPORTED, ("pools", i), "CSV has no reserved ranges")
    for place, name in ties(problem):
        raise bad_input(Code.UNSUPPORTED, place, f"CSV has no {name}")
    for i, buffer in enumerate(problem.buffers):
        if buffer.max_offset is not None:
            raise bad_input(Code.UNSUPPORTED, ("buffers", i), "CSV has no greatest offset")
