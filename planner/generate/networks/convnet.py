"""Convolutional networks: residual, inverted, branching and dense blocks, in stages that halve the image and widen it; image after image."""

from __future__ import annotations

from ..chance import Chance
from ..request import Request, Sketch
from .tape import Tape

STAGES = 4
BLOCKS = 6
"""The most blocks in a stage."""
SCRATCH_ONE_IN = 3


def convnet(request: Request) -> Sketch:
    chance = request.chance()
    tape = Tape()
    while len(tape) < request.buffers:
        side, channels = chance.pick((112, 160, 224)), 8 * chance.between(2, 6)
        x = tape.step("image", side * side * 3)
        for _ in range(STAGES):
            side //= 2
            channels += 8 * chance.between(1, channels // 8)
            x = _conv(tape, x, side * side * channels, chance)
            block = chance.pick((_residual, _inverted, _branching, _dense))
            for _ in range(chance.between(1, BLOCKS)):
                x = block(tape, x, side * side, channels, chance)
    return Sketch(tape.buffers(request.buffers))


def _conv(tape: Tape, x: int, size: int, chance: Chance) -> int:
    """Add a convolution with its activation; some need room to rearrange their input."""
    scratch = chance.between(1, 9) * size // 8 if chance.one_in(SCRATCH_ONE_IN) else 0
    return tape.step("relu", size, tape.step("conv", size, x, scratch=scratch))


def _residual(tape: Tape, x: int, area: int, channels: int, chance: Chance) -> int:
    narrow = _conv(tape, x, area * (channels // 4), chance)
    wide = _conv(tape, _conv(tape, narrow, area * (channels // 4), chance), area * channels, chance)
    return tape.step("add", area * channels, x, wide)


def _inverted(tape: Tape, x: int, area: int, channels: int, chance: Chance) -> int:
    wide = _conv(tape, _conv(tape, x, area * channels * 6, chance), area * channels * 6, chance)
    squeezed = tape.step("pool", channels * 6, wide)
    scaled = tape.step("scale", area * channels * 6, wide, squeezed)
    return tape.step("add", area * channels, x, tape.step("project", area * channels, scaled))


def _branching(tape: Tape, x: int, area: int, channels: int, chance: Chance) -> int:
    ends = []
    for _ in range(chance.between(2, 5)):
        end, width = x, chance.between(1, channels)
        for _ in range(chance.between(1, 3)):
            end = _conv(tape, end, area * width, chance)
        ends.append(end)
    return _conv(tape, tape.step("concat", area * channels * 2, *ends), area * channels, chance)


def _dense(tape: Tape, x: int, area: int, channels: int, chance: Chance) -> int:
    """Every layer reads all earlier ones."""
    growth, made = max(channels // 4, 1), [x]
    for _ in range(chance.between(2, 6)):
        size = area * (channels + growth * (len(made) - 1))
        made.append(_conv(tape, tape.step("concat", size, *made), area * growth, chance))
    return tape.step("transition", area * channels, *made)
