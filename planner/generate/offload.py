"""Networks on a machine with fast and slow memory: every tensor may be anywhere, and every access to a slow one costs."""

from __future__ import annotations

from dataclasses import replace

from solvers.model.instance import Term

from ..problem import Buffer
from .chance import Chance
from .convnet import convnet
from .live import largest_live_sum
from .pools import NAMES, memories
from .request import Request, Sketch
from .transformer import transformer
from .unet import unet

LINE = 64
"""Bytes that one access moves."""
MOST_PASSES = 8


def offload(request: Request) -> Sketch:
    chance = request.chance()
    network = chance.pick((transformer, convnet, unet))(request)
    buffers = tuple(_used(buffer, chance) for buffer in network.buffers)
    pools = memories(largest_live_sum(buffers), request.alignment)
    return Sketch(buffers, pools, (Term.ACCESS_COST, Term.SUM_OF_PEAKS))


def _used(buffer: Buffer, chance: Chance) -> Buffer:
    """Written once, and read once or more often."""
    passes = chance.between(2, MOST_PASSES)
    allowed = NAMES[1:] if chance.one_in(8) else None  # what other devices read, too, is not in a memory of one's own
    return replace(buffer, accesses=-(-buffer.size // LINE) * passes, pools=allowed)
