"""Where each block of one pool may begin, and what each two of them pay, as tables.

Some placement of the least cost is pushed down: each block begins as low as it may, at the end of a reserved range, or at the end of a block that it
shares no address with (moving a block down as far as that adds no pair that shares). So addresses follow from sums of sizes, and often are few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...model.conflicts import part_pairs
from ...model.instance import Bools, Instance, Ints

MOST_CELLS = 3_000_000
"""Of the table of pairs."""
MOST_STARTS = 400
"""Of one block."""


class Tables(NamedTuple):
    """n blocks with v starts each, the same number for all; what is no start of a block is as dear as a clash."""

    base: Ints
    """(n, v)"""
    own: Ints
    """(n, v) 0, or `clash` where the block cannot be."""
    pair: Ints
    """(n, v, n, v) what two blocks pay together; `clash` and more where they must not share."""
    clash: int
    """More than everything that can be paid."""


def tables(instance: Instance) -> Tables | None:
    """None where there are too many starts, or rules that say more than which addresses are free."""
    if len(instance.pools) != 1 or len(instance.apart) or (instance.penalties[:, 2] < 0).any():
        return None
    found = _starts(instance)
    if found is None:
        return None
    wide = max(map(len, found))
    count = len(found)
    if (count * wide) ** 2 > MOST_CELLS:
        return None
    clash = int(instance.penalties[:, 2].sum()) + 1
    base, own = np.zeros((count, wide), dtype=np.int64), np.full((count, wide), clash)
    for block, starts in enumerate(found):
        base[block, : len(starts)] = starts
        own[block, : len(starts)] = 0
    pair = np.zeros((count, wide, count, wide), dtype=np.int64)
    for a, b in part_pairs(instance).tolist():
        _charge(instance, base, pair, a, b, clash)
    for a, b, cost in instance.penalties.tolist():
        if instance.part_block[a] != instance.part_block[b]:
            _charge(instance, base, pair, a, b, cost)
    return Tables(base, own, pair, clash)


def _charge(instance: Instance, base: Ints, pair: Ints, a: int, b: int, cost: int) -> None:
    """The cost, wherever the two parts share an address."""
    low, high = instance.part_low, instance.part_high
    if low[a] == high[a] or low[b] == high[b]:
        return
    one, other = int(instance.part_block[a]), int(instance.part_block[b])
    first, second = base[one][:, None], base[other][None, :]
    shared: Bools = (first + low[a] < second + high[b]) & (second + low[b] < first + high[a])
    pair[one, :, other, :] += cost * shared
    pair[other, :, one, :] += cost * shared.T


def _starts(instance: Instance) -> list[list[int]] | None:
    """Of each block, rising; None if there are too many."""
    modulus, residue = instance.modulus[:, 0].tolist(), instance.residue[:, 0].tolist()
    lowest, highest = instance.lowest[:, 0].tolist(), instance.highest[:, 0].tolist()
    every = [(high - low) // step + 1 for low, high, step in zip(lowest, highest, modulus, strict=True)]
    blocks = range(instance.blocks)
    if max(every) <= MOST_STARTS:
        found = [list(range(lowest[block], highest[block] + 1, modulus[block])) for block in blocks]
    elif len(instance.part_block) == instance.blocks:
        # A part of several, by its distance to the others, may rest on one that rests on it.
        high = instance.part_high[np.argsort(instance.part_block)].tolist()
        reached = [{lowest[block]} for block in blocks]
        ends, new = set[int](), {end for _, end in instance.pools[0].reserved}
        new |= {lowest[block] + high[block] for block in blocks}
        while new:
            ends |= new
            new_ends = set[int]()
            for block in blocks:
                step = modulus[block]
                up = {end + (residue[block] - end) % step for end in new}
                mine = {start for start in up if lowest[block] <= start <= highest[block]} - reached[block]
                reached[block] |= mine
                if len(reached[block]) > MOST_STARTS:
                    return None
                new_ends |= {start + high[block] for start in mine}
            new = new_ends - ends
        found = [sorted(starts) for starts in reached]
    else:
        return None
    free = [[start for start in starts if _is_free(instance, block, start)] for block, starts in enumerate(found)]
    return free if all(free) else None


def _is_free(instance: Instance, block: int, start: int) -> bool:
    """Do none of the block's parts lie in a reserved range?"""
    parts = instance.part_block == block
    low, high = instance.part_low[parts] + start, instance.part_high[parts] + start
    solid = low < high
    return not any(((low < end) & (begin < high) & solid).any() for begin, end in instance.pools[0].reserved)
