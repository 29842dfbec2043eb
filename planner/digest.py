"""A fingerprint of a problem: equal for every way of writing the same problem down.

It does not depend on white space, the order of keys, defaults spelled out or left out, the problem's name, or on whether lifetimes
are written half-open or inclusive. It does depend on ids and on the order of pools, buffers and constraints, because plans do.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from .intervals import merged
from .problem import Buffer, Problem

_VERSION = "memplan/1 problem"


def digest(problem: Problem) -> str:
    """SHA-256, in 64 hexadecimal digits."""
    by_rank = sorted(range(len(problem.pools)), key=lambda p: (problem.pools[p].rank, p))
    every_pool = [problem.pools[p].name for p in by_rank]
    constraints = problem.constraints
    content: list[Any] = [
        _VERSION,
        [[p.name, p.size, p.alignment, p.base, merged(p.reserved), p.cost, p.rank] for p in problem.pools],
        [_buffer(buffer, every_pool) for buffer in problem.buffers],
        constraints.conflicts,
        constraints.exclusions,
        [[c.buffer, c.base, c.offset] for c in constraints.colocations],
        constraints.same_pool,
        constraints.different_pool,
        [[r.first, r.second, r.cost] for r in constraints.reuse_penalties],
        [str(term) for term in problem.terms],
    ]
    canonical = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _buffer(buffer: Buffer, every_pool: list[str]) -> list[Any]:
    live = buffer.live
    if live is not None and (len(live) != 1 or live[0][0] >= live[0][1]):
        live = merged(live)
    return [
        buffer.id,
        buffer.size,
        buffer.alignment,
        live,
        None if buffer.pools is None or list(buffer.pools) == every_pool else buffer.pools,
        None if buffer.fixed is None else [buffer.fixed.pool, buffer.fixed.offset],
        buffer.hint,
        buffer.max_offset,
        buffer.kind,
        buffer.accesses,
    ]
