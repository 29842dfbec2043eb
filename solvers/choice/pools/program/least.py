"""How high the pools of a program are at least, what a term of peaks costs at least, and which classes have but one home for want of room."""

from __future__ import annotations

from dataclasses import replace

from .program import Program, settled_in


def only_homes(program: Program) -> dict[int, int]:
    """The pools of classes with a choice that have room in only one of them, even alone."""
    closed = set[tuple[int, int]]()
    for row in program.rows:
        room = program.rooms[row.pool]
        if room.capacity is not None:
            free = room.below(room.capacity) + room.spare - row.always
            closed.update((group, row.pool) for group, units in row.members if units > free)
    left = ([pool for pool in homes if (group, pool) not in closed] for group, homes in enumerate(program.homes))
    return {group: pools[0] for group, pools in enumerate(left) if len(pools) == 1 < len(program.homes[group])}


def lowest_tops(program: Program) -> tuple[int, ...]:
    """The capacity of each pool; of those without one, what is live at the fullest section and finds no room elsewhere."""
    settled = settled_in(program, only_homes(program))
    loads = [0] * len(program.rooms)
    for row in settled.rows:
        others = {pool for group, _ in row.members for pool in settled.homes[group]} - {row.pool}
        ends = [program.rooms[pool] for pool in others]
        elsewhere = sum(room.below(room.capacity) for room in ends if room.capacity is not None)
        rest = sum(units for _, units in row.members) - elsewhere
        loads[row.pool] = max(
            loads[row.pool], row.always + max(rest, 0) * all(room.capacity is not None for room in ends)
        )
    each = zip(program.rooms, loads, strict=True)
    return tuple(room.top_of(load) if room.capacity is None else room.capacity for room, load in each)


def above_lowest(program: Program) -> Program:
    """The program in which pools without capacity are no lower than they can be. Rows must not be rounded up: then all pools count a class alike."""
    if any(room.spare for room in program.rooms):
        return program
    each = zip(program.rooms, lowest_tops(program), strict=True)
    return replace(
        program, rooms=tuple(room._replace(lowest=low) if room.capacity is None else room for room, low in each)
    )


def with_all_in_cheapest(program: Program, index: int) -> int:
    """A term of peaks at its fullest section, with each class in the pool that costs it least."""
    prices = program.terms[index].of_peaks
    least = [min(prices[pool] for pool in homes) for homes in program.homes]
    return max((sum(least[group] * units for group, units in row.members) for row in program.rows), default=0)
