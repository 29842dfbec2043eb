"""Remembers what has been searched in vain, across restarts.

What is left to do depends on nothing but the unplaced blocks and their lows: is there a placement with every block at its low or above, and
below the height? Stacks in another order lead there again and again. A state is kept as 128 bits of hash.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ....model.splitmix import GOLDEN, WORD, mix

MOST_BLOCKS = 1000
"""Beyond, attempts rarely come back to where they were."""

SLOTS = 1 << 18
NO_BLOCK = WORD
"""Stands for the height where others stand for blocks: -1 as 64 bits."""

Key: TypeAlias = tuple[int, int]


def key_of(height: int, lows: Iterable[tuple[int, int]]) -> Key:
    """The hash of a state: of the height, and of the unplaced blocks with their lows, in any order."""
    first = second = 0
    for block, low in ((NO_BLOCK, height), *lows):
        z = mix((low * GOLDEN + block * 0xD1B54A32D192ED03) & WORD)
        first += z
        second += mix(z ^ 0xA0761D6478BD642F)
    return first & WORD, second & WORD


class Refuted:
    """A table of slots, each with the latest state that belongs there."""

    def __init__(self) -> None:
        self._known: dict[int, Key] = {}

    def insert(self, key: Key) -> None:
        self._known[key[0] % SLOTS] = key

    def __contains__(self, key: Key) -> bool:
        return self._known.get(key[0] % SLOTS) == key
