"""Constants live in read-only memory, all of them, all the time; nothing else does.

Where a problem has a read-only pool, its buffers of the kind `constant` may be in such pools alone, and the others in none of them. A
constant is there before the first step and after the last, so no two constants share addresses, whatever lifetimes they have. Without a
read-only pool the kind is a label like any other.
"""

from __future__ import annotations

from dataclasses import replace

from ..problem import Buffer, Interval, Problem

CONSTANT = "constant"


def has_read_only_pools(problem: Problem) -> bool:
    """True if the problem tells constants from the rest."""
    return any(pool.read_only for pool in problem.pools)


def is_constant(buffer: Buffer) -> bool:
    return buffer.kind == CONSTANT


def spell_out_constants(problem: Problem) -> Problem:
    """The same problem with all that being a constant means written out in lists of pools and lifetimes."""
    if not has_read_only_pools(problem):
        return problem
    by_rank = sorted(problem.pools, key=lambda pool: pool.rank)
    homes = {wanted: tuple(pool.name for pool in by_rank if pool.read_only is wanted) for wanted in (True, False)}
    always = throughout(problem)
    return replace(problem, buffers=tuple(_spelled_out(buffer, homes, always) for buffer in problem.buffers))


def throughout(problem: Problem) -> Interval:
    """From the first time that the problem knows to the last."""
    spans = [span for buffer in problem.buffers for span in buffer.live or () if span[1] > span[0]]
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else (0, 1)


def open_pools(buffer: Buffer, homes: dict[bool, tuple[str, ...]]) -> tuple[str, ...]:
    """The pools that are left to the buffer, in its order of preference; `homes` are the read-only pools (True) and the others."""
    mine = homes[is_constant(buffer)]
    return mine if buffer.pools is None else tuple(name for name in buffer.pools if name in mine)


def _spelled_out(buffer: Buffer, homes: dict[bool, tuple[str, ...]], always: Interval) -> Buffer:
    live = (always,) if is_constant(buffer) else buffer.live
    return replace(buffer, pools=open_pools(buffer, homes), live=live)
