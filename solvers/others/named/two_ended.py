"""DORY's run-time allocator: one stack grows from each end of the memory, and layers alternate between them.

Buffers that begin at one step go to one end, those of the next step to the other. Only the height that the two stacks need at once is used, even if
the memory is larger or unlimited. A buffer lies on the topmost live one of its stack, so a buffer freed out of turn leaves a hole.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...model.instance import Instance, Placement
from ...model.solver import Feature
from .heuristic import Heuristic, NothingFits, Run
from .rigid import Rigid
from .shared_objects import Grid, homes


class TwoEnded(Heuristic):
    """See the module. Exclusions gain nothing: all that is live together lies side by side."""

    name: ClassVar[str] = "two_ended"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY, Feature.MULTI_RECT, Feature.EXCLUSIONS})

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        pool_of = instance.allowed.argmax(axis=1).astype(np.int64)
        offset = np.zeros(len(blocks), dtype=np.int64)
        for pool, members in homes(instance).items():
            grid = Grid(blocks, pool, members, self.name)
            bottom, top, height = _stacks(blocks, pool, grid, members, run)
            ceiling = grid.begin(height, members)
            for block in members:
                at = bottom[block] if block in bottom else ceiling - top[block] if block in top else 0
                base = blocks.base(block, pool, at)
                if base is None or (base != at and blocks.is_live(block)):
                    raise NothingFits(block)
                offset[block] = base
        return Placement(pool_of, offset)


def _stacks(
    blocks: Rigid, pool: int, grid: Grid, members: list[int], run: Run
) -> tuple[dict[int, int], dict[int, int], int]:
    """Offsets of the blocks at the bottom, depths of those at the top (from its end to the block's base), and the height that both need."""
    live = sorted((b for b in members if blocks.is_live(b)), key=lambda b: (blocks.start[b], b))
    offset: dict[int, int] = {}
    depth: dict[int, int] = {}
    lower: list[int] = []
    upper: list[int] = []
    height = 0
    step = -1
    begun: int | None = None
    for block in live:
        run.spend(1 + (len(lower) + len(upper)) // 4)
        now = blocks.start[block]
        if now != begun:
            begun, step = now, step + 1
            lower = [b for b in lower if blocks.end[b] > now]
            upper = [b for b in upper if blocks.end[b] > now]
        if step % 2 == 0:
            start = max((offset[b] + blocks.size[b] for b in lower), default=0)
            offset[block] = blocks.aligned(block, pool, start)
            lower.append(block)
        else:
            hung = max((depth[b] for b in upper), default=0) + blocks.size[block]
            suits = grid.residue - blocks.residue[block][pool]  # an object of the grid may begin at the ceiling
            depth[block] = hung + (suits - hung) % blocks.modulus[block][pool]
            upper.append(block)
        ground = max((offset[b] + blocks.size[b] for b in lower), default=0)
        height = max(height, ground + max((depth[b] for b in upper), default=0))
    return offset, depth, height
