"""What the search is given, as blocks and parts in plain lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...instance import Ints

Range: TypeAlias = tuple[int, int]
"""Half-open: from, to."""

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """A range of addresses, counted from the base of its block, and the sections in which it is live."""

    block: int
    low: int
    high: int
    live: tuple[Range, ...]

    @property
    def is_empty(self) -> bool:
        return self.high <= self.low


@dataclass(frozen=True, slots=True)
class Block:
    """Parts that move as one; the base is residue modulo modulus, from lowest to highest."""

    parts: tuple[int, ...]
    modulus: int
    residue: int
    lowest: int
    highest: int

    @property
    def moves(self) -> bool:
        return self.lowest < self.highest


@dataclass(frozen=True, slots=True)
class Given:
    """One pool's worth of blocks."""

    blocks: tuple[Block, ...]
    parts: tuple[Part, ...]
    reserved: tuple[Range, ...]
    conflicts: tuple[Pair, ...]
    """Of parts, the lesser first, sorted."""
    exclusions: frozenset[Pair]
    """Of parts, the lesser first."""

    def excluded(self, part: int, other: int) -> bool:
        return (min(part, other), max(part, other)) in self.exclusions

    def solid_parts(self, block: int) -> list[int]:
        """Those that take up addresses."""
        return [p for p in self.blocks[block].parts if not self.parts[p].is_empty]


def from_arrays(
    part_block: Ints,
    part_low: Ints,
    part_high: Ints,
    rect_part: Ints,
    rect_start: Ints,
    rect_end: Ints,
    modulus: Ints,
    residue: Ints,
    lowest: Ints,
    highest: Ints,
    reserved: Ints,
    conflicts: Ints,
    exclusions: Ints,
) -> Given:
    """The same, from the kernel's arrays."""
    live: list[list[Range]] = [[] for _ in part_block]
    for part, start, end in zip(rect_part.tolist(), rect_start.tolist(), rect_end.tolist(), strict=True):
        live[part].append((start, end))
    owners = part_block.tolist()
    parts = tuple(
        Part(owner, low, high, tuple(when))
        for owner, low, high, when in zip(owners, part_low.tolist(), part_high.tolist(), live, strict=True)
    )
    parts_of: list[list[int]] = [[] for _ in modulus]
    for p, owner in enumerate(owners):
        parts_of[owner].append(p)
    columns = zip(parts_of, modulus.tolist(), residue.tolist(), lowest.tolist(), highest.tolist(), strict=True)
    return Given(
        blocks=tuple(Block(tuple(own), *rest) for own, *rest in columns),
        parts=parts,
        reserved=tuple((start, end) for start, end in reserved.reshape(-1, 2).tolist()),
        conflicts=tuple(sorted(_pairs(conflicts))),
        exclusions=frozenset(_pairs(exclusions)),
    )


def _pairs(flat: Ints) -> set[Pair]:
    return {(min(a, b), max(a, b)) for a, b in flat.reshape(-1, 2).tolist()}
