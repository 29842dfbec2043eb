"""Finds blocks of a placement that are live together and share addresses, by sweeping over time, without listing pairs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, pairwise

import numpy as np

from ..kernels import active
from ..model.conflicts import pair_keys, sets_of_partners
from ..model.instance import Bools, Instance, Ints, Placement
from ..model.interruption import interruptible
from .shape import outline

MANY_PARTS = 5_000
"""With more parts than this, and more than blocks unless there are exclusions, pairs are compared directly if they are few."""
MOST_COLOURS = 8
PAIRS_PER_RECT, PAIRS_AT_ONCE = 50, 1 << 18


def first_overlap(instance: Instance, placement: Placement) -> str | None:
    """The first two blocks, in order of time, that are live together and overlap but must not, in words; None if there are none.

    Blocks without exclusions overlap nothing, so only neighbours are compared: O(n log n) in all. Parts of blocks with exclusions are compared
    pairwise.
    """
    return None if _is_apart(instance, placement) else _first_met(instance, placement)


def _first_met(instance: Instance, placement: Placement) -> str | None:
    lenient = np.zeros(instance.blocks, dtype=bool)
    lenient[instance.part_block[instance.exclusions].reshape(-1)] = True
    solid = _solid(instance)
    free = lenient[instance.part_block][instance.rect_part]
    shape = outline(_only(instance, solid & ~free))
    rest = _only(instance, solid & free)
    block = np.concatenate([shape.block, instance.part_block[rest.rect_part]])
    low = np.concatenate([shape.low, instance.part_low[rest.rect_part]]) + placement.offset[block]
    high = np.concatenate([shape.high, instance.part_high[rest.rect_part]]) + placement.offset[block]
    start, end = np.concatenate([shape.start, rest.rect_start]), np.concatenate([shape.end, rest.rect_end])
    parts = [*(None for _ in shape.block), *rest.rect_part.tolist()]
    columns = (each.tolist() for each in (block, placement.pool[block], low, high))
    live = [_Strict() for _ in instance.pools], _Lenient(instance, placement, np.unique(rest.rect_part))
    return _sweep(_events(start, end), list(zip(*columns, parts, strict=True)), *live)


def _is_apart(instance: Instance, placement: Placement) -> bool:
    """Checks the usual case quickly: true if no block overlaps another; false also if only a sweep can tell."""
    solid = _solid(instance)
    least = MANY_PARTS if len(instance.exclusions) else max(instance.blocks, MANY_PARTS)
    if len(instance.part_block) > least:
        few = _pairs_apart(instance, placement, np.flatnonzero(solid))
        if few is not None:
            return few
    if len(instance.exclusions):
        return len(instance.part_block) > least and _apart_by_colours(instance, placement, solid)
    return _outlines_apart(instance if solid.all() else _only(instance, solid), placement)


def _outlines_apart(instance: Instance, placement: Placement) -> bool:
    shape = outline(instance)
    base = placement.offset[shape.block]
    return active().kernels.apart(
        shape.start, shape.end, placement.pool[shape.block], shape.low + base, shape.high + base
    )


def _apart_by_colours(instance: Instance, placement: Placement, solid: Bools) -> bool:
    """True if no two blocks overlap that must not; for instances with exclusions. False also if too many colours are needed.

    Blocks of one colour exclude none of their own, so they and the blocks without exclusions must lie apart. Then blocks with exclusions are compared
    pairwise.
    """
    colour = _colours(instance)
    of_rect = colour[instance.part_block][instance.rect_part]
    return (
        int(colour.max()) < MOST_COLOURS
        and all(
            _outlines_apart(_only(instance, solid & ((of_rect < 0) | (of_rect == each))), placement)
            for each in range(int(colour.max()) + 1)
        )
        and _first_met(_only(instance, of_rect >= 0), placement) is None
    )


def _colours(instance: Instance) -> Ints:
    """A colour for each block with exclusions, different from those of the blocks it excludes; -1 for the others."""
    friends = sets_of_partners(instance.part_block[instance.exclusions].tolist())
    found = np.full(instance.blocks, -1, dtype=np.int64)
    known: dict[int, int] = {}
    for block, others in interruptible(friends.items()):
        taken = {known.get(other) for other in others}
        known[block] = found[block] = next(number for number in count() if number not in taken)
    return found


def _pairs_apart(instance: Instance, placement: Placement, rects: Ints) -> bool | None:
    """True if no two rects that are live together overlap without being excluded; None if there are many such pairs.

    With few, this is faster than outlines.
    """
    rects = rects[instance.rect_end[rects] > instance.rect_start[rects]]
    if not len(rects):
        return True
    rects = rects[np.argsort(instance.rect_start[rects], kind="stable")]
    start, part = instance.rect_start[rects], instance.rect_part[rects]
    later = np.searchsorted(start, instance.rect_end[rects]) - np.arange(1, len(rects) + 1)
    """For each rect, the number of following ones that begin before it ends."""
    if int(later.sum()) > PAIRS_PER_RECT * len(rects):
        return None
    block = instance.part_block[part]
    pool, base = placement.pool[block], placement.offset[block]
    low, high = base + instance.part_low[part], base + instance.part_high[part]
    excluded = pair_keys(instance, instance.exclusions)
    before = np.cumsum(later) - later
    cuts = np.unique(np.searchsorted(before, np.arange(0, int(before[-1]) + 1, PAIRS_AT_ONCE))).tolist()
    for begin, end in pairwise([*cuts, len(rects)]):
        some = np.arange(begin, end)
        first = np.repeat(some, later[some])
        second = first + 1 + np.arange(len(first)) - np.repeat(before[some] - before[begin], later[some])
        shares = (low[first] < high[second]) & (low[second] < high[first]) & (pool[first] == pool[second])
        shares &= block[first] != block[second]
        if (
            shares.any()
            and not np.isin(pair_keys(instance, part[np.stack([first, second], 1)[shares]]), excluded).all()
        ):
            return False
    return True


def _solid(instance: Instance) -> Bools:
    """True for each rect that takes up addresses."""
    return (instance.part_high > instance.part_low)[instance.rect_part]


def _only(instance: Instance, rects: Bools) -> Instance:
    return replace(
        instance,
        rect_part=instance.rect_part[rects],
        rect_start=instance.rect_start[rects],
        rect_end=instance.rect_end[rects],
    )


def _events(start: Ints, end: Ints) -> list[int]:
    """Begins as the rect's number i, ends as ~i, in order of time; at one time, ends come first."""
    number = np.arange(len(start))
    begins = np.repeat([False, True], len(start))
    events: list[int] = np.concatenate([~number, number])[np.lexsort((begins, np.concatenate([end, start])))].tolist()
    return events


def _sweep(
    events: list[int],
    rects: Sequence[tuple[int, int, int, int, int | None]],
    strict: Sequence[_Strict],
    lenient: _Lenient,
) -> str | None:
    """Sweeps over the rects: block, pool, low, high, and the part if its block has exclusions."""
    for event in interruptible(events):
        block, pool, low, high, part = rects[event if event >= 0 else ~event]
        here = strict[pool]
        if event < 0:
            if part is None:
                here.remove(low)
            else:
                lenient.remove(pool, part)
            continue
        other = here.meets(low, high)
        if other is None:
            other = lenient.meets(pool, low, high, block, part)
        if other is not None:
            return f"blocks {other} and {block} are live together and overlap at {low} to {high} of pool {pool}"
        if part is None:
            here.add(low, high, block)
        else:
            lenient.add(pool, part, low, high)
    return None


class _Strict:
    """The live rects of one pool that nothing may overlap, by address, in parallel lists that can be bisected fast."""

    __slots__ = ("block", "high", "low")

    def __init__(self) -> None:
        self.low: list[int] = []
        self.high: list[int] = []
        self.block: list[int] = []

    def meets(self, low: int, high: int) -> int | None:
        """A block with an address in the range; None if there is none."""
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
    """The live parts of blocks with exclusions, by pool."""

    def __init__(self, instance: Instance, placement: Placement, parts: Ints) -> None:
        pools, counts = np.unique(placement.pool[instance.part_block[parts]], return_counts=True)
        self.live = {pool: _Live(count) for pool, count in zip(pools.tolist(), counts.tolist(), strict=True)}
        self.block = instance.part_block
        pairs = instance.exclusions.tolist()
        self.excluded = {(a, b) for a, b in pairs} | {(b, a) for a, b in pairs}

    def meets(self, pool: int, low: int, high: int, block: int, part: int | None) -> int | None:
        """A block with an address in the range that must not overlap this one; None if there is none."""
        live = self.live.get(pool)
        for other in () if live is None else live.meeting(low, high):
            owner = int(self.block[other])
            if owner != block and (part is None or (part, other) not in self.excluded):
                return owner
        return None

    def add(self, pool: int, part: int, low: int, high: int) -> None:
        self.live[pool].add(part, low, high)

    def remove(self, pool: int, part: int) -> None:
        self.live[pool].remove(part)


class _Live:
    """Ranges of addresses that may overlap; the live ones are at the front of the arrays."""

    def __init__(self, most: int) -> None:
        self.low, self.high = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
        self.parts: list[int] = []
        self.place: dict[int, int] = {}

    def meeting(self, low: int, high: int) -> list[int]:
        """The parts with an address in the range."""
        count = len(self.parts)
        hits = np.flatnonzero((self.low[:count] < high) & (self.high[:count] > low))
        return [self.parts[at] for at in hits.tolist()]

    def add(self, part: int, low: int, high: int) -> None:
        at = self.place[part] = len(self.parts)
        self.low[at], self.high[at] = low, high
        self.parts.append(part)

    def remove(self, part: int) -> None:
        at, last = self.place.pop(part), self.parts.pop()
        if last != part:
            end = len(self.parts)
            self.low[at], self.high[at] = self.low[end], self.high[end]
            self.parts[at], self.place[last] = last, at
