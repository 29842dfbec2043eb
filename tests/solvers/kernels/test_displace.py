"""Blocks that take the places of others in cheaper pools: both kernels answer alike, with placements that are valid and never cost more."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.kernels.columns import Columns, columns
from solvers.kernels.interface import BadKernelInput, Homes, Kernels
from solvers.kernels.python.input import instance_of
from solvers.kernels.python.places import WALL, stretches
from solvers.model.instance import Instance, Ints
from tests.solvers.kernels.kernel_sets import native, reference
from tests.solvers.kernels.random_instances import random_instance

WORK = 3_000
POOLS = 3


def displaced(kernels: Kernels, given: Given, work: int = WORK, seed: int = 1) -> tuple[list[int], list[int], int]:
    pool, offset, spent = kernels.displace(
        given.sections, given.columns, given.homes, given.pool, given.offset, seed, work, lambda _: False
    )
    return pool.tolist(), offset.tolist(), spent


class Given:
    """Random blocks, all of them in the last pool, which has no end."""

    def __init__(self, seed: int, scale: int = 1) -> None:
        rng = np.random.default_rng(seed)
        instance: Instance = random_instance(seed, scale)
        count = instance.blocks
        nothing = np.zeros(count, dtype=np.int64)
        self.sections = instance.sections
        self.columns: Columns = columns(instance)._replace(
            modulus=nothing + 1, residue=nothing, lowest=nothing, highest=nothing, reserved=nothing[:0]
        )
        self.blocks = instance_of(self.sections, self.columns)
        modulus = rng.integers(1, 5, (count, POOLS))
        residue = rng.integers(0, modulus)
        room = np.array([30, 60, 10_000]) * scale - self.blocks.block_high[:, None]
        is_closed = rng.random((count, POOLS)) < 0.2
        is_closed[:, -1] = False
        self.homes = Homes(
            cost=np.sort(rng.integers(0, 50, (count, POOLS)), axis=1).reshape(-1),
            lowest=residue.reshape(-1),
            highest=np.where(is_closed, -1, room).reshape(-1),
            modulus=modulus.reshape(-1),
            residue=residue.reshape(-1),
            endless=np.array([0, 0, 1]),
            taken=np.array([0, 3, 5, 1, 20, 24]),
            stays=(rng.random(count) < 0.1).astype(np.int64),
        )
        self.pool: Ints = np.full(count, POOLS - 1, dtype=np.int64)
        self.offset: Ints = residue[:, -1].copy()

    def cost(self, pool: list[int]) -> int:
        return int(self.homes.cost.reshape(-1, POOLS)[np.arange(len(pool)), pool].sum())

    def is_valid(self, pool: list[int], offset: list[int]) -> bool:
        """Does nobody meet anybody in a pool with an end, and is everybody where he may be?"""
        homes = [column.reshape(-1, POOLS) for column in self.homes[1:5]]
        high = self.blocks.block_high.tolist()
        taken = self.homes.taken.reshape(-1, 3).tolist()
        for block, near in enumerate(stretches(self.blocks)):
            p, base = pool[block], offset[block]
            if self.homes.endless[p]:
                continue
            lowest, highest, modulus, residue = (int(column[block, p]) for column in homes)
            if not lowest <= base <= highest or base % modulus != residue:
                return False
            if any(q == p and low < base + high[block] and base < end for q, low, end in taken):
                return False
            for other, below, above in near:
                meets = offset[other] + below < base < offset[other] + above
                if other not in (WALL, block) and pool[other] == p and meets:
                    return False
        return True


@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("seed", range(25))
def test_both_kernels_find_the_same_valid_placement(seed: int, scale: int) -> None:
    given = Given(seed, scale)
    pool, offset, work = found = displaced(native(), given)
    assert found == displaced(reference(), given)
    assert given.is_valid(pool, offset)
    assert given.cost(pool) <= given.cost(given.pool.tolist())
    stays = given.homes.stays == 1
    assert (np.array(pool)[stays] == given.pool[stays]).all()
    assert work <= WORK + WORK // 10


@pytest.mark.parametrize("seed", range(8))
def test_both_kernels_place_the_same_blocks_again(seed: int) -> None:
    given = Given(seed, 2)
    work = 250 * given.blocks.blocks
    pool, offset, _ = found = displaced(native(), given, work)
    assert found == displaced(reference(), given, work)
    assert given.is_valid(pool, offset)


def test_most_random_placements_become_cheaper() -> None:
    all_given = [Given(seed, 2) for seed in range(10)]
    assert sum(given.cost(displaced(native(), given)[0]) < given.cost(given.pool.tolist()) for given in all_given) == 10


def test_what_is_found_does_not_become_dearer_again() -> None:
    given = Given(3, 2)
    pool, offset, _ = displaced(native(), given)
    before = given.cost(pool)
    given.pool, given.offset = np.array(pool), np.array(offset)
    pool, offset, _ = displaced(native(), given, seed=2)
    assert given.is_valid(pool, offset)
    assert given.cost(pool) <= before


def test_without_work_nobody_moves() -> None:
    given = Given(5)
    assert displaced(native(), given, 0) == (given.pool.tolist(), given.offset.tolist(), 0)


@pytest.mark.parametrize("kernels", [native, reference])
@pytest.mark.parametrize(
    "wrong",
    [
        {"cost": np.array([-1])},
        {"cost": np.zeros(1, dtype=np.int64)},
        {"taken": np.array([9, 0, 1])},
        {"endless": np.zeros(0, dtype=np.int64)},
        {"modulus": np.array([0])},
    ],
)
def test_wrong_homes_are_refused(kernels: object, wrong: dict[str, Ints]) -> None:
    given = Given(7)
    assert callable(kernels)
    for name, values in wrong.items():
        column = getattr(given.homes, name)
        is_changed = len(values) == 1 and (name != "cost" or values[0] < 0)
        changed = np.concatenate([values, column[1:]]) if is_changed else values
        given.homes = given.homes._replace(**{name: changed})
    with pytest.raises(BadKernelInput):
        displaced(kernels(), given)
