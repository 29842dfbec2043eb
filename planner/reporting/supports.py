"""What holds a peak up: the buffers that touch it, what these rest on, what that rests on, down to the floor."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import lcm

from ..facts.colocation import Group, groups
from ..facts.intervals import merged, overlap
from ..plan import Placement
from ..problem import Buffer, Pool, Problem


def peak_supports(problem: Problem, placements: Sequence[Placement], pool: Pool) -> tuple[Buffer, ...]:
    """The buffers without which the pool's peak could sink in this plan, from the top downwards.

    A buffer rests on another that it may not overlap if it could not be put lower than it is for the other's end. What is fixed rests on
    nothing but the user's decision.
    """
    return _Heap(problem, placements, pool).under_the_peak()


class _Heap:
    """The buffers of one pool as they lie on each other."""

    def __init__(self, problem: Problem, placements: Sequence[Placement], pool: Pool) -> None:
        self._buffers = problem.buffers
        self._pool = pool
        index = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
        self._offset = {
            index[p.id]: p.offset for p in placements if p.pool == pool.name and problem.buffers[index[p.id]].size
        }
        self._by_end = sorted((offset + problem.buffers[i].size, i) for i, offset in self._offset.items())
        self._group: dict[int, Group] = {}
        for group in groups(index, problem.constraints.colocations):
            self._group.update(dict.fromkeys(group.members, group))
        constraints = problem.constraints
        self._apart = {frozenset((index[a], index[b])) for a, b in constraints.conflicts}
        self._together = {frozenset((index[a], index[b])) for a, b in constraints.exclusions}

    def under_the_peak(self) -> tuple[Buffer, ...]:
        if not self._by_end:
            return ()
        peak = self._by_end[-1][0]
        todo = [i for end, i in self._by_end if end == peak]
        found = set(todo)
        while todo:
            here = todo.pop()
            for other in self._below(here):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        ordered = sorted(found, key=lambda i: (-self._offset[i], i))
        return tuple(self._buffers[i] for i in ordered)

    def _below(self, buffer: int) -> list[int]:
        """What the buffer rests on; where it moves as one with others, what any of them rests on."""
        group = self._group.get(buffer) or Group((buffer,), (0,))
        members = [i for i in group.members if i in self._offset]
        if any(_is_fixed(self._buffers[i]) for i in group.members):
            return []
        grain = lcm(self._pool.alignment, *(self._buffers[i].alignment for i in group.members))
        resting: list[int] = []
        for member in members:
            offset = self._offset[member]
            first = bisect_right(self._by_end, (offset - grain, len(self._buffers)))
            last = bisect_right(self._by_end, (offset, len(self._buffers)))
            resting += [
                i for _, i in self._by_end[first:last] if i not in group.members and self._must_be_apart(member, i)
            ]
        return resting

    def _must_be_apart(self, first: int, second: int) -> bool:
        pair = frozenset((first, second))
        if pair in self._apart:
            return True
        live, other = self._buffers[first].live, self._buffers[second].live
        return pair not in self._together and overlap(merged(live or ()), merged(other or ()))


def _is_fixed(buffer: Buffer) -> bool:
    return buffer.fixed is not None and buffer.fixed.offset is not None
