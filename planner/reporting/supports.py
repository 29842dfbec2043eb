"""What holds a peak up: the buffers that touch it, what these rest on, what that rests on, down to the floor."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import lcm

from ..facts.colocation import Group, groups
from ..facts.intervals import merged, overlap
from ..model.plan import Placement
from ..model.problem import Buffer, Interval, Pool, Problem


class Supports:
    """The buffers without which a pool's peak could sink in a plan.

    A buffer rests on another that it may not overlap if it could not be put lower than it is for the other's end. What is fixed rests on
    nothing but the user's decision.
    """

    def __init__(self, problem: Problem, placements: Sequence[Placement]) -> None:
        self._buffers = problem.buffers
        index = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
        self._offsets: dict[str, dict[int, int]] = {}
        for place in placements:
            if self._buffers[index[place.id]].size:
                self._offsets.setdefault(place.pool, {})[index[place.id]] = place.offset
        self._group: dict[int, Group] = {}
        for group in groups(index, problem.constraints.colocations):
            self._group.update(dict.fromkeys(group.members, group))
        constraints = problem.constraints
        self._apart: dict[int, list[int]] = {}
        for a, b in ((index[a], index[b]) for a, b in constraints.conflicts):
            self._apart.setdefault(a, []).append(b)
            self._apart.setdefault(b, []).append(a)
        self._together = {frozenset((index[a], index[b])) for a, b in constraints.exclusions}

    def under_the_peak(self, pool: Pool) -> tuple[Buffer, ...]:
        """From the top downwards."""
        offset = self._offsets.get(pool.name)
        if not offset:
            return ()
        levels = _Levels(self._buffers, offset)
        todo = levels.highest()
        found = set(todo)
        for i in todo:
            levels.leave_out(i)
        asked: set[int] = set()
        while todo:
            here = todo.pop()
            group = self._group.get(here)
            if group is not None:
                # Its members rest on the same: one is asked for all.
                if group.members[0] in asked:
                    continue
                asked.add(group.members[0])
            for other in self._below(here, pool, offset, levels):
                if other not in found:
                    found.add(other)
                    todo.append(other)
                    levels.leave_out(other)
        ordered = sorted(found, key=lambda i: (-offset[i], i))
        return tuple(self._buffers[i] for i in ordered)

    def _below(self, buffer: int, pool: Pool, offset: dict[int, int], levels: _Levels) -> list[int]:
        """What the buffer rests on; where it moves as one with others, what any of them rests on."""
        group = self._group.get(buffer) or Group((buffer,), (0,))
        members = [i for i in group.members if i in offset]
        if any(_is_fixed(self._buffers[i]) for i in group.members):
            return []
        grain = lcm(pool.alignment, *(self._buffers[i].alignment for i in group.members))
        own = set(group.members)
        resting: list[int] = []
        for member in members:
            low, high = offset[member] - grain, offset[member]
            live = merged(self._buffers[member].live or ())
            if live:
                near = levels.ending(low, high, live[0][0], live[-1][1])
                resting += [i for i in near if i not in own and self._meet(member, live, i)]
            for i in self._apart.get(member, ()):
                if i in offset and i not in own and low < offset[i] + self._buffers[i].size <= high:
                    resting.append(i)
        return resting

    def _meet(self, first: int, live: tuple[Interval, ...], second: int) -> bool:
        """True if the two are live together and may not share addresses then."""
        return frozenset((first, second)) not in self._together and overlap(
            live, merged(self._buffers[second].live or ())
        )


class _Levels:
    """The buffers of a pool by their upper ends, and those of one end by when they are live."""

    def __init__(self, buffers: Sequence[Buffer], offset: dict[int, int]) -> None:
        self._all: dict[int, list[int]] = {}
        for i, low in offset.items():
            self._all.setdefault(low + buffers[i].size, []).append(i)
        self._ends = sorted(self._all)
        self._left = {end: len(here) for end, here in self._all.items()}
        self._end = {i: low + buffers[i].size for i, low in offset.items()}
        self._buffers = buffers
        self._rows: dict[int, tuple[list[int], list[int], list[int]]] = {}

    def highest(self) -> list[int]:
        return sorted(self._all[self._ends[-1]])

    def leave_out(self, buffer: int) -> None:
        """It has been found, and need not be found again."""
        end = self._end[buffer]
        self._left[end] -= 1
        if not self._left[end]:
            del self._ends[bisect_left(self._ends, end)]

    def ending(self, low: int, high: int, start: int, stop: int) -> Iterator[int]:
        """Those that end above `low` and not above `high`, and are live from before `stop` to after `start`; perhaps without some that were left out."""
        for end in self._ends[bisect_right(self._ends, low) : bisect_right(self._ends, high)]:
            births, latest, rows = self._row(end)
            at = bisect_left(births, stop) - 1
            while at >= 0 and latest[at] > start:
                yield rows[at]
                at -= 1

    def _row(self, end: int) -> tuple[list[int], list[int], list[int]]:
        """By birth: the births, the latest death of all so far, the buffers."""
        if end not in self._rows:
            lives = []
            for i in self._all[end]:
                live = merged(self._buffers[i].live or ())
                if live:
                    lives.append((live[0][0], live[-1][1], i))
            lives.sort()
            latest = list(accumulate((death for _, death, _ in lives), max))
            self._rows[end] = ([birth for birth, _, _ in lives], latest, [i for _, _, i in lives])
        return self._rows[end]


def _is_fixed(buffer: Buffer) -> bool:
    return buffer.fixed is not None and buffer.fixed.offset is not None
