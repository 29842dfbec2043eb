"""A pool is filled with what fits: both kernels leave out the same blocks, and place the others alike."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.fitting.orders import Fit
from solvers.geometry.presolve import restrict
from solvers.geometry.rules import violation
from solvers.kernels import Origin
from solvers.kernels.columns import columns
from solvers.model.instance import Instance, Ints, Placement, PoolSpec
from tests.small.instances import make_instance, plain
from tests.solvers.kernels.kernel_sets import of_origin

COUNT = 400
ROOM = 500


def crowded(seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    rows = zip(*(rng.integers(1, most, COUNT).tolist() for most in (50, 20, 60)), strict=True)
    blocks = [plain(birth, birth + length, size, alignment=1 + seed % 3) for birth, length, size in rows]
    return make_instance(blocks, pools=[PoolSpec(ROOM)])


def without(left_out: Ints) -> Ints:
    return np.setdiff1d(np.arange(COUNT), left_out)


@pytest.mark.parametrize("origin", Origin)
@pytest.mark.parametrize("hurries", [False, True])
def test_what_is_placed_is_valid_and_the_rest_is_named(origin: Origin, hurries: bool) -> None:
    kernels = of_origin(origin)
    for seed in range(10):
        instance, order = crowded(seed), np.random.default_rng(seed).permutation(COUNT)
        found, out = kernels.greedy_fill(instance.sections, columns(instance), order, Fit.LOWEST, lambda: hurries)
        placed = without(out)
        assert 0 < len(out) == len(set(out.tolist())) < COUNT
        piece = restrict(instance, placed, [0]).instance
        assert violation(piece, Placement.in_one_pool(found[placed])) is None


def test_both_kernels_leave_out_the_same_blocks() -> None:
    for seed in range(10):
        instance, order = crowded(seed), np.random.default_rng(seed).permutation(COUNT)
        (one, out), (other, others) = (
            of_origin(origin).greedy_fill(instance.sections, columns(instance), order, Fit.LOWEST) for origin in Origin
        )
        assert out.tolist() == others.tolist()
        assert np.array_equal(one[without(out)], other[without(out)])


@pytest.mark.parametrize("origin", Origin)
def test_where_there_is_room_for_all_none_is_left_out(origin: Origin) -> None:
    instance = make_instance([plain(0, 2, 4), plain(1, 3, 4), plain(2, 4, 4)], pools=[PoolSpec(8)])
    found, out = of_origin(origin).greedy_fill(instance.sections, columns(instance), np.arange(3), Fit.LOWEST)
    assert (found.tolist(), out.tolist()) == ([0, 4, 0], [])
