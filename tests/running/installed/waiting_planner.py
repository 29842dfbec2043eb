"""A user's own planner that tests treat as installed: it has a plan at once, and then waits until it is stopped.

It replaces a solver that computes for hours in tests that are about the job and not about what it computes. It does not
wait with the five buffers that `/readyz` gives to each solver, which would take five seconds each time.
"""

from __future__ import annotations

import time

import numpy as np

from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement
from solvers.model.outcome import Outcome
from solvers.model.solver import Control, Feature, Task

EVERY_SECONDS = 0.02
SIZES_OF_READYZ = [16, 32, 48, 64, 80]
"""Those of api.jobs.processes.tasks.FIVE_BUFFERS, which a solver must not import."""


class Waiting:
    """A planner that puts one block above the other."""

    features = frozenset({Feature.CAPACITY})

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        ends = np.cumsum(instance.block_high)
        placement = Placement.in_one_pool(ends - instance.block_high)
        control.incumbent(placement)
        if sorted(instance.block_high.tolist()) == SIZES_OF_READYZ:
            return Outcome(StopReason.WORK_LIMIT, placement)
        while (reason := control.stopped()) is None:
            time.sleep(EVERY_SECONDS)
        return Outcome(reason, placement)
