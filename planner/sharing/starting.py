"""A sharing that is known already, as an arrangement for solvers to begin with."""

from __future__ import annotations

import numpy as np

from solvers.sharing.arrangement import Arrangement

from ..placing.lowering import Lowered
from ..problem import Problem
from ..storage import Sharing


def as_arrangement(problem: Problem, lowered: Lowered, sharing: Sharing) -> Arrangement | None:
    """Which of the problem's blocks use one object; None if the sharing leaves buffers out or tears blocks apart. Keeps other rules unseen."""
    object_of = {each.id: each.object for each in sharing.assignments}
    if not all(buffer.id in object_of for buffer in problem.buffers):
        return None
    number: dict[int, int] = {}
    found = [number.setdefault(object_of[buffer.id], len(number)) for buffer in problem.buffers]
    of_part = np.array(found, dtype=np.int64)
    part_block = lowered.instance.part_block
    storage = np.zeros(lowered.instance.blocks, dtype=np.int64)
    storage[part_block] = of_part
    return Arrangement(storage) if (storage[part_block] == of_part).all() else None
