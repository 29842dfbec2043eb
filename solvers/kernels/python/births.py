"""Places units in the order of their births, each in the first pool with room: Python and numpy, with the same answers as in C++."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import gcd
from operator import sub
from typing import NamedTuple

import numpy as np

from ...model.instance import Ints
from ..interface import Hurry, Rooms, Units

MOST_MISSES = 100
"""Free ranges that are wide enough tried in vain before the last one is tried."""
MOST_IN_CHUNK = 128
LOOK_EVERY = 256
EXACTLY = 1 << 100
"""A modulus greater than all addresses: only one base is possible."""
CHECK_EVERY = 256
MOST_TREES = 16
"""Only the most used lists of pools, at most this many, get a search tree; the others are scanned."""


def by_birth(
    rooms: Rooms, units: Units, tries: int, late_tries: int, ask: Callable[[bool], int]
) -> tuple[Ints, Ints] | None:
    """The pool of each unit and the base of each group, placed in the order of the units; None if a unit fits nowhere."""
    return _Run(rooms, units, tries, late_tries, ask).all()


class _Rule(NamedTuple):
    """Bases that are `residue` modulo `modulus`."""

    modulus: int
    residue: int

    def at_least(self, floor: int) -> int:
        return floor + (self.residue - floor) % self.modulus


class _Chunk:
    """Some free ranges that follow each other, at least one."""

    def __init__(self, begins: list[int], ends: list[int]) -> None:
        self.begins, self.ends = begins, ends
        self.widest = 0
        self.measure()

    def measure(self) -> None:
        """Find the widest range anew."""
        self.widest = max(map(sub, self.ends, self.begins))


class _Room:
    """The free ranges of a pool, by address. They are kept in chunks, so that a room with very many is searched and changed quickly."""

    def __init__(self, end: int, taken: Iterable[tuple[int, int]]) -> None:
        begins: list[int] = []
        ends: list[int] = []
        here = 0
        for low, high in taken:
            if low > here and end > here:
                begins.append(here)
                ends.append(min(low, end))
            here = max(here, high)
        if here < end:
            begins.append(here)
            ends.append(end)
        steps = range(0, len(begins), MOST_IN_CHUNK)
        self._chunks = [_Chunk(begins[at : at + MOST_IN_CHUNK], ends[at : at + MOST_IN_CHUNK]) for at in steps]
        self.widest = max((chunk.widest for chunk in self._chunks), default=0)
        """An upper bound on the width of the free ranges."""

    def base(self, height: int, rule: _Rule, most: int) -> int | None:
        """The lowest base at which `height` addresses are free; None if there is none.

        After MOST_MISSES ranges that are wide enough, but in which no base keeps the rule, the last range is preferred.
        """
        misses = widest = 0
        for chunk in self._chunks:
            widest = max(widest, chunk.widest)
            if chunk.widest < height:
                continue
            for begin, end in zip(chunk.begins, chunk.ends, strict=True):
                if end - begin < height:
                    continue
                base = rule.at_least(begin)
                if base + height <= end:
                    return base if base <= most else None
                misses += 1
                if misses == MOST_MISSES:  # usually the last range is wide
                    last = self._chunks[-1]
                    base = rule.at_least(last.begins[-1])
                    if base + height <= last.ends[-1] and base <= most:
                        return base
        self.widest = widest
        return None

    def take(self, low: int, high: int) -> None:
        """Occupy these addresses, which are free."""
        number = self._chunk_of(low)
        chunk = self._chunks[number]
        at = bisect_right(chunk.begins, low) - 1
        begin, end = chunk.begins[at], chunk.ends[at]
        kept = [(a, b) for a, b in ((begin, low), (high, end)) if a < b]
        chunk.begins[at : at + 1] = [a for a, _ in kept]
        chunk.ends[at : at + 1] = [b for _, b in kept]
        self._changed(number, end - begin)

    def give_back(self, low: int, high: int) -> None:
        """Free these addresses."""
        if not self._chunks:
            self._chunks.append(_Chunk([low], [high]))
            self.widest = max(self.widest, high - low)
            return
        number = self._chunk_of(low)
        chunk = self._chunks[number]
        at = until = bisect_left(chunk.begins, low)
        if at < len(chunk.begins):
            if chunk.begins[at] == high:
                high, until = chunk.ends[at], at + 1
        elif number + 1 < len(self._chunks) and self._chunks[number + 1].begins[0] == high:
            after = self._chunks[number + 1]
            begin, high = after.begins.pop(0), after.ends.pop(0)
            self._changed(number + 1, high - begin)
        if at and chunk.ends[at - 1] == low:
            at -= 1
            low = chunk.begins[at]
        chunk.begins[at:until], chunk.ends[at:until] = [low], [high]
        chunk.widest = max(chunk.widest, high - low)
        self.widest = max(self.widest, high - low)
        self._changed(number, -1)

    def _chunk_of(self, low: int) -> int:
        """The last chunk that begins at or before this address; the first if none does."""
        return max(bisect_right(self._chunks, low, key=lambda chunk: chunk.begins[0]) - 1, 0)

    def _changed(self, number: int, lost: int) -> None:
        """Put the chunk in order: it lost a range of this width, or has one more."""
        chunk = self._chunks[number]
        if not chunk.begins:
            del self._chunks[number]
            return
        if lost == chunk.widest:
            chunk.measure()
        if len(chunk.begins) > MOST_IN_CHUNK:
            half = MOST_IN_CHUNK // 2
            self._chunks[number : number + 1] = [
                _Chunk(chunk.begins[:half], chunk.ends[:half]),
                _Chunk(chunk.begins[half:], chunk.ends[half:]),
            ]


class _Tree:
    """A search tree of widest free ranges over a list of pools: finds the next pool that may have room."""

    def __init__(self, pools: Sequence[int], rooms: Sequence[_Room]) -> None:
        self._count = len(pools)
        self._place = {pool: i for i, pool in enumerate(pools)}
        self._leaves = 1 << max(len(pools) - 1, 0).bit_length()
        level = [*(rooms[pool].widest for pool in pools), *[0] * (self._leaves - len(pools))]
        self._tree = level
        while len(level) > 1:
            level = [*map(max, level[::2], level[1::2])]
            self._tree = level + self._tree
        self._tree = [0, *self._tree]

    def update(self, pool: int, widest: int) -> None:
        place = self._place.get(pool)
        if place is None:
            return
        node = place + self._leaves
        self._tree[node] = widest
        while node > 1:
            node >>= 1
            most = max(self._tree[2 * node], self._tree[2 * node + 1])
            if self._tree[node] == most:
                return
            self._tree[node] = most

    def following(self, start: int, height: int) -> int:
        """The first index from `start` on whose pool may have room; the length of the list if there is none."""
        if start >= self._count:
            return self._count
        node = start + self._leaves
        while self._tree[node] < height:
            while node & 1:  # climb from right children
                node >>= 1
            if not node:
                return self._count
            node += 1
        while node < self._leaves:
            node *= 2
            if self._tree[node] < height:
                node += 1
        return min(node - self._leaves, self._count)


class _Run:
    """The state of one placement."""

    def __init__(self, rooms: Rooms, units: Units, tries: int, late_tries: int, ask: Callable[[bool], int]) -> None:
        self._ask, self._late_tries, self._next_look = ask, late_tries, tries
        taken: dict[int, list[tuple[int, int]]] = {}
        for pool, low, high in rooms.taken.reshape(-1, 3).tolist():
            taken.setdefault(pool, []).append((low, high))
        ends = rooms.end.tolist()
        self._ends, self._alignment, self._pool_base = ends, rooms.alignment.tolist(), rooms.base.tolist()
        self._rooms = [_Room(end, taken.get(p, ())) for p, end in enumerate(ends)]
        self._is_fresh = [not entered for entered in rooms.entered.tolist()]
        """True for pools that hold no block yet."""
        self._birth, self._death, self._listed = units.birth.tolist(), units.death.tolist(), units.listed.tolist()
        self._groups = [range(a, b) for a, b in pairwise(units.group_begin.tolist())]
        sets = units.sets.tolist()
        self._sets = [sets[a:b] for a, b in pairwise(units.set_begin.tolist())]
        columns = (units.height, units.modulus, units.residue, units.stride, units.most, units.fixed)
        self._height, self._modulus, self._residue, self._stride, self._most, self._fixed = (
            column.tolist() for column in columns
        )
        listed = units.list_pools.tolist()
        self._lists: list[Sequence[int]] = [range(len(ends))]
        self._lists += [listed[a:b] for a, b in pairwise(units.list_begin.tolist())]
        users = [0] * len(self._lists)
        for number in self._listed:
            users[number] += 1
        often = sorted((n for n, count in enumerate(users) if count > 1), key=lambda n: -users[n])
        self._trees = {n: _Tree(self._lists[n], self._rooms) for n in often[:MOST_TREES]}
        self._begin_fresh = [0] * len(self._lists)
        """By list: all pools before this index are used."""
        self._used: set[tuple[int, int]] = set()
        """The pairs (set, pool) that are taken."""
        self._first: dict[tuple[int, int], int] = {}
        """By set and list: the set's units occupy all pools before this index."""
        self._tries, self._is_late = 0, False
        self._pool = [0] * len(self._birth)
        self._base = [0] * len(self._height)

    def all(self) -> tuple[Ints, Ints] | None:
        ends: list[tuple[int, int]] = []
        for unit, birth in enumerate(self._birth):
            if unit % LOOK_EVERY == 0:
                self._ask(False)
            while ends and ends[0][0] <= birth:
                self._leave(heappop(ends)[1])
            if not self._place(unit):
                return None
            heappush(ends, (self._death[unit], unit))
        return np.array(self._pool, dtype=np.int64), np.array(self._base, dtype=np.int64)

    def _next_with_room(self, number: int, start: int, height: int) -> int:
        tree = self._trees.get(number)
        if tree is not None:
            return tree.following(start, height)
        pools = self._lists[number]
        while start < len(pools) and self._rooms[pools[start]].widest < height:
            start += 1
        return start

    def _tell(self, pool: int) -> None:
        for tree in self._trees.values():
            tree.update(pool, self._rooms[pool].widest)

    def _beyond_used(self, number: int, listed: int) -> int:
        at, pools = self._first.get((number, listed), 0), self._lists[listed]
        while at < len(pools) and (number, pools[at]) in self._used:
            at += 1
        self._first[number, listed] = at
        return at

    def _place(self, unit: int) -> bool:
        if self._is_late:
            return self._place_late(unit)
        listed = self._listed[unit]
        height = max((self._height[g] for g in self._groups[unit] if self._fixed[g] < 0), default=0)
        pools = self._lists[listed]
        at = max((self._beyond_used(number, listed) for number in self._sets[unit]), default=0)
        while (at := self._next_with_room(listed, at, height)) < len(pools):
            if self._tries > self._next_look:
                self._next_look = self._tries + CHECK_EVERY
                hurry = self._ask(True)
                if hurry:
                    self._is_late = hurry == Hurry.LATE
                    return self._is_late and self._place_late(unit)
            if self._goes_into(unit, pools[at]):
                return True
            at += 1
        return False

    def _place_late(self, unit: int) -> bool:
        """Tries only the first unused pools."""
        listed = self._listed[unit]
        pools, fresh = self._lists[listed], self._begin_fresh[listed]
        while fresh < len(pools) and not self._is_fresh[pools[fresh]]:
            fresh += 1
        self._begin_fresh[listed] = fresh
        first = pools[fresh : fresh + self._late_tries]
        return any(self._is_fresh[pool] and self._goes_into(unit, pool) for pool in first)

    def _goes_into(self, unit: int, pool: int) -> bool:
        sets, groups = self._sets[unit], self._groups[unit]
        fits = not any((number, pool) in self._used for number in sets)
        if fits:
            for g in groups:
                fits = self._lies(g, pool)
                if not fits:
                    self._free(range(groups.start, g), pool)
                    break
            self._tell(pool)
        if not fits:
            self._tries += len(groups)
            return False
        self._used.update((number, pool) for number in sets)
        self._is_fresh[pool], self._pool[unit] = False, pool
        return True

    def _lies(self, g: int, pool: int) -> bool:
        if self._fixed[g] >= 0:  # its range was never free
            self._base[g] = self._fixed[g]
            return True
        rule = self._rule(g, pool)
        if rule is None:
            return False
        base: int | None
        if self._height[g] == 0:
            base = rule.at_least(0)
            base = base if base <= self._most[g] and base <= self._ends[pool] else None
        else:
            base = self._rooms[pool].base(self._height[g], rule, self._most[g])
        if base is None:
            return False
        self._base[g] = base
        if self._height[g]:
            self._rooms[pool].take(base, base + self._height[g])
        return True

    def _rule(self, g: int, pool: int) -> _Rule | None:
        """The bases at which all members of the group are aligned in this pool; None if there are none."""
        wanted, modulus, place = self._alignment[pool], self._modulus[g] or EXACTLY, self._residue[g]
        common = gcd(modulus, wanted)
        if self._stride[g] % wanted or place % common:
            return None
        # place + modulus * t is a multiple of the pool's alignment.
        step = wanted // common
        place += modulus * (-(place // common) * pow(modulus // common, -1, step) % step)
        modulus *= step
        return _Rule(modulus, (place - self._pool_base[pool]) % modulus)

    def _free(self, groups: Iterable[int], pool: int) -> None:
        for g in groups:
            if self._fixed[g] < 0 and self._height[g]:
                self._rooms[pool].give_back(self._base[g], self._base[g] + self._height[g])

    def _leave(self, unit: int) -> None:
        self._free(self._groups[unit], self._pool[unit])
        self._tell(self._pool[unit])
