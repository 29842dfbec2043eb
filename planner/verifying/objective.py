"""The value of each term of the objective, computed from the Problem and the addresses alone, independently of the solvers.

The access cost is as docs/memories.md defines it (solvers get theirs from planner.facts.costs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import mul

import numpy as np

from solvers.model.instance import LINEAR_TERMS, Choice, Moved, Term

from ..facts.figures import carried
from ..facts.sweep import VERIFYING, Integers, exact_array
from ..model.columns.buffers import BufferColumns, ids, sizes
from ..model.columns.placements import PlacementColumns
from ..model.columns.pools import costs_of, names_of
from ..model.deadline import in_time, look
from ..model.plan import Placement
from ..model.problem import Buffer, Pool, Problem, Speed
from .permitted import numbers_of


def term_value(problem: Problem, where: Sequence[Placement | None], peaks: Mapping[str, int], term: Term) -> int:
    """Return the term's value in a whole plan; `where` holds each buffer's placement, in the problem's order."""
    if term is Term.LARGEST_PEAK:
        return max(peaks.values(), default=0)
    if term is Term.REUSE_COST:
        return _reuse_cost(problem, where)
    costs = costs_of(problem.pools)
    cost: int = sum(map(mul, costs, map(peaks.__getitem__, names_of(problem.pools))))
    value = price_of_peaks(problem, term) * cost
    value += _moved(problem, where, LINEAR_TERMS[term].moved)
    if not has_choice(term):
        return value
    if isinstance(problem.buffers, BufferColumns) and LINEAR_TERMS[term].choice is Choice.ACCESS:
        return value  # nothing uses buffers in columns
    pools = {pool.name: pool for pool in problem.pools}
    placed = ((b, pools[p.pool]) for b, p in zip(problem.buffers, where, strict=True) if p is not None)
    return value + sum(choice_cost(buffer, pool, term) for buffer, pool in placed)


def has_choice(term: Term) -> bool:
    """True if the term by itself depends on which pool a buffer is in."""
    return term in LINEAR_TERMS and LINEAR_TERMS[term].choice is not None


def can_be_priced(term: Term) -> bool:
    """True if prices of room can prove more about the term than about the peaks."""
    return has_choice(term) or (term in LINEAR_TERMS and LINEAR_TERMS[term].moved is not None)


def choice_cost(buffer: Buffer, pool: Pool, term: Term) -> int:
    """Return what having the buffer in this pool adds to the term, whatever the peaks."""
    match LINEAR_TERMS[term].choice:
        case Choice.ACCESS:
            return cost_of_use(buffer, pool)
        case Choice.RANK:
            return buffer.size * pool.rank
        case None:
            return 0


def costs_of_choice(problem: Problem, term: Term) -> Integers:
    """Return what having each buffer in each pool adds to the term and, as last column, what it adds at least: in the best pool that it may use."""
    pools = problem.pools

    def of_each(buffers: Sequence[Buffer]) -> Integers:
        rows = []
        for buffer in buffers:
            costs = [choice_cost(buffer, pool, term) for pool in pools]
            names = buffer.pools if buffer.fixed is None else (buffer.fixed.pool,)
            homes = zip(costs, pools, strict=True)
            rows.append([*costs, min(cost for cost, pool in homes if names is None or pool.name in names)])
        return exact_array([*chain.from_iterable(rows)]).reshape(-1, len(pools) + 1)

    kind = LINEAR_TERMS[term].choice
    return carried(problem, ("verified", kind, *[(pool.name, pool.speed, pool.rank) for pool in pools]), of_each)


def price_of_peaks(problem: Problem, term: Term) -> int:
    """Return what a unit of the cost-weighted sum of peaks adds to the term."""
    adds = LINEAR_TERMS[term]
    return (problem.peak_price if adds.priced else 1) if adds.peaks else 0


def _moved(problem: Problem, where: Sequence[Placement | None], what: Moved | None) -> int:
    """Return how many buffers, or bytes, are not at their old place."""
    if what is None:
        return 0
    old = {was.buffer: was for was in problem.was}
    total = 0
    for id_, size, now in zip(ids(problem.buffers), sizes(problem.buffers), where, strict=True):
        was = old.get(id_)
        if was is not None and (now is None or now.pool != was.pool or now.offset != was.offset):
            total += 1 if what is Moved.BUFFERS else size
    return total


def _reuse_cost(problem: Problem, where: Sequence[Placement | None]) -> int:
    penalties = problem.constraints.reuse_penalties
    if isinstance(where, PlacementColumns):
        pool, low = where.pool, exact_array(where.offset)
    else:
        number: dict[str, int] = {}
        named = (-1 if place is None else number.setdefault(place.pool, len(number)) for place in where)
        pool = np.fromiter(named, dtype=np.int64, count=len(where))
        low = exact_array([0 if place is None else place.offset for place in where])
    high = low + exact_array(sizes(problem.buffers))
    index = {id_: i for i, id_ in enumerate(ids(problem.buffers))}
    look(VERIFYING)
    one, other = numbers_of(index, [(penalty.first, penalty.second) for penalty in in_time(penalties, VERIFYING)])
    meet = (pool[one] == pool[other]) & (pool[one] >= 0)
    meet &= np.minimum(high[one], high[other]) > np.maximum(low[one], low[other])
    return sum(penalties[k].cost for k in np.flatnonzero(meet).tolist())


def cost_of_use(buffer: Buffer, pool: Pool) -> int:
    """Return the cost of all uses of a buffer in this pool."""
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
    """Return cycles / clock, rounded up, where cycles = latency + bytes / bandwidth, as one fraction."""
    bursts, rest = divmod(size, speed.target_burst_bytes)
    whole = (bursts + (rest > 0)) * speed.target_burst_bytes
    quotient, remainder = divmod((whole + latency * bandwidth) * 10**12, bandwidth * speed.clock_frequency_hz)
    return quotient + (remainder > 0)
