"""A plan that is made quickly, however many pools there are: buffers in the order of their births, each in the first pool with room for it.

Every pool is a list of free ranges; what dies gives its range back. A buffer is taken to live from its first moment to its last, and all the
time if a constraint keeps it apart from others whatever their lifetimes. So the plan keeps every rule, and may waste room.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from solvers.model.errors import StopReason
from solvers.model.instance import ADDRESS_LIMIT

from ...facts.colocation import Group
from ...facts.intervals import merged
from ...facts.places import Places, Spot
from ...model.deadline import in_time, look
from ...model.problem import Pool

ALWAYS = (-2 * ADDRESS_LIMIT, 2 * ADDRESS_LIMIT)
"""From before the first moment to after the last."""
FREE_TRIES = 5_000
FREE_TRIES_PER_BUFFER = 2
"""So many times a group may be tried in a pool in vain, whatever the time is: there should be a plan, however little time there was."""
MOST_RANGES = 100
"""So many free ranges are looked at before the last one is."""
CHECK_EVERY = 256
LATE_TRIES = 64
"""When time is up, so many pools that nobody has been in are tried for each group."""
PLACING = "placing the buffers of"
MOST_LISTS = 16
"""So many lists of pools are kept in mind at a time."""

Spots = dict[int, tuple[str, int]]
"""Of each buffer its pool and its offset."""


class _Unit(NamedTuple):
    """Buffers that must share a pool: groups that move as one, each with its height."""

    members: tuple[int, ...]
    groups: tuple[tuple[Group, int], ...]
    birth: int
    death: int

    @property
    def height(self) -> int:
        return max((height for _, height in self.groups), default=0)


def plan_by_birth(places: Places, order: Sequence[str], stopped: Callable[[], object]) -> Spots | None:
    """A pool and an offset for every buffer. None if one finds no room this way.

    `order` says which pools are tried first. If that takes long and the caller stops it, the rest goes to pools that nobody has been in yet, or gets no room.
    """
    return _Run(places, order, stopped).all()


def _end(pool: Pool) -> int:
    return ADDRESS_LIMIT - 1 if pool.size is None else pool.size


class _Room:
    """The free ranges of a pool, in order."""

    def __init__(self, pool: Pool, taken: Sequence[tuple[int, int]]) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        end = _end(pool)
        here = 0
        for low, high in merged([*pool.reserved, *taken]):
            if low > here:
                self._begins.append(here)
                self._ends.append(min(low, end))
            here = max(here, high)
        if here < end:
            self._begins.append(here)
            self._ends.append(end)
        self.widest = max((b - a for a, b in zip(self._begins, self._ends, strict=True)), default=0)
        """No free range is wider."""
        self.is_fresh = not taken
        """Has nobody been here?"""

    def base(self, height: int, spot: Spot, greatest: int | None) -> int | None:
        """The lowest base at which so many addresses are free, or where there are very many free ranges one in the last of them."""
        if spot.fixed is not None:
            at = bisect_right(self._begins, spot.fixed) - 1
            return spot.fixed if at >= 0 and spot.fixed + height <= self._ends[at] else None
        widest = 0
        first, last = max(bisect_right(self._begins, spot.least) - 1, 0), len(self._begins) - 1
        for at in range(first, last + 1):
            begin, end = self._begins[at], self._ends[at]
            if end - begin > widest:
                widest = end - begin
            if end - begin >= height:
                base = spot.rule.at_least(max(begin, spot.least))
                if base + height <= end:
                    return base if greatest is None or base <= greatest else None
            if at == first + MOST_RANGES:  # most often the last one is wide
                base = spot.rule.at_least(max(self._begins[last], spot.least))
                if base + height <= self._ends[last] and (greatest is None or base <= greatest):
                    return base
        if spot.least == 0:
            self.widest = widest
        return None

    def take(self, low: int, high: int) -> None:
        self.is_fresh = False
        at = bisect_right(self._begins, low) - 1
        begin, end = self._begins[at], self._ends[at]
        kept = [(a, b) for a, b in ((begin, low), (high, end)) if a < b]
        self._begins[at : at + 1] = [a for a, _ in kept]
        self._ends[at : at + 1] = [b for _, b in kept]

    def give_back(self, low: int, high: int) -> None:
        at = bisect_left(self._begins, low)
        until = at
        if at < len(self._begins) and self._begins[at] == high:
            high, until = self._ends[at], at + 1
        if at and self._ends[at - 1] == low:
            at -= 1
            low = self._begins[at]
        self._begins[at:until], self._ends[at:until] = [low], [high]
        self.widest = max(self.widest, high - low)


class _Rooms(dict[str, _Room]):
    """The rooms of all pools by name, each made when somebody looks into it."""

    def __init__(self, pools: Mapping[str, Pool], taken: Mapping[str, Sequence[tuple[int, int]]]) -> None:
        super().__init__()
        self._pools, self._taken = pools, taken

    def __missing__(self, name: str) -> _Room:
        room = self[name] = _Room(self._pools[name], self._taken.get(name, ()))
        return room

    def widest(self, name: str) -> int:
        """No free range of this pool is wider."""
        pool = self._pools[name]
        if pool.reserved or pool.size is None or name in self or name in self._taken:
            return self[name].widest
        return pool.size


class _Choice:
    """A list of pools, and which of them is the next with room: a tree of the widest free ranges."""

    def __init__(self, names: Sequence[str], rooms: _Rooms, key: int = 0) -> None:
        look(PLACING)
        self.names, self.key = names, key
        self._place = {name: i for i, name in enumerate(names)}
        self._leaves = 1 << max(len(names) - 1, 0).bit_length()
        level = [*map(rooms.widest, names), *[0] * (self._leaves - len(names))]
        self._tree = level
        while len(level) > 1:
            level = [*map(max, level[::2], level[1::2])]
            self._tree = level + self._tree
        self._tree = [0, *self._tree]

    def update(self, name: str, widest: int) -> None:
        place = self._place.get(name)
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

    def following(self, start: int, height: int) -> int | None:
        """The first place in the list from `start` on whose pool may have room."""
        if start >= len(self.names):
            return None
        node = start + self._leaves
        while self._tree[node] < height:
            while node & 1:  # nothing to the right below the same parent
                node >>= 1
            if not node:
                return None
            node += 1
        while node < self._leaves:
            node *= 2
            if self._tree[node] < height:
                node += 1
        place = node - self._leaves
        return place if place < len(self.names) else None


class _Run:
    """One plan in the making."""

    def __init__(self, places: Places, order: Sequence[str], stopped: Callable[[], object]) -> None:
        self._places, self._problem, self._stopped = places, places.problem, stopped
        self._position = {name: i for i, name in enumerate(order)}
        self._spots: Spots = {}
        self._tries = 0
        """In vain."""
        self._next_look = FREE_TRIES + FREE_TRIES_PER_BUFFER * len(self._problem.buffers)
        """At so many of them the caller is asked whether to stop."""
        self._is_late = False
        """Was that so?"""
        self._begin_fresh: dict[int, int] = {}
        """By choice: before this place somebody has been in each of its pools."""
        taken: dict[str, list[tuple[int, int]]] = {}
        for buffer in self._problem.buffers:
            if buffer.fixed is not None and buffer.fixed.offset is not None:
                group, low = places.group(places.index[buffer.id]), places.low(places.index[buffer.id])
                base = buffer.fixed.offset - low
                taken.setdefault(buffer.fixed.pool, []).append((base, base + self._height(group)))
        self._rooms = _Rooms(places.pools, taken)
        self._everywhere = _Choice(order, self._rooms)
        self._listed: dict[int, _Choice] = {}
        """By the list's identity, where many buffers have the very same."""
        self._sets: dict[int, list[int]] = {}
        """Of each buffer the sets of buffers that must be in different pools."""
        for number, ids in enumerate(self._problem.constraints.different_pool):
            for id_ in ids:
                self._sets.setdefault(places.index[id_], []).append(number)
        self._used: dict[int, set[str]] = {}
        """By such a set: the pools that its members are in."""
        self._first: dict[tuple[int, int], int] = {}
        """By set and choice: all pools before this place are used."""

    def all(self) -> Spots | None:
        ends: list[tuple[int, int, str, int, int]] = []
        for number, unit in enumerate(in_time(self._units(), PLACING)):
            while ends and ends[0][0] <= unit.birth:
                _, _, name, low, high = heappop(ends)
                self._rooms[name].give_back(low, high)
                self._tell(name)
            found = self._place(unit)
            if found is None:
                return None
            for low, high in found[1]:
                heappush(ends, (unit.death, number, found[0], low, high))
        return self._spots

    def _units(self) -> list[_Unit]:
        problem, places = self._problem, self._places
        constraints = problem.constraints
        timeless = {places.index[id_] for pair in constraints.conflicts for id_ in pair}
        units = []
        seen: set[int] = set()
        for number in in_time(range(len(problem.buffers)), PLACING, "buffer"):
            if number in seen:
                continue
            members = places.tied(number)
            seen.update(members)
            groups = dict.fromkeys(places.group(member).members[0] for member in members)
            sized = [(group, self._height(group)) for group in map(places.group, groups)]
            sized.sort(key=lambda each: (-each[1], each[0].members[0]))
            birth, death = self._life(members, timeless)
            units.append(_Unit(members, tuple(sized), birth, death))
        units.sort(key=lambda unit: (not self._is_fixed(unit), unit.birth, -unit.height, unit.members[0]))
        return units

    def _life(self, members: Sequence[int], timeless: set[int]) -> tuple[int, int]:
        spans = [span for i in members for span in self._problem.buffers[i].live or ()]
        if any(i in timeless or self._problem.buffers[i].fixed is not None for i in members):
            return ALWAYS
        return min((a for a, _ in spans), default=ALWAYS[0]), max((b for _, b in spans), default=ALWAYS[1])

    def _is_fixed(self, unit: _Unit) -> bool:
        return any(self._problem.buffers[i].fixed is not None for i in unit.members)

    def _height(self, group: Group) -> int:
        buffers = self._problem.buffers
        return max(low + buffers[i].size for i, low in zip(group.members, group.offsets, strict=True))

    def _place(self, unit: _Unit) -> tuple[str, list[tuple[int, int]]] | None:
        """The pool that took the unit, and the ranges that it took there."""
        sets = dict.fromkeys(number for i in unit.members for number in self._sets.get(i, ()))
        names = self._untouched(unit) if self._is_late else self._open_to(unit, sets)
        for name in names:
            if self._tries > self._next_look and not self._is_late:
                self._next_look = self._tries + CHECK_EVERY
                why = self._stopped()
                if why:
                    self._is_late = True
                    return None if why is StopReason.CANCELLED else self._place(unit)
            is_used = any(name in self._used.get(number, ()) for number in sets)
            taken = None if is_used else self._in_pool(unit, name)
            if taken is not None:
                for number in sets:
                    self._used.setdefault(number, set()).add(name)
                return name, taken
            self._tries += len(unit.groups)
        return None

    def _open_to(self, unit: _Unit, sets: Iterable[int]) -> Iterable[str]:
        """The pools to try, in their order."""
        choice = self._choice_of(unit)
        if choice is None:
            yield from self._allowed(unit)
            return
        at: int | None = max((self._beyond_used(number, choice) for number in sets), default=0)
        while at is not None and (at := choice.following(at, unit.height)) is not None:
            yield choice.names[at]
            at += 1

    def _untouched(self, unit: _Unit) -> Iterable[str]:
        """The first pools that nobody has been in."""
        choice = self._choice_of(unit)
        if choice is None:
            fresh = (name for name in self._allowed(unit) if self._rooms[name].is_fresh)
            return islice(fresh, LATE_TRIES)
        at = self._begin_fresh.get(choice.key, 0)
        while at < len(choice.names) and not self._rooms[choice.names[at]].is_fresh:
            at += 1
        self._begin_fresh[choice.key] = at
        return (name for name in choice.names[at : at + LATE_TRIES] if self._rooms[name].is_fresh)

    def _allowed(self, unit: _Unit) -> list[str]:
        return sorted(self._places.allowed_pools(unit.members), key=self._position.__getitem__)

    def _choice_of(self, unit: _Unit) -> _Choice | None:
        """The list of pools that the unit has in common with others; None if it has one of its own."""
        buffers = [self._problem.buffers[i] for i in unit.members]
        choice = self._everywhere
        if any(buffer.fixed is not None for buffer in buffers) or (
            len(buffers) > 1 and any(buffer.pools is not None for buffer in buffers)
        ):
            return None
        listed = buffers[0].pools
        if listed is not None:
            known = self._listed.get(id(listed))
            if known is None:
                names = sorted(listed, key=self._position.__getitem__)
                known = self._listed[id(listed)] = _Choice(names, self._rooms, id(listed))
                if len(self._listed) > MOST_LISTS:
                    del self._listed[next(iter(self._listed))]
            choice = known
        return choice

    def _beyond_used(self, number: int, choice: _Choice) -> int:
        key, used = (number, choice.key), self._used.get(number, ())
        at = self._first.get(key, 0)
        while at < len(choice.names) and choice.names[at] in used:
            at += 1
        self._first[key] = at
        return at

    def _in_pool(self, unit: _Unit, name: str) -> list[tuple[int, int]] | None:
        """What the unit takes if all of it finds room in this pool; then it is there."""
        room, pool = self._rooms[name], self._places.pools[name]
        taken: list[tuple[int, int]] = []
        spots: Spots = {}
        for group, height in unit.groups:
            spot = self._places.spot(group, name)
            base = None if spot is None else self._base(group, height, spot, room, pool)
            if base is None:
                break
            spots.update((i, (name, base + low)) for i, low in zip(group.members, group.offsets, strict=True))
            if height and not self._is_placed(group):
                room.take(base, base + height)
                taken.append((base, base + height))
        else:
            self._spots.update(spots)
            self._tell(name)
            return taken
        for low, high in taken:
            room.give_back(low, high)
        self._tell(name)
        return None

    def _base(self, group: Group, height: int, spot: Spot, room: _Room, pool: Pool) -> int | None:
        if not height:
            return spot.least
        if self._is_placed(group):
            return spot.fixed  # its range was never free
        return room.base(height, spot, self._places.greatest(group, pool))

    def _is_placed(self, group: Group) -> bool:
        fixed = (self._problem.buffers[i].fixed for i in group.members)
        return any(each is not None and each.offset is not None for each in fixed)

    def _tell(self, name: str) -> None:
        for choice in (self._everywhere, *self._listed.values()):
            choice.update(name, self._rooms[name].widest)
