"""Random numbers that are the same everywhere: whole numbers drawn in one way from the bits of one specified generator.

random.Random promises the same bits (Mersenne Twister) in every version of Python, but not the same randrange or shuffle.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

BITS = 64


class Chance:
    """Draws whole numbers."""

    def __init__(self, seed: int) -> None:
        self._bits = Random(seed).getrandbits

    def below(self, count: int) -> int:
        """Return a number from 0 to count - 1, all equally likely (within count / 2^64)."""
        return self._bits(BITS) * count >> BITS

    def between(self, least: int, greatest: int) -> int:
        """Return a number from least to greatest, inclusive."""
        return least + self.below(greatest - least + 1)

    def spread(self, least: int, greatest: int) -> int:
        """Return a number from least to greatest with every power of two equally likely: small numbers are common, large ones occur."""
        width = self.between(least.bit_length(), greatest.bit_length())
        number = 0 if width == 0 else 1 << (width - 1) | self.below(1 << (width - 1))
        return min(max(number, least), greatest)

    def one_in(self, count: int) -> bool:
        """True once in `count` times."""
        return self.below(count) == 0

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle them (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
