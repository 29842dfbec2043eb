"""Several memories to choose from: fast ones are small and dear, the last one takes everything; some buffers may not be everywhere."""

from __future__ import annotations

from solvers.model.instance import Term

from ..problem import Buffer, Pool
from .live import largest_live_sum
from .request import Request, Sketch

NAMES = ("tcm", "sram", "dram")
PARTS_OF_64 = (4, 20)
"""Sizes of the fast pools, in sixty-fourths of what is live together."""
LIVE = 16
LARGEST = 1 << 14


def pools(request: Request) -> Sketch:
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
    return Sketch(
        tuple(buffers), memories(largest_live_sum(buffers), request.alignment), (Term.ACCESS_COST, Term.SUM_OF_PEAKS)
    )


def memories(total: int, alignment: int) -> tuple[Pool, ...]:
    """For so many bytes live together. A size that is a multiple of the alignment is how memories come."""
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
