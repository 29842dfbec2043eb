"""Pools that no best placement needs: whatever stands in one may as well stand in another, on top of all that is there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.instance import Bools, Instance, Ints, Placement
from ..model.linear_terms import ADDITIVE, choice_cost
from ..model.objective import peaks
from .presolve import unit


def spare_pools(instance: Instance) -> dict[int, int]:
    """Each pool that is spare, and the pool, itself not spare, that takes its place.

    Both are unlimited, and the other one costs no more, whatever block is in it. Every block that may be in the spare pool may be anywhere in the other.
    Alignments must not ask for room between: all bases of some best placement are multiples of one unit, which must be a multiple of theirs.
    """
    is_open = [pool.capacity is None and not pool.reserved for pool in instance.pools]
    if sum(is_open) < 2 or instance.weighs_moves or not ADDITIVE.issuperset(instance.terms):
        return {}
    free = _free(instance)
    costs = [cost for term in instance.terms if (cost := choice_cost(instance, term)) is not None]
    apart = np.zeros(instance.blocks, dtype=bool)
    apart[instance.apart] = True
    kept = sorted(np.flatnonzero(is_open).tolist(), key=lambda pool: (instance.pools[pool].rank, pool))
    found = dict[int, int]()
    for spare in reversed(kept):
        blocks = np.flatnonzero(instance.allowed[:, spare])
        if not len(blocks) or apart[blocks].any():
            continue
        for other in kept:
            is_cheaper = instance.pools[other].cost <= instance.pools[spare].cost
            if other == spare or other in found or not is_cheaper or not free[blocks, other].all():
                continue
            if all((cost[blocks, other] <= cost[blocks, spare]).all() for cost in costs):
                found[spare] = other
                break
    return {spare: _last(found, spare) for spare in found}


def _last(found: dict[int, int], pool: int) -> int:
    while pool in found:
        pool = found[pool]
    return pool


def _free(instance: Instance) -> Bools:
    """(n, P) true where the block may stand at every multiple of the unit, on top of all others."""
    step = unit(instance)
    top = sum(instance.block_high.tolist())
    is_low = (instance.lowest == 0) & (instance.residue == 0)
    reaches = instance.highest + instance.block_high[:, None] >= top
    free: Bools = instance.allowed & is_low & reaches & (step % instance.modulus == 0)
    return free


def without(instance: Instance, spare: dict[int, int]) -> Instance:
    """The instance in which nothing may be in spare pools."""
    allowed = instance.allowed.copy()
    allowed[:, list(spare)] = False
    return replace(instance, allowed=allowed)


def moved_out(instance: Instance, spare: dict[int, int], placement: Placement) -> Placement:
    """The placement with all that stands in spare pools on top of what is in those that take their place."""
    pool: Ints = placement.pool.copy()
    offset: Ints = placement.offset.copy()
    step = int(np.lcm.reduce(instance.modulus[instance.allowed], initial=1))
    for one, other in spare.items():
        top = peaks(instance, Placement(pool, offset))[other]
        here = pool == one
        pool[here], offset[here] = other, offset[here] + -(-top // step) * step
    return Placement(pool, offset)
