"""Places all blocks again, in the order of their earlier addresses and in their earlier pools, a few times at most; then searches.

A result at its lower bound is as good as any plan; otherwise it is a start for others.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from solvers.fitting.orders import Fit
from solvers.kernels import active
from solvers.kernels.interface import TooLarge
from solvers.model.errors import StopReason
from solvers.model.instance import Ints, Term

from ....facts.costs import in_late_pools
from ....facts.digest import digest
from ....model.plan import Objective, Placement, Plan, PlanCertificate, PlanStatus, PoolUse, Run, TermValue, gap_to
from ....model.problem import Problem
from ....model.versions import machine, versions
from .blocks import Blocks, InPool, is_covered
from .bounds import Bounds

TRIES = 4
"""Attempts; blocks that end too high are placed first in the next one."""
SEED, WORK_OF_SEARCH, MOST_PAIRS = 0, 2_000, 100_000
"""After the attempts, a search of about two milliseconds looks for something lower."""
PLACING, SEARCHING = "greedy", "search"
"""The methods named as a plan's solver."""


def placed_again(problem: Problem, before: Plan, seed: int) -> Plan | None:
    """Return a plan, if this finds one; it still has to be verified. `before` tells where buffers were; new ones come last."""
    if not is_covered(problem) or {use.name for use in before.pools} != {pool.name for pool in problem.pools}:
        return None
    begun = time.monotonic()
    blocks = Blocks(problem, before.placements)
    bounds = Bounds(blocks, before.certificates)
    together = bounds.of_all() if blocks.has_choice else None
    if together is None and blocks.has_choice:
        return None
    offset = np.zeros(len(blocks.first), dtype=np.int64)
    solver = PLACING
    certificates = [] if together is None else [together]
    for p in range(len(problem.pools)):
        here = blocks.in_pool(p)
        if here is None:
            return None
        if not len(here.blocks):
            continue
        if together is None:
            placed, least, way = _placed(here, bounds.of_pool(here), bounds)
            certificates.append(least)
        else:
            placed, _, way = _placed(here, bounds.share(here, together), None)
        if placed is None:
            return None
        offset[here.blocks] = placed
        solver = way if way == SEARCHING else solver
    made = _plan(blocks, offset, certificates, seed, begun, solver)
    return None if together is not None and in_late_pools(problem, made) > in_late_pools(problem, before) else made


def _placed(here: InPool, least: PlanCertificate, bounds: Bounds | None) -> tuple[Ints | None, PlanCertificate, str]:
    """Return the lowest offsets found, a certificate of the bound, and the method; None if none were found."""
    columns, order = here.columns, here.order
    best: Ints | None = None
    lowest = 0
    for attempt in range(TRIES):
        offset = active().kernels.greedy_place(here.sections, columns, order, Fit.LOWEST)
        if offset is None:
            break
        end = offset + here.height
        top = int(end.max())
        if not attempt and bounds is not None and top > least.value:
            highest = int(np.argmax(end))
            for other in bounds.above(here, highest, top):
                least = max(least, other, key=lambda each: each.value)
                if least.value == top:
                    break
        if top <= least.value:
            return offset, least, PLACING
        if best is None or top < lowest:
            best, lowest = offset, top
        is_high = end[order] > least.value
        order = np.concatenate([order[is_high], order[~is_high]])
    searched = None if best is None else _searched(here, lowest, least)
    return (best, least, PLACING) if searched is None else (searched, least, SEARCHING)


def _searched(here: InPool, top: int, least: PlanCertificate) -> Ints | None:
    """Return offsets that end below the top, if a short search finds any."""
    selection = active()
    try:
        _, offset, *_ = selection.kernels.search(
            sections=here.sections,
            columns=here.columns,
            bound=least.value,
            incumbent=top,
            fit=False,
            seed=SEED,
            threads=1,
            work=WORK_OF_SEARCH,
            max_pairs=MOST_PAIRS,
            report=lambda *_: False,
        )
    except TooLarge:
        return None
    return offset


def _plan(
    blocks: Blocks, offset: Ints, certificates: Sequence[PlanCertificate], seed: int, begun: float, solver: str
) -> Plan:
    """Return the plan with these offsets of the blocks and these certificates."""
    problem = blocks.problem
    low, size = offset[blocks.part_block] + blocks.part_low, blocks.known.size
    pool = blocks.pool[blocks.part_block]
    names = [each.name for each in problem.pools]
    peaks = [int((low + size)[pool == p].max(initial=0)) for p in range(len(names))]
    is_other = low != blocks.offset
    is_other[blocks.new] = True
    if len(names) > 1:
        is_other |= [old is None or old.pool != names[p] for old, p in zip(blocks.had, pool.tolist(), strict=True)]
    places: list[Placement | None] = [*blocks.had]
    for i in np.flatnonzero(is_other).tolist():
        places[i] = Placement(blocks.ids[i], names[pool[i]], int(low[i]), int(size[i]))
    of_pool = {each.pool: each.value for each in certificates}
    value, bound = sum(peaks), sum(each.value for each in certificates)
    is_optimal = value == bound
    return Plan(
        status=PlanStatus.OPTIMAL if is_optimal else PlanStatus.FEASIBLE,
        stop=StopReason.PROVED if is_optimal else StopReason.WORK_LIMIT,
        peak=value,
        bound=bound,
        gap=gap_to(bound, value),
        objective=Objective(value, bound, (TermValue(Term.SUM_OF_PEAKS, value, bound),)),
        pools=tuple(
            PoolUse(each.name, each.size, peak, of_pool.get(each.name, 0))
            for each, peak in zip(problem.pools, peaks, strict=True)
        ),
        placements=tuple([place for place in places if place is not None]),
        solver=solver,
        seed=seed,
        reproducible=False,
        versions=versions(()),
        problem_digest=digest(problem),
        certificates=tuple(certificates),
        run=Run(round(time.monotonic() - begun, 6), (), machine()),
    )
