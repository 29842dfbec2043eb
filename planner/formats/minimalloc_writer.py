"""A problem as minimalloc's CSV: id, lower, upper, size, and alignment, hint, offset and gaps where there are any."""

from __future__ import annotations

import csv
import io
import itertools

from ..checks.report import bad_input
from ..facts.intervals import merged
from ..model.errors import Code
from ..model.problem import Constraints, Problem


def write_csv(problem: Problem) -> bytes:
    """The rows, half-open. Raises BadInput for what such a file cannot say; sizes of memories are not said."""
    _require_plain(problem)
    buffers = problem.buffers
    columns = ["id", "lower", "upper", "size"]
    rows = []
    for i, buffer in enumerate(buffers):
        if buffer.live is None:
            raise bad_input(Code.LIFETIMES_MISSING, ("buffers", i, "live"), "a row has a lifetime, and this has none")
        live = merged(buffer.live)
        gaps = " ".join(f"{a[1]}-{b[0]}" for a, b in itertools.pairwise(live))
        begin, end = (live[0][0], live[-1][1]) if live else (0, 0)
        offset = "" if buffer.fixed is None or buffer.fixed.offset is None else buffer.fixed.offset
        hint = "" if buffer.hint is None else buffer.hint
        rows.append([buffer.id, begin, end, buffer.size, buffer.alignment, hint, offset, gaps])
    optional = {
        "alignment": any(buffer.alignment != 1 for buffer in buffers),
        "hint": any(row[5] != "" for row in rows),
        "offset": any(row[6] != "" for row in rows),
        "gaps": any(row[7] for row in rows),
    }
    shown = [*range(4), *(4 + i for i, wanted in enumerate(optional.values()) if wanted)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns + [name for name, wanted in optional.items() if wanted])
    writer.writerows([row[i] for i in shown] for row in rows)
    return text.getvalue().encode()


def _require_plain(problem: Problem) -> None:
    if len(problem.pools) != 1:
        raise bad_input(Code.UNSUPPORTED, ("pools",), f"one memory can be said, and there are {len(problem.pools)}")
    if problem.pools[0].reserved or problem.pools[0].alignment != 1:
        raise bad_input(Code.UNSUPPORTED, ("pools", 0), "reserved ranges and a memory's alignment cannot be said")
    if problem.constraints != Constraints() or problem.variants is not None:
        raise bad_input(Code.UNSUPPORTED, ("constraints",), "constraints and variants cannot be said")
    for i, buffer in enumerate(problem.buffers):
        if buffer.max_offset is not None:
            raise bad_input(Code.UNSUPPORTED, ("buffers", i), "a greatest offset cannot be said")
