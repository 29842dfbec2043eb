"""TVM's greedy USMP planners: by size or by number of conflicts, each buffer above all that it conflicts with. They never fill a gap."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import numpy as np

from ....fitting.pool_choice import PoolChoice
from ....model.instance import Instance, Placement
from ....model.solver import Feature
from ..heuristic import Heuristic, NothingFits, Run
from ..rigid import Rigid, conflict_lists

FEATURES = frozenset({Feature.CAPACITY, Feature.MULTI_RECT, Feature.CONFLICTS, Feature.EXCLUSIONS, Feature.POOLS})

Lists: TypeAlias = list[list[int]]


class UsmpBySize(Heuristic):
    """By size, then number of conflicts, then name, all descending."""

    name: ClassVar[str] = "usmp_by_size"
    features: ClassVar[frozenset[Feature]] = FEATURES

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        near = conflict_lists(instance, self.name)
        return place_on_top(blocks, order_by_size(instance, blocks, near), near, run)


class UsmpByConflicts(Heuristic):
    """By number of conflicts, then size, then name, all descending."""

    name: ClassVar[str] = "usmp_by_conflicts"
    features: ClassVar[frozenset[Feature]] = FEATURES

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        near = conflict_lists(instance, self.name)
        rank = instance.name_rank.tolist()
        order = sorted(range(len(blocks)), key=lambda b: (-len(near[b]), -blocks.size[b], -rank[b]))
        return place_on_top(blocks, order, near, run)


def order_by_size(instance: Instance, blocks: Rigid, near: Lists) -> list[int]:
    """The order of usmp_by_size, in which the hill climb also begins."""
    rank = instance.name_rank.tolist()
    return sorted(range(len(blocks)), key=lambda b: (-blocks.size[b], -len(near[b]), -rank[b]))


def place_on_top(blocks: Rigid, order: list[int], near: Lists, run: Run) -> Placement:
    """Places each block at the greatest aligned end of its placed conflicts, in the first of its pools where it fits."""
    choice = PoolChoice(blocks.instance)
    pool_of, offset = np.zeros(len(blocks), dtype=np.int64), np.zeros(len(blocks), dtype=np.int64)
    where: dict[int, tuple[int, int]] = {}
    for block in order:
        run.spend(1 + len(near[block]) // 8)
        tops: dict[int, int] = {}
        for other in near[block]:
            if other in where:
                pool, end = where[other]
                tops[pool] = max(tops.get(pool, 0), end)
        for pool in choice.open(block):
            base = blocks.base(block, pool, tops.get(pool, 0))
            if base is not None:
                break
        else:
            raise NothingFits(block)
        where[block] = (pool, base + blocks.size[block])
        choice.put(block, pool)
        pool_of[block], offset[block] = pool, base
    return Placement(pool_of, offset)
