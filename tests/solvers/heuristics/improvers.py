"""What tests of the solvers that lower the peak of a placement have in common."""

from __future__ import annotations

import numpy as np

from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from solvers.fitting.neighbours import neighbours
from solvers.fitting.orders import Fit
from solvers.fitting.placing import PoolPolicy, place_all
from solvers.model.instance import Instance, Ints, Placement
from tests.solvers.kernels.test_greedy_native import fixed_first


def first_placement(instance: Instance, seed: int = 0) -> Ints | None:
    """One that leaves something to gain: in no good order."""
    if not instance.allowed.all():
        return None
    order = fixed_first(instance, np.random.default_rng(seed).permutation(instance.blocks))
    found = place_all(instance, order, neighbours(instance), Fit.LOWEST, PoolPolicy.PREFERRED, lambda: False)
    return None if found is None else found.offset


def recurrent(buffers: int) -> Instance:
    return lower(generate("recurrent", Request(buffers, 3))).instance


def peak(instance: Instance, offset: Ints) -> int:
    return int((offset + instance.block_high).max(initial=0))


def placement(offset: Ints) -> Placement:
    return Placement(np.zeros(len(offset), dtype=np.int64), offset)


def never(_: Ints | None) -> bool:
    return False
