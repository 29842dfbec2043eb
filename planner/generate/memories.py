"""Machines with memories of different speed: what is read and written how often, how fast each memory is, and constants in flash."""

from __future__ import annotations

from dataclasses import replace

from solvers.model.instance import Term

from ..facts.constants import CONSTANT
from ..problem import Buffer, Pool, Speed
from .chance import Chance
from .convnet import convnet
from .live import largest_live_sum
from .random_rectangles import random_rectangles
from .request import Request, Sketch
from .transformer import transformer
from .unet import unet

FAST = 8
"""The fastest memory's size by default, in sixty-fourths of what is live together."""
MIDDLE = 20
"""That of the next one."""
HOT_ONE_IN = 8
LIVE = 16
WEIGHT_ONE_IN = 4
LARGEST_WEIGHT = 1 << 18

TCM = Speed(800_000_000, 16, 16)
SRAM = Speed(400_000_000, 8, 8, 2, 2)
DRAM = Speed(200_000_000, 8, 8, 30, 20, 64)
FLASH = Speed(100_000_000, 4, 1, 8, 100, 32)


def memories(request: Request) -> Sketch:
    """A network on four memories: three to choose from for what is computed, and flash for what is known beforehand."""
    chance = request.chance()
    weights = request.buffers // WEIGHT_ONE_IN
    network = chance.pick((transformer, convnet, unet))(replace(request, buffers=request.buffers - weights))
    computed = [replace(b, writes=1, reads=chance.spread(1, 16)) for b in network.buffers]
    constants = [_weight(i, chance) for i in range(weights)]
    pools = (*_sizes(largest_live_sum(computed), request), Pool("flash", rank=3, speed=FLASH, read_only=True))
    return Sketch((*computed, *constants), pools, (Term.ACCESS_COST, Term.SUM_OF_PEAKS))


def hot(request: Request) -> Sketch:
    """Random rectangles, a few of which are used far more often than the rest."""
    chance = request.chance()
    buffers = []
    for buffer in random_rectangles(request).buffers:
        reads = chance.spread(1, 1 << 12 if chance.one_in(HOT_ONE_IN) else 4)
        buffers.append(replace(buffer, reads=reads, writes=chance.spread(1, reads)))
    return Sketch(tuple(buffers), _sizes(largest_live_sum(buffers), request), (Term.ACCESS_COST, Term.SUM_OF_PEAKS))


def _weight(number: int, chance: Chance) -> Buffer:
    return Buffer(f"weight.{number}", chance.spread(64, LARGEST_WEIGHT), kind=CONSTANT, reads=1)


def _sizes(total: int, request: Request) -> tuple[Pool, ...]:
    """For so many bytes live together."""
    parts = (request.parameters["fast"], MIDDLE)
    fast, middle = (max(total * part // 64, 1) // request.alignment * request.alignment for part in parts)
    sizes = (("tcm", fast, TCM), ("sram", middle, SRAM), ("dram", None, DRAM))
    return tuple(
        Pool(name, size, alignment=request.alignment, rank=rank, speed=speed)
        for rank, (name, size, speed) in enumerate(sizes)
    )
