"""What it costs to use a buffer in a pool, and what to move one from where an older plan had it.

Uses count picoseconds where the pools' speeds are known, and times rank where not. One transfer takes the latency and then the buffer's
bytes, rounded up to whole bursts, at the bandwidth; all of it divided by the clock and rounded up to whole picoseconds. So the sums are exact
integers, whatever the speeds are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields

from solvers.model.instance import LINEAR_TERMS, Choice, Moved, Term

from ..model.deadline import PREPARING, in_time
from ..model.problem import Buffer, BufferId, Pool, Problem, Speed

PICOSECONDS = 10**12
"""In a second."""

LESS_IS_SLOWER = frozenset({"clock_frequency_hz", "read_bandwidth_bytes_per_cycle", "write_bandwidth_bytes_per_cycle"})

MOST_LOOKED_AT = 1 << 20
"""Of a buffer in a pool, for the sake of a sum that is only to stay in range."""

WEIGHS_ACCESS = frozenset(term for term, adds in LINEAR_TERMS.items() if adds.choice is Choice.ACCESS)
"""The terms for which uses matter."""

MOVED = {term: adds.moved for term, adds in LINEAR_TERMS.items() if adds.moved is not None}
"""The terms that ask what moved, and what of it they count."""


def access_cost(buffer: Buffer, pool: Pool) -> int:
    """All uses of the buffer, were it in the pool."""
    speed = pool.speed
    if speed is None:
        return (buffer.accesses + buffer.reads + buffer.writes) * pool.rank
    cost = 0
    reads = buffer.accesses + buffer.reads
    if reads:
        latency, bandwidth = speed.read_latency_cycles, speed.read_bandwidth_bytes_per_cycle
        cost += reads * _transfer(buffer.size, latency, bandwidth, speed.target_burst_bytes, speed.clock_frequency_hz)
    if buffer.writes:
        latency, bandwidth = speed.write_latency_cycles, speed.write_bandwidth_bytes_per_cycle
        cost += buffer.writes * _transfer(
            buffer.size, latency, bandwidth, speed.target_burst_bytes, speed.clock_frequency_hz
        )
    return cost


def _transfer(size: int, latency: int, bandwidth: int, burst: int, clock: int) -> int:
    """Picoseconds; nothing is not transferred."""
    if not size:
        return 0
    moved = -(-size // burst) * burst
    return -(-(latency * bandwidth + moved) * PICOSECONDS // (bandwidth * clock))


def is_used(buffer: Buffer) -> bool:
    """True if the problem says how often the buffer is used."""
    return bool(buffer.accesses or buffer.reads or buffer.writes)


def costs_of(problem: Problem) -> list[tuple[int, Sequence[int]]]:
    """Of each buffer that is used: its number, and what it costs in each pool."""
    known: dict[tuple[int, int, int, int], Sequence[int]] = {}
    found = []
    numbers: dict[tuple[Speed | None, int], int] = {}
    kinds: list[Pool] = []
    kind_of: list[int] = []
    for pool in problem.pools:
        number = numbers.setdefault((pool.speed, 0 if pool.speed else pool.rank), len(kinds))
        if number == len(kinds):
            kinds.append(pool)
        kind_of.append(number)
    for i, buffer in enumerate(in_time(problem.buffers, PREPARING, "buffer")):
        if is_used(buffer):
            kind = (buffer.size, buffer.accesses, buffer.reads, buffer.writes)
            if kind not in known:
                costs = [access_cost(buffer, pool) for pool in kinds]
                known[kind] = costs if len(costs) == len(kind_of) else [costs[number] for number in kind_of]
            found.append((i, known[kind]))
    return found


def most_access_cost(problem: Problem) -> int:
    """No less than every buffer in the pool that is slowest for it; where pools are many, as if one were the slowest in every respect."""
    speeds = list(dict.fromkeys(pool.speed for pool in problem.pools if pool.speed is not None))
    used = [buffer for buffer in problem.buffers if is_used(buffer)]
    if len(speeds) * len(used) <= MOST_LOOKED_AT and len(problem.pools) * len(used) <= MOST_LOOKED_AT:
        return sum(max(costs, default=0) for _, costs in costs_of(problem))
    ranked = [pool.rank for pool in problem.pools if pool.speed is None]
    slowest = [Pool("ranked", rank=max(ranked))] if ranked else []
    if speeds:
        columns = list(zip(*(astuple(speed) for speed in speeds), strict=True))
        names = [field.name for field in fields(Speed)]
        worst = [min(c) if name in LESS_IS_SLOWER else max(c) for name, c in zip(names, columns, strict=True)]
        slowest.append(Pool("slowest", speed=Speed(*worst)))
    return sum(max((access_cost(buffer, pool) for pool in slowest), default=0) for buffer in used)


def weighs_moves(problem: Problem) -> bool:
    """True if the objective asks, and there is something that can have moved."""
    return bool(problem.was) and any(term in MOVED for term in problem.terms)


def cost_of_moves(problem: Problem, places: Mapping[BufferId, tuple[str, int]], term: Term) -> int:
    """What the term counts if the buffers are there now."""
    moved = MOVED.get(term)
    if moved is None or not problem.was:
        return 0
    gone = {was.buffer for was in problem.was if places.get(was.buffer) != (was.pool, was.offset)}
    if moved is Moved.BUFFERS:
        return len(gone)
    return sum(buffer.size for buffer in problem.buffers if buffer.id in gone)
