"""How high pieces reach beside walls: ranges of addresses that are reserved, or taken by what is fixed.

No piece lies across a wall, so of each stretch between two of them only as much is filled as some of the pieces add up to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import NamedTuple

MOST_STEPS = 1 << 25
"""Pieces times sums. Beyond it all multiples of what divides every piece count as sums."""


class Piece(NamedTuple):
    """Bytes that lie at `start`, or a multiple of `modulus` higher."""

    start: int
    height: int
    modulus: int


def height_beside(pieces: Sequence[Piece], walls: Iterable[tuple[int, int]]) -> int:
    """A height below which the pieces do not end if no two overlap. Walls are in ascending order."""
    first = pieces[0].start
    grain = gcd(*(piece.modulus for piece in pieces), *(piece.start - first for piece in pieces))
    whole = [-(-piece.height // grain) * grain for piece in pieces]
    padding = max(size - piece.height for size, piece in zip(whole, pieces, strict=True))
    shortest, total = min(piece.height for piece in pieces), sum(whole)
    here, filled = min(piece.start for piece in pieces), 0
    for begin, end in walls:
        if begin - here >= shortest:
            more = largest_sum(whole, begin - here + padding)
            more = largest_sum(whole, filled + more) if filled else more
            if more == total:
                break
            filled = more
        if end > here:
            here = end + (first - end) % grain
    return here + max(total - filled - padding, shortest)


def largest_sum(sizes: Sequence[int], most: int) -> int:
    """The greatest sum of some of the sizes that is no greater than `most`."""
    if sum(sizes) <= most:
        return sum(sizes)
    unit = gcd(*sizes)
    top = most // unit
    if top * len(sizes) > MOST_STEPS:
        return top * unit
    sums, every = 1, (1 << top + 1) - 1
    """As bits."""
    for size in sizes:
        sums |= sums << size // unit & every
        if sums >> top:
            break
    return (sums.bit_length() - 1) * unit
