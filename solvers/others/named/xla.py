"""OpenXLA's heap simulator with global decreasing size, best fit: all lifetimes known in advance, the smallest gap that is large enough.

Time is XLA's clock: it ticks with every allocation and release, so a lifetime is the number of these within it.
"""

from __future__ import annotations

from typing import ClassVar

from ...fitting.orders import Fit
from ...model.instance import Instance, Placement
from ...model.objective import evaluate
from ...model.solver import Feature
from .heuristic import Heuristic, NothingFits, Run, place_in_order
from .rigid import Rigid

FEATURES = frozenset({Feature.CAPACITY, Feature.MULTI_RECT, Feature.CONFLICTS, Feature.EXCLUSIONS})


class XlaHeapSpatial(Heuristic):
    """The largest first; of equal ones, the longest-lived."""

    name: ClassVar[str] = "xla_heap_spatial"
    features: ClassVar[frozenset[Feature]] = FEATURES

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        life = _ticks(blocks)
        order = sorted(range(len(blocks)), key=lambda b: (-blocks.size[b], -life[b]))
        return place_in_order(blocks, order, Fit.BEST, run)


class XlaHeapTemporal(Heuristic):
    """The longest-lived first; of equal ones, the largest."""

    name: ClassVar[str] = "xla_heap_temporal"
    features: ClassVar[frozenset[Feature]] = FEATURES

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        life = _ticks(blocks)
        order = sorted(range(len(blocks)), key=lambda b: (-life[b], -blocks.size[b]))
        return place_in_order(blocks, order, Fit.BEST, run)


class XlaHeap(Heuristic):
    """The better of both, as in XLA; temporal if they are equal."""

    name: ClassVar[str] = "xla_heap"
    features: ClassVar[frozenset[Feature]] = FEATURES

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        found: list[Placement] = []
        for planner in (XlaHeapTemporal(), XlaHeapSpatial()):
            try:
                found.append(planner.place(instance, blocks, run))
            except NothingFits as error:
                stuck = error
            else:
                run.answer = min(found, key=lambda placement: evaluate(instance, placement))
        if run.answer is None:
            raise stuck
        return run.answer


def _ticks(blocks: Rigid) -> list[int]:
    """The length of each block's life by XLA's clock. At one time, releases come first, then allocations in input order."""
    live = [b for b in range(len(blocks)) if blocks.is_live(b)]
    events = sorted([(blocks.end[b], 0, b) for b in live] + [(blocks.start[b], 1, b) for b in live])
    life = [0] * len(blocks)
    for tick, (_, begins, block) in enumerate(events):
        life[block] += -tick if begins else tick
    return life
