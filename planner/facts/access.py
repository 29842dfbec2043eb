"""What it costs to use a buffer in a pool: picoseconds where the pools' speeds are known, uses times rank where not.

One transfer takes the latency and then the buffer's bytes, rounded up to whole bursts, at the bandwidth; all of it divided by the clock and
rounded up to whole picoseconds. So the sums are exact integers, whatever the speeds are.
"""

from __future__ import annotations

from collections.abc import Sequence

from solvers.model.instance import LINEAR_TERMS, Choice

from ..problem import Buffer, Pool, Problem

PICOSECONDS = 10**12
"""In a second."""

WEIGHS_ACCESS = frozenset(term for term, adds in LINEAR_TERMS.items() if adds.choice is Choice.ACCESS)
"""The terms for which it matters."""


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
    for i, buffer in enumerate(problem.buffers):
        if is_used(buffer):
            kind = (buffer.size, buffer.accesses, buffer.reads, buffer.writes)
            if kind not in known:
                known[kind] = [access_cost(buffer, pool) for pool in problem.pools]
            found.append((i, known[kind]))
    return found
