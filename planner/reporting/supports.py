"""What holds a peak up: the buffers that touch it, the buffers these rest on, and so on down to the floor."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from ..facts.colocation import Group, groups
from ..facts.intervals import merged
from ..model.deadline import look
from ..model.plan import Placement
from ..model.problem import Buffer, Pool, Problem
from .levels import Levels
from .live_profile import LOOKING


class Supports:
    """The buffers that hold up a pool's peak: the peak can only sink if one of them does.

    A buffer rests on another that it may not overlap if the other's end is what keeps it from lying lower. A fixed buffer rests on nothing
    but the user's decision.
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
        """Return the buffers that hold up the pool's peak, from the top downwards."""
        offset = self._offsets.get(pool.name)
        if not offset:
            return ()
        ends = {i: low + self._buffers[i].size for i, low in offset.items()}
        look(LOOKING)
        levels = Levels([(i, end, merged(self._buffers[i].live or ())) for i, end in ends.items()])
        top = max(ends.values())
        todo = sorted(i for i, end in ends.items() if end == top)
        found = set(todo)
        levels.leave_out(todo)
        seen: set[int] = set()
        while todo:
            here = todo.pop()
            group = self._group.get(here)
            if group is not None:
                # Its members rest on the same: one is asked for all.
                if group.members[0] in seen:
                    continue
                seen.add(group.members[0])
            below = self._below(here, pool, offset, levels) - found
            found |= below
            todo += sorted(below)
        ordered = sorted(found, key=lambda i: (-offset[i], i))
        return tuple(self._buffers[i] for i in ordered)

    def _below(self, buffer: int, pool: Pool, offset: dict[int, int], levels: Levels) -> set[int]:
        """Return what the buffer, and any that moves as one with it, rests on.

        The result is left out from now on; buffers left out before may be missing.
        """
        group = self._group.get(buffer) or Group((buffer,), (0,))
        members = [i for i in group.members if i in offset]
        if any(_is_fixed(self._buffers[i]) for i in group.members):
            return set()
        grain = lcm(pool.alignment, *(self._buffers[i].alignment for i in group.members))
        own = set(group.members)
        here = levels.leave_out(own)
        resting: set[int] = set()
        for member in members:
            look(LOOKING)
            low, high = offset[member] - grain, offset[member]
            near = set(levels.ending(low, high, merged(self._buffers[member].live or ())))
            near = {i for i in near if frozenset((member, i)) not in self._together}
            levels.leave_out(near)
            resting |= near
            for i in self._apart.get(member, ()):
                if i in offset and i not in own and low < offset[i] + self._buffers[i].size <= high:
                    resting.add(i)
        levels.leave_out(resting)
        levels.put_back(here)
        return resting


def _is_fixed(buffer: Buffer) -> bool:
    return buffer.fixed is not None and buffer.fixed.offset is not None
