"""One pass of greedy: blocks in some order, each into the object that suits it best; or one sweep over time, the fastest way to share."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import TypeAlias

from ..model.conflicts import sets_of_partners
from ..model.errors import StopReason
from ..model.instance import Instance
from ..model.interruption import interruptible
from .interference import Interference, conflict_pairs
from .solver import SharingControl, SharingTask

CHECK_EVERY = 1024
"""Units of work between two checks whether to stop."""
BITS_PER_UNIT = 1 << 13
"""Sections compared in one unit of work."""

Stretch: TypeAlias = tuple[int, int, int]
"""(first section, end, block): when the block is needed."""


class Choice(StrEnum):
    """Which of the objects that are free for a block it joins."""

    FIRST = "first"
    """The first that is large enough; if there is none, as SNUG."""
    SNUG = "snug"
    """The one that grows least, then the one with the least unused room."""
    SOON = "soon"
    """The one that grows least, then the one that was last in use."""


class Order(StrEnum):
    """The order of the blocks."""

    SIZE_LAST = "size, the last of equal ones first"
    SIZE_BIRTH = "size, then birth"
    SIZE_LIFE = "size, then length of life"
    BIRTH = "birth, then size"
    DEATH = "the last death first, then size"
    AREA = "size times length of life"


@dataclass(slots=True)
class _Object:
    """An object during a pass."""

    size: int
    busy: int = 0
    """The sections in which a user needs it, as bits."""
    members: list[int] = field(default_factory=list)


class LimitReached(Exception):
    """The time is over, or the work limit is reached. Caught where passes are made."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


class Passes:
    """Passes over the blocks of one instance, and the work they take."""

    def __init__(self, instance: Instance, task: SharingTask, control: SharingControl) -> None:
        self.work = 0
        self._limit = task.limits.work
        self._control = control
        self._instance = instance
        self._interference = Interference(instance)
        self._size: list[int] = instance.block_high.tolist()
        self._cost = 1 + instance.sections // BITS_PER_UNIT

    def spend(self, work: int) -> None:
        """Counts work. Raises LimitReached."""
        before, self.work = self.work, self.work + work
        if before // CHECK_EVERY == self.work // CHECK_EVERY:
            return
        reason = self._control.stopped()
        if reason is None and self._limit is not None and self.work >= self._limit:
            reason = StopReason.WORK_LIMIT
        if reason is not None:
            raise LimitReached(reason)

    def size_of(self, block: int) -> int:
        """The size of object that the block needs."""
        return self._size[block]

    def total(self, objects: Sequence[Sequence[int]]) -> int:
        """The total size of objects with these users."""
        return sum(max(self._size[block] for block in users) for users in objects)

    def sweep(self, blocks: Sequence[int], sizes: Sequence[int] = (), *, backwards: bool = False) -> list[list[int]]:
        """The users of each object in one sweep over time, forwards or backwards. Only for blocks that only time keeps apart."""
        self.spend(4 * len(blocks))
        return _swept(self._stretches(blocks), self._size, sizes, backwards=backwards)

    def hurried(self, blocks: Sequence[int]) -> list[list[int]]:
        """The same for all blocks, without counting work or checking the time. Ignores that some may share although they are needed together."""
        return _swept(
            self._stretches(blocks), self._size, conflicting=sets_of_partners(conflict_pairs(self._instance).tolist())
        )

    def _stretches(self, blocks: Sequence[int]) -> list[Stretch]:
        return [(*self._interference.hull(block), block) for block in blocks]

    def only_time_parts(self, blocks: Sequence[int]) -> bool:
        """True if only time keeps each of them apart from others."""
        return all(self._interference.only_time_parts(block) for block in blocks)

    def run(self, order: Sequence[int], choice: Choice, sizes: Sequence[int] = ()) -> list[list[int]]:
        """The users of each object; `sizes` are objects that exist from the start."""
        objects = [_Object(size) for size in sizes]
        can_join = self._interference.can_join
        for block in order:
            self.spend(1 + len(objects) * self._cost)
            size, times = self._size[block], self._interference.times(block)
            best: _Object | None = None
            least: tuple[int, int] = (0, 0)
            for thing in objects:
                if not can_join(block, times, thing.busy, thing.members):
                    continue
                if choice is Choice.FIRST and thing.size >= size:
                    best = thing
                    break
                score = _score(thing, size, times, choice)
                if best is None or score < least:
                    best, least = thing, score
            if best is None:
                best = _Object(size)
                objects.append(best)
            best.size = max(best.size, size)
            best.busy |= times
            best.members.append(block)
        return [thing.members for thing in objects if thing.members]

    def ordered(self, members: Sequence[int], order: Order) -> list[int]:
        """The blocks in that order."""
        size, first, length = self._size, self._interference.first, self._interference.length
        keys: dict[Order, Callable[[int], tuple[int, ...]]] = {
            Order.SIZE_LAST: lambda b: (-size[b], -b),
            Order.SIZE_BIRTH: lambda b: (-size[b], first(b), b),
            Order.SIZE_LIFE: lambda b: (-size[b], -length(b), b),
            Order.BIRTH: lambda b: (first(b), -size[b], b),
            Order.DEATH: lambda b: (-first(b) - length(b), -size[b], b),
            Order.AREA: lambda b: (-size[b] * max(length(b), 1), b),
        }
        return sorted(members, key=keys[order])


def _score(thing: _Object, size: int, times: int, choice: Choice) -> tuple[int, int]:
    growth = max(size - thing.size, 0)
    if choice is Choice.SOON:
        before = thing.busy & ((times & -times) - 1) if times else 0
        return growth, -before.bit_length()
    return growth, max(thing.size - size, 0)


def _swept(
    stretches: Sequence[Stretch],
    size: Sequence[int],
    start: Sequence[int] = (),
    *,
    backwards: bool = False,
    conflicting: Mapping[int, set[int]] | None = None,
) -> list[list[int]]:
    """The users of each object: each block takes the smallest free one that is large enough, else the largest free one, which grows.

    `start`: sizes of objects that exist from the start. `conflicting`: the blocks that each block may not share with. Of blocks that begin together
    the largest comes first. Blocks that are never needed join the largest object.
    """
    users: list[list[int]] = [[] for _ in start]
    free = sorted((each, number) for number, each in enumerate(start))
    held: dict[int, tuple[int, int]] = {}
    object_of: dict[int, int] = {}

    def taken(block: int) -> set[int]:
        others = conflicting.get(block, ()) if conflicting else ()
        return {object_of[other] for other in others if other in object_of}

    for _, begins, _, block in interruptible(_events(stretches, size, backwards=backwards)):
        if not begins:
            insort(free, held.pop(block))
            continue
        barred = taken(block)
        middle = bisect_left(free, (size[block], -1))
        places = chain(range(middle, len(free)), range(middle - 1, -1, -1))
        at = next((at for at in places if free[at][1] not in barred), None)
        if at is None:
            room, number = size[block], len(users)
            users.append([])
        else:
            room, number = free.pop(at)
            room = max(room, size[block])
        held[block] = room, number
        users[number].append(block)
        object_of[block] = number
    _add_idle(users, [block for first, last, block in stretches if first >= last], size, object_of, taken)
    return [each for each in users if each]


def _events(stretches: Sequence[Stretch], size: Sequence[int], *, backwards: bool) -> list[tuple[int, int, int, int]]:
    """(time, 1 if the block begins, rank among these, block), sorted: at one time, ends come before begins."""
    found = []
    for first, last, block in stretches:
        if first < last:
            begin, end = (-last, -first) if backwards else (first, last)
            found += [(end, 0, 0, block), (begin, 1, -size[block], block)]
    return sorted(found)


def _add_idle(
    users: list[list[int]],
    idle: Sequence[int],
    size: Sequence[int],
    object_of: dict[int, int],
    taken: Callable[[int], set[int]],
) -> None:
    """Adds each idle block to the largest object that it may join."""
    if not idle:
        return
    largest = [max((size[block] for block in each), default=-1) for each in users]
    order = sorted((number for number, most in enumerate(largest) if most >= 0), key=lambda n: (-largest[n], n))
    for block in interruptible(sorted(idle, key=lambda b: -size[b]) if not order else idle):
        barred = taken(block)
        number = next((number for number in order if number not in barred), len(users))
        if number == len(users):
            users.append([])
            order.append(number)
        users[number].append(block)
        object_of[block] = number
