"""The improvement in plain Python. It makes the same decisions as the native kernel: the tests' reference, and the fallback without it.

The blocks that end above the height aimed at are taken out. As long as a block is out, the dearest goes to a free base, one with as little room above
as possible. If no base is free, it goes where the blocks in its way are cheapest, and these are thrown out. A block that throws others out becomes
dearer, so that a few blocks do not throw each other out for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from math import isqrt

import numpy as np

from ...model.conflicts import part_pairs
from ...model.instance import Instance, Ints
from ...model.splitmix import SplitMix64
from ..columns import Columns
from ..interface import Report
from .input import check_start, instance_of

# The same numbers stand in kernels/native/improve/ejection.cpp.
PRICE_BITS = 20
HIGHEST_GRUDGE = 1 << 12
HEIGHTS = 7
MILD_HEIGHT = 3
PATIENCE = 250_000
HOPELESS = 3
LOOKS_A_MOVE = 50
LOOKS_PER_MICROSECOND = 24

Stretch = tuple[int, int, int]
"""A block and the distances below and above its base between which it closes bases. For WALL, a reserved range, they are addresses."""
WALL = -1


def improve(
    sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
) -> tuple[Ints, int]:
    """Offsets that are no worse than the start, and the work done in approximate microseconds of native code."""
    instance = instance_of(sections, columns)
    check_start(columns, start, enough, work)
    run = _Ejection(instance, start, enough, seed, work * LOOKS_PER_MICROSECOND, report)
    run.run()
    return np.array(run.best, dtype=np.int64), run.work // LOOKS_PER_MICROSECOND


@dataclass(frozen=True, slots=True)
class Closed:
    """Bases strictly between low and high are closed by this block. Without a price it cannot be thrown out."""

    low: int
    high: int
    block: int
    price: int | None


@dataclass(frozen=True, slots=True)
class Range:
    """The allowed bases of a block."""

    lowest: int
    highest: int
    modulus: int
    residue: int

    def up(self, base: int) -> int:
        return base + (self.residue - base) % self.modulus

    def down(self, base: int) -> int:
        return base - (base - self.residue) % self.modulus


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


def best_base(closed: list[Closed], here: Range, random: SplitMix64) -> tuple[int, int] | None:
    """The best base and the price of the blocks in its way; None if an immovable one is in the way everywhere."""
    resting = [here.lowest, *(here.up(end) for end in sorted(one.high for one in closed))]
    hanging = [*(here.down(begin) for begin in sorted(one.low for one in closed)), here.highest]
    best: tuple[int, int] | None = None
    least_room = ties = 0
    for bases in (resting, hanging):
        if best is not None and best[1] == 0:
            break
        for base in dict.fromkeys(bases):
            if not here.lowest <= base <= here.highest:
                continue
            met = [one.price for one in closed if one.low < base < one.high]
            if None in met:
                continue
            price = sum(p for p in met if p is not None)
            cheaper = best is None or price < best[1]
            if price == 0:
                room = min((one.low for one in closed if one.low >= base), default=here.highest) - base
                if cheaper or room < least_room:
                    best, least_room = (base, 0), room
            elif cheaper:
                best, ties = (base, price), 1
            elif best is not None and price == best[1]:
                ties += 1
                if random.next() % ties == 0:
                    best = (base, price)
    return best


def stretches(instance: Instance) -> list[list[Stretch]]:
    """For each block, the stretches that may be in its way, each once."""
    near: list[set[Stretch]] = [set() for _ in range(instance.blocks)]
    pairs = part_pairs(instance)
    block, low, high = instance.part_block.tolist(), instance.part_low.tolist(), instance.part_high.tolist()
    for a, b in [*pairs.tolist(), *pairs[:, ::-1].tolist()]:
        near[block[a]].add((block[b], low[b] - high[a], high[b] - low[a]))
    for part, owner in enumerate(block):
        for begin, end in instance.pools[0].reserved:
            if low[part] < high[part] and begin < end:
                near[owner].add((WALL, begin - high[part], end - low[part]))
    return [sorted(each) for each in near]


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
