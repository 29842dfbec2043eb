"""Remembers states that were shown to be impossible, across restarts.

Whether a state can be completed depends only on the unplaced blocks, their lows and the height. Different stacks lead to equal states again and
again. A state is kept as a hash of 128 bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ....model.splitmix import GOLDEN, WORD, mix

MOST_BLOCKS = 1000
"""With more blocks, attempts rarely reach the same state again."""

SLOTS = 1 << 18
NO_BLOCK = WORD
"""The block number under which the height is hashed: -1 as 64 bits."""

Key: TypeAlias = tuple[int, int]


def key_of(height: int, lows: Iterable[tuple[int, int]]) -> Key:
    """The hash of a state: of the height and of the unplaced blocks with their lows, in any order."""
    first = second = 0
    for block, low in ((NO_BLOCK, height), *lows):
        z = mix((low * GOLDEN + block * 0xD1B54A32D192ED03) & WORD)
        first += z
        second += mix(z ^ 0xA0761D6478BD642F)
    return first & WORD, second & WORD


class Refuted:
    """A hash table that keeps the latest state in each slot."""

    def __init__(self) -> None:
        self._known: dict[int, Key] = {}

    def insert(self, key: Key) -> None:
        self._known[key[0] % SLOTS] = key

    def __contains__(self, key: Key) -> bool:
        return self._known.get(key[0] % SLOTS) == key
