"""Presses a plan of one memory below a height: what reaches higher is taken out, and put back among what is near it.

Where that fails it lies as low as it can, so that the plan is too high at few times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from math import lcm
from typing import TypeAlias

from ....facts.colocation import groups
from ....facts.intervals import merged, overlap
from ....facts.part import only
from ....model.deadline import look
from ....model.plan import Plan
from ....model.problem import Buffer, BufferId, Fixed, Interval, Problem

SIZES = (32, 96)
"""The numbers of near buffers that may move to make room for one."""
MOST_LOOKS = 2_000_000
"""What is too high is compared with all buffers, so often at most; beyond that nothing is pressed."""
PRESSING = "lowering the plan of"

Fit: TypeAlias = Callable[[Problem], Plan | None]
"""Returns any plan within the capacities. None: there is no time for it."""
Part: TypeAlias = tuple[BufferId, ...]
"""Buffers that move together."""


def pressed(problem: Problem, start: Mapping[BufferId, int], target: int, fit: Fit) -> Mapping[BufferId, int]:
    """Return the offsets of a plan of one pool, pressed below the target where possible. They are not verified."""
    sizes = {buffer.id: buffer.size for buffer in problem.buffers}
    if all(offset + sizes[id_] <= target for id_, offset in start.items()):
        return start
    if any(each.live is None for each in problem.buffers):
        return start
    high = sum(offset + sizes[id_] > target for id_, offset in start.items())
    if high * len(start) > MOST_LOOKS:
        return start
    return _Pressing(problem, start, target, fit).press()


class _Pressing:
    """The offsets so far; what is out has none."""

    def __init__(self, problem: Problem, start: Mapping[BufferId, int], target: int, fit: Fit) -> None:
        (self._pool,) = problem.pools
        self._problem, self._target, self._fit = problem, target, fit
        self._buffers = {buffer.id: buffer for buffer in problem.buffers}
        self._lives = {buffer.id: merged(buffer.live or ()) for buffer in problem.buffers}
        self._parts = self._colocated()
        self._apart: dict[BufferId, set[BufferId]] = {}
        for one, other in problem.constraints.conflicts:
            self._apart.setdefault(one, set()).add(other)
            self._apart.setdefault(other, set()).add(one)
        self._start = start
        high = {id_ for id_, offset in start.items() if offset + self._buffers[id_].size > target}
        self._out = {
            part for part in self._parts.values() if high.intersection(part) and not any(map(self._is_fixed, part))
        }
        gone = {id_ for part in self._out for id_ in part}
        self.offsets = {id_: offset for id_, offset in start.items() if id_ not in gone}
        self._is_over = False

    def press(self) -> Mapping[BufferId, int]:
        failed = []
        for part in sorted(self._out, key=lambda each: (self._times_of(each)[:1], repr(each))):
            look(PRESSING)
            if part in self._out and not self._put(part, self._target) and not self._make_room(part):
                failed.append(part)
        for part in failed:
            if part in self._out and not self._put(part, None):
                return self._start
        return self.offsets

    def _is_fixed(self, id_: BufferId) -> bool:
        fixed = self._buffers[id_].fixed
        return fixed is not None and fixed.offset is not None

    def _put(self, part: Part, top: int | None) -> bool:
        """Put the part where it is lowest, if that is below the top, among what lies where it lies."""
        base = self._start[part[0]]
        lows = [self._start[id_] - base for id_ in part]
        step = lcm(*(lcm(self._buffers[id_].alignment, self._pool.alignment) for id_ in part))
        shift = base % step  # its places differ by multiples of this
        walls = [self._walls(id_) for id_ in part]
        tried = {max(-low for low in lows)}
        tried.update(end - low for low, of in zip(lows, walls, strict=True) for _, end in of)
        for at in sorted(tried):
            found = at + (shift - at) % step
            spots = [(found + low, found + low + self._buffers[id_].size) for low, id_ in zip(lows, part, strict=True)]
            if top is not None and any(end > top for _, end in spots):
                return False
            if all(
                self._may_be(id_, spot) and not any(low < spot[1] and spot[0] < high for low, high in of)
                for id_, spot, of in zip(part, spots, walls, strict=True)
            ):
                self.offsets.update((id_, spot[0]) for id_, spot in zip(part, spots, strict=True))
                self._out.discard(part)
                return True
        return False

    def _may_be(self, id_: BufferId, spot: Interval) -> bool:
        most = self._buffers[id_].max_offset
        return spot[0] >= 0 and (most is None or spot[0] <= most)

    def _walls(self, id_: BufferId) -> list[Interval]:
        """Return the addresses that are taken while the buffer is live."""
        live, apart = self._lives[id_], self._apart.get(id_, set())
        size = {other: self._buffers[other].size for other in self.offsets}
        taken = [
            (self.offsets[other], self.offsets[other] + size[other])
            for other in self.offsets
            if other in apart or overlap(self._lives[other], live)
        ]
        return [*taken, *self._pool.reserved]

    def _make_room(self, part: Part) -> bool:
        """Place the part anew together with what is near it."""
        return any(not self._is_over and self._place({*part, *self._near(part, size)}) for size in SIZES)

    def _near(self, part: Part, size: int) -> set[BufferId]:
        """Return what lies below the target and is nearest in time; what is live again much later is not near."""
        times = self._times_of(part)
        start, end = times[0] if times else (0, 0)

        def distance(id_: BufferId) -> int:
            live = self._lives[id_]
            return max((max(low - end, start - high, 0) for low, high in (live[:1] + live[-1:])), default=0)

        nearest = nsmallest(size, (id_ for id_ in self.offsets if self._lives[id_] and not self._is_fixed(id_)), key=distance)  # fmt: skip
        whole = {other for id_ in nearest for other in self._parts[id_]}
        return {id_ for id_ in whole if not any(map(self._is_fixed, self._parts[id_]))}

    def _times_of(self, ids: Sequence[BufferId] | set[BufferId]) -> tuple[Interval, ...]:
        return merged(each for id_ in ids for each in self._lives[id_])

    def _place(self, free: set[BufferId]) -> bool:
        times = self._times_of(free)
        apart = {other for id_ in free for other in self._apart.get(id_, ())}
        there = {id_ for id_ in self.offsets if id_ in apart or overlap(self._lives[id_], times)}
        there = {other for id_ in there for other in self._parts[id_]} | free
        problem = only(self._problem, there)
        if any(self._buffers[id_].size > self._target for id_ in free):
            return False
        buffers = tuple(self._free(each) if each.id in free else self._held(each) for each in problem.buffers)
        ends = (self.offsets[id_] + self._buffers[id_].size for id_ in there if id_ not in free)
        pool = replace(self._pool, size=max(self._target, *ends, 0))  # what is pinned may be above the target
        made = self._fit(replace(problem, buffers=buffers, pools=(pool,)))
        self._is_over = made is None
        if made is None or not made.placements:
            return False
        self.offsets.update((place.id, place.offset) for place in made.placements)
        self._out = {part for part in self._out if part[0] not in self.offsets}
        return True

    def _free(self, buffer: Buffer) -> Buffer:
        most = self._target - buffer.size
        return replace(buffer, max_offset=most if buffer.max_offset is None else min(buffer.max_offset, most))

    def _held(self, buffer: Buffer) -> Buffer:
        return replace(buffer, fixed=Fixed(self._pool.name, self.offsets[buffer.id]))

    def _colocated(self) -> dict[BufferId, Part]:
        ids = [buffer.id for buffer in self._problem.buffers]
        found: dict[BufferId, Part] = {id_: (id_,) for id_ in ids}
        for group in groups(ids, self._problem.constraints.colocations):
            members = tuple(ids[i] for i in group.members)
            found.update(dict.fromkeys(members, members))
        return found
