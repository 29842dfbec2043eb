"""Perfect packings: a box is cut into pieces without waste, so its height is the smallest peak, and every byte is always in use.

A piece is cut in two or, occasionally, around a pinwheel into five, which no straight cut separates again.
"""

from __future__ import annotations

from typing import TypeAlias

from ..model.problem import Buffer, Pool
from .chance import Chance
from .memories import NAMES
from .request import Request, Sketch

HEIGHT = 1 << 20
"""Height of the box by default, in bytes (rounded up to the alignment)."""
STEPS_PER_BUFFER = 8
PINWHEEL_ONE_IN = 6
PARTS_OF_64 = (8, 20, 36)
"""The height's share for each of several memories."""
HELD_ONE_IN = 4

Piece: TypeAlias = tuple[int, int, int, int]
"""Start, end, bottom, top; bottom and top in units of the alignment."""


def packing(request: Request) -> Sketch:
    """One box."""
    chance = request.chance()
    units = -(-request.parameters["height"] // request.alignment)
    pieces = _cut_up((0, _duration(request), 0, units), request.buffers, chance)
    chance.shuffle(pieces)
    buffers = tuple(
        Buffer(i, (top - bottom) * request.alignment, live=((start, end),))
        for i, (start, end, bottom, top) in enumerate(pieces)
    )
    return Sketch(buffers, optimum=units * request.alignment if buffers else 0)


def pool_packing(request: Request) -> Sketch:
    """Several memories, each a box, whose smallest peaks are known although most pieces may be anywhere.

    Every byte of every box is always in use, and what a box cannot take costs more elsewhere: full boxes are the only optimum.
    """
    chance = request.chance()
    units = -(-request.parameters["height"] // request.alignment)
    boxes = max(min(request.buffers, len(NAMES)), 1)
    heights = [max(units * part // 64, 1) for part in PARTS_OF_64[:boxes]]
    pieces: list[tuple[Piece, int]] = []
    for place, height in enumerate(heights):
        left = request.buffers - len(pieces)
        later = boxes - place - 1
        count = left if later == 0 else min(max(request.buffers * height // sum(heights), 1), left - later)
        pieces += [(piece, place) for piece in _cut_up((0, _duration(request), 0, height), count, chance)]
    chance.shuffle(pieces)
    names = NAMES[:boxes]
    buffers = []
    for i, ((start, end, bottom, top), place) in enumerate(pieces):
        # Some may only be in their own memory, or in the last one, which takes everything: so there is always a plan.
        held = tuple(dict.fromkeys((names[place], names[-1])))
        allowed = held if chance.one_in(HELD_ONE_IN) else None
        buffers.append(Buffer(i, (top - bottom) * request.alignment, live=((start, end),), pools=allowed))
    pools = tuple(
        Pool(
            name,
            None if place == boxes - 1 else heights[place] * request.alignment,
            alignment=request.alignment,
            cost=place + 1,
            rank=place,
        )
        for place, name in enumerate(names)
    )
    return Sketch(tuple(buffers), pools, optimum=sum(heights) * request.alignment if buffers else 0)


def _duration(request: Request) -> int:
    """Return the length of the box."""
    return max(STEPS_PER_BUFFER * request.buffers, 16)


def _cut_up(whole: Piece, count: int, chance: Chance) -> list[Piece]:
    """Return this many pieces, which cover the whole."""
    pieces = [whole] if count else []
    while len(pieces) < count:
        pick = chance.below(len(pieces))
        parts = _cut(pieces[pick], chance, count - len(pieces))
        pieces[pick] = parts[0]
        pieces += parts[1:]
    return pieces


def _cut(piece: Piece, chance: Chance, wanted: int) -> list[Piece]:
    """Return the piece in parts, at most `wanted` more than before; only itself if it is too small to cut."""
    start, end, bottom, top = piece
    if wanted >= 4 and end - start >= 3 and top - bottom >= 3 and chance.one_in(PINWHEEL_ONE_IN):
        return _pinwheel(piece, chance)
    across = top - bottom >= 2 and (end - start < 2 or chance.one_in(2))
    if across:
        at = _middle(bottom, top, chance)
        return [(start, end, bottom, at), (start, end, at, top)]
    if end - start < 2:
        return [piece]
    at = _middle(start, end, chance)
    return [(start, at, bottom, top), (at, end, bottom, top)]


def _middle(low: int, high: int, chance: Chance) -> int:
    """Return a place strictly between, not too near to either end if there is room."""
    margin = (high - low) // 6
    return chance.between(low + max(margin, 1), high - max(margin, 1))


def _pinwheel(piece: Piece, chance: Chance) -> list[Piece]:
    """Return four parts around a fifth."""
    start, end, bottom, top = piece
    left = chance.between(start + 1, end - 2)
    right = chance.between(left + 1, end - 1)
    low = chance.between(bottom + 1, top - 2)
    high = chance.between(low + 1, top - 1)
    return [
        (start, right, bottom, low),
        (right, end, bottom, high),
        (left, end, high, top),
        (start, left, low, top),
        (left, right, low, high),
    ]
