"""ExecuTorch's planners for Cadence: a hierarchy of memories, fastest first; by size, each buffer in the first memory that has room.

Pinned buffers come first: those with an offset, then those with a memory, then the rest. A buffer fits if its end, rounded up to the alignment, is
within the memory. Views move with their source, which lives as long as any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ...fitting.gaps import Span
from ...fitting.orders import Fit
from ...model.instance import Instance, Placement
from ...model.solver import Feature
from .heuristic import Heuristic, Run, place_in_order
from .rigid import Rigid

FEATURES = frozenset(Feature) - {Feature.TERMS, Feature.MOVES}


class _Cadence(Heuristic):
    """The common part of both planners; they differ in the gap they choose."""

    features: ClassVar[frozenset[Feature]] = FEATURES
    fit: ClassVar[Fit]

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        capacities = [pool.capacity for pool in instance.pools]
        return place_in_order(blocks, _order(instance, blocks), self.fit, run, _Rounded(blocks, capacities))


class CadencePosition(_Cadence):
    """position_based_greedy_with_hierarchy: the lowest free address."""

    name: ClassVar[str] = "cadence_position"
    fit: ClassVar[Fit] = Fit.LOWEST


class CadenceBestFit(_Cadence):
    """greedy_by_size_for_offset_calculation_with_hierarchy: the smallest gap that is large enough."""

    name: ClassVar[str] = "cadence_best_fit"
    fit: ClassVar[Fit] = Fit.BEST


def _order(instance: Instance, blocks: Rigid) -> list[int]:
    """Fixed buffers first, then pinned ones by memory, then the rest; by descending size, ties in input order."""

    def key(block: int) -> tuple[int, int, int]:
        pinned = instance.source is not None and bool(instance.source.pinned[block])
        home = int(instance.allowed[block].argmax()) if pinned else 0
        if blocks.fixed[block]:
            return 0, 0, 0
        return (1, home, -blocks.size[block]) if pinned else (2, 0, -blocks.size[block])

    return sorted(range(len(blocks)), key=key)


@dataclass(frozen=True, slots=True)
class _Rounded:
    """The spans in which a block's rounded end fits."""

    blocks: Rigid
    capacities: list[int | None]

    def __call__(self, block: int, pool: int) -> Span:
        span, capacity = self.blocks.span(block, pool), self.capacities[pool]
        if capacity is None or self.blocks.fixed[block]:
            return span
        end = capacity - (capacity - span.residue) % span.modulus
        return replace(span, highest=min(span.highest, end - self.blocks.size[block]))
