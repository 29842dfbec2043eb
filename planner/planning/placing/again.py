"""The plan of a simple problem much like one before: all blocks placed once more, in the order of the addresses that they had.

Where that reaches no higher than what is live at one time, it is as good as any plan; else nothing is said.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from itertools import repeat
from math import gcd, lcm

import numpy as np

from solvers.fitting.orders import Fit
from solvers.kernels import active
from solvers.kernels.columns import Columns
from solvers.model.errors import StopReason
from solvers.model.instance import ADDRESS_LIMIT, Ints, Term
from solvers.model.outcome import Proof

from ...facts.digest import digest
from ...facts.intervals import merged
from ...model.plan import Objective, Placement, Plan, PlanCertificate, PlanStatus, PoolUse, Run, TermValue, gap_to
from ...model.problem import Problem, is_simple
from ...model.versions import machine, versions

NONE = np.zeros(0, dtype=np.int64)
SOLVER = "greedy"
"""Whose way of placing this is."""


def placed_again(problem: Problem, before: Iterable[Placement], seed: int) -> Plan | None:
    """A plan that is proven to be optimal, if this finds one. `before` says where buffers were; new ones come last. It is still to be verified."""
    if not is_simple(problem):
        return None
    begun = time.monotonic()
    (pool,) = problem.pools
    size = np.array([buffer.size for buffer in problem.buffers], dtype=np.int64)
    lives = _Lives(problem, size)
    moduli = {buffer.alignment: lcm(pool.alignment, buffer.alignment) for buffer in problem.buffers}
    grain = gcd(*moduli.values())
    if not len(lives.part) or (pool.base or 0) % lcm(*moduli.values()) or max(moduli.values()) >= ADDRESS_LIMIT:
        return None
    padding = -size % grain
    kernels = active().kernels
    load, section = kernels.max_live(lives.start, lives.end, (size + padding)[lives.part], lives.sections)
    assert section is not None, "something is live"
    live = lives.part[(lives.start <= section) & (section < lives.end)]
    least = load - int(padding[live].max())
    if pool.size is not None and least > pool.size:
        return None
    offset = kernels.greedy_place(
        lives.sections, _columns(problem, lives, size, moduli), _order(problem, before, size), Fit.LOWEST
    )
    if offset is None or int((offset + size).max()) != least:
        return None
    ids = [buffer.id for buffer in problem.buffers]
    return Plan(
        status=PlanStatus.OPTIMAL,
        stop=StopReason.PROVED,
        peak=least,
        bound=least,
        gap=gap_to(least, least),
        objective=Objective(least, least, (TermValue(Term.SUM_OF_PEAKS, least, least),)),
        pools=(PoolUse(pool.name, pool.size, least, least),),
        placements=tuple(map(Placement, ids, repeat(pool.name), offset.tolist(), size.tolist())),
        solver=SOLVER,
        seed=seed,
        reproducible=False,
        versions=versions(()),
        problem_digest=digest(problem),
        certificates=(
            PlanCertificate(
                Proof.LIVE_TOGETHER,
                least,
                pool.name,
                int(lives.times[section]),
                tuple(ids[i] for i in sorted(live.tolist())),
            ),
        ),
        run=Run(round(time.monotonic() - begun, 6), (), machine()),
    )


class _Lives:
    """When blocks live, in ranks of time."""

    def __init__(self, problem: Problem, size: Ints) -> None:
        lives = [live if len(live) == 1 else merged(live) for live in (buffer.live or () for buffer in problem.buffers)]
        start = np.array([start for live in lives for start, _ in live], dtype=np.int64)
        end = np.array([end for live in lives for _, end in live], dtype=np.int64)
        part = np.repeat(np.arange(len(lives)), [*map(len, lives)])
        there = np.flatnonzero((start < end) & (size[part] > 0))
        self.part = part[there]
        self.times, rank = np.unique(np.concatenate([start[there], end[there]]), return_inverse=True)
        rank = np.ascontiguousarray(rank.reshape(-1), dtype=np.int64)
        self.start, self.end = rank[: len(there)], rank[len(there) :]
        self.sections = max(len(self.times) - 1, 0)


def _columns(problem: Problem, lives: _Lives, size: Ints, moduli: Mapping[int, int]) -> Columns:
    """The problem as kernels take it."""
    modulus = np.array([moduli[buffer.alignment] for buffer in problem.buffers], dtype=np.int64)
    zeros = np.zeros(len(size), dtype=np.int64)
    highest = int(size.sum() + modulus.sum()) - size  # of no consequence: all stacked reach no higher
    return Columns(
        part_block=np.arange(len(size), dtype=np.int64),
        part_low=zeros,
        part_high=size,
        rect_part=lives.part,
        rect_start=lives.start,
        rect_end=lives.end,
        modulus=modulus,
        residue=zeros,
        lowest=zeros,
        highest=highest - highest % modulus,
        reserved=NONE,
        conflicts=NONE,
        exclusions=NONE,
    )


def _order(problem: Problem, before: Iterable[Placement], size: Ints) -> Ints:
    """By the offsets that they had, of equal ones the larger first."""
    offset = {place.id: place.offset for place in before}
    had = np.array([offset.get(buffer.id, ADDRESS_LIMIT) for buffer in problem.buffers], dtype=np.int64)
    order: Ints = np.lexsort((-size, had))
    return order
