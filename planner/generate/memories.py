"""Several memories to choose from: fast ones are small and dear, or have a known speed; reads and writes of each buffer; constants in flash."""

from __future__ import annotations

from dataclasses import replace

from solvers.model.instance import Term

from ..facts.constants import CONSTANT
from ..model.problem import Buffer, Pool, Speed
from .chance import Chance
from .networks.convnet import convnet
from .networks.transformer import transformer
from .networks.unet import unet
from .rectangles import random_rectangles
from .request import Request, Sketch, largest_live_sum

LIVE = 16
"""The average number of live random rectangles by default."""
LARGEST = 1 << 14

NAMES = ("tcm", "sram", "dram")
PARTS_OF_64 = (4, 20)
"""Sizes of the fast memories without known speeds, in sixty-fourths of the live bytes."""
LINE = 64
"""The bytes that one access moves."""
MOST_PASSES = 8

FAST = 8
"""The fastest memory's size by default, with known speeds."""
MIDDLE = 20
"""The size of the next one."""
HOT_ONE_IN = 8
WEIGHT_ONE_IN = 4
LARGEST_WEIGHT = 1 << 18

TCM = Speed(800_000_000, 16, 16)
SRAM = Speed(400_000_000, 8, 8, 2, 2)
DRAM = Speed(200_000_000, 8, 8, 30, 20, 64)
FLASH = Speed(100_000_000, 4, 1, 8, 100, 32)

OBJECTIVE = (Term.ACCESS_COST, Term.SUM_OF_PEAKS)
NETWORKS = (transformer, convnet, unet)


def pools(request: Request) -> Sketch:
    """Random rectangles with three memories to choose from; some may not use all."""
    chance = request.chance()
    longest = 4 * request.parameters["live"]
    horizon = 2 * request.buffers + longest
    buffers = []
    for i in range(request.buffers):
        length = chance.between(1, longest)
        start = chance.between(0, horizon - length)
        allowed: tuple[str, ...] | None = None
        if chance.one_in(6):  # too slow elsewhere, or out of reach of some unit
            allowed = chance.pick((("sram", "dram"), ("tcm", "dram"), ("dram",)))
        buffers.append(
            Buffer(
                i,
                chance.spread(16, LARGEST),
                live=((start, start + length),),
                pools=allowed,
                accesses=chance.spread(0, 1 << 10),
            )
        )
    return Sketch(tuple(buffers), _three_by_cost(largest_live_sum(buffers), request.alignment), OBJECTIVE)


def offload(request: Request) -> Sketch:
    """A network on three memories: every tensor may be anywhere, and every access to a slow memory costs."""
    chance = request.chance()
    network = chance.pick(NETWORKS)(request)
    buffers = tuple(_used(buffer, chance) for buffer in network.buffers)
    pools = _three_by_cost(largest_live_sum(buffers), request.alignment)
    return Sketch(buffers, pools, OBJECTIVE)


def _used(buffer: Buffer, chance: Chance) -> Buffer:
    """Return the buffer written once, and read once or more."""
    passes = chance.between(2, MOST_PASSES)
    allowed = NAMES[1:] if chance.one_in(8) else None  # what other devices also read is not in a private memory
    return replace(buffer, accesses=-(-buffer.size // LINE) * passes, pools=allowed)


def _three_by_cost(total: int, alignment: int) -> tuple[Pool, ...]:
    """Return three memories for this many live bytes. Sizes are multiples of the alignment, as in practice."""
    sizes = [total * part // 64 for part in PARTS_OF_64]
    return tuple(
        Pool(
            name,
            None if rank == len(sizes) else sizes[rank] // alignment * alignment,
            alignment=alignment,
            cost=1 << (2 * (len(sizes) - rank)),
            rank=rank,
        )
        for rank, name in enumerate(NAMES)
    )


def memories(request: Request) -> Sketch:
    """A network on four memories: three to choose from for computed tensors, and flash for constants."""
    chance = request.chance()
    weights = request.buffers // WEIGHT_ONE_IN
    network = chance.pick(NETWORKS)(replace(request, buffers=request.buffers - weights))
    computed = [replace(b, writes=1, reads=chance.spread(1, 16)) for b in network.buffers]
    constants = [_weight(i, chance) for i in range(weights)]
    pools = (*_three_by_speed(largest_live_sum(computed), request), Pool("flash", rank=3, speed=FLASH, read_only=True))
    return Sketch((*computed, *constants), pools, OBJECTIVE)


def hot(request: Request) -> Sketch:
    """Random rectangles, a few of which are used far more often than the rest."""
    chance = request.chance()
    buffers = []
    for buffer in random_rectangles(request).buffers:
        reads = chance.spread(1, 1 << 12 if chance.one_in(HOT_ONE_IN) else 4)
        buffers.append(replace(buffer, reads=reads, writes=chance.spread(1, reads)))
    return Sketch(tuple(buffers), _three_by_speed(largest_live_sum(buffers), request), OBJECTIVE)


def _weight(number: int, chance: Chance) -> Buffer:
    return Buffer(f"weight.{number}", chance.spread(64, LARGEST_WEIGHT), kind=CONSTANT, reads=1)


def _three_by_speed(total: int, request: Request) -> tuple[Pool, ...]:
    """Return three memories for this many live bytes."""
    parts = (request.parameters["fast"], MIDDLE)
    fast, middle = (max(total * part // 64, 1) // request.alignment * request.alignment for part in parts)
    sizes = (("tcm", fast, TCM), ("sram", middle, SRAM), ("dram", None, DRAM))
    return tuple(
        Pool(name, size, alignment=request.alignment, rank=rank, speed=speed)
        for rank, (name, size, speed) in enumerate(sizes)
    )
