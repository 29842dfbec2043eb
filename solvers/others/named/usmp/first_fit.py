"""First fit among listed conflicts, as TVM's hill climb runs it hundreds of times: each attempt keeps the placements before the first change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....fitting.pool_choice import PoolChoice
from ....model.instance import Placement
from ..heuristic import Run
from ..rigid import Rigid
from .greedy import Lists


@dataclass(slots=True)
class Attempt:
    """The placement of one pass over an order."""

    order: list[int]
    pool: list[int | None]
    """None: the block fits nowhere and then obstructs no other."""
    base: list[int]
    size: list[int]
    stuck: int | None
    """The first block that fits nowhere."""

    def peaks(self) -> dict[int, int]:
        """The peak of each used pool."""
        peaks: dict[int, int] = {}
        for pool, base, size in zip(self.pool, self.base, self.size, strict=True):
            if pool is not None:
                peaks[pool] = max(peaks.get(pool, 0), base + size)
        return peaks

    @property
    def total(self) -> int:
        return sum(self.peaks().values())

    def at_the_peak(self) -> list[int]:
        """Blocks that end at their pool's peak."""
        peaks = self.peaks()
        return [
            block
            for block, (pool, base, size) in enumerate(zip(self.pool, self.base, self.size, strict=True))
            if pool is not None and base + size == peaks[pool]
        ]

    def placement(self) -> Placement:
        pool = [0 if pool is None else pool for pool in self.pool]
        return Placement(np.array(pool, dtype=np.int64), np.array(self.base, dtype=np.int64))


class FirstFit:
    """Makes attempts on one instance."""

    def __init__(self, blocks: Rigid, near: Lists) -> None:
        self._blocks = blocks
        self._near = near

    def attempt(self, order: list[int], before: Attempt | None, run: Run) -> Attempt:
        """Places each block at the lowest address free of its conflicts, in the first of its pools where it fits."""
        blocks, n = self._blocks, len(order)
        kept = 0 if before is None else next((i for i in range(n) if order[i] != before.order[i]), n)
        now = Attempt(list(order), [None] * n, [0] * n, blocks.size, None)
        choice = PoolChoice(blocks.instance)
        done = [False] * n
        for place, block in enumerate(order):
            if place < kept and before is not None:
                pool, base = before.pool[block], before.base[block]
            else:
                pool, base = self._find(block, choice.open(block), now, done, run)
            done[block] = True
            now.pool[block], now.base[block] = pool, base
            if pool is not None:
                choice.put(block, pool)
            elif now.stuck is None:
                now.stuck = block
        return now

    def _find(
        self, block: int, open_pools: list[int], now: Attempt, done: list[bool], run: Run
    ) -> tuple[int | None, int]:
        near, size = self._near[block], self._blocks.size
        run.spend(1 + len(near) // 4)
        for pool in open_pools:
            low = self._blocks.base(block, pool, 0)
            if low is None:
                continue
            walls = sorted([(now.base[c], size[c]) for c in near if done[c] and now.pool[c] == pool])
            at = low
            for base, length in walls:
                if at + size[block] <= base:
                    break
                if base + length > at:
                    at = self._blocks.aligned(block, pool, base + length)
            if at <= self._blocks.highest[block][pool]:
                return pool, at
        return None, 0
