"""Which buffers constraints name in pairs, by buffer: built once, when first asked for, however many questions follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TypeAlias

from ..model.problem import BufferId, Problem
from .intervals import merged, overlap

ByBuffer: TypeAlias = dict[int, dict[int, int]]
"""For each buffer that is named, its partners, each with a number."""


class Partners:
    """The pairs of buffers of a problem, by the buffers' numbers."""

    def __init__(self, problem: Problem, index: Mapping[BufferId, int]) -> None:
        self._problem, self._index = problem, index
        self._in_other_pools: dict[int, list[frozenset[int]]] | None = None

    @cached_property
    def conflicts(self) -> ByBuffer:
        """Return the partners that must not share addresses, each with the number of the constraint."""
        return self._by_buffer(self._problem.constraints.conflicts)

    @cached_property
    def exclusions(self) -> ByBuffer:
        """Return the partners that never coexist, each with the number of the constraint."""
        return self._by_buffer(self._problem.constraints.exclusions)

    @cached_property
    def reuse_costs(self) -> ByBuffer:
        """Return the partners with which sharing addresses costs something, each with all that it costs."""
        found: ByBuffer = {}
        for penalty in self._problem.constraints.reuse_penalties:
            a, b = self._index[penalty.first], self._index[penalty.second]
            for one, other in ((a, b), (b, a)):
                costs = found.setdefault(one, {})
                costs[other] = costs.get(other, 0) + penalty.cost
        return found

    def in_other_pools(self, tied: Callable[[int], tuple[int, ...]]) -> dict[int, list[frozenset[int]]]:
        """Return, by buffer, the groups with it of which no two may share a pool. The first of those `tied` to one pool stands for all."""
        if self._in_other_pools is None:
            found = self._in_other_pools = {}
            for group in self._problem.constraints.different_pool:
                firsts = frozenset(tied(self._index[id_])[0] for id_ in group)
                for first in firsts:
                    found.setdefault(first, []).append(firsts)
        return self._in_other_pools

    def must_be_apart(self, a: int, b: int) -> bool:
        """True if two buffers of different groups must not share addresses: a conflict says so, or both are live at some time."""
        if b in self.conflicts.get(a, ()):
            return True
        return b not in self.exclusions.get(a, ()) and self.meet(a, b)

    def meet(self, a: int, b: int) -> bool:
        """True if both are live at some time."""
        one, other = (merged(self._problem.buffers[number].live or ()) for number in (a, b))
        return overlap(one, other)

    def _by_buffer(self, pairs: Iterable[tuple[BufferId, BufferId]]) -> ByBuffer:
        found: ByBuffer = {}
        for number, (one, other) in enumerate(pairs):
            a, b = self._index[one], self._index[other]
            found.setdefault(a, {}).setdefault(b, number)
            found.setdefault(b, {}).setdefault(a, number)
        return found
