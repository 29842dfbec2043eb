"""A MemoryMap as JSON (memplan-map/1), in columns, for programs that draw it themselves. Numbers too large for JavaScript are strings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ...drawing.memory_map import MemoryMap, PoolMap, ceiling
from ...drawing.style import colours_of
from ..documents import MAP_FORMAT

EXACT = (1 << 53) - 1
"""All whole numbers up to this are distinct in double precision."""
MOST_FINDINGS = 100
MOST_LETTERS = 64
"""The most letters of a step's name."""


def write_map(drawn: MemoryMap) -> bytes:
    """Return the map as one line of JSON. Times count from `axis.begin`."""
    begin = drawn.axis.begin
    fields = {
        "format": MAP_FORMAT,
        "problem": drawn.problem,
        "lifetimes": None if drawn.lifetimes is None else drawn.lifetimes.value,
        "in_bytes": drawn.in_bytes,
        "weighs_peaks": drawn.weighs_peaks,
        "status": drawn.status.value,
        "peak": _number(drawn.peak),
        "bound": _number(drawn.bound),
        "gap": drawn.gap,
        "solver": drawn.solver,
        "axis": {
            "begin": _number(begin),
            "end": _number(drawn.axis.end - begin),
            "untimed_from": _number(drawn.axis.untimed_from - begin),
            "right": _number(drawn.axis.right - begin),
        },
        "steps": {
            "time": _numbers(time - begin for time in drawn.steps),
            "name": [name[:MOST_LETTERS] for name in drawn.steps.values()],
        },
        "kinds": [
            {"name": name, "colour": colour} for name, colour in zip(drawn.kinds, colours_of(drawn.kinds), strict=True)
        ],
        "folder": drawn.folder,
        "buffers": {
            "id": [_number(b.id) if isinstance(b.id, int) else b.id for b in drawn.buffers],
            "size": _numbers(b.size for b in drawn.buffers),
            "alignment": _numbers(b.alignment for b in drawn.buffers),
            "kind": list(drawn.kind),
            "untimed": [number for number, b in enumerate(drawn.buffers) if b.live is None],
        },
        "pools": [_pool(drawn, pool) for pool in drawn.pools],
        "wrong": [
            {"kind": finding.kind.value, "message": finding.message, "buffers": list(finding.buffers)}
            for finding in drawn.wrong[:MOST_FINDINGS]
        ],
        "wrong_count": len(drawn.wrong),
    }
    return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode("ascii")


def _pool(drawn: MemoryMap, pool: PoolMap) -> dict[str, Any]:
    begin = drawn.axis.begin
    return {
        "name": pool.name,
        "size": _number(pool.size),
        "base": None if pool.base is None else hex(pool.base),
        "peak": _number(pool.peak),
        "bound": _number(pool.bound),
        "top": _number(ceiling(pool, drawn.buffers)),
        "reserved": [[_number(start), _number(end)] for start, end in pool.reserved],
        "boxes": {
            "buffer": [box.buffer for box in pool.boxes],
            "start": _numbers(box.start - begin for box in pool.boxes),
            "end": _numbers(box.end - begin for box in pool.boxes),
            "offset": _numbers(box.low for box in pool.boxes),
        },
        "profile": {
            "time": _numbers(time - begin for time, _ in pool.profile),
            "bytes": _numbers(used for _, used in pool.profile),
        },
    }


def _number(value: int | None) -> int | str | None:
    return value if value is None or -EXACT <= value <= EXACT else str(value)


def _numbers(values: Iterable[int]) -> list[int | str | None]:
    return [_number(value) for value in values]
