"""Blocks beside pinned ones lie wholly below or wholly above each of them, so they may reach higher than sums of sizes say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .instance import Beside, Row, Wall
from .loads import Piece, needed

MOST_LOOKS = 500_000
"""Greatest number of pieces times times; beyond that walls are not considered."""
MOST_TERMS = 30_000


def rows(pieces: Iterable[Piece], alternatives: Sequence[int], pins: Mapping[int, int]) -> tuple[Row, ...]:
    """The rows of all times when something begins to live beside a pinned block. `pins` are the addresses of the pinned blocks."""
    known = [piece for piece in pieces if piece.start < piece.end and piece.low < piece.high]
    times = sorted({piece.start for piece in known})
    if not any(piece.block in pins for piece in known) or len(times) * len(known) > MOST_LOOKS:
        return ()
    found: dict[Row, None] = {}
    terms = 0
    for time in times:
        row = _row([piece for piece in known if piece.start <= time < piece.end], alternatives, pins)
        if row.walls and row not in found:
            terms += len(row.walls) * (1 + len(row.beside))
            if terms > MOST_TERMS:
                break
            found[row] = None
    return tuple(found)


def _row(live: Iterable[Piece], alternatives: Sequence[int], pins: Mapping[int, int]) -> Row:
    """The row of one time, without blocks that are in several pieces then: something may lie between the pieces."""
    of_block: dict[int, list[Piece]] = {}
    for piece in live:
        of_block.setdefault(piece.block, []).append(piece)
    walls: list[Wall] = []
    beside: list[Beside] = []
    for block, members in sorted(of_block.items()):
        (low, high), *others = {(piece.low, piece.high) for piece in members}
        picks = needed(members, alternatives)
        if others:
            continue
        if block not in pins:
            beside.append(Beside(high - low, block, picks))
        elif len(picks) < 2:
            base = pins[block]
            walls.append(Wall(base + low, base + high, block, picks[0] if picks else None))
    return Row(tuple(sorted(walls, key=lambda wall: (wall.low, wall.block))), tuple(beside))
