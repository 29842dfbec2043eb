"""All buffers of all alternatives side by side, by number, and what relates them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from itertools import pairwise

from solvers.choice.alternatives.instance import Pick
from solvers.choice.alternatives.together import Link, Relation

from ....model.deadline import PREPARING, in_time, look, tick
from ....model.problem import Buffer, BufferId, Constraints, Interval, Problem


class Parts:
    """All buffers of all alternatives together; an alternative that prolongs a buffer of the problem adds a buffer in its place."""

    def __init__(self, problem: Problem) -> None:
        assert problem.variants is not None
        self.buffers: list[tuple[Buffer, Pick | None, tuple[Interval, ...]]] = []
        self.links: list[Link] = []
        self.exclusions: list[Relation] = []
        self.conflicts: list[Relation] = []
        self.same_pool: list[Relation] = []
        self.different_pool: list[tuple[tuple[int, ...], Pick | None]] = []
        """Kept as lists: a long one has very many pairs, and only small problems use them."""
        self.longer: dict[int, list[int]] = {}
        """For a buffer of the problem, the buffers that prolong it."""
        shared: dict[BufferId, int] = {}
        for buffer in in_time(problem.buffers, PREPARING, "buffer"):
            shared[buffer.id] = self._add(buffer, None, buffer.live or ())
        self._relate(shared, problem.constraints, None)
        for g, group in enumerate(problem.variants.groups):
            for a, alternative in enumerate(group.alternatives):
                look(PREPARING)
                own = {buffer.id: self._add(buffer, (g, a), buffer.live or ()) for buffer in alternative.buffers}
                index = ChainMap(own, shared)
                self._relate(index, alternative.constraints, (g, a))
                for more in alternative.live:
                    longer = self._add(self.buffers[shared[more.buffer]][0], (g, a), more.live)
                    self.links.append(Link(longer, shared[more.buffer], 0, (g, a)))
                    self.longer.setdefault(shared[more.buffer], []).append(longer)

    def _add(self, buffer: Buffer, pick: Pick | None, live: tuple[Interval, ...]) -> int:
        self.buffers.append((buffer, pick, live))
        return len(self.buffers) - 1

    def _relate(self, index: Mapping[BufferId, int], given: Constraints, pick: Pick | None) -> None:
        self.links += [Link(index[c.buffer], index[c.base], c.offset, pick) for c in given.colocations]
        for kind, pairs in (
            (self.exclusions, given.exclusions),
            (self.conflicts, given.conflicts),
            (self.same_pool, (pair for group in given.same_pool for pair in pairwise(group))),
        ):
            for one, other in pairs:
                tick(PREPARING)
                kind.append(Relation(index[one], index[other], pick))
        self.different_pool += [(tuple(index[id_] for id_ in group), pick) for group in given.different_pool]
