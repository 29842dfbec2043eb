"""A plan that is known already, as a placement for solvers to begin with."""

from __future__ import annotations

import numpy as np

from solvers.model.instance import Placement

from ..plan import Plan
from ..problem import Problem
from .lowering import Lowered


def as_placement(problem: Problem, lowered: Lowered, plan: Plan) -> Placement | None:
    """Where the plan puts the problem's blocks; None if it leaves buffers out or tears blocks apart. Keeps other rules unseen."""
    where = {place.id: place for place in plan.placements}
    pools = {pool.name: number for number, pool in enumerate(problem.pools)}
    i, count = lowered.instance, len(problem.buffers)
    try:
        part_pool = np.fromiter((pools[where[buffer.id].pool] for buffer in problem.buffers), np.int64, count)
        part_base = np.fromiter((where[buffer.id].offset for buffer in problem.buffers), np.int64, count) - i.part_low
    except (KeyError, OverflowError):
        return None
    pool, offset = np.zeros(i.blocks, dtype=np.int64), np.zeros(i.blocks, dtype=np.int64)
    pool[i.part_block], offset[i.part_block] = part_pool, part_base
    whole = (pool[i.part_block] == part_pool).all() and (offset[i.part_block] == part_base).all()
    return Placement(pool, offset) if whole else None
