"""Of some sizes those that fill a room best: as trying every subset says."""

from __future__ import annotations

import random
from itertools import product

import numpy as np

from solvers.choice.pools.searches.subsets import fullest


def test_no_other_subset_fills_the_room_better() -> None:
    draw = random.Random(1)
    filled = 0
    for _ in range(200):
        sizes = [draw.randint(1, 30) for _ in range(draw.randint(0, 7))]
        room = draw.randint(0, 80)
        taken = fullest(np.array(sizes, dtype=np.int64), room)
        sums = (
            sum(s for s, some in zip(sizes, each, strict=True) if some)
            for each in product((False, True), repeat=len(sizes))
        )
        best = max(each for each in sums if each <= room)
        assert int(np.array(sizes, dtype=np.int64)[taken].sum()) == best
        filled += best == room
    assert filled > 10
