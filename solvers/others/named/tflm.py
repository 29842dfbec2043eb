"""TensorFlow Lite Micro's greedy planner: the largest first, each in the lowest gap that holds it, in one arena."""

from __future__ import annotations

from typing import ClassVar

from ...fitting.orders import Fit
from ...model.instance import Instance, Placement
from ...model.solver import ONE_PEAK, Feature
from .heuristic import Heuristic, Run, place_in_order
from .rigid import Rigid


class TflmGreedy(Heuristic):
    """Buffers with a fixed offset (planned offline) first, then by descending size; ties in input order.

    Sizes are rounded up to the alignment, as that planner receives them.
    """

    name: ClassVar[str] = "tflm_greedy"
    features: ClassVar[frozenset[Feature]] = ONE_PEAK
    last_first: ClassVar[bool] = False

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        home = instance.allowed.argmax(axis=1).tolist()

        def key(block: int) -> tuple[bool, int, int]:
            if blocks.fixed[block]:
                return False, 0, block
            return True, -blocks.rounded(block, home[block]), -block if self.last_first else block

        return place_in_order(blocks, sorted(range(len(blocks)), key=key), Fit.LOWEST, run)


class TflmGreedyLastFirst(TflmGreedy):
    """The same with ties reversed: since offsets can be planned offline, the library takes the last of equal buffers first."""

    name: ClassVar[str] = "tflm_greedy_last_first"
    last_first: ClassVar[bool] = True
