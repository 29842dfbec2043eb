"""A placement for which there is always time: blocks in the order of their births, each at the lowest address that is free until its death.

A block with gaps in its lifetime keeps its room in them, and one with conflicts always. So every rule holds, but room may be wasted.
"""

from __future__ import annotations

import numpy as np

from ...kernels import active_for
from ...kernels.interface import Hurry, Rooms, Units
from ...model.instance import ADDRESS_LIMIT, Bools, Instance, Ints
from ...model.interruption import check_interrupted


def by_birth(instance: Instance) -> Ints | None:
    """A base for every block of an instance with one pool; None if a block finds no room this way, which proves nothing."""
    height, lowest, highest = instance.block_high, instance.lowest[:, 0], instance.highest[:, 0]
    birth, death = _lives(instance)
    is_fixed = lowest == highest
    check_interrupted()
    order = np.lexsort((-height, birth, ~is_fixed))
    check_interrupted()
    count = instance.blocks
    each, none = np.arange(count + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    units = Units(
        birth=birth[order],
        death=death[order],
        group_begin=each,
        listed=np.zeros(count, dtype=np.int64),
        set_begin=np.zeros(count + 1, dtype=np.int64),
        sets=none,
        height=height[order],
        modulus=instance.modulus[order, 0],
        residue=instance.residue[order, 0],
        stride=np.zeros(count, dtype=np.int64),
        most=highest[order],
        fixed=np.where(is_fixed, lowest, -1)[order],
        list_begin=np.zeros(1, dtype=np.int64),
        list_pools=none,
    )

    def ask(_is_long: bool) -> int:
        check_interrupted()
        return Hurry.NO

    tries = 2 * count  # more than one pool can take
    found = active_for(instance).kernels.by_birth(_room(instance, is_fixed), units, tries, tries, ask)
    if found is None:
        return None
    base = np.empty(count, dtype=np.int64)
    base[order] = found[1]
    return base if (base >= lowest).all() else None


def _lives(instance: Instance) -> tuple[Ints, Ints]:
    """The first section of each block, and the one after its last. A block that is never live has neither."""
    of_rect = instance.part_block[instance.rect_part]
    birth = np.full(instance.blocks, instance.sections, dtype=np.int64)
    death = np.zeros(instance.blocks, dtype=np.int64)
    np.minimum.at(birth, of_rect, instance.rect_start)
    np.maximum.at(death, of_rect, instance.rect_end)
    kept_apart = instance.part_block[instance.conflicts].reshape(-1)
    birth[kept_apart], death[kept_apart] = 0, instance.sections + 1
    return birth, death


def _room(instance: Instance, is_fixed: Bools) -> Rooms:
    """The pool without what is reserved in it, and without the ranges of blocks that cannot move."""
    low = instance.lowest[is_fixed, 0]
    high = low + instance.block_high[is_fixed]
    taken: list[int] = []
    end = 0
    for first, last in sorted([*instance.pools[0].reserved, *zip(low.tolist(), high.tolist(), strict=True)]):
        if last > end:
            taken += [0, max(first, end), last]
            end = last
    zero = np.zeros(1, dtype=np.int64)
    return Rooms(zero + ADDRESS_LIMIT - 1, zero + 1, zero, zero, np.array(taken, dtype=np.int64))
