"""One pool said simpler: limits and reserved ranges that keep nothing better away, blocks that need the pool at all times, and heights in whole steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import gcd
from typing import NamedTuple

import numpy as np

from ..model.instance import Bools, Instance, Ints, PoolSpec
from .presolve import floor_of
from .rooms import torn_blocks


def raised(instance: Instance, end: int, to: int) -> Instance:
    """The instance of one pool in which blocks that may end as high as `end` may end as high as `to`; fixed ones stay."""
    modulus = instance.modulus
    reach = instance.highest + instance.block_high[:, None]
    is_free = (reach + modulus > end) & (instance.highest != instance.lowest)
    highest = to - instance.block_high[:, None]
    highest = highest - (highest - instance.residue) % modulus
    return replace(instance, highest=np.where(is_free, np.maximum(highest, instance.highest), instance.highest))


def below(instance: Instance, peak: int) -> Instance:
    """The instance of one pool where only placements that end below this known peak are of interest: what no such placement can touch is gone."""
    pool = instance.pools[0]
    kept = tuple((begin, end) for begin, end in pool.reserved if begin < peak)
    reach = instance.highest + instance.block_high[:, None]
    to = int(reach.max(initial=peak))
    if kept == pool.reserved and bool((reach + instance.modulus > to).all()):
        return instance
    return replace(raised(instance, peak, to), pools=(replace(pool, reserved=kept),))


def lowered(instance: Instance, pool: int, ceiling: int) -> Instance:
    """The instance whose pool ends here, below all that is reserved above."""
    spec = instance.pools[pool]
    highest = instance.highest.copy()
    most = ceiling - instance.block_high
    most -= (most - instance.residue[:, pool]) % instance.modulus[:, pool]
    inside = instance.allowed[:, pool]
    highest[inside, pool] = np.minimum(highest[inside, pool], most[inside])
    specs = list(instance.pools)
    specs[pool] = replace(spec, capacity=ceiling, reserved=tuple(each for each in spec.reserved if each[0] < ceiling))
    return replace(instance, pools=tuple(specs), highest=highest)


class Stepped(NamedTuple):
    """An instance in which pools end at multiples of their steps, as all bases in them are. Its placements are the same."""

    instance: Instance
    waste: tuple[int, ...]
    """By how much each pool ends higher at most."""


def stepped(instance: Instance) -> Stepped | None:
    """The instance with ends rounded up as far as no placement notices; None if that changes nothing."""
    steps = [_step(instance, pool) for pool in range(len(instance.pools))]
    least = max(gcd(*steps), 1)  # heights become multiples of what all pools have in common
    pools = tuple(_in_steps(pool, step, least) for pool, step in zip(instance.pools, steps, strict=True))
    if not any((instance.part_high % pool.step).any() for pool in pools):
        return None
    if any(begin % pool.step for pool in pools for begin, _ in pool.reserved):
        return None  # of blocks as high in steps some can end there, others not
    high = -(-instance.part_high // least) * least
    if pools == instance.pools and np.array_equal(high, instance.part_high):
        return None  # it is in such steps
    wide = replace(instance, pools=pools, part_high=high)
    return Stepped(wide, tuple(int((pool.whole(instance.block_high) - instance.block_high).max()) for pool in pools))


def _step(instance: Instance, pool: int) -> int:
    """The greatest step of which all bases in the pool are multiples; 0 if nothing may be there."""
    inside = instance.allowed[:, pool]
    lows = (array[inside, pool] for array in (instance.modulus, instance.residue, instance.lowest))
    return int(np.gcd.reduce(np.concatenate([*lows, instance.part_low]))) if inside.any() else 0


def _in_steps(pool: PoolSpec, step: int, least: int) -> PoolSpec:
    """The pool with its end, and those of its reserved ranges, rounded up; to the least step if not all ranges begin at others."""
    is_plain = step and not any(begin % step for begin, _ in pool.reserved)
    wide = replace(pool, step=step if is_plain else least)
    ranges = tuple((begin, wide.whole(end)) for begin, end in pool.reserved)
    return replace(wide, capacity=None if pool.capacity is None else wide.whole(pool.capacity), reserved=ranges)


class Throughout(NamedTuple):
    """Blocks that need one pool at all times, and where they are best: what remains has these ranges reserved."""

    blocks: Bools
    offset: Ints
    """(n) 0 for all others."""


def throughout(instance: Instance) -> Throughout | None:
    """Blocks of one pool that can have their places before all others; None if there are none, or no others.

    Fixed ones are where they are. Others may be lowest if no alignment is lost by that, nothing has to lie, or end, at a certain height, and nothing leaves
    room between its parts: in any placement, each block lies above or below such a block, which can change places with all that is below it.
    """
    is_live = np.zeros(len(instance.part_block), dtype=np.bool_)
    is_live[instance.rect_part] = True
    if not is_live[
        instance.part_high > instance.part_low
    ].all():  # what has no lifetimes is in nobody's way at any time
        return None
    first, last = instance.rect_start.min(initial=instance.sections), instance.rect_end.max(initial=0)
    parts, rects = np.bincount(instance.part_block, minlength=instance.blocks), _rects_of_blocks(instance)
    always = np.zeros(instance.blocks, dtype=np.bool_)
    block = instance.part_block[instance.rect_part]
    always[block] = (instance.rect_start == first) & (instance.rect_end == last)
    always &= (parts == 1) & (rects == 1) & (instance.block_high > 0)
    always[instance.part_block[instance.exclusions]] = False
    if not always.any():
        return None
    high, modulus = instance.block_high, instance.modulus[:, 0]
    fixed = (instance.lowest == instance.highest)[:, 0]
    chosen, offset = always & fixed, np.where(always & fixed, instance.lowest[:, 0], 0)
    step, floor = int(modulus.max()), floor_of(instance)
    ends = instance.highest[:, 0] + high
    is_free = (
        not (fixed & ~always).any()
        and not instance.residue.any()
        and not (step % modulus).any()
        and bool((instance.lowest[~fixed] <= floor).all())
        and bool((ends + modulus > ends.max(where=~fixed, initial=0))[~fixed].all())
        and all(end <= floor for _, end in instance.pools[0].reserved)
        and not chosen.any()
        and not (torn_blocks(instance) & (high > 0)).any()
        and floor % step == 0
    )
    if is_free:
        chosen = always & (high % step == 0)
        stacked = np.cumsum(np.where(chosen, high, 0))
        offset = np.where(chosen, floor + stacked - high, 0)
    elif _overlap(
        [*instance.pools[0].reserved, *zip(offset[chosen].tolist(), (offset + high)[chosen].tolist(), strict=True)]
    ):
        return None  # then nothing fits, which is for others to say
    return Throughout(chosen, offset) if chosen.any() and not chosen.all() else None


def _overlap(ranges: list[tuple[int, int]]) -> bool:
    return any(begin < end for (_, end), (begin, _) in pairwise(sorted(ranges)))


def _rects_of_blocks(instance: Instance) -> Ints:
    return np.bincount(instance.part_block[instance.rect_part], minlength=instance.blocks)


def with_ranges(instance: Instance, ranges: list[tuple[int, int]]) -> Instance:
    """The instance of one pool in which these ranges are reserved, too."""
    pool = instance.pools[0]
    merged = list[tuple[int, int]]()
    for begin, end in sorted([*pool.reserved, *ranges]):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return replace(instance, pools=(replace(pool, reserved=tuple(merged)),))
