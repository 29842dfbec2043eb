"""Builds the search's model from the kernel's input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from ..watch import Watch
from .cliques import Cliques, add_conflict_cliques
from .distances import Distances
from .given import Block, Given
from .model import Model, Mover, ceiling_of

PLAIN_MEMBERS = 8
"""Where no pairs are listed, this many times as many members of cliques are allowed as pairs elsewhere: natively a member takes 22 bytes, a pair 130,"""
MEMBERS_A_BLOCK = 23
"""and a block as much as so many members."""


def build_model(given: Given, max_pairs: int, watch: Watch) -> Model:
    """Raises TooLarge if more than max_pairs conflicting pairs, or members of cliques, would have to be listed."""
    originals = [b for b, block in enumerate(given.blocks) if block.moves]
    moving: list[int | None] = [None] * len(given.blocks)
    for j, b in enumerate(originals):
        moving[b] = j
    plain = _is_plain(given)
    unit, origin = _unit([given.blocks[b] for b in originals])
    apart = Distances(given, moving, unit, origin).collect(plain, max_pairs, watch)
    movers = [
        replace(_scaled(given, b, unit, origin), stops=stops) for b, stops in zip(originals, apart.stops, strict=True)
    ]
    most = PLAIN_MEMBERS * max_pairs - MEMBERS_A_BLOCK * len(movers) if plain else max_pairs
    cliques = Cliques(given, moving, unit, origin, plain, most, watch)
    cliques.add_moments()
    add_conflict_cliques(cliques, given)
    fixed = [(b, block.lowest) for b, block in enumerate(given.blocks) if not block.moves]
    contradiction = apart.contradiction
    if any(block.lowest > block.highest for block in given.blocks):
        contradiction = "a block has no place within its bounds"
    return Model(
        unit=unit,
        origin=origin,
        plain=plain,
        separable=not given.conflicts,
        contradiction=contradiction,
        blocks=tuple(_with_twins(given, movers) if plain else movers),
        fixed=tuple(fixed),
        fixed_peak=max((at + given.parts[p].high for b, at in fixed for p in given.blocks[b].parts), default=0),
        ceiling=ceiling_of(movers),
        edges=apart.edges,
        cliques=tuple(cliques.found),
        stretch=tuple(cliques.stretch),
    )


def _is_plain(given: Given) -> bool:
    """True if each block is one rect that begins at its base, and conflicts come from time alone."""
    if given.conflicts or given.exclusions:
        return False
    for b in range(len(given.blocks)):
        solid = [given.parts[p] for p in given.solid_parts(b)]
        if len(solid) > 1 or any(part.low != 0 or len(part.live) > 1 for part in solid):
            return False
    return True


def _unit(blocks: Sequence[Block]) -> tuple[int, int]:
    """The unit in which all possible bases are whole numbers, and the address from which they are counted."""
    unit = 0
    for block in blocks:
        unit = gcd(unit, block.modulus, block.residue - blocks[0].residue)
    unit = max(unit, 1)
    return unit, blocks[0].residue % unit if blocks else 0


def _scaled(given: Given, b: int, unit: int, origin: int) -> Mover:
    block = given.blocks[b]
    parts = [given.parts[p] for p in block.parts]
    modulus = block.modulus // unit
    return Mover(
        original=b,
        size=-(-max((part.high for part in parts if not part.is_empty), default=0) // unit),
        # An empty part may end above all others; it counts for the peak.
        height=max((part.high for part in parts), default=0),
        modulus=modulus,
        residue=(block.residue - origin) // unit % modulus,
        lowest=-(-(block.lowest - origin) // unit),
        highest=(block.highest - origin) // unit,
        lifetime=sum(end - start for part in parts for start, end in part.live),
        twin=b,
        stops=(),
    )


def _with_twins(given: Given, movers: Sequence[Mover]) -> list[Mover]:
    """Numbers interchangeable blocks alike: plain blocks of one lifetime, height, alignment and bounds, which obstacles also hinder alike."""
    first: dict[object, int] = {}
    twins = []
    for j, mover in enumerate(movers):
        live = [given.parts[p].live for p in given.solid_parts(mover.original)]
        key = (*live, mover.height, mover.modulus, mover.residue, mover.lowest, mover.highest)
        twins.append(replace(mover, twin=first.setdefault(key, j)))
    return twins
