"""What a placement is worth, and whether it keeps every rule of its instance."""

from __future__ import annotations

import numpy as np

from ..geometry.overlaps import first_overlap
from .instance import Instance, Ints, Placement, Term
from .linear_terms import choice_cost, peak_price
from .outcome import Value


def peaks(instance: Instance, placement: Placement) -> tuple[int, ...]:
    """The largest end offset in each pool; 0 where nothing is."""
    end = placement.offset + instance.block_high
    top = np.zeros(len(instance.pools), dtype=np.int64)
    np.maximum.at(top, placement.pool, end)
    return tuple(top.tolist())


def value_of_peaks(instance: Instance, pool_peaks: tuple[int, ...]) -> int:
    """The cost-weighted sum of peaks."""
    return sum(pool.cost * peak for pool, peak in zip(instance.pools, pool_peaks, strict=True))


def evaluate(instance: Instance, placement: Placement) -> Value:
    """One integer per term of the instance's objective."""
    pool_peaks = peaks(instance, placement)
    return tuple(_term(instance, placement, pool_peaks, term) for term in instance.terms)


def _term(instance: Instance, placement: Placement, pool_peaks: tuple[int, ...], term: Term) -> int:
    match term:
        case Term.LARGEST_PEAK:
            return max(pool_peaks, default=0)
        case Term.REUSE_COST:
            shared = _share_addresses(instance, placement, instance.penalties[:, :2])
            return sum(instance.penalties[shared, 2].tolist())
        case _:
            total = peak_price(instance, term) * value_of_peaks(instance, pool_peaks)
            cost = choice_cost(instance, term)
            return total if cost is None else total + sum(cost[np.arange(instance.blocks), placement.pool].tolist())


def _share_addresses(
    instance: Instance, placement: Placement, pairs: Ints
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each pair of parts: do they lie in one pool and have an address in common?"""
    low = placement.offset[instance.part_block] + instance.part_low
    high = placement.offset[instance.part_block] + instance.part_high
    pool = placement.pool[instance.part_block]
    a, b = pairs[:, 0], pairs[:, 1]
    common = np.minimum(high[a], high[b]) > np.maximum(low[a], low[b])
    shared: np.ndarray[tuple[int], np.dtype[np.bool_]] = (pool[a] == pool[b]) & common
    return shared


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
        for begin, end in spec.reserved:
            hit = (part_pool == p) & (np.minimum(high, end) > np.maximum(low, begin))
            if hit.any():
                return f"part {int(np.argmax(hit))} lies in a reserved range"
    return None


def _pair_rules(instance: Instance, placement: Placement) -> str | None:
    pool = placement.pool
    first = np.full(max(instance.blocks, int(instance.pool_class.max(initial=0)) + 1), -1, dtype=np.int64)
    first[instance.pool_class] = pool
    if (first[instance.pool_class] != pool).any():
        return "blocks that must share a pool do not"
    if (pool[instance.apart[:, 0]] == pool[instance.apart[:, 1]]).any():
        return "blocks that must be in different pools are not"
    if _share_addresses(instance, placement, instance.conflicts).any():
        return "conflicting parts share addresses"
    return first_overlap(instance, placement)
