"""The search's own view of an instance: blocks that move, which must keep apart, and cliques of blocks that are live together.

Addresses are counted in units of the gcd of all alignments, from the residue that all bases share: base = origin + unit * x. Rounding both ends
of a range up to the next unit keeps disjoint ranges disjoint, so nothing is lost by it.
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
    """In bytes: where it ends above its base, for the peak."""
    modulus: int
    residue: int
    lowest: int
    highest: int
    lifetime: int
    """Sections lived in."""
    twin: int
    """Blocks of one number are interchangeable."""
    stops: tuple[Range, ...]
    """Starts that what is fixed or reserved forbids, sorted and disjoint."""

    @property
    def is_restricted(self) -> bool:
        """May it start at some addresses alone?"""
        return self.modulus != 1 or bool(self.stops)

    def align_up(self, x: int) -> int:
        return x + (self.residue - x) % self.modulus

    def align_down(self, x: int) -> int:
        return x - (x - self.residue) % self.modulus

    def next_start(self, x: int) -> int:
        """The least aligned start from x on that misses all that stands in the way."""
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
    """End of its first unbroken stretch."""
    height: int
    """Addresses that it takes in all."""
    top: int


@dataclass(frozen=True, slots=True)
class Clique:
    """Blocks that pairwise must not share addresses, so that their heights add up."""

    members: tuple[Member, ...]
    obstacles: tuple[Range, ...]
    """The ranges that others take, sorted and disjoint."""

    def reach_below(self, top: int, need: int) -> int:
        """The greatest address from which up to the top there is this much room beside the obstacles."""
        if need == 0:
            return top  # parts of less than a unit may be rounded to nothing: these can stand right above an obstacle
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
    """All that the search looks at."""

    unit: int
    origin: int
    plain: bool
    """One rect a block, no extra pairs: then the distance to keep above a block is its size, and cliques say who conflicts."""
    separable: bool
    """Conflicts come from time alone, so that cuts in time split the search."""
    contradiction: str | None
    """Why there is no placement whatever the height."""
    blocks: tuple[Mover, ...]
    fixed: tuple[tuple[int, int], ...]
    """Block as given, and its exact offset."""
    fixed_peak: int
    ceiling: int
    """Some best placement lies below this: with every block as low as the others allow."""
    edges: tuple[tuple[Edge, ...], ...]
    """By block: the blocks it must keep away from; none if plain."""
    cliques: tuple[Clique, ...]
    """In the order of time; those of explicit conflicts come last."""
    stretch: tuple[range, ...]
    """By block: the cliques from its first to its last, empty for one that conflicts with nothing that moves."""

    def height_of(self, block: int, x: int) -> int:
        """Where a block at x ends, in bytes."""
        return self.origin + self.unit * x + self.blocks[block].height


def ceiling_of(blocks: Sequence[Mover]) -> int:
    """Whatever pushes a block that is as low as can be ends at an obstacle, or is pushed itself."""
    start = max((x for block in blocks for x in (block.lowest, *(end for _, end in block.stops))), default=0)
    return min(max(start, 0) + sum(block.size + block.modulus for block in blocks), ADDRESS_LIMIT)
