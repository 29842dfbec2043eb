"""The cost of using a buffer in a pool, and of moving it away from its place in an older plan.

Uses cost picoseconds if the pools' speeds are known, otherwise uses times rank. One transfer takes the latency, and then the buffer's
bytes, rounded up to whole bursts, at the bandwidth; the total is divided by the clock and rounded up to whole picoseconds. So the sums
are exact integers, whatever the speeds are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from itertools import chain

import numpy as np

from solvers.model.instance import LINEAR_TERMS, Choice, Moved, Term

from ..model.columns.varied import VariedColumns
from ..model.deadline import PREPARING, in_time
from ..model.plan import Plan
from ..model.problem import Buffer, BufferId, Pool, Problem, Speed
from .figures import carried
from .sweep import Integers, exact_array

PICOSECONDS = 10**12
"""In one second."""

LESS_IS_SLOWER = frozenset({"clock_frequency_hz", "read_bandwidth_bytes_per_cycle", "write_bandwidth_bytes_per_cycle"})

MOST_CARRIED = 64
"""The most pools for which each buffer's costs are kept."""

MOST_LOOKED_AT = 1 << 20
"""At most this many (buffer, pool) pairs are examined for a sum that only needs to stay in range."""

WEIGHS_ACCESS = frozenset(term for term, adds in LINEAR_TERMS.items() if adds.choice is Choice.ACCESS)
"""The terms that depend on uses."""

MOVED = {term: adds.moved for term, adds in LINEAR_TERMS.items() if adds.moved is not None}
"""The terms that depend on moves, and what of a moved buffer each counts."""


def access_cost(buffer: Buffer, pool: Pool) -> int:
    """Return the cost of all uses of the buffer if it is in the pool."""
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
    """Return picoseconds; 0 for no bytes."""
    if not size:
        return 0
    moved = -(-size // burst) * burst
    return -(-(latency * bandwidth + moved) * PICOSECONDS // (bandwidth * clock))


def is_used(buffer: Buffer) -> bool:
    """True if the problem says how often the buffer is used."""
    return bool(buffer.accesses or buffer.reads or buffer.writes)


def costs_of(problem: Problem) -> list[tuple[int, Sequence[int]]]:
    """Return, for each used buffer, its number and its cost in each pool."""
    facts = problem.facts
    if facts.costs is not None:
        return facts.costs
    if is_carried(problem):
        table = cost_table(problem)
        used = np.flatnonzero(table[:, -1]).tolist()
        facts.costs = [*zip(used, table[used, :-1].tolist(), strict=True)]
        return facts.costs
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


def is_carried(problem: Problem) -> bool:
    """True if costs are kept from one problem to the next."""
    return problem.facts.neighbour is not None and len(problem.pools) <= MOST_CARRIED


def cost_table(problem: Problem) -> Integers:
    """Return each buffer's cost in each pool, and whether it is used. The pools must be few."""
    pools = problem.pools

    def of_each(buffers: Sequence[Buffer]) -> Integers:
        rows = [(*[access_cost(buffer, pool) for pool in pools], is_used(buffer)) for buffer in buffers]
        return exact_array([*chain.from_iterable(rows)]).reshape(-1, len(pools) + 1)

    return carried(problem, ("access_cost", *[(pool.speed, pool.rank) for pool in pools]), of_each)


def most_access_cost(problem: Problem) -> int:
    """Return an upper bound of the access cost: each buffer in its slowest pool or, with many pools, in one that is slowest in every respect."""
    speeds = list(dict.fromkeys(pool.speed for pool in problem.pools if pool.speed is not None))
    if isinstance(problem.buffers, VariedColumns) and not speeds:
        return problem.buffers.uses * max((pool.rank for pool in problem.pools), default=0)
    if is_carried(problem):
        return sum(cost_table(problem)[:, :-1].max(axis=1, initial=0).tolist())
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
    """True if the objective counts moves and some buffer can have moved."""
    return bool(problem.was) and any(term in MOVED for term in problem.terms)


def cost_of_moves(problem: Problem, places: Mapping[BufferId, tuple[str, int]], term: Term) -> int:
    """Return the term's value if the buffers lie at these places."""
    moved = MOVED.get(term)
    if moved is None or not problem.was:
        return 0
    gone = {was.buffer for was in problem.was if places.get(was.buffer) != (was.pool, was.offset)}
    if moved is Moved.BUFFERS:
        return len(gone)
    return sum(buffer.size for buffer in problem.buffers if buffer.id in gone)


def in_late_pools(problem: Problem, made: Plan) -> int:
    """Return what decides between plans of equal sums of peaks: the sum of peaks, each times its pool's place in the order of preference."""
    peak = {use.name: use.peak or 0 for use in made.pools}
    by_rank = sorted(problem.pools, key=lambda pool: pool.rank)
    return sum(place * peak[pool.name] for place, pool in enumerate(by_rank))
