"""With the choice of pools taken as it is, each pool can be packed on its own, by the engines that are best at that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.instance import Instance, Placement, Term
from ..model.outcome import Outcome
from ..model.solver import Control, Task
from .separate_pools import solve_strips

PACKER = "search"
OF_PEAKS = (Term.SUM_OF_PEAKS, Term.LARGEST_PEAK, Term.BALANCED)


def can_repack(instance: Instance) -> bool:
    """Do peaks count, so that there is something to gain?"""
    return any(term in OF_PEAKS for term in instance.terms)


def repack(instance: Instance, placement: Placement, task: Task, control: Control) -> Outcome:
    """The lowest peaks with every block in the pool it is in. What that proves holds for this choice alone, so no bound is told."""
    allowed = np.zeros_like(instance.allowed)
    allowed[np.arange(instance.blocks), placement.pool] = True
    settled = replace(
        instance,
        allowed=allowed,
        apart=instance.apart[:0],
        penalties=instance.penalties[:0],
        terms=tuple(term for term in instance.terms if term in OF_PEAKS),
    )
    alone = replace(task, start=None, bound=(), target=(), pool_bounds=())
    return solve_strips(settled, alone, control, (PACKER,), by_name=False)
