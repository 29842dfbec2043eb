"""How high a few pieces of different alignments must reach: the least end of all orders in which they can lie on each other.

Each begins at the first place for it at or above the end of what lies below. So of the same pieces the order that ends lowest is best whatever comes
above them, and the least ends of all sets of pieces follow from those of sets with one piece less.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..model.instance import ADDRESS_LIMIT, Ints
from .beside_walls import Piece

MOST_PIECES = 14
"""With more there are too many sets, for the verifier too. Then the paddings are mostly small, since many pieces fill them."""


def least_stack(pieces: Sequence[Piece], known: int) -> int:
    """A lower bound on the highest end of the pieces if no two overlap, whatever else is in their way; `known` if this is no better, or they are too many."""
    if len(pieces) > MOST_PIECES or len({piece.modulus for piece in pieces}) < 2:
        return known
    if sum(piece.height + piece.modulus for piece in pieces) + max(piece.start for piece in pieces) > ADDRESS_LIMIT:
        return known
    end = 0
    for piece in sorted(pieces, key=lambda piece: -piece.modulus):
        end = piece.start + max(-((piece.start - end) // piece.modulus), 0) * piece.modulus + piece.height
    return known if end <= known else max(_least_end(pieces), known)


def _least_end(pieces: Sequence[Piece]) -> int:
    ends = np.full(1 << len(pieces), ADDRESS_LIMIT, dtype=np.int64)
    ends[0] = 0
    for sets in _sets_by_size(len(pieces)):
        for i, piece in enumerate(pieces):
            below = sets[sets >> i & 1 == 0]
            begin = piece.start + np.maximum(-((piece.start - ends[below]) // piece.modulus), 0) * piece.modulus
            both = below | 1 << i
            ends[both] = np.minimum(ends[both], begin + piece.height)
    return int(ends[-1])


@lru_cache(maxsize=MOST_PIECES)
def _sets_by_size(count: int) -> tuple[Ints, ...]:
    """All sets but the whole, as bits: those without any, with one, two and so on."""
    sets: Ints = np.arange(1 << count, dtype=np.int64)
    sizes = sum(sets >> i & 1 for i in range(count))
    return tuple(sets[sizes == size] for size in range(count))
