"""Ranges of every block's base and every pool's peak, given known bounds: tighter ranges give smaller big Ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....bounds.weighted_sections import homes_of_classes
from ....geometry.separation import forbidden_bases
from ....model.instance import Instance, Term

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Ranges:
    """Bounds that hold in every placement within the limits."""

    homes: tuple[tuple[int, ...], ...]
    """By block: the pools it can be in."""
    base: tuple[Mapping[int, Span], ...]
    """By block and pool: least and greatest base; both are allowed and aligned."""
    peak: tuple[Span, ...]
    """By pool: least and greatest peak."""

    def lowest(self, block: int) -> int:
        return min(low for low, _ in self.base[block].values())

    def highest(self, block: int) -> int:
        return max(high for _, high in self.base[block].values())


def find_ranges(instance: Instance, floors: tuple[int, ...], limits: Mapping[Term, int]) -> Ranges | None:
    """The ranges in placements whose terms do not exceed the limits; None if there is no such placement.

    Floors are proven least peaks, limits greatest values of terms.
    """
    ceilings = _ceilings(instance, floors, limits)
    if any(floor > ceiling for floor, ceiling in zip(floors, ceilings, strict=True)):
        return None
    height = instance.block_high.tolist()
    spans: list[dict[int, Span]] = []
    homes = homes_of_classes(instance)
    for block in range(instance.blocks):
        found = {}
        for pool in homes[int(instance.pool_class[block])]:
            span = _span(instance, block, pool, ceilings[pool] - height[block])
            if span is not None:
                found[pool] = span
        spans.append(found)
    shared: dict[int, set[int]] = {}
    for block, group in enumerate(instance.pool_class.tolist()):
        shared[group] = shared.get(group, set(spans[block])) & set(spans[block])
    if any(not pools for pools in shared.values()):
        return None
    base = tuple(
        {pool: span for pool, span in spans[block].items() if pool in shared[group]}
        for block, group in enumerate(instance.pool_class.tolist())
    )
    return Ranges(tuple(tuple(sorted(b)) for b in base), base, tuple(zip(floors, ceilings, strict=True)))


def _ceilings(instance: Instance, floors: tuple[int, ...], limits: Mapping[Term, int]) -> list[int]:
    ceilings = []
    least_cost = sum(spec.cost * floor for spec, floor in zip(instance.pools, floors, strict=True))
    for pool, spec in enumerate(instance.pools):
        ceiling = max(_stacked(instance, pool), floors[pool])
        if spec.capacity is not None:
            ceiling = min(ceiling, spec.capacity)
        if Term.LARGEST_PEAK in limits:
            ceiling = min(ceiling, limits[Term.LARGEST_PEAK])
        if Term.SUM_OF_PEAKS in limits and spec.cost > 0:
            others = least_cost - spec.cost * floors[pool]
            ceiling = min(ceiling, (limits[Term.SUM_OF_PEAKS] - others) // spec.cost)
        ceilings.append(ceiling)
    return ceilings


def _stacked(instance: Instance, pool: int) -> int:
    """An upper bound on all ends if every block lies as low as possible: all blocks on top of each other."""
    here = instance.allowed[:, pool]
    spec = instance.pools[pool]
    start: int = max([0, *(end for _, end in spec.reserved), *instance.lowest[here, pool].tolist()])
    heights: list[int] = instance.block_high[here].tolist()
    moduli: list[int] = instance.modulus[here, pool].tolist()
    return start + sum(heights) + sum(moduli)


def _span(instance: Instance, block: int, pool: int, top: int) -> Span | None:
    low, high = int(instance.lowest[block, pool]), min(int(instance.highest[block, pool]), top)
    modulus, residue = int(instance.modulus[block, pool]), int(instance.residue[block, pool])
    forbidden = forbidden_bases(instance, block, pool)
    high -= (high - residue) % modulus
    for begin, end in forbidden:
        if begin < low < end:
            low = end + (residue - end) % modulus
    for begin, end in reversed(forbidden):
        if begin < high < end:
            high = begin - (begin - residue) % modulus
    return (low, high) if low <= high else None
