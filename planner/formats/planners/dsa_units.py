"""Buffers of dsa-solver's files that colocations tie together: they all begin at one address, so they are placed as one unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ...checks.pool_choice import Classes
from ...facts.intervals import merged, overlap
from ...model.problem import Buffer, BufferId, Colocation, Fixed, Interval, Pair, Problem


@dataclass(frozen=True, slots=True)
class Unit:
    """Buffers that begin at one address; those of size 0 are left out, since they share nothing."""

    members: tuple[int, ...]
    first: int
    """The largest member, which stands for all."""
    size: int
    live: tuple[Interval, ...]
    """When any member is needed."""
    pools: frozenset[str] | None
    """The memories that all of them allow; None: all."""
    fixed: Fixed | None


class Units:
    """The units of a problem, and which of them cannot lie at one place."""

    def __init__(self, problem: Problem) -> None:
        self.buffers = problem.buffers
        self.number: dict[BufferId, int] = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
        tied = Classes()
        for each in problem.constraints.colocations:
            tied.join(self.number[each.buffer], self.number[each.base])
        found: dict[int, list[int]] = {}
        for i in range(len(problem.buffers)):
            found.setdefault(tied.of(i), []).append(i)
        self._tied = [members for members in found.values() if len(members) > 1]
        """All members, those of size 0, too."""
        self.units: list[Unit] = []
        self.of: dict[int, int] = {}
        """The unit of each buffer that has bytes."""
        for members in found.values():
            sized = tuple(i for i in members if self.buffers[i].size)
            if sized:
                self.of.update(dict.fromkeys(sized, len(self.units)))
                self.units.append(_unit(self.buffers, members, sized))
        self._conflicts = {self._pair(a, b) for a, b in problem.constraints.conflicts}
        self._never: dict[frozenset[int], set[frozenset[int]]] = {}
        """Of two units, the pairs of buffers that are never needed together."""
        for a, b in problem.constraints.exclusions:
            pair = frozenset((self.number[a], self.number[b]))
            self._never.setdefault(self._pair(a, b), set()).add(pair)

    def _pair(self, a: BufferId, b: BufferId) -> frozenset[int]:
        numbers = (self.number[a], self.number[b])
        return frozenset(self.of[i] for i in numbers if i in self.of)

    def colocations(self) -> tuple[Colocation, ...]:
        """Return what ties the members of each unit: all refer to the one that stands for it."""
        found = []
        for members in self._tied:
            unit = next((self.units[self.of[i]] for i in members if i in self.of), None)
            first = members[0] if unit is None else unit.first
            found += [Colocation(self.buffers[i].id, self.buffers[first].id, 0) for i in members if i != first]
        return tuple(found)

    def share_memories(self, u: int, v: int) -> bool:
        """True if some memory may hold both."""
        first, second = self.units[u].pools, self.units[v].pools
        return first is None or second is None or not first.isdisjoint(second)

    def are_apart(self, u: int, v: int) -> bool:
        """True if they cannot begin at one address of one memory."""
        first, second = self.units[u], self.units[v]
        if first.fixed is not None and second.fixed is not None and first.fixed != second.fixed:
            return True
        return self.meeting(u, v) is not None or (bool(self._conflicts) and frozenset((u, v)) in self._conflicts)

    def meeting(self, u: int, v: int) -> Pair | None:
        """Return members of each that are needed at the same time; None if none are."""
        first, second = self.units[u], self.units[v]
        if not overlap(first.live, second.live):
            return None
        if len(first.members) == len(second.members) == 1 and not self._never:
            return self.buffers[first.first].id, self.buffers[second.first].id
        never = self._never.get(frozenset((u, v)), ())
        for i in first.members:
            for j in second.members:
                if overlap(self.buffers[i].live or (), self.buffers[j].live or ()) and frozenset((i, j)) not in never:
                    return self.buffers[i].id, self.buffers[j].id
        return None

    def without(self, exclusions: Iterable[Pair], are_decided: Callable[[int, int], bool]) -> tuple[Pair, ...]:
        """Return the exclusions except those between units for which this is true.

        An exclusion lets two buffers share addresses anywhere, and not only from a common beginning.
        """
        found = []
        for a, b in exclusions:
            u, v = (self.of.get(self.number[each]) for each in (a, b))
            if u is None or v is None or u == v or not are_decided(u, v):
                found.append((a, b))
        return tuple(found)


def _unit(buffers: Sequence[Buffer], members: list[int], sized: tuple[int, ...]) -> Unit:
    first = max(sized, key=lambda i: (buffers[i].size, -i))
    fixed = next((each for i in members if (each := buffers[i].fixed) is not None), None)
    allowed = [frozenset(pools) for i in members if (pools := buffers[i].pools)]
    allowed += [frozenset((fixed.pool,))] if fixed is not None else []
    shared = frozenset.intersection(*allowed) if allowed else None
    live = buffers[first].live or () if len(sized) == 1 else merged(s for i in sized for s in buffers[i].live or ())
    return Unit(sized, first, buffers[first].size, live, shared, fixed)
