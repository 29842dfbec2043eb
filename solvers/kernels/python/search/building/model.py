"""The search's model of an instance: blocks that move, pairs that must keep apart, and cliques of blocks that are live together.

Addresses are counted in units of the gcd of all alignments, from the residue that all bases share: base = origin + unit * x. Both ends of a range are
rounded up to the next unit: disjoint ranges stay disjoint, so no placement is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....model.instance import ADDRESS_LIMIT
from .distances import Edge
from .given import Range


@dataclass(frozen=True, slots=True)
class Mover:
    """A block with a choice of offset, in units."""

    original: int
    size: int
    height: int
    """In bytes: the end above the base, for the peak."""
    modulus: int
    residue: int
    lowest: int
    highest: int
    lifetime: int
    """Number of sections in which it is live."""
    twin: int
    """Blocks with the same number are interchangeable."""
    stops: tuple[Range, ...]
    """Starts that fixed blocks and reserved ranges forbid, sorted and disjoint."""

    @property
    def is_restricted(self) -> bool:
        """True if alignment or stops exclude some starts."""
        return self.modulus != 1 or bool(self.stops)

    def align_up(self, x: int) -> int:
        return x + (self.residue - x) % self.modulus

    def align_down(self, x: int) -> int:
        return x - (x - self.residue) % self.modulus

    def next_start(self, x: int) -> int:
        """The least aligned start from x on that is not forbidden."""
        x = self.align_up(x)
        for start, end in self.stops:
            if start <= x < end:
                x = self.align_up(end)
        return x


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """The addresses that a block takes in a clique, counted from its base."""

    block: int
    bottom: int
    solid_top: int
    """End of its first contiguous range."""
    height: int
    """Number of addresses it takes."""
    top: int


@dataclass(frozen=True, slots=True)
class Clique:
    """Blocks that pairwise must not share addresses, so that their heights add up."""

    members: tuple[Member, ...]
    obstacles: tuple[Range, ...]
    """Ranges occupied by others, sorted and disjoint."""

    def reach_below(self, top: int, need: int) -> int:
        """The greatest address from which `need` units up to `top` are free of obstacles."""
        if need == 0:
            return top  # parts of less than a unit may round to nothing and can lie right above an obstacle
        for start, end in reversed(self.obstacles):
            if start >= top:
                continue
            if end < top:
                if top - end >= need:
                    break
                need -= top - end
            top = start
        return top - need


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that the search reads."""

    unit: int
    origin: int
    plain: bool
    """True if each block is one rect, without extra pairs. Then the distance above a block is its size, and cliques hold all conflicts."""
    separable: bool
    """True if conflicts come from time alone, so that a cut in time splits the search."""
    contradiction: str | None
    """Why there is no placement at any height."""
    blocks: tuple[Mover, ...]
    fixed: tuple[tuple[int, int], ...]
    """Each fixed block's number in the input, and its exact offset."""
    fixed_peak: int
    ceiling: int
    """Some best placement lies below this: with every block as low as the others allow."""
    edges: tuple[tuple[Edge, ...], ...]
    """By block: its conflicts; empty if plain."""
    cliques: tuple[Clique, ...]
    """In the order of time; cliques of explicit conflicts come last."""
    stretch: tuple[range, ...]
    """By block: the range of its cliques, empty if it conflicts with no block that moves."""

    def height_of(self, block: int, x: int) -> int:
        """The end of a block at x, in bytes."""
        return self.origin + self.unit * x + self.blocks[block].height


def ceiling_of(blocks: Sequence[Mover]) -> int:
    """An upper bound on the ends in some best placement: a block at its lowest place rests on an obstacle or on another block."""
    start = max((x for block in blocks for x in (block.lowest, *(end for _, end in block.stops))), default=0)
    return min(max(start, 0) + sum(block.size + block.modulus for block in blocks), ADDRESS_LIMIT)
