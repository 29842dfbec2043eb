"""Smaller, equal instances: in the greatest possible unit, and cut into independent pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import gcd
from typing import NamedTuple

import numpy as np

from ..model.instance import Instance, Ints, Was

TIMES_PER_RECT = 8
"""Up to this many times per rect between first and last, counting is several times faster than sorting."""


def unit(instance: Instance) -> int:
    """The greatest g such that some best placement has all its bases at multiples of g.

    In a placement whose blocks are pushed down as far as possible, every base is a residue, a fixed base, or the end of a block or range below,
    rounded up to a modulus. A modulus that divides g rounds nothing, so it need not be a multiple of g.
    """
    live = instance.allowed
    fixed = live & (instance.lowest == instance.highest)
    lengths = [
        instance.part_low,
        instance.part_high,
        instance.residue[live],
        instance.lowest[live],
        np.array([end for pool in instance.pools for _, end in pool.reserved], dtype=np.int64),
    ]
    if instance.was is not None:  # a block that stays at its old place is as good as fixed there
        lengths.append(instance.was.stays[:, 2])
    g = int(np.gcd.reduce(np.concatenate(lengths)))
    steps = {pool.step for pool in instance.pools if pool.step > 1}
    moduli = sorted(steps.union(instance.modulus[live & ~fixed].tolist()))
    changed = True
    while changed:
        changed = False
        for modulus in moduli:
            if g == 0:
                g = modulus
            elif g % modulus and modulus % g:
                g, changed = gcd(g, modulus), True
    return max(g, 1)


def floor_of(instance: Instance) -> int:
    """Below this address nothing can begin, as all is reserved there without a gap or alignments ask for more; 0 if something stays there."""
    floor = 0
    for begin, end in sorted(instance.pools[0].reserved):
        if begin > floor:
            break
        floor = max(floor, end)
    if instance.blocks:
        floor = max(floor, int(instance.lowest.min()))
    may_hang = (
        instance.part_low.any() or not instance.part_high.all()
    )  # then a base may lie below, where nothing is taken
    if not floor or may_hang or instance.was is not None:
        return 0
    if not instance.residue.any():
        step = int(np.gcd.reduce(instance.modulus, axis=None))
        floor = -(-floor // step) * step
    fixed = instance.lowest == instance.highest
    return 0 if (instance.highest < floor).any() or (instance.lowest[fixed] < floor).any() else floor


def above(instance: Instance, floor: int) -> Instance:
    """The instance of one pool with addresses that count from the floor, below which nothing can begin."""
    if not floor:
        return instance
    pool = instance.pools[0]
    residue = (instance.residue - floor) % instance.modulus
    return replace(
        instance,
        pools=(
            replace(
                pool,
                capacity=None if pool.capacity is None else pool.capacity - floor,
                reserved=tuple((max(begin - floor, 0), end - floor) for begin, end in pool.reserved if end > floor),
            ),
        ),
        residue=residue,
        lowest=np.maximum(instance.lowest - floor, residue),
        highest=instance.highest - floor,
        hint=np.maximum(instance.hint - floor, 0),
    )


def scaled(instance: Instance, g: int) -> Instance:
    """The same instance in units of g = unit(instance)."""
    if g == 1:
        return instance
    modulus = np.where(instance.modulus % g == 0, instance.modulus // g, 1)
    residue = np.where(instance.allowed, instance.residue // g, 0) % modulus
    lowest = instance.lowest // g
    highest = instance.highest // g
    highest -= (highest - residue) % modulus
    return replace(
        instance,
        pools=tuple(
            replace(
                pool,
                capacity=None if pool.capacity is None else pool.capacity // g,
                reserved=tuple((begin // g, end // g) for begin, end in pool.reserved),
                step=1 if pool.step % g else pool.step // g,
            )
            for pool in instance.pools
        ),
        part_low=instance.part_low // g,
        part_high=instance.part_high // g,
        modulus=modulus,
        residue=residue,
        lowest=lowest,
        highest=highest,
        hint=instance.hint // g,
        peak_price=instance.peak_price * g,
        was=None if instance.was is None else _scaled_was(instance.was, g),
    )


def _scaled_was(was: Was, g: int) -> Was:
    stays = was.stays.copy()
    stays[:, 2] //= g
    return replace(was, stays=stays)


class Piece(NamedTuple):
    """A part of an instance that can be solved on its own, and the original numbers of its blocks, parts and pools."""

    instance: Instance
    blocks: Ints
    parts: Ints
    pools: Ints
    sections: Ints
    """The original section at which each of the piece's sections begins."""


def restrict(instance: Instance, blocks: Ints, pools: Iterable[int], *, squeeze: bool = True) -> Piece:
    """Only these blocks and pools, with equal sections merged if `squeeze`; pairs with other blocks are dropped."""
    (piece,) = _pieces(instance, [blocks], [np.array(list(pools), dtype=np.int64)], squeeze)
    return piece


def by_pool(instance: Instance, pool_of: Ints) -> Iterator[Piece]:
    """Each pool's blocks as a piece, without merging sections, in one pass; pools without blocks are left out."""
    if instance.blocks and len(instance.pools) == 1:  # a single piece, the usual case
        ranges = (instance.blocks, len(instance.part_block), 1, instance.sections)
        return iter([Piece(replace(instance, source=None), *map(np.arange, ranges))])
    pools = np.flatnonzero(np.bincount(pool_of, minlength=len(instance.pools)))
    groups = _by_group(np.searchsorted(pools, pool_of), len(pools))
    return _pieces(instance, groups, list(pools[:, None]), squeeze=False)


def cut(instance: Instance, groups: Sequence[Ints], pool: int) -> Iterator[Piece]:
    """Each group of blocks as a piece in this pool, as `restrict` makes it, in one pass; no block is in two groups."""
    return _pieces(instance, groups, [np.array([pool], dtype=np.int64)] * len(groups), squeeze=True)


def _pieces(instance: Instance, groups: Sequence[Ints], pools_of: Sequence[Ints], squeeze: bool) -> Iterator[Piece]:
    divided = _Divided(instance, groups)
    for number, pools in enumerate(pools_of):
        yield divided.piece(number, pools, squeeze)


class _Divided:
    """An instance divided into groups of blocks: what is in each group, and its numbers there."""

    def __init__(self, instance: Instance, groups: Sequence[Ints]) -> None:
        self.instance, self.groups = instance, groups
        self.every_section = np.arange(instance.sections)
        self.group_of = np.full(instance.blocks, -1, dtype=np.int64)
        self.new_block = np.zeros(instance.blocks, dtype=np.int64)
        for number, blocks in enumerate(groups):
            self.group_of[blocks], self.new_block[blocks] = number, np.arange(len(blocks))
        group_of_part = self.group_of[instance.part_block]
        self.parts = _by_group(group_of_part, len(groups))
        self.new_part = np.zeros(len(group_of_part), dtype=np.int64)
        for parts in self.parts:
            self.new_part[parts] = np.arange(len(parts))
        self.rects = _by_group(group_of_part[instance.rect_part], len(groups))
        self.apart = _by_group(_common(self.group_of[instance.apart]), len(groups))
        self.conflicts, self.exclusions, self.penalties = (
            _by_group(_common(group_of_part[rows[:, :2]]), len(groups))
            for rows in (instance.conflicts, instance.exclusions, instance.penalties)
        )

    def piece(self, number: int, pools: Ints, squeeze: bool) -> Piece:
        whole, blocks, parts, rects = self.instance, self.groups[number], self.parts[number], self.rects[number]
        start, end, sections = whole.rect_start[rects], whole.rect_end[rects], self.every_section
        if squeeze:
            start, end, sections = _squeeze(start, end)
        grid = np.ix_(blocks, pools)
        specs, part_high = tuple(whole.pools[p] for p in pools.tolist()), whole.part_high[parts]
        if len(specs) == 1:  # all that is there can be as high as it counts
            specs, part_high = (replace(specs[0], step=1),), specs[0].whole(part_high)
        _, pool_class = np.unique(whole.pool_class[blocks], return_inverse=True)
        small = replace(
            whole,
            pools=specs,
            sections=len(sections),
            part_block=self.new_block[whole.part_block[parts]],
            part_low=whole.part_low[parts],
            part_high=part_high,
            rect_part=self.new_part[whole.rect_part[rects]],
            rect_start=start,
            rect_end=end,
            allowed=whole.allowed[grid],
            modulus=whole.modulus[grid],
            residue=whole.residue[grid],
            lowest=whole.lowest[grid],
            highest=whole.highest[grid],
            access_cost=whole.access_cost[grid],
            pool_class=pool_class.reshape(-1).astype(np.int64),
            preference=whole.preference[grid],
            apart=self.new_block[whole.apart[self.apart[number]]],
            conflicts=self._renumbered(whole.conflicts[self.conflicts[number]]),
            exclusions=self._renumbered(whole.exclusions[self.exclusions[number]]),
            penalties=self._renumbered(whole.penalties[self.penalties[number]]),
            hint=whole.hint[blocks],
            hinted=whole.hinted[blocks],
            input_rank=whole.input_rank[blocks],
            name_rank=whole.name_rank[blocks],
            source=None,
            was=None if whole.was is None else self._was(whole.was, number, pools),
        )
        return Piece(small, blocks, parts, pools, sections)

    def _renumbered(self, pairs: Ints) -> Ints:
        """Rows of two parts, and what else they hold."""
        return np.concatenate([self.new_part[pairs[:, :2]], pairs[:, 2:]], axis=1)

    def _was(self, was: Was, number: int, pools: Ints) -> Was:
        """The old places of one group's blocks, without those in pools that the piece does not have."""
        rows = was.stays[(self.group_of[was.stays[:, 0]] == number) & np.isin(was.stays[:, 1], pools)].copy()
        at = np.argsort(pools, kind="stable")
        rows[:, 0], rows[:, 1] = self.new_block[rows[:, 0]], at[np.searchsorted(pools, rows[:, 1], sorter=at)]
        return Was(was.cost[self.groups[number]], rows)


def _by_group(group: Ints, count: int) -> list[Ints]:
    """For each group, the indices of its members, ascending; -1 means no group."""
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(count + 1))
    return [order[a:b] for a, b in pairwise(bounds.tolist())]


def _common(ends: Ints) -> Ints:
    """The group that both ends of each pair are in; -1 if they differ."""
    return np.where(ends[:, 0] == ends[:, 1], ends[:, 0], -1)


def _squeeze(start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Drops every section whose live set a neighbour's contains: only sections where something begins after something ended remain."""
    if not len(start):
        return start, end, start[:0]
    times, first, last = ranked(start, end)
    begins, ends = np.zeros(len(times), dtype=bool), np.zeros(len(times), dtype=bool)
    begins[first] = ends[last] = True
    # A new section opens at a begin that follows an end (or is the very first).
    ended = np.maximum.accumulate(np.where(ends, np.arange(len(times)), -1))
    begun = np.concatenate([[-1], np.maximum.accumulate(np.where(begins, np.arange(len(times)), -1))[:-1]])
    opens = begins & (ended > begun) | (np.arange(len(times)) == 0)
    number = np.cumsum(opens) - 1
    new_start = number[first]
    before = np.concatenate([[0], number[:-1] + 1])
    new_end = before[last]
    # Of a run of begins the last has the whole live set: it stands for the section.
    last_begin = np.zeros(int(number[-1]) + 1, dtype=np.int64)
    last_begin[number[begins]] = times[begins]
    return new_start, new_end, last_begin


def _numbered(times: Ints) -> tuple[Ints, Ints]:
    """The different times, ascending, and the index of each among them: as numpy's unique, which takes twice as long for millions."""
    order = np.argsort(times)
    ascending = times[order]
    is_first = np.concatenate([[True], ascending[1:] != ascending[:-1]])
    rank = np.empty(len(times), dtype=np.int64)
    rank[order] = np.cumsum(is_first) - 1
    return ascending[is_first], rank


def ranked(start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """All times at which something starts or ends, ascending, and the index of each start and each end among them."""
    first, last = (int(start.min()), int(end.max())) if len(start) else (0, 0)
    if last - first > TIMES_PER_RECT * len(start):
        times, rank = _numbered(np.concatenate([start, end]))
        return times, rank[: len(start)], rank[len(start) :]
    there = np.zeros(last - first + 1, dtype=bool)
    there[start - first] = there[end - first] = True
    rank = np.cumsum(there) - 1
    return np.flatnonzero(there) + first, rank[start - first], rank[end - first]
