"""Does a placement let two blocks that are live together share addresses? Swept over time, without listing who is live with whom."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

import numpy as np

from ..kernels import active
from ..model.instance import ADDRESS_LIMIT, Bools, Instance, Ints, Placement
from .shape import outline


def first_overlap(instance: Instance, placement: Placement) -> str | None:
    """The first two blocks, in order of time, that are live together and overlap but must not, in words; None if there are none.

    Blocks without exclusions overlap nothing, so that only their neighbours need a look: O(n log n) altogether. The parts of blocks with
    exclusions are compared with each other one by one.
    """
    if not len(instance.exclusions) and _is_apart(instance, placement):
        return None
    lenient = np.zeros(instance.blocks, dtype=bool)
    lenient[instance.part_block[instance.exclusions].reshape(-1)] = True
    solid = (instance.part_high > instance.part_low)[instance.rect_part]
    free = lenient[instance.part_block][instance.rect_part]
    shape = outline(_only(instance, solid & ~free))
    rest = _only(instance, solid & free)
    block = np.concatenate([shape.block, instance.part_block[rest.rect_part]])
    low = np.concatenate([shape.low, instance.part_low[rest.rect_part]]) + placement.offset[block]
    high = np.concatenate([shape.high, instance.part_high[rest.rect_part]]) + placement.offset[block]
    start, end = np.concatenate([shape.start, rest.rect_start]), np.concatenate([shape.end, rest.rect_end])
    lenient_parts = _Lenient(instance, placement, np.unique(rest.rect_part))
    return _sweep(
        _events(start, end), block, placement.pool[block], low, high, rest.rect_part, len(instance.pools), lenient_parts
    )


def _is_apart(instance: Instance, placement: Placement) -> bool:
    """The usual case quickly: no block overlaps another."""
    solid = (instance.part_high > instance.part_low)[instance.rect_part]
    shape = outline(instance if solid.all() else _only(instance, solid))
    base = placement.offset[shape.block]
    return active().kernels.apart(
        shape.start, shape.end, placement.pool[shape.block], shape.low + base, shape.high + base
    )


def _only(instance: Instance, rects: Bools) -> Instance:
    return replace(
        instance,
        rect_part=instance.rect_part[rects],
        rect_start=instance.rect_start[rects],
        rect_end=instance.rect_end[rects],
    )


def _events(start: Ints, end: Ints) -> list[int]:
    """Beginnings as the rect's number i, ends as ~i, in order of time; what ends at a time makes room for what begins then."""
    number = np.arange(len(start))
    begins = np.repeat([False, True], len(start))
    events: list[int] = np.concatenate([~number, number])[np.lexsort((begins, np.concatenate([end, start])))].tolist()
    return events


def _sweep(
    events: list[int],
    blocks: Ints,
    pools: Ints,
    lows: Ints,
    highs: Ints,
    lenient_parts: Ints,
    count: int,
    lenient: _Lenient,
) -> str | None:
    """The rects are first those of blocks without exclusions, then those of the lenient parts."""
    block, pool, low, high = blocks.tolist(), pools.tolist(), lows.tolist(), highs.tolist()
    parts = lenient_parts.tolist()
    strict = [_Strict() for _ in range(count)]
    lenient_from = len(block) - len(parts)
    for event in events:
        i = event if event >= 0 else ~event
        here = strict[pool[i]]
        part = parts[i - lenient_from] if i >= lenient_from else None
        if event < 0:
            if part is None:
                here.remove(low[i])
            else:
                lenient.remove(pool[i], part)
            continue
        other = here.meets(low[i], high[i])
        if other is None:
            other = lenient.meets(pool[i], low[i], high[i], block[i], part)
        if other is not None:
            return f"blocks {other} and {block[i]} are live together and overlap at {low[i]} to {high[i]} of pool {pool[i]}"
        if part is None:
            here.add(low[i], high[i], block[i])
        else:
            lenient.add(pool[i], part, low[i], high[i])
    return None


class _Strict:
    """The live rects of one pool that nothing may overlap, by address; parallel lists, as bisecting numbers is fast."""

    __slots__ = ("block", "high", "low")

    def __init__(self) -> None:
        self.low: list[int] = []
        self.high: list[int] = []
        self.block: list[int] = []

    def meets(self, low: int, high: int) -> int | None:
        """A block that has an address of the range."""
        at = bisect_left(self.low, high)
        return self.block[at - 1] if at and self.high[at - 1] > low else None

    def add(self, low: int, high: int, block: int) -> None:
        at = bisect_left(self.low, low)
        self.low.insert(at, low)
        self.high.insert(at, high)
        self.block.insert(at, block)

    def remove(self, low: int) -> None:
        at = bisect_left(self.low, low)
        del self.low[at], self.high[at], self.block[at]


class _Lenient:
    """The parts of all blocks with exclusions; one that is not live, or in another pool, lies beyond all addresses."""

    def __init__(self, instance: Instance, placement: Placement, parts: Ints) -> None:
        self.parts = parts
        self.slot = {part: i for i, part in enumerate(parts.tolist())}
        self.block = instance.part_block[parts]
        self.low: dict[int, Ints] = {}
        self.high: dict[int, Ints] = {}
        for pool in np.unique(placement.pool[self.block]).tolist():
            self.low[pool] = np.full(len(parts), ADDRESS_LIMIT, dtype=np.int64)
            self.high[pool] = np.full(len(parts), ADDRESS_LIMIT, dtype=np.int64)
        pairs = instance.exclusions.tolist()
        self.excluded = {(a, b) for a, b in pairs} | {(b, a) for a, b in pairs}

    def meets(self, pool: int, low: int, high: int, block: int, part: int | None) -> int | None:
        """Another block that has an address of the range, and may not."""
        if pool not in self.low:
            return None
        hits = np.flatnonzero((self.low[pool] < high) & (self.high[pool] > low))
        if not len(hits):
            return None
        for slot in hits[self.block[hits] != block].tolist():
            if part is None or (part, int(self.parts[slot])) not in self.excluded:
                return int(self.block[slot])
        return None

    def add(self, pool: int, part: int, low: int, high: int) -> None:
        slot = self.slot[part]
        self.low[pool][slot], self.high[pool][slot] = low, high

    def remove(self, pool: int, part: int) -> None:
        self.add(pool, part, ADDRESS_LIMIT, ADDRESS_LIMIT)
