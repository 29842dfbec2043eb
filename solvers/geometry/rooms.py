"""Pools with reserved ranges as several pools without: each gap between ranges is a room of its own, whose addresses count from its begin.

A pool's peak is that of its highest room in use. Where peaks cost something, an instance of rooms is therefore made for each choice of these, a *way*:
rooms above are closed, those below cost nothing, and what lies below the highest room is a constant. A placement belongs to at least one way, and is
worth no more than there; where its highest rooms are those of the way, it is worth just that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from ..model.instance import Bools, Instance, Ints, Placement, PoolSpec, Term, Was
from ..model.linear_terms import peak_price

MOST_RANGES, MOST_ROOMS, MOST_WAYS = 64, 8, 16
"""More ranges in a pool are not looked at; pools with more rooms, or so many that there would be more ways, stay as they are."""


class Room(NamedTuple):
    """A gap of a pool, or a whole pool, whose ranges then stay reserved in it."""

    pool: int
    begin: int
    end: int | None
    """None: there is no end."""
    is_whole: bool


class Bases(NamedTuple):
    """(n) Where each block may be in a room, as the Instance has it."""

    allowed: Bools
    modulus: Ints
    residue: Ints
    lowest: Ints
    highest: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """An instance of rooms, where some are closed."""

    original: Instance
    instance: Instance
    rooms: tuple[Room, ...]
    below: int
    """What lies below the highest rooms, times the cost of a unit there."""
    is_widest: bool
    """Are all rooms open?"""

    def lifted(self, placement: Placement) -> Placement:
        """The same placement in the pools."""
        pool = np.array([room.pool for room in self.rooms], dtype=np.int64)
        begin = np.array([room.begin for room in self.rooms], dtype=np.int64)
        return Placement(pool[placement.pool], placement.offset + begin[placement.pool])

    def inside(self, placement: Placement) -> Placement | None:
        """A placement in the pools, in these rooms; None if something lies in a room that is closed."""
        room_of, offset = np.full(self.instance.blocks, -1, dtype=np.int64), placement.offset.copy()
        for number, room in enumerate(self.rooms):
            is_here = (placement.pool == room.pool) & (placement.offset >= room.begin)
            if room.end is not None:
                is_here &= placement.offset + self.original.block_high <= room.end
            room_of[is_here] = number
            offset[is_here] = placement.offset[is_here] - room.begin
        return None if (room_of < 0).any() else Placement(room_of, offset)

    def bound(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """The bound of all placements that belong to this way and to none with lower rooms, from one of its instance."""
        terms = self.instance.terms
        return tuple(v + peak_price(self.original, term) * self.below for v, term in zip(value, terms, strict=False))


def ways_of(instance: Instance) -> list[Way]:
    """All ways; none if no pool has several rooms, or not just the rooms count."""
    terms = instance.terms
    if Term.LARGEST_PEAK in terms:  # of which no part is a constant
        terms = terms[: terms.index(Term.LARGEST_PEAK)]
    if not terms or not any(pool.reserved for pool in instance.pools):
        return []
    counts_peaks = any(peak_price(instance, term) for term in terms)
    of_pools, tops, ways = list[list[Room]](), list[list[int]](), 1
    for p, pool in enumerate(instance.pools):
        rooms = _rooms(instance, p) if pool.reserved and _is_plain(instance, p) else []
        highest = [*range(len(rooms))] if counts_peaks and pool.cost else [len(rooms) - 1]
        if len(highest) > 1 and rooms[0].begin:
            highest = [-1, *highest]
        if len(rooms) < 2 or ways * len(highest) > MOST_WAYS:
            rooms, highest = [Room(p, 0, pool.capacity, is_whole=True)], [0]
        ways *= len(highest)
        of_pools.append(rooms)
        tops.append(highest)
    if all(room.is_whole for rooms in of_pools for room in rooms):
        return []
    every = tuple(room for each in of_pools for room in each)
    wide = _in_rooms(replace(instance, terms=terms), every)
    found = (_way(instance, wide, of_pools, chosen, counts_peaks) for chosen in product(*tops))
    return [way for way in found if way.instance.allowed.any(axis=1).all()]


def _is_plain(instance: Instance, pool: int) -> bool:
    """True if no block of the pool can lie on both sides of a range, or must share the pool with others, or be in another one."""
    inside = instance.allowed[:, pool]
    a, b = instance.apart.T
    if (inside[a] & inside[b]).any():
        return False
    size = np.bincount(instance.pool_class, minlength=instance.blocks)[instance.pool_class]
    if (inside & (size > 1) & (instance.allowed.sum(axis=1) > 1)).any():
        return False
    return not (inside & torn_blocks(instance)).any()


def torn_blocks(instance: Instance) -> Bools:
    """(n) true for blocks whose parts leave out some of it, or take nothing."""
    torn = np.zeros(instance.blocks, dtype=np.bool_)
    reached = np.zeros(instance.blocks, dtype=np.int64)
    for part in np.lexsort([instance.part_low, instance.part_block]).tolist():
        low, high, block = int(instance.part_low[part]), int(instance.part_high[part]), instance.part_block[part]
        torn[block] |= high <= low or low > reached[block]
        reached[block] = max(reached[block], high)
    return torn


def _rooms(instance: Instance, pool: int) -> list[Room]:
    """The gaps of a pool that some block can be in, from below; none if there are too many ranges."""
    reserved, end = instance.pools[pool].reserved, instance.pools[pool].capacity
    if len(reserved) > MOST_RANGES:
        return []
    begins = [0, *(end for _, end in reserved)]
    ends = [*(begin for begin, _ in reserved), end]
    rooms = (Room(pool, begin, end, is_whole=False) for begin, end in zip(begins, ends, strict=True))
    found = [room for room in rooms if _bases(instance, room).allowed.any()]
    return found if len(found) <= MOST_ROOMS else []


def _bases(instance: Instance, room: Room) -> Bases:
    pool = room.pool
    modulus, residue = instance.modulus[:, pool], instance.residue[:, pool]
    lowest, highest, allowed = instance.lowest[:, pool], instance.highest[:, pool], instance.allowed[:, pool]
    if not room.is_whole:
        lowest = np.maximum(lowest, room.begin)
        lowest = lowest + (residue - lowest) % modulus
        if room.end is not None:
            highest = np.minimum(highest, room.end - instance.block_high)
        highest = highest - (highest - residue) % modulus
        allowed = allowed & (lowest <= highest)
    residue = (residue - room.begin) % modulus
    lowest, highest = lowest - room.begin, highest - room.begin
    return Bases(allowed, modulus, residue, np.where(allowed, lowest, residue), np.where(allowed, highest, 0))


def _in_rooms(instance: Instance, rooms: tuple[Room, ...]) -> Instance:
    """The instance with a pool for each room."""
    pool = np.array([room.pool for room in rooms], dtype=np.int64)
    bases = [_bases(instance, room) for room in rooms]
    order = np.argsort(instance.preference[:, pool], axis=1, kind="stable")
    specs = instance.pools
    return replace(
        instance,
        pools=tuple(
            specs[room.pool]
            if room.is_whole
            else replace(specs[room.pool], capacity=None if room.end is None else room.end - room.begin, reserved=())
            for room in rooms
        ),
        allowed=np.stack([each.allowed for each in bases], axis=1),
        modulus=np.stack([each.modulus for each in bases], axis=1),
        residue=np.stack([each.residue for each in bases], axis=1),
        lowest=np.stack([each.lowest for each in bases], axis=1),
        highest=np.stack([each.highest for each in bases], axis=1),
        access_cost=np.ascontiguousarray(instance.access_cost[:, pool]),
        pool_class=_classes(instance, rooms),
        preference=np.argsort(order, axis=1, kind="stable"),
        hinted=np.zeros(instance.blocks, dtype=np.bool_),
        source=None,
        was=None if instance.was is None else Was(instance.was.cost, _stays(instance.was.stays, rooms, bases)),
    )


def _classes(instance: Instance, rooms: tuple[Room, ...]) -> Ints:
    """(n) The classes; those whose only pool has several rooms share it in any case."""
    parted = [room.pool for room in rooms if not room.is_whole]
    is_free = instance.allowed[:, parted].any(axis=1)
    of_its_own = instance.pool_class.max(initial=0) + 1 + np.arange(instance.blocks)
    label = np.where(is_free, of_its_own, instance.pool_class)
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    classes: Ints = first[number].astype(np.int64)
    return classes


def _stays(stays: Ints, rooms: tuple[Room, ...], bases: list[Bases]) -> Ints:
    """Old places in rooms, as far as a room has them."""
    found = [stays[:0]]
    for number, (room, each) in enumerate(zip(rooms, bases, strict=True)):
        block, base = stays[:, 0], stays[:, 2] - room.begin
        is_here = (stays[:, 1] == room.pool) & each.allowed[block]
        is_here &= (each.lowest[block] <= base) & (base <= each.highest[block])
        here = stays[is_here].copy()
        here[:, 1], here[:, 2] = number, base[is_here]
        found.append(here)
    return np.concatenate(found)


def _way(
    original: Instance, wide: Instance, of_pools: list[list[Room]], tops: tuple[int, ...], counts_peaks: bool
) -> Way:
    specs, kept, rooms, below, first = list[PoolSpec](), list[int](), list[Room](), 0, 0
    for each, top in zip(of_pools, tops, strict=True):
        for place, room in enumerate(each[: top + 1]):
            spec = wide.pools[first + place]
            specs.append(replace(spec, cost=0) if counts_peaks and place < top else spec)
            kept.append(first + place)
            rooms.append(room)
        if top >= 0 and not each[top].is_whole:
            below += original.pools[each[top].pool].cost * each[top].begin
        first += len(each)
    keep = np.array(kept, dtype=np.int64)
    return Way(original, _of_pools(wide, keep, tuple(specs)), tuple(rooms), below, len(kept) == len(wide.pools))


def _of_pools(wide: Instance, keep: Ints, specs: tuple[PoolSpec, ...]) -> Instance:
    """The instance with these rooms alone."""
    was = wide.was
    if was is not None:
        new = np.full(len(wide.pools), -1, dtype=np.int64)
        new[keep] = np.arange(len(keep))
        stays = was.stays[new[was.stays[:, 1]] >= 0].copy()
        stays[:, 1] = new[stays[:, 1]]
        was = Was(was.cost, stays)
    order = np.argsort(wide.preference[:, keep], axis=1, kind="stable")
    return replace(
        wide,
        pools=specs,
        preference=np.argsort(order, axis=1, kind="stable"),
        was=was,
        allowed=np.ascontiguousarray(wide.allowed[:, keep]),
        modulus=np.ascontiguousarray(wide.modulus[:, keep]),
        residue=np.ascontiguousarray(wide.residue[:, keep]),
        lowest=np.ascontiguousarray(wide.lowest[:, keep]),
        highest=np.ascontiguousarray(wide.highest[:, keep]),
        access_cost=np.ascontiguousarray(wide.access_cost[:, keep]),
    )
