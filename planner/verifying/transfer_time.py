"""The access cost as docs/memories.md defines it: for checking plans, apart from what solvers are told (planner.facts.access)."""

from __future__ import annotations

from ..problem import Buffer, Pool, Speed


def cost_of_use(buffer: Buffer, pool: Pool) -> int:
    """What all uses of a buffer in this pool cost."""
    read, written = buffer.accesses + buffer.reads, buffer.writes
    if pool.speed is None:
        return pool.rank * (read + written)
    cost = 0
    if read and buffer.size:
        cost += read * _read_time(buffer.size, pool.speed)
    if written and buffer.size:
        cost += written * _write_time(buffer.size, pool.speed)
    return cost


def _read_time(size: int, speed: Speed) -> int:
    return _picoseconds(size, speed, speed.read_latency_cycles, speed.read_bandwidth_bytes_per_cycle)


def _write_time(size: int, speed: Speed) -> int:
    return _picoseconds(size, speed, speed.write_latency_cycles, speed.write_bandwidth_bytes_per_cycle)


def _picoseconds(size: int, speed: Speed, latency: int, bandwidth: int) -> int:
    """cycles / clock, where cycles = latency + bytes / bandwidth, as one fraction; rounded up."""
    bursts, rest = divmod(size, speed.target_burst_bytes)
    whole = (bursts + (rest > 0)) * speed.target_burst_bytes
    quotient, remainder = divmod((whole + latency * bandwidth) * 10**12, bandwidth * speed.clock_frequency_hz)
    return quotient + (remainder > 0)
