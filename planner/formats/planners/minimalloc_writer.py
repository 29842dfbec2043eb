"""A problem as minimalloc's CSV: id, lower, upper, size, and alignment, hint, offset and gaps if there are any."""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from typing import TYPE_CHECKING

from ...checks.report import bad_input
from ...facts.intervals import merged
from ...facts.variants import as_chosen
from ...model.errors import Code
from ...model.problem import Buffer, Constraints, Problem
from ..memories import in_one_memory
from .minimalloc_columns import DEFAULT

if TYPE_CHECKING:
    from ...model.plan import Plan

OPTIONAL = ("alignment", "hint", "offset", "gaps", "pool")


def write_csv(problem: Problem) -> bytes:
    """Return the rows, half-open. Raises BadInput for what such a file cannot express; sizes of memories are left out."""
    problem = in_one_memory(problem)
    _require_plain(problem)
    pool = problem.pools[0]
    for i, buffer in enumerate(problem.buffers):
        if buffer.live is None:
            raise bad_input(
                Code.LIFETIMES_MISSING, ("buffers", i, "live"), "a row needs a lifetime, and this buffer has none"
            )
    named: dict[str, int | str] = {"pool": "" if pool.name == DEFAULT else pool.name}
    return _beginning(problem) + _table([_row(buffer) | named for buffer in problem.buffers])


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
        "pool": "",
    }


def _table(rows: list[dict[str, int | str]]) -> bytes:
    """Return the rows with the required columns, and those that are not empty."""
    columns = [
        name
        for name in ("id", "lower", "upper", "size", *OPTIONAL)
        if name not in OPTIONAL or any(row[name] != "" for row in rows)
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow(row | ({"alignment": row["alignment"] or 1} if "alignment" in columns else {}))
    return text.getvalue().encode()


def _require_plain(problem: Problem) -> None:
    if len(problem.pools) != 1:
        raise bad_input(Code.UNSUPPORTED, ("pools",), f"CSV has one memory, and there are {len(problem.pools)}")
    if problem.pools[0].reserved:
        raise bad_input(Code.UNSUPPORTED, ("pools", 0), "CSV has no reserved ranges")
    if problem.constraints != Constraints() or problem.variants is not None:
        raise bad_input(Code.UNSUPPORTED, ("constraints",), "CSV has no constraints, and no variants")
    for i, buffer in enumerate(problem.buffers):
        if buffer.max_offset is not None:
            raise bad_input(Code.UNSUPPORTED, ("buffers", i), "CSV has no greatest offset")
