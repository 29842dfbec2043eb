"""A planner of a user's own, as if it were installed: its plan is there at once, and then it waits until it is stopped.

In place of a solver that computes for hours, where a test is about the job and not about what it computes.
"""

from __future__ import annotations

import time

import numpy as np

from solvers.model.instance import Instance, Placement
from solvers.model.outcome import Outcome
from solvers.model.solver import Control, Feature, Task

EVERY_SECONDS = 0.02


class Waiting:
    """Puts one block above the other."""

    features = frozenset({Feature.CAPACITY})

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        ends = np.cumsum(instance.block_high)
        placement = Placement(np.zeros(instance.blocks, dtype=np.int64), ends - instance.block_high)
        control.incumbent(placement)
        while (reason := control.stopped()) is None:
            time.sleep(EVERY_SECONDS)
        return Outcome(reason, placement)
