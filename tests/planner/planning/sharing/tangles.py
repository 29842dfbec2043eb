"""Problems on which greedy alone is not enough."""

from __future__ import annotations

import random

from planner import Buffer, Problem


def tangle(seed: int) -> Problem:
    """Buffers of one stretch of time each."""
    rng = random.Random(seed)
    count = rng.choice((14, 20, 30))
    rows = [(rng.randrange(20), rng.randrange(1, 9), rng.randrange(1, 20)) for _ in range(count)]
    return Problem(tuple(Buffer(i, size, live=((at, at + length),)) for i, (at, length, size) in enumerate(rows)))


PROVED_BY_SEARCH = tangle(3)
"""Greedy finds the least total, 73, but the bound is 72."""
FOUND_BY_SEARCH = tangle(161)
"""Greedy finds 120; the least total is 118, the bound 116."""
