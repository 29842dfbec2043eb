"""A smaller model in which blocks that belong together move as one. A placement is easier to find there, if there is one.

Blocks of the same lifetime are stacked. Blocks of the same size are chained if one begins where the other ends. The results are stacked and chained
again, until nothing changes. A placement of the glued blocks is one of the single blocks; the converse does not hold, so this model proves nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .distances import merged
from .given import Range
from .model import Clique, Member, Model, Mover, ceiling_of

Obstacles: TypeAlias = tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Glued:
    """A model whose blocks are pieces: one or several blocks of another model."""

    model: Model
    pieces: tuple[Piece, ...]

    def expand(self, offsets: Sequence[int]) -> list[int]:
        """The positions of the other model's blocks if the pieces lie at these offsets."""
        at = {block: x + above for x, piece in zip(offsets, self.pieces, strict=True) for block, above in piece.members}
        return [at[block] for block in range(len(at))]


@dataclass(frozen=True, slots=True)
class Piece:
    """Blocks that move as one."""

    body: Mover
    """The piece as one block; its stops do not include those of all members."""
    stretch: range
    """The piece's range of cliques, among those that are left."""
    members: tuple[tuple[int, int], ...]
    """Each block, and its distance above the piece's base."""

    @property
    def number(self) -> int:
        return self.members[0][0]

    def alike(self, other: Piece) -> bool:
        """True if both have the same possible starts, apart from the highest ones and stops."""
        mine, its = self.body, other.body
        return (mine.modulus, mine.residue, mine.lowest) == (its.modulus, its.residue, its.lowest)

    def with_on_top(self, top: Piece, unit: int) -> Piece | None:
        """The two pieces stacked; None if that is impossible."""
        low, high = self.body, top.body
        highest = min(low.highest, high.highest - low.size)
        if self.stretch != top.stretch or not self.alike(top) or low.size % low.modulus != 0 or highest < low.lowest:
            return None
        body = replace(
            low,
            size=low.size + high.size,
            height=max(low.height, unit * low.size + high.height),
            highest=highest,
            lifetime=max(low.lifetime, high.lifetime),
        )
        return Piece(body, self.stretch, (*self.members, *((block, low.size + at) for block, at in top.members)))

    def followed_by(self, later: Piece) -> Piece:
        """The two pieces chained: `later` has the same size and begins where this one ends."""
        body = replace(
            self.body,
            height=max(self.body.height, later.body.height),
            highest=min(self.body.highest, later.body.highest),
            lifetime=self.body.lifetime + later.body.lifetime,
        )
        return Piece(body, range(self.stretch.start, later.stretch.stop), (*self.members, *later.members))


def glue(model: Model, chains: bool) -> Glued | None:
    """Glues stacks, and chains if wanted. None if there is nothing to glue or blocks are not plain."""
    if not model.plain or model.contradiction is not None:
        return None
    pieces = [
        Piece(block, stretch, ((j, 0),))
        for j, (block, stretch) in enumerate(zip(model.blocks, model.stretch, strict=True))
    ]
    timeless = [piece for piece in pieces if not piece.stretch]
    pieces = [piece for piece in pieces if piece.stretch]
    obstacles = [clique.obstacles for clique in model.cliques]
    before = None
    while before != len(pieces):
        before = len(pieces)
        pieces = _stacked(pieces, model.unit)
        if chains:
            pieces = _chained(pieces)
        pieces, obstacles = _without_covered_cliques(pieces, obstacles)
    if len(timeless) + len(pieces) == len(model.blocks):
        return None
    pieces = sorted([*timeless, *pieces], key=lambda piece: piece.number)
    return Glued(_model_of(model, pieces, obstacles), tuple(pieces))


def _stacked(pieces: Sequence[Piece], unit: int) -> list[Piece]:
    """Stacks pieces of the same stretch and alignment; the one with the most unused room in its last unit comes on top."""

    def key(piece: Piece) -> tuple[int, ...]:
        body, stretch = piece.body, piece.stretch
        room = unit * body.size - body.height
        return stretch.start, stretch.stop, body.modulus, body.residue, body.lowest, room, piece.number

    stacks: list[Piece] = []
    for piece in sorted(pieces, key=key):
        higher = stacks[-1].with_on_top(piece, unit) if stacks else None
        if higher is None:
            stacks.append(piece)
        else:
            stacks[-1] = higher
    return stacks


def _chained(pieces: Sequence[Piece]) -> list[Piece]:
    """Chains pieces in the order of their beginning, each followed by the first that can come next."""
    waiting: dict[tuple[int, int], list[Piece]] = {}
    ordered = sorted(pieces, key=lambda piece: (piece.stretch.start, piece.body.size, piece.number))
    for piece in ordered:
        waiting.setdefault((piece.stretch.start, piece.body.size), []).append(piece)
    taken: set[int] = set()
    chains = []
    for piece in ordered:
        if piece.number in taken:
            continue
        chain = piece
        while True:
            # None of these is the first of a chain: those begin no later than this chain.
            following = waiting.get((chain.stretch.stop, chain.body.size), [])
            later = next((p for p in following if p.number not in taken and chain.alike(p)), None)
            if later is None:
                break
            taken.add(later.number)
            chain = chain.followed_by(later)
        chains.append(chain)
    return chains


def _without_covered_cliques(
    pieces: Sequence[Piece], obstacles: Sequence[Obstacles]
) -> tuple[list[Piece], list[Obstacles]]:
    """Keeps only cliques in which something ends and something has begun since the last kept one; others add no constraint."""
    begins = {piece.stretch[0] for piece in pieces}
    ends = {piece.stretch[-1] for piece in pieces}
    kept: list[int] = []
    begun = False
    for c, taken in enumerate(obstacles):
        begun = begun or c in begins
        last = c in ends or c + 1 == len(obstacles) or taken != obstacles[c + 1]
        fresh = begun or not kept or taken != obstacles[kept[-1]]
        if last and fresh:
            kept.append(c)
            begun = False
    left = [
        replace(piece, stretch=range(bisect_left(kept, piece.stretch.start), bisect_left(kept, piece.stretch.stop)))
        for piece in pieces
    ]
    return left, [obstacles[c] for c in kept]


def _model_of(model: Model, pieces: Sequence[Piece], obstacles: Sequence[Obstacles]) -> Model:
    """The model of the pieces. A piece cannot start where one of its members cannot."""
    blocks = []
    rows: list[list[Member]] = [[] for _ in obstacles]
    for j, piece in enumerate(pieces):
        stops = [(start - at, end - at) for block, at in piece.members for start, end in model.blocks[block].stops]
        blocks.append(replace(piece.body, original=j, twin=j, stops=merged(stops)))
        size = piece.body.size
        member = Member(j, bottom=0, solid_top=size, height=size, top=size)
        for c in piece.stretch:
            rows[c].append(member)
    return replace(
        model,
        blocks=tuple(blocks),
        fixed=(),
        ceiling=ceiling_of(blocks),
        cliques=tuple(Clique(tuple(row), taken) for row, taken in zip(rows, obstacles, strict=True)),
        stretch=tuple(piece.stretch for piece in pieces),
    )
