"""The state of the whole instance while its pieces are solved: the best placement of each, and the bounds."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from ..model.errors import StopReason
from ..model.instance import Instance, Ints, Placement
from ..model.objective import evaluate
from ..model.outcome import Value
from ..model.solver import Control


class Board:
    """Combines the placements of the pieces, and reports each improvement of the whole to the caller."""

    def __init__(self, instance: Instance, control: Control) -> None:
        self._instance = instance
        self._control = control
        self._pool = np.zeros(instance.blocks, dtype=np.int64)
        self._offset = np.zeros(instance.blocks, dtype=np.int64)
        self._placed = np.zeros(instance.blocks, dtype=bool)
        self._lock = Lock()
        self.value: Value | None = None
        self.bound: Value = ()

    def put(self, blocks: Ints, pool: Ints | int, offset: Ints) -> None:
        """Take better places for these blocks."""
        with self._lock:
            self._pool[blocks], self._offset[blocks], self._placed[blocks] = pool, offset, True
            placement = self.placement
            if placement is not None:
                value = evaluate(self._instance, placement)
                if self.value is None or value < self.value:
                    self.value = value
                    self._control.incumbent(placement)

    def prove(self, bound: Value) -> None:
        """Take a bound: no placement of the whole has a smaller value."""
        with self._lock:
            if bound > self.bound:
                self.bound = bound
                self._control.bound(bound)

    @property
    def placement(self) -> Placement | None:
        """The placement of the whole; None until every block is placed."""
        return Placement(self._pool.copy(), self._offset.copy()) if self._placed.all() else None

    def log(self, line: str) -> None:
        self._control.log(line)

    def stopped(self) -> StopReason | None:
        return self._control.stopped()


class Relay:
    """A solver's Control: it stops with the board, and passes placements and bounds to the given functions, by default to none."""

    def __init__(
        self,
        board: Board,
        incumbent: Callable[[Placement], None] = lambda placement: None,
        bound: Callable[[Value], None] = lambda bound: None,
    ) -> None:
        self.incumbent = incumbent
        self.bound = bound
        self.log = board.log
        self.stopped = board.stopped
