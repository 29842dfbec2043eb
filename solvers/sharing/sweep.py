"""The quickest way to share: time is walked through once, and whoever comes takes a free object of about the right size."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import TypeAlias

Stretch: TypeAlias = tuple[int, int, int]
"""When a block is needed, from its first section to its last (exclusive), and the block."""


def swept(
    stretches: Sequence[Stretch], size: Sequence[int], start: Sequence[int] = (), *, backwards: bool = False
) -> list[list[int]]:
    """The users of each object: the smallest free one that is large enough, else the largest free one, which grows.

    `start`: the sizes of objects that are there from the start. Of what begins at one time the largest comes first. Blocks that are never needed
    join the largest object.
    """
    users: list[list[int]] = [[] for _ in start]
    free = sorted((each, number) for number, each in enumerate(start))
    held: dict[int, tuple[int, int]] = {}
    for _, begins, _, block in _events(stretches, size, backwards=backwards):
        if not begins:
            insort(free, held.pop(block))
            continue
        at = bisect_left(free, (size[block], -1))
        if at < len(free):
            room, number = free.pop(at)
        elif free:
            _, number = free.pop()
            room = size[block]
        else:
            room, number = size[block], len(users)
            users.append([])
        held[block] = room, number
        users[number].append(block)
    return _with_idle([each for each in users if each], stretches, size)


def _events(stretches: Sequence[Stretch], size: Sequence[int], *, backwards: bool) -> list[tuple[int, int, int, int]]:
    """(time, 1 if the block begins, what comes first, block), sorted: what ends at a time is free for what begins then."""
    found = []
    for first, last, block in stretches:
        if first < last:
            begin, end = (-last, -first) if backwards else (first, last)
            found += [(end, 0, 0, block), (begin, 1, -size[block], block)]
    return sorted(found)


def _with_idle(users: list[list[int]], stretches: Sequence[Stretch], size: Sequence[int]) -> list[list[int]]:
    idle = [block for first, last, block in stretches if first >= last]
    if idle:
        largest = max(users, key=lambda each: max(size[block] for block in each), default=None)
        if largest is None:
            users.append(idle)
        else:
            largest += idle
    return users
