"""The input of the search, as blocks and parts in plain lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .....model.instance import Ints
from ....columns import Columns

Range: TypeAlias = tuple[int, int]
"""Half-open: (from, to)."""

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
    """Parts that move as one. The base is `residue` modulo `modulus`, from `lowest` to `highest`."""

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
    """The blocks of one pool."""

    blocks: tuple[Block, ...]
    parts: tuple[Part, ...]
    reserved: tuple[Range, ...]
    conflicts: tuple[Pair, ...]
    """Pairs of parts, the lesser first, sorted."""
    exclusions: frozenset[Pair]
    """Pairs of parts, the lesser first."""

    def excluded(self, part: int, other: int) -> bool:
        return (min(part, other), max(part, other)) in self.exclusions

    def solid_parts(self, block: int) -> list[int]:
        """The block's parts that take up addresses."""
        return [p for p in self.blocks[block].parts if not self.parts[p].is_empty]


def from_columns(columns: Columns) -> Given:
    """The search's input from the kernel's arrays."""
    c = Columns(*(column.tolist() for column in columns))
    live: list[list[Range]] = [[] for _ in c.part_block]
    for part, start, end in zip(c.rect_part, c.rect_start, c.rect_end, strict=True):
        live[part].append((start, end))
    parts = tuple(
        Part(owner, low, high, tuple(when))
        for owner, low, high, when in zip(c.part_block, c.part_low, c.part_high, live, strict=True)
    )
    parts_of: list[list[int]] = [[] for _ in c.modulus]
    for p, owner in enumerate(c.part_block):
        parts_of[owner].append(p)
    rules = zip(parts_of, c.modulus, c.residue, c.lowest, c.highest, strict=True)
    return Given(
        blocks=tuple(Block(tuple(own), *rest) for own, *rest in rules),
        parts=parts,
        reserved=tuple((start, end) for start, end in columns.reserved.reshape(-1, 2).tolist()),
        conflicts=tuple(sorted(_pairs(columns.conflicts))),
        exclusions=frozenset(_pairs(columns.exclusions)),
    )


def _pairs(flat: Ints) -> set[Pair]:
    return {(min(a, b), max(a, b)) for a, b in flat.reshape(-1, 2).tolist()}
