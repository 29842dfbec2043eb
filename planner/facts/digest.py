"""A fingerprint of a problem: equal for every way of writing the same problem down.

It does not depend on white space, the order of keys, defaults spelled out or left out, the problem's name, or on whether lifetimes
are written half-open or inclusive. It does depend on ids and on the order of pools, buffers and constraints, because plans do.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple
from typing import Any

from solvers.model.instance import LINEAR_TERMS

from ..problem import Buffer, Problem
from .constants import spell_out_constants
from .intervals import merged

_VERSION = "memplan/1 problem"

PRICED = frozenset(term for term, adds in LINEAR_TERMS.items() if adds.priced)
"""The terms to which the price of a peak matters."""


def digest(problem: Problem) -> str:
    """SHA-256, in 64 hexadecimal digits."""
    facts = problem.facts
    if not facts.is_sound:  # and so may be changed by whoever made it
        return _computed(problem)
    if facts.digest is None:
        facts.digest = _computed(problem)
    return facts.digest


def _computed(problem: Problem) -> str:
    problem = spell_out_constants(problem)
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
        *_of_memories(problem),
    ]
    canonical = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _of_memories(problem: Problem) -> list[Any]:
    """What only some problems say: of pools their speed and whether they are read-only, of buffers their uses and data."""
    pools = [
        [i, None if pool.speed is None else astuple(pool.speed), pool.read_only]
        for i, pool in enumerate(problem.pools)
        if pool.speed is not None or pool.read_only
    ]
    buffers = [
        [i, b.reads, b.writes, None if b.data is None else hashlib.sha256(b.data).hexdigest()]
        for i, b in enumerate(problem.buffers)
        if b.reads or b.writes or b.data is not None
    ]
    price = problem.peak_price if PRICED.intersection(problem.terms) else 1
    return [pools, buffers, price] if pools or buffers or price != 1 else []


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
        *([] if buffer.device is None and buffer.dtype is None else [buffer.device, buffer.dtype]),
    ]
