"""The least height of a pool for buffers that may not share addresses, in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import gcd
from typing import NamedTuple

from ...facts.colocation import Group
from ...facts.intervals import merged
from ...facts.possible_places import Places, Spot
from ...facts.sweep import VERIFYING
from ...model.deadline import in_time, tick
from ...model.problem import Interval, Problem

MOST_STEPS = 1 << 25
"""The most steps, lengths times sums in all free ranges; beyond, all multiples of the common divisor count as sums."""
LEAST_STEPS = 64
"""The least count for a length, however few sums there are."""
MOST_STACKED = 14
"""Of more slabs not all orders are gone through."""


class _Slab(NamedTuple):
    """A range of addresses that one group covers: its length, and what is known of its start."""

    length: int
    modulus: int
    """0: it begins exactly at `start`."""
    start: int
    """It begins here or a multiple of modulus higher."""
    rule: int
    """The modulus if nothing were fixed."""


def places_of(problem: Problem) -> Places:
    """Return the places of the problem's buffers: the same ones each time if nobody can change the problem."""
    if problem.facts.neighbour is None:
        return Places(problem)
    if problem.facts.places is None:
        problem.facts.places = Places(problem)
    found: Places = problem.facts.places
    return found


def least_height(places: Places, pool: str, buffers: Iterable[int]) -> int:
    """Return a lower bound of the highest end of these buffers if all lie in the pool and only those of one group may overlap.

    If they cannot lie there, so that there is no plan, return what they would need in an unlimited pool, or beside what only the pool's end keeps in its place.
    """
    chosen, here = list(buffers), places.pools[pool]
    slabs, ends, fit = _slabs(places, lambda group: places.spot(group, pool), chosen)
    height = max([0, *ends, _fill(slabs, here.reserved)])
    beside = _beside_walls(slabs, here.reserved)
    if fit and beside is not None:
        return _stacked(slabs, max(height, beside))
    bare = replace(here, reserved=())
    for find in (partial(places.find, pool=bare), partial(places.find, pool=here, bounded=False)):
        slabs, ends, _ = _slabs(places, find, chosen)
        loose = [slab._replace(modulus=slab.rule) for slab in slabs]
        some = [_fill(each, here.reserved) for each in (slabs, loose)]
        height = max([height, *ends, *some, _beside_walls(slabs, here.reserved) or 0])
        height = _stacked(loose, _stacked(slabs, height))
    return height


def _beside_walls(slabs: Sequence[_Slab], reserved: Sequence[Interval]) -> int | None:
    """Return the least end of the movable slabs beside the fixed ones; None if fixed ones overlap."""
    walls = sorted((slab.start, slab.start + slab.length) for slab in slabs if not slab.modulus)
    if any(end > begin for (_, end), (begin, _) in pairwise(walls)):
        return None
    return _fill([slab for slab in slabs if slab.modulus], [*reserved, *walls]) if walls else 0


def _stacked(slabs: Sequence[_Slab], known: int) -> int:
    """Return the least end of the movable slabs if they lie on each other in the best order; `known` if that is no more, or they are too many.

    The lower some of them end, the lower can the next one begin: so for each set of slabs only its least end matters.
    """
    movable = [slab for slab in slabs if slab.modulus]
    by_modulus = sorted(range(len(movable)), key=lambda i: -movable[i].modulus)
    end = 0
    for i in by_modulus:
        end = _end_above(movable[i], end)
    if end <= known or len(movable) > MOST_STACKED or len({slab.modulus for slab in movable}) < 2:
        return known
    ends = [0] * (1 << len(movable))
    for chosen in range(1, len(ends)):
        tick(VERIFYING)
        ends[chosen] = min(_end_above(slab, ends[chosen ^ 1 << i]) for i, slab in enumerate(movable) if chosen >> i & 1)
    return max(ends[-1], known)


def _end_above(slab: _Slab, floor: int) -> int:
    """Return where the slab ends if it begins as low as it can, at this address or above."""
    return max(floor, slab.start) + (slab.start - max(floor, slab.start)) % slab.modulus + slab.length


def _slabs(
    places: Places, find: Callable[[Group], Spot | None], buffers: Collection[int]
) -> tuple[list[_Slab], list[int], bool]:
    """Return the slabs that the buffers cover, each one's lowest end, and whether all have a spot there."""
    slabs: list[_Slab] = []
    ends: list[int] = []
    fit = True
    spans: dict[int, list[Interval]] = {}
    """The spans of groups of several, by first member."""
    for buffer in in_time(buffers, VERIFYING):
        group, low, size = places.group(buffer), places.low(buffer), places.problem.buffers[buffer].size
        spot = find(group)
        if spot is None:
            fit = False
            continue
        ends.append(spot.least + low + size)
        if len(group.members) > 1:
            spans.setdefault(group.members[0], []).append((low, low + size))
        elif size:
            slabs.append(_slab(spot, 0, size))
    for first, ranges in spans.items():
        spot = find(places.group(first))
        slabs.extend(_slab(spot, low, high) for low, high in merged(ranges) if spot is not None)
    return slabs, ends, fit


def _slab(spot: Spot, low: int, high: int) -> _Slab:
    return _Slab(high - low, 0 if spot.fixed is not None else spot.rule.modulus, spot.least + low, spot.rule.modulus)


def _fill(slabs: Sequence[_Slab], taken: Iterable[Interval]) -> int:
    """Return the least end of the slabs if they could be cut and put in the free ranges, each at an allowed start.

    All starts are congruent modulo a common grain. So in each free range every slab but the topmost takes a multiple of it, and the range
    holds a sum of some slabs' lengths.
    """
    if not slabs:
        return 0
    first = slabs[0].start
    grain = gcd(*(slab.modulus for slab in slabs), *(slab.start - first for slab in slabs))
    if not grain:
        return max(slab.start + slab.length for slab in slabs)
    lengths = [slab.length + -slab.length % grain for slab in slabs]
    rest = every = sum(lengths)
    divisor, steps = gcd(*lengths), 0
    padding = max(-slab.length % grain for slab in slabs)
    shortest = min(slab.length for slab in slabs)
    here = min(slab.start for slab in slabs)
    for begin, end in merged(taken):
        room = begin - here
        if room >= shortest:
            held = 0
            for more in (room + padding, every - rest):
                held = min(held + more, every) // divisor
                steps += (held + LEAST_STEPS) * len(lengths)
                held = divisor * (held if steps > MOST_STEPS else _most_of(lengths, divisor, held))
                if rest == every or held == every:
                    break
            if held == every:
                break
            rest = every - held
        if end > here:
            here = end + (first - end) % grain
    return here + max(rest - padding, shortest)


def _most_of(lengths: Sequence[int], divisor: int, room: int) -> int:
    """Return the greatest sum of some lengths within the room, in units of their common divisor."""
    reached = 1
    """Each bit is a sum."""
    for units in (length // divisor for length in lengths):
        if reached >> room & 1:
            break
        if units <= room:
            reached |= (reached << units) & ((2 << room) - 1)
    return reached.bit_length() - 1
