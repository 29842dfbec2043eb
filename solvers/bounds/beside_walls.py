"""How high pieces must reach beside walls: ranges of addresses that are reserved or occupied by fixed blocks.

No piece lies across a wall. So of each gap between two walls, only as much is filled as the sizes of some pieces add up to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import NamedTuple

MOST_STEPS = 1 << 24
"""Most steps, pieces times sums, over all gaps. Beyond it, every multiple of the pieces' common divisor counts as a sum."""
LEAST_STEPS = 64
"""Steps counted for each piece besides its sums."""


class Piece(NamedTuple):
    """A piece of `height` bytes that starts at `start` or a multiple of `modulus` higher."""

    start: int
    height: int
    modulus: int

    @property
    def end(self) -> int:
        """The least end."""
        return self.start + self.height


def height_beside(pieces: Sequence[Piece], walls: Iterable[tuple[int, int]]) -> int:
    """A lower bound on the highest end of the pieces if no two overlap. Walls are in ascending order."""
    first = pieces[0].start
    grain = gcd(*(piece.modulus for piece in pieces), *(piece.start - first for piece in pieces))
    whole = [-(-piece.height // grain) * grain for piece in pieces]
    padding = max(size - piece.height for size, piece in zip(whole, pieces, strict=True))
    shortest, sums = min(piece.height for piece in pieces), Sums(whole)
    here, filled = min(piece.start for piece in pieces), 0
    for begin, end in walls:
        if begin - here >= shortest:
            more = sums.largest(begin - here + padding)
            more = sums.largest(filled + more) if filled else more
            if more == sums.total:
                break
            filled = more
        if end > here:
            here = end + (first - end) % grain
    return here + max(sums.total - filled - padding, shortest)


class Sums:
    """The sums of subsets of these sizes."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes, self._unit, self._left = sizes, gcd(*sizes), MOST_STEPS
        self.total = sum(sizes)

    def largest(self, most: int) -> int:
        """The greatest sum up to `most`; an upper bound on it if there are too many sums."""
        if self.total <= most:
            return self.total
        top = most // self._unit
        self._left -= (top + LEAST_STEPS) * len(self._sizes)
        if self._left < 0:
            return top * self._unit
        sums, every = 1, (1 << top + 1) - 1
        """sums, every: bit k stands for the sum k units"""
        for size in (
            size for size in self._sizes if size <= most
        ):  # a shift by a larger size would need as much memory
            sums |= sums << size // self._unit & every
            if sums >> top:
                break
        return (sums.bit_length() - 1) * self._unit
