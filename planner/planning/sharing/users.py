"""Which buffers may share, read from the problem alone: groups that begin together, when each buffer is needed, and what each group needs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import product

from ...facts.intervals import covers, merged, overlap
from ...facts.possible_places import Places
from ...model.problem import Interval, Problem
from .kinds import need


class Users:
    """Answers questions about the buffers of a problem, by index. A group is the buffers that colocations put into one object."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.places = Places(problem)
        self.index = self.places.index
        constraints = problem.constraints
        self._conflicts = {frozenset((self.index[a], self.index[b])) for a, b in constraints.conflicts}
        self._exclusions = {frozenset((self.index[a], self.index[b])) for a, b in constraints.exclusions}
        self._live: dict[int, tuple[Interval, ...]] = {}

    def group(self, buffer: int) -> int:
        """Return the first buffer of the buffer's group, which represents it."""
        return self.places.group(buffer).members[0]

    def members(self, buffer: int) -> tuple[int, ...]:
        return self.places.group(buffer).members

    def live(self, buffer: int) -> tuple[Interval, ...]:
        """Return when the buffer's bytes are needed; a buffer without bytes conflicts with none."""
        if buffer not in self._live:
            data = self.problem.buffers[buffer]
            self._live[buffer] = merged(data.live or ()) if data.size else ()
        return self._live[buffer]

    def is_live_at(self, buffer: int, time: int) -> bool:
        return covers(self.live(buffer), time)

    def may_overlap(self, a: int, b: int) -> bool:
        """True if both may be in one object although needed at the same time."""
        return self.group(a) == self.group(b) or frozenset((a, b)) in self._exclusions

    def excluded_pairs(self, buffers: Iterable[int]) -> list[tuple[int, int]]:
        """Return two of these at a time, of different groups, if an exclusion names a pair of members."""
        of_group = {self.group(buffer): buffer for buffer in buffers}
        pairs = (
            (of_group[group], of_group[other])
            for group in of_group
            for other in self._excluded.get(group, ())
            if other in of_group
        )
        return sorted({(min(pair), max(pair)) for pair in pairs})

    @cached_property
    def _excluded(self) -> dict[int, list[int]]:
        """Return for each group the later ones that an exclusion of two members names."""
        found: dict[int, list[int]] = {}
        for pair in self._exclusions:
            first, *others = sorted({self.group(buffer) for buffer in pair})
            if others:
                found.setdefault(first, []).append(others[0])
        return found

    @cached_property
    def related(self) -> frozenset[int]:
        """Return the buffers that conflicts or exclusions name."""
        return frozenset(buffer for pairs in (self._conflicts, self._exclusions) for pair in pairs for buffer in pair)

    def groups_clash(self, a: int, b: int, time: int | None = None) -> bool:
        """True if the groups must use different objects, because of what happens at the time (None: at any time)."""
        if self.group(a) == self.group(b):
            return False
        for one, other in product(self.members(a), self.members(b)):
            if time is None and self.conflict(one, other):
                return True
            if frozenset((one, other)) in self._exclusions:
                continue
            if time is None:
                if overlap(self.live(one), self.live(other)):
                    return True
            elif self.is_live_at(one, time) and self.is_live_at(other, time):
                return True
        return False

    def conflict(self, a: int, b: int) -> bool:
        """True if the two are named as a conflict and both have bytes."""
        buffers = self.problem.buffers
        return frozenset((a, b)) in self._conflicts and bool(buffers[a].size and buffers[b].size)

    def need_in(self, buffer: int, pool: str) -> int:
        """Return the least object size for the buffer's group."""
        there = self.places.pools[pool]
        return max(need(self.problem.buffers[member], there) for member in self.members(buffer))

    def pools(self, buffer: int) -> list[str]:
        """Return the pools that the buffer and all that must share its pool may use."""
        return list(self.places.allowed_pools(self.places.tied(buffer)))
