"""A 0-1 program: which class of blocks goes to which pool, counting only how much is live at a time. In numbers that can be sent to another process."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple, TypeAlias

Pools: TypeAlias = tuple[int, ...]
"""The pool of each class."""
Heights: TypeAlias = tuple[tuple[int, int], ...]
"""For each pool, the least and greatest number of units live at its fullest moment; empty: any."""

Section: TypeAlias = Sequence[tuple[int, tuple[int, ...]]]
"""(class, its units in each pool) of what is live at a section."""


class Row(NamedTuple):
    """The units live in a pool at a section: some in any case, and some more for each class that is there."""

    pool: int
    section: int
    always: int
    members: tuple[tuple[int, int], ...]
    """(class, units)"""
    pad: int = 0
    """By how much the pool is lower if the block on top is, of those that are there in any case, the one rounded up by most."""


class Costs(NamedTuple):
    """A term: the cost of each class in each of its homes, and of a unit of each pool's peak."""

    of_homes: tuple[tuple[int, ...], ...]
    of_peaks: tuple[int, ...]
    is_largest: bool = False
    """The term is the greatest peak instead."""

    def counts(self, pool: int) -> bool:
        """Does the pool's peak matter to the term?"""
        return bool(self.of_peaks[pool]) or self.is_largest

    @property
    def counts_peaks(self) -> bool:
        """Does any peak?"""
        return any(self.of_peaks) or self.is_largest

    def of_tops(self, tops: tuple[int, ...]) -> int:
        """The cost of these peaks."""
        return sum(price * top for price, top in zip(self.of_peaks, tops, strict=True))


class Room(NamedTuple):
    """The room of a pool: its capacity without reserved ranges. Its rows may exceed that by `spare`, since they are rounded up."""

    capacity: int | None
    reserved: tuple[tuple[int, int], ...]
    spare: int
    lowest: int
    """The end of the highest block whose only place is in this pool."""
    step: int = 1
    """In rows, sizes are rounded up to multiples of it."""

    def below(self, top: int) -> int:
        """How many units below this address may be taken."""
        return top - sum(max(min(end, top) - begin, 0) for begin, end in self.reserved)

    def top_of(self, load: int) -> int:
        """The least peak below which rows may count so many units."""
        return self.above(load - self.spare)

    def above(self, height: int) -> int:
        """The least peak below which there is room for this height."""
        top = max(height, 0)
        for begin, end in self.reserved:
            if begin < top:
                top += end - begin
        return max(top, self.lowest)


@dataclass(frozen=True, slots=True)
class Program:
    """One instance, in numbers that can be sent to another process."""

    homes: tuple[tuple[int, ...], ...]
    """The pools that each class may go to."""
    rooms: tuple[Room, ...]
    rows: tuple[Row, ...]
    terms: tuple[Costs, ...]
    """The terms before the first that only addresses decide."""
    apart: tuple[tuple[int, int], ...]
    """Classes that must not share a pool."""
    pads: tuple[tuple[int, ...], ...] = ()
    """By how much each class is rounded up in each of its homes; empty: not at all."""
    is_by_block: bool = True
    """Is each class one block?"""

    def least_tops(self, pools: Pools) -> tuple[int, ...]:
        """The height that the rows demand of each pool for this choice."""
        loads = [0] * len(self.rooms)
        for row in self.rows:
            total = row.always + sum(units for group, units in row.members if pools[group] == row.pool)
            loads[row.pool] = max(loads[row.pool], total)
        return tuple(room.top_of(load) for room, load in zip(self.rooms, loads, strict=True))

    def ends(self, pools: Pools) -> tuple[int, ...]:
        """The same to the last unit: the block on top is one of those that are there."""
        heights = [0] * len(self.rooms)
        for row in self.rows:
            here = [(group, units) for group, units in row.members if pools[group] == row.pool]
            pad = max([row.pad, *(self.pad_of(group, row.pool) for group, _ in here)])
            heights[row.pool] = max(heights[row.pool], row.always + sum(units for _, units in here) - pad)
        return tuple(room.above(height) for room, height in zip(self.rooms, heights, strict=True))

    def pad_of(self, group: int, pool: int) -> int:
        """By how much the class is rounded up in this pool, which is one of its homes."""
        return self.pads[group][self.homes[group].index(pool)] if self.pads else 0

    def value(self, index: int, pools: Pools, tops: tuple[int, ...]) -> int:
        """The term's value for this choice and these peaks."""
        term = self.terms[index]
        if term.is_largest:
            return max(tops, default=0)
        chosen = zip(self.homes, term.of_homes, pools, strict=True)
        return sum(costs[homes.index(pool)] for homes, costs, pool in chosen) + term.of_tops(tops)

    def highest(self, pool: int) -> int:
        """How many units can be live in the pool at most, or lie below what has its only place there."""
        room = self.rooms[pool]
        mine = (row for row in self.rows if row.pool == pool)
        most = max((row.always - room.spare + sum(units for _, units in row.members) for row in mine), default=0)
        most = max(most, room.below(room.lowest))
        return max(most if room.capacity is None else min(most, room.below(room.capacity)), 0)

    def between(self, heights: Heights) -> Program:
        """The program with pools of these heights. Ranges must not be reserved."""
        rooms = (
            room._replace(capacity=high, lowest=max(low, room.lowest))
            for room, (low, high) in zip(self.rooms, heights, strict=True)
        )
        return replace(self, rooms=tuple(rooms))

    def has_room(self, row: Row, inside: Container[int], top: int) -> bool:
        """Does a row end below the top of its pool with these classes inside?"""
        room = self.rooms[row.pool]
        return (
            row.always + sum(units for group, units in row.members if group in inside) <= room.below(top) + room.spare
        )

    def is_tight(self, row: Row) -> bool:
        """May it have more members inside than its pool has room for?"""
        capacity = self.rooms[row.pool].capacity
        return capacity is not None and not self.has_room(row, {group for group, _ in row.members}, capacity)

    def needs(self) -> dict[tuple[int, int], tuple[int, int]]:
        """By class and pool: how high the pool must be for the class beside what is there in any case, and the row that says so."""
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for number, row in enumerate(self.rows):
            pool, base = row.pool, row.always - self.rooms[row.pool].spare
            for group, units in row.members:
                known = found.get((group, pool))
                if known is None or base + units > known[0]:
                    found[group, pool] = base + units, number
        return found

    def kept_apart(self) -> dict[int, list[int]]:
        """By class: those that must not share a pool with it."""
        found: dict[int, list[int]] = {}
        for a, b in self.apart:
            found.setdefault(a, []).append(b)
            found.setdefault(b, []).append(a)
        return found

    @property
    def entries(self) -> int:
        """The number of entries in its rows."""
        return sum(len(row.members) for row in self.rows)


def settled_in(program: Program, pool_of: dict[int, int]) -> Program:
    """The program in which these classes have one home each."""
    homes = tuple((pool_of[group],) if group in pool_of else pools for group, pools in enumerate(program.homes))
    terms = list[Costs]()
    for term in program.terms:
        of_homes = zip(count(), program.homes, term.of_homes)
        costs = ((due[pools.index(pool_of[group])],) if group in pool_of else due for group, pools, due in of_homes)
        terms.append(term._replace(of_homes=tuple(costs)))
    pads = (
        (program.pad_of(group, pool_of[group]),) if group in pool_of else each
        for group, each in enumerate(program.pads)
    )
    rows = []
    for row in program.rows:
        settled = [(group, units) for group, units in row.members if pool_of.get(group) == row.pool]
        always = row.always + sum(units for _, units in settled)
        pad = max([row.pad, *(program.pad_of(group, row.pool) for group, _ in settled)])
        left = tuple(each for each in row.members if each[0] not in pool_of)
        rows.append(row._replace(always=always, members=left, pad=pad))
    return replace(program, homes=homes, rows=tuple(rows), terms=tuple(terms), pads=tuple(pads))


def part_of(program: Program, numbers: Sequence[int], due: Mapping[int, Sequence[int]]) -> Program:
    """The program of these rows and classes, each of which costs so much more than in its cheapest home."""
    number_of = {group: number for number, group in enumerate(sorted(due))}
    costs = tuple(tuple(cost - min(due[group]) for cost in due[group]) for group in number_of)
    rows = map(program.rows.__getitem__, numbers)
    return Program(
        homes=tuple(program.homes[group] for group in number_of),
        rooms=program.rooms,
        rows=tuple(row._replace(members=tuple((number_of[g], units) for g, units in row.members)) for row in rows),
        terms=(Costs(costs, (0,) * len(program.rooms)),),
        apart=tuple((number_of[a], number_of[b]) for a, b in program.apart if a in number_of and b in number_of),
    )
