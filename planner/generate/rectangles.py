"""Rectangles without a network: anywhere, or as in very large models, where bursts of short tensors meet large long-lived ones."""

from __future__ import annotations

from ..model.problem import Buffer
from .chance import Chance
from .request import Request, Sketch

LIVE = 32
"""The average number of live random rectangles by default."""
LARGEST = 1 << 16
STEPS_PER_BUFFER = 4

CONFLICTS = 10_000_000
"""The approximate number of pairs live together in a problem like those of very large models, by default and with enough buffers."""
LARGEST_BURST = 60


def random_rectangles(request: Request) -> Sketch:
    """Sizes over many powers of two, short lifetimes, no structure."""
    chance = request.chance()
    longest = 2 * STEPS_PER_BUFFER * request.parameters["live"]
    horizon = STEPS_PER_BUFFER * request.buffers + longest
    buffers = []
    for i in range(request.buffers):
        length = chance.between(1, longest)
        start = chance.between(0, horizon - length)
        buffers.append(Buffer(i, chance.spread(1, LARGEST), live=((start, start + length),)))
    return Sketch(tuple(buffers))


def pangu(request: Request) -> Sketch:
    """Long-lived large tensors and bursts of short ones between them, so that millions of pairs are live together."""
    chance = request.chance()
    n = request.buffers
    # A long tensor is live for about half of the time, and so beside half of the others.
    long = min(n // 5, 2 * request.parameters["conflicts"] // max(n, 1))
    buffers = [_long(chance, n) for _ in range(long)]
    while len(buffers) < n:
        buffers += _burst(chance, n, min(chance.between(5, LARGEST_BURST), n - len(buffers)))
    buffers.sort()
    return Sketch(tuple(Buffer(i, size, live=((start, end),)) for i, (start, end, size) in enumerate(buffers)))


def _long(chance: Chance, horizon: int) -> tuple[int, int, int]:
    """Return a weight, a cache or an optimiser's state: start, end, size."""
    length = max(horizon * chance.between(1, 3) // 4 + chance.below(horizon // 8 + 1), 1)
    start = chance.below(max(horizon - length, 0) + 1)
    # Many have one of a few shapes, as layers repeat.
    size = chance.pick((3, 4, 5, 8, 12)) << 20 if not chance.one_in(3) else chance.spread(1 << 16, 1 << 26)
    return start, min(start + length, horizon), size


def _burst(chance: Chance, horizon: int, count: int) -> list[tuple[int, int, int]]:
    """Return short tensors around one moment."""
    centre = chance.below(horizon)
    made = []
    for _ in range(count):
        start = min(centre + chance.below(count), horizon - 1)
        end = min(start + chance.between(1, 8), horizon)
        made.append((start, end, 256 * chance.spread(4, 1 << 15)))
    return made
