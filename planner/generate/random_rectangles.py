"""Rectangles anywhere: sizes over many powers of two, short lifetimes, no structure."""

from __future__ import annotations

from ..problem import Buffer
from .request import Request, Sketch

LIVE = 32
"""By default so many buffers are live at a time, on average."""
LARGEST = 1 << 16
STEPS_PER_BUFFER = 4


def random_rectangles(request: Request) -> Sketch:
    chance = request.chance()
    longest = 2 * STEPS_PER_BUFFER * request.parameters["live"]
    horizon = STEPS_PER_BUFFER * request.buffers + longest
    buffers = []
    for i in range(request.buffers):
        length = chance.between(1, longest)
        start = chance.between(0, horizon - length)
        buffers.append(Buffer(i, chance.spread(1, LARGEST), live=((start, start + length),)))
    return Sketch(tuple(buffers))
