"""The case of a single peak: one pool, and an objective that depends on its peak alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...bounds.one_pool import pool_bound
from ...model.instance import Instance
from ...model.linear_terms import line_of_peak
from ...model.needs import is_joint
from ...model.outcome import Value
from ...model.solver import Task
from .program.places import Places, places


@dataclass(frozen=True, slots=True)
class SinglePeak:
    """The values of peaks, and the possible peaks."""

    pool: int
    terms: tuple[tuple[int, int], ...]
    """(slope, constant) of each term of the objective as a function of the peak."""
    spots: tuple[tuple[Places, int], ...]
    """The different sets of bases, each with the height of its blocks."""

    def value(self, peak: int) -> Value:
        return tuple(slope * peak + constant for slope, constant in self.terms)

    @property
    def is_flat(self) -> bool:
        """True if all peaks have the same value."""
        return all(slope == 0 for slope, _ in self.terms)

    def peak_for(self, bound: Value) -> int:
        """The least peak whose value is not below the bound."""
        for (slope, constant), wanted in zip(self.terms, bound, strict=False):
            if slope:
                return max(-((constant - wanted) // slope), 0)
            if constant != wanted:
                break
        return 0

    def at_least(self, peak: int) -> int | None:
        """The least possible end of a block from `peak` on; None if there is none."""
        ends = (place.at_least(peak - height) for place, height in self.spots)
        return min(
            (end + height for end, (_, height) in zip(ends, self.spots, strict=True) if end is not None), default=None
        )

    def at_most(self, peak: int) -> int | None:
        """The greatest possible end of a block up to `peak`; None if there is none."""
        ends = (place.at_most(peak - height) for place, height in self.spots)
        return max(
            (end + height for end, (_, height) in zip(ends, self.spots, strict=True) if end is not None), default=None
        )

    @property
    def ceiling(self) -> int:
        """An upper bound on the end of all placements."""
        return max(place.greatest + height for place, height in self.spots)


def single_peak_of(instance: Instance) -> SinglePeak | None:
    """The instance as such a case; None if it is none, or if a block has no place."""
    used = np.flatnonzero(instance.allowed.any(axis=0))
    if len(used) != 1 or is_joint(instance) or not instance.allowed.any(axis=1).all():
        return None
    pool = int(used[0])
    parts: list[list[tuple[int, int]]] = [[] for _ in range(instance.blocks)]
    for block, low, high in zip(
        instance.part_block.tolist(), instance.part_low.tolist(), instance.part_high.tolist(), strict=True
    ):
        parts[block].append((low, high))
    heights = instance.block_high.tolist()
    spots = dict.fromkeys(
        (places(instance, block, pool, parts[block], None), heights[block]) for block in range(instance.blocks)
    )
    if any(place.is_empty for place, _ in spots):
        return None
    return SinglePeak(pool, tuple(line_of_peak(instance, term, pool) for term in instance.terms), tuple(spots))


def first_bound(instance: Instance, single: SinglePeak, task: Task) -> int:
    """The least peak that is not ruled out yet."""
    known = [single.peak_for(task.bound)]
    if single.pool < len(task.pool_bounds):
        known.append(task.pool_bounds[single.pool])
    own = pool_bound(instance, single.pool)
    if own is not None:
        known.append(own.value)
    return max(known)
