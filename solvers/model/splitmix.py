"""SplitMix64, a random generator that draws the same numbers in Python and in C++ (kernels/native/shared/random.hpp)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    """A one-to-one hash of 64 bits."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


class SplitMix64:
    """A stream of random 64-bit numbers."""

    def __init__(self, seed: int) -> None:
        self._state = seed & WORD

    def next(self) -> int:
        self._state = (self._state + GOLDEN) & WORD
        return mix(self._state)

    def below(self, count: int) -> int:
        """From 0 to count - 1."""
        return self.next() * count >> 64

    def fraction(self, bits: int) -> float:
        """From 0 to just below 1, a multiple of 2 ** -bits."""
        return self.below(1 << bits) / (1 << bits)

    def pick(self, items: Sequence[Item]) -> Item:
        """Any of the items."""
        return items[self.below(len(items))]
