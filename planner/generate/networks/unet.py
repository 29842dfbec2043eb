"""U-Nets: tensors from the way down are kept until the way up is back at the same level, so lifetimes nest over the whole program."""

from __future__ import annotations

from ..chance import Chance
from ..request import Request, Sketch
from .tape import Tape

LEVELS = 6
STEPS_IN_A_BLOCK = 3
LARGEST_HEAD = 1 << 16


def unet(request: Request) -> Sketch:
    chance = request.chance()
    n = request.buffers
    levels = max(1, min(LEVELS, n // (2 * STEPS_IN_A_BLOCK + 3)))
    blocks = max(1, (n // levels - 3) // (2 * STEPS_IN_A_BLOCK))
    side, channels = 16 * chance.between(8, 24), 8 * chance.between(2, 6)
    tape = Tape()
    x = tape.step("image", side * side * 3)
    kept: list[tuple[int, int]] = []
    for level in range(levels):
        area = (side >> level) ** 2
        channels += 8 * chance.between(1, max(channels // 8, 1))
        x = _blocks(tape, x, area * channels, blocks, chance)
        kept.append((x, area * channels))
        x = tape.step("down", max(area * channels // 4, 1), x)
    for skip, size in reversed(kept):
        x = tape.step("concat", 2 * size, tape.step("up", size, x), skip)
        x = _blocks(tape, x, size, blocks, chance)
    tape.chain(chance, n, LARGEST_HEAD)
    return Sketch(tape.buffers(n))


def _blocks(tape: Tape, x: int, size: int, count: int, chance: Chance) -> int:
    """Residual blocks, wide in the middle."""
    for _ in range(count):
        wide = tape.step("conv", size * chance.between(1, 8) // 2 + 1, x)
        narrow = tape.step("conv", size * chance.between(1, 4) // 4 + 1, wide)
        x = tape.step("add", size, x, narrow)
    return x
