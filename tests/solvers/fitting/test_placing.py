"""Placing blocks one after the other takes little memory, however many pools there are."""

from __future__ import annotations

import tracemalloc

import numpy as np

from solvers.fitting.neighbours import neighbours
from solvers.fitting.orders import Fit
from solvers.fitting.placing import Pass, place_all
from solvers.model.instance import PoolSpec
from tests.small.instances import make_instance, plain


def test_what_is_known_of_blocks_in_pools_is_not_copied_into_lists() -> None:
    blocks = [plain(i, i + 2, 1000 + i) for i in range(1000)]
    instance = make_instance(blocks, pools=[PoolSpec(1_000_000 + p) for p in range(64)])
    near, order = neighbours(instance), np.arange(instance.blocks)
    tracemalloc.start()
    try:
        assert place_all(instance, Pass(order, Fit.LOWEST), near, lambda: True) is None
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken < 5 * instance.lowest.nbytes
