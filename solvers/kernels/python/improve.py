"""The improvement in plain Python. It makes the same decisions as the native kernel: the tests' reference, and the fallback without it.

The blocks that end above the height aimed at are taken out. As long as a block is out, the dearest goes to a free base, one with as little room above
as possible. If no base is free, it goes where the blocks in its way are cheapest, and these are thrown out. A block that throws others out becomes
dearer, so that a few blocks do not throw each other out for ever.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import isqrt

import numpy as np

from ...model.instance import Instance, Ints
from ...model.splitmix import SplitMix64
from ..columns import Columns
from ..interface import Report
from .input import check_start, instance_of
from .places import WALL, Closed, Range, best_base, stretches

# The same numbers stand in kernels/native/improve/ejection.cpp.
PRICE_BITS = 20
HIGHEST_GRUDGE = 1 << 12
HEIGHTS = 7
MILD_HEIGHT = 3
PATIENCE = 250_000
HOPELESS = 3
LOOKS_A_MOVE = 50
LOOKS_PER_MICROSECOND = 24


def improve(
    sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
) -> tuple[Ints, int]:
    """Offsets that are no worse than the start, and the work done in approximate microseconds of native code."""
    instance = instance_of(sections, columns)
    check_start(columns, start, enough, work)
    run = _Ejection(instance, start, enough, seed, work * LOOKS_PER_MICROSECOND, report)
    run.run()
    return np.array(run.best, dtype=np.int64), run.work // LOOKS_PER_MICROSECOND


class _Ejection:
    def __init__(
        self,
        instance: Instance,
        start: Ints,
        enough: int,
        seed: int,
        limit: int,
        report: Report,
    ) -> None:
        self.count = instance.blocks
        self.high: list[int] = instance.block_high.tolist()
        columns = (instance.lowest, instance.highest, instance.modulus, instance.residue)
        self.ranges = [Range(*row) for row in zip(*(column[:, 0].tolist() for column in columns), strict=True)]
        self.fixed = [r.lowest == r.highest for r in self.ranges]
        self.near = stretches(instance)
        self.price = _prices(instance)
        self.grudge = [1] * self.count
        self.random = SplitMix64(seed)
        self.limit = limit
        self.report = report
        self.work = 0
        self.stopped = False
        self.best: list[int] = start.tolist()
        self.offset = list(self.best)
        self.out: list[tuple[int, int]] = []
        self.placed = [True] * self.count
        self.floor = max([enough, *(b + h for b, h, f in zip(self.best, self.high, self.fixed, strict=True) if f)])

    @property
    def peak(self) -> int:
        return max((b + h for b, h in zip(self.best, self.high, strict=True)), default=0)

    def run(self) -> None:
        patience, step, in_vain = PATIENCE, 0, 0
        while self.peak > self.floor and in_vain < HOPELESS and not self._is_over():
            gap = self.peak - self.floor
            if self._lower_to(self.peak - max(1, gap >> step), patience):
                step, in_vain = max(0, step - 1), 0
                continue
            step = step + 1 if step else MILD_HEIGHT
            if step >= HEIGHTS or gap >> step == 0:
                step, in_vain, patience = 0, in_vain + 1, 2 * patience

    def _is_over(self) -> bool:
        if self.work < self.limit and not self.stopped:
            self.stopped = self.report(None)
        return self.work >= self.limit or self.stopped

    def _lower_to(self, height: int, patience: int) -> bool:
        self.work += self.count
        self.offset = list(self.best)
        self.placed = [True] * self.count
        self.out = []
        for block in range(self.count):
            if self.offset[block] + self.high[block] > height:
                self._throw_out(block)
        fewest, since = len(self.out), self.work
        while self.out:
            if self._is_over() or self.work - since > patience:
                return False
            if not self._put(-heappop(self.out)[1], height):
                return False
            if len(self.out) < fewest:
                fewest, since = len(self.out), self.work
        self.best = list(self.offset)
        self.stopped = self.stopped or self.report(np.array(self.best, dtype=np.int64))
        return True

    def _throw_out(self, block: int) -> None:
        self.placed[block] = False
        heappush(self.out, (-self.price[block], -block))

    def _put(self, block: int, height: int) -> bool:
        r = self.ranges[block]
        top = min(r.highest, height - self.high[block])
        here = Range(r.lowest, r.down(top) if top >= r.lowest else top, r.modulus, r.residue)
        closed = [
            self._closed(other, below, above)
            for other, below, above in self.near[block]
            if other == WALL or self.placed[other]
        ]
        self.work += LOOKS_A_MOVE + len(closed)
        found = best_base(closed, here, self.random)
        if found is None:
            return False
        base, price = found
        self.offset[block], self.placed[block] = base, True
        if price:
            self.grudge[block] = min(self.grudge[block] + 1, HIGHEST_GRUDGE)
            for other in closed:
                if other.low < base < other.high and self.placed[other.block]:
                    self._throw_out(other.block)
        return True

    def _closed(self, other: int, below: int, above: int) -> Closed:
        if other == WALL:
            return Closed(below, above, WALL, None)
        base = self.offset[other]
        price = None if self.fixed[other] else self.price[other] * self.grudge[other]
        return Closed(base + below, base + above, other, price)


def _prices(instance: Instance) -> list[int]:
    """The initial price of throwing a block out: the root of its size times its lifetime, since such a block is harder to place again."""
    width = [0] * instance.blocks
    solid = instance.part_high > instance.part_low
    for part, start, end in zip(
        instance.rect_part.tolist(), instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True
    ):
        if solid[part]:
            width[int(instance.part_block[part])] += end - start
    area = [w * h for w, h in zip(width, instance.block_high.tolist(), strict=True)]
    shift = max(max(area, default=0).bit_length() - 2 * PRICE_BITS, 0)
    return [1 + isqrt(a >> shift) for a in area]
