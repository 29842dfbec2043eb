"""The best placement of a whole instance, in its units."""

from __future__ import annotations

import numpy as np

from ...geometry.tie_breaks import rank_tie
from ...model.instance import Instance, Placement
from ...model.objective import evaluate
from ...model.outcome import Value
from ..board import Board, Relay


class Known:
    """The best placement so far, its value and its solver, all None while nothing is known; each better one is passed to the board."""

    def __init__(self, instance: Instance, unit: int, board: Board) -> None:
        self._instance, self._unit, self._board = instance, unit, board
        self.placement: Placement | None = None
        self.value: Value | None = None
        self.solver: str | None = None

    def take(self, placement: Placement, value: Value, name: str | None) -> None:
        """Keep it if it is better."""
        if self.value is None or value < self.value:
            self.placement, self.value, self.solver = placement, value, name
        elif self._is_preferred(placement, value):
            self.placement = placement
        else:
            return
        self._board.put(np.arange(self._instance.blocks), placement.pool, placement.offset * self._unit)

    def _is_preferred(self, placement: Placement, value: Value) -> bool:
        """True if the placement is as good as the best, with more in the pools to use first."""
        if self.placement is None or value != self.value:
            return False
        return rank_tie(self._instance, placement) < rank_tie(self._instance, self.placement)

    def relay(self, name: str) -> Relay:
        """A relay that takes an engine's incumbents at once."""
        return Relay(self._board, lambda placement: self.take(placement, evaluate(self._instance, placement), name))
