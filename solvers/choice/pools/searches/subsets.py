"""Of some sizes those that fill a room best, by all sums of each half of them."""

from __future__ import annotations

import numpy as np

from ....model.instance import Bools, Ints

MOST = 14
"""Sizes in a half, at most: each has two to this sums."""
WORK = 2_000
"""Of one search, at most."""


def fullest(sizes: Ints, room: int) -> Bools:
    """Which of them take most of the room together; of twice MOST sizes at most."""
    half = len(sizes) // 2
    one, other = _sums(sizes[:half]), _sums(sizes[half:])
    order = np.argsort(other, kind="stable")
    place = np.searchsorted(other[order], room - one, side="right") - 1
    total = np.where(place >= 0, one + other[order[place]], -1)
    best = int(total.argmax())
    if total[best] < 0:
        return np.zeros(len(sizes), dtype=np.bool_)
    number = best | int(order[place[best]]) << half
    taken: Bools = np.array([number >> n & 1 for n in range(len(sizes))], dtype=np.bool_)
    return taken


def _sums(sizes: Ints) -> Ints:
    """The sum of each subset, whose number has a bit for each size."""
    sums = np.zeros(1, dtype=np.int64)
    for size in sizes.tolist():
        sums = np.concatenate([sums, sums + size])
    return sums
