"""Perfect packings of several memories: each is a box cut up without waste, so their smallest peaks are known although most pieces may be anywhere."""

from __future__ import annotations

from ..problem import Buffer, Pool
from .packing import Piece, cut_up, duration
from .pools import NAMES
from .request import Request, Sketch

PARTS_OF_64 = (8, 20, 36)
"""Of the height."""
HELD_ONE_IN = 4


def pool_packing(request: Request) -> Sketch:
    """Every byte of every box is in use at every time, and what a box cannot take costs more elsewhere: full boxes are the only optimum."""
    chance = request.chance()
    units = -(-request.parameters["height"] // request.alignment)
    boxes = max(min(request.buffers, len(NAMES)), 1)
    heights = [max(units * part // 64, 1) for part in PARTS_OF_64[:boxes]]
    pieces: list[tuple[Piece, int]] = []
    for place, height in enumerate(heights):
        left = request.buffers - len(pieces)
        later = boxes - place - 1
        count = left if later == 0 else min(max(request.buffers * height // sum(heights), 1), left - later)
        pieces += [(piece, place) for piece in cut_up((0, duration(request), 0, height), count, chance)]
    chance.shuffle(pieces)
    names = NAMES[:boxes]
    buffers = []
    for i, ((start, end, bottom, top), place) in enumerate(pieces):
        # Some may only be where they belong, or in the last memory, which takes everything: so there is always a plan.
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
