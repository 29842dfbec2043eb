"""The plan of a simple problem much like one before: all blocks placed once more, in the order of the addresses that they had, a few times at most.

Where that reaches no higher than what is live at one time, it is as good as any plan; else nothing is said.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from solvers.fitting.orders import Fit
from solvers.kernels import active
from solvers.kernels.columns import Columns
from solvers.model.errors import StopReason
from solvers.model.instance import ADDRESS_LIMIT, Ints, Term
from solvers.model.outcome import Proof

from ...facts.digest import digest
from ...facts.figures import figures
from ...model.plan import Objective, Placement, Plan, PlanCertificate, PlanStatus, PoolUse, Run, TermValue, gap_to
from ...model.problem import BufferId, Figures, Problem
from ...model.versions import machine, versions

NONE = np.zeros(0, dtype=np.int64)
TRIES = 4
"""What reached too high is placed first the next time."""
SOLVER = "greedy"
"""Whose way of placing this is."""


def placed_again(problem: Problem, before: Mapping[BufferId, Placement], seed: int) -> Plan | None:
    """A plan that is proven to be optimal, if this finds one. `before` says where buffers were; new ones come last. It is still to be verified."""
    known = figures(problem)
    if known is None:
        return None
    begun = time.monotonic()
    (pool,) = problem.pools
    size = known.size
    lives = _Lives(known)
    modulus = np.lcm(pool.alignment, known.alignment)
    if not len(lives.part) or int(modulus.max()) >= ADDRESS_LIMIT or ((pool.base or 0) % modulus).any():
        return None
    padding = -size % int(np.gcd.reduce(modulus))
    kernels = active().kernels
    load, section = kernels.max_live(lives.start, lives.end, (size + padding)[lives.part], lives.sections)
    assert section is not None, "something is live"
    live = lives.part[(lives.start <= section) & (section < lives.end)]
    least = load - int(padding[live].max())
    if pool.size is not None and least > pool.size:
        return None
    ids = [buffer.id for buffer in problem.buffers]
    had = [before.get(id_) for id_ in ids]
    columns, order = _columns(lives, size, modulus), _order(had, size)
    for _ in range(TRIES):
        offset = kernels.greedy_place(lives.sections, columns, order, Fit.LOWEST)
        if offset is None:
            return None
        is_high = (offset + size)[order] > least
        if not is_high.any():
            break
        order = np.concatenate([order[is_high], order[~is_high]])
    else:
        return None
    return Plan(
        status=PlanStatus.OPTIMAL,
        stop=StopReason.PROVED,
        peak=least,
        bound=least,
        gap=gap_to(least, least),
        objective=Objective(least, least, (TermValue(Term.SUM_OF_PEAKS, least, least),)),
        pools=(PoolUse(pool.name, pool.size, least, least),),
        placements=tuple(
            [
                old
                if old is not None and old.offset == low and old.size == bytes_ and old.pool == pool.name
                else Placement(id_, pool.name, low, bytes_)
                for id_, old, low, bytes_ in zip(ids, had, offset.tolist(), size.tolist(), strict=True)
            ]
        ),
        solver=SOLVER,
        seed=seed,
        reproducible=False,
        versions=versions(()),
        problem_digest=digest(problem),
        certificates=(
            PlanCertificate(
                Proof.LIVE_TOGETHER, least, pool.name, int(lives.times[section]), tuple(ids[i] for i in live.tolist())
            ),
        ),
        run=Run(round(time.monotonic() - begun, 6), (), machine()),
    )


class _Lives:
    """When blocks live, in ranks of time."""

    def __init__(self, known: Figures) -> None:
        there = np.flatnonzero(known.size[known.owner] > 0)
        self.part = known.owner[there]
        self.times, rank = np.unique(np.concatenate([known.start[there], known.end[there]]), return_inverse=True)
        rank = np.ascontiguousarray(rank.reshape(-1), dtype=np.int64)
        self.start, self.end = rank[: len(there)], rank[len(there) :]
        self.sections = max(len(self.times) - 1, 0)


def _columns(lives: _Lives, size: Ints, modulus: Ints) -> Columns:
    """The problem as kernels take it."""
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


def _order(had: Sequence[Placement | None], size: Ints) -> Ints:
    """By the offsets that they had, of equal ones the larger first."""
    offset = np.array([ADDRESS_LIMIT if old is None else old.offset for old in had], dtype=np.int64)
    order: Ints = np.lexsort((-size, offset))
    return order
