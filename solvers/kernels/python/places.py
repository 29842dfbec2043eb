"""The best base for a block among others that can be thrown out for it, each at a price."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.conflicts import part_pairs
from ...model.instance import Instance
from ...model.splitmix import SplitMix64

Stretch = tuple[int, int, int]
"""A block and the distances below and above its base between which it closes bases. For WALL, a reserved range, they are addresses."""
WALL = -1


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
