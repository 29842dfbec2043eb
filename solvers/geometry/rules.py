"""Checks whether a placement keeps every rule of its instance."""

from __future__ import annotations

import numpy as np

from ..model.instance import ADDRESS_LIMIT, Instance, Ints, Placement
from ..model.objective import share_addresses
from .overlaps import first_overlap


def violation(instance: Instance, placement: Placement) -> str | None:
    """The first rule that the placement breaks, in words; None if it keeps them all."""
    n = instance.blocks
    pool, offset = placement.pool, placement.offset
    if len(pool) != n or len(offset) != n:
        return f"{len(offset)} offsets for {n} blocks"
    if n and (pool.min() < 0 or pool.max() >= len(instance.pools)):
        return "a block is in a pool that does not exist"
    return _block_rules(instance, pool, offset) or _pair_rules(instance, placement)


def _block_rules(instance: Instance, pool: Ints, offset: Ints) -> str | None:
    row = np.arange(instance.blocks)
    wrong = ~instance.allowed[row, pool]
    wrong |= (offset < instance.lowest[row, pool]) | (offset > instance.highest[row, pool])
    wrong |= (offset - instance.residue[row, pool]) % instance.modulus[row, pool] != 0
    if wrong.any():
        return f"block {int(np.argmax(wrong))} is outside its pool, its bounds or its alignment"
    low = offset[instance.part_block] + instance.part_low
    high = offset[instance.part_block] + instance.part_high
    part_pool = pool[instance.part_block]
    for p, spec in enumerate(instance.pools):
        if spec.reserved:
            ranges = np.array(spec.reserved, dtype=np.int64)
            here = np.flatnonzero((part_pool == p) & (high > low))
            next_one = np.searchsorted(ranges[:, 1], low[here], side="right")
            begin = np.append(ranges[:, 0], ADDRESS_LIMIT)[next_one]
            hit = here[begin < high[here]]
            if len(hit):
                return f"part {int(hit[0])} lies in a reserved range"
    return None


def _pair_rules(instance: Instance, placement: Placement) -> str | None:
    pool = placement.pool
    first = np.full(max(instance.blocks, int(instance.pool_class.max(initial=0)) + 1), -1, dtype=np.int64)
    first[instance.pool_class] = pool
    if (first[instance.pool_class] != pool).any():
        return "blocks that must share a pool do not"
    if (pool[instance.apart[:, 0]] == pool[instance.apart[:, 1]]).any():
        return "blocks that must be in different pools are not"
    if share_addresses(instance, placement, instance.conflicts).any():
        return "conflicting parts share addresses"
    return first_overlap(instance, placement)
