"""Large cliques of any graph that have nearly all of its edges, for conflicts that no lifetimes say.

Where a buffer may be in several memories, only what all need room at once bounds the memories' peaks together; pairs alone bound next to nothing. A clique
is grown from each vertex, and then from each edge that none has yet: next comes who has, with all that may still follow, the most bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import numpy as np

from solvers.model.instance import Bools, Ints

from ...model.deadline import PREPARING, in_time
from .cliques import Cliques

MOST_VERTICES = 1 << 10
MOST_CLIQUES = 1 << 12
"""Graphs of more are left alone, and edges that so many cliques have not stay edges: more take seconds to join, and hold no more than pairs."""
MOST_LOOKS = 1 << 27
"""Entries of that table looked at in all, which takes half a second; edges that no clique has by then stay edges."""
MOST_WEIGHT = 1 << 60
"""Weights are made smaller until all together are no more: those of a problem that is verified may be of any size."""


def cover_of(neighbours: Sequence[Set[int]], sizes: Sequence[int]) -> Cliques | None:
    """Return cliques with all edges of the graph, or as many as little work finds, and whom each shares most with; None if the graph is too large."""
    if len(neighbours) > MOST_VERTICES:
        return None
    cover = _Cover(neighbours, sizes)
    members = [*cover.found()]
    return Cliques(members, _joined(members, len(neighbours)), cover.missing())


class _Cover:
    """The edges, and those that are in no clique yet."""

    def __init__(self, neighbours: Sequence[Set[int]], sizes: Sequence[int]) -> None:
        count = len(neighbours)
        self._edges: Bools = np.zeros((count, count), dtype=bool)
        for vertex, others in enumerate(neighbours):
            self._edges[vertex, [*others]] = True
        self._open: Bools = self._edges.copy()
        shift = max((sum(sizes) // MOST_WEIGHT).bit_length(), 0)
        self._weight: Ints = np.array([size >> shift for size in sizes], dtype=np.int64)
        self._looks = 0

    def found(self) -> Iterator[list[int]]:
        """Yield the cliques."""
        order = np.argsort(-self._weight, kind="stable").tolist()
        known = set[tuple[int, ...]]()
        for vertex in in_time(order, PREPARING):
            clique = self._grown([vertex])
            if tuple(clique) not in known:
                known.add(tuple(clique))
                yield clique
        count = len(known)
        for vertex in in_time(order, PREPARING):
            while self._looks < MOST_LOOKS and (rest := np.flatnonzero(self._open[vertex])).size:
                if count == MOST_CLIQUES:
                    return
                count += 1
                yield self._grown([vertex, int(rest[np.argmax(self._weight[rest])])])

    def missing(self) -> list[tuple[int, int]]:
        """Return the edges that are in no clique."""
        return [(a, b) for a, b in np.argwhere(np.triu(self._open)).tolist()]

    def _grown(self, clique: list[int]) -> list[int]:
        """Return a maximal clique with these vertices in ascending order, and cross its edges off; nothing more than them once too much was looked at."""
        rest = np.flatnonzero(self._edges[clique].all(axis=0))
        if self._looks < MOST_LOOKS:
            self._looks += len(rest) ** 2 + len(self._edges)
            table, weight = self._edges[np.ix_(rest, rest)], self._weight[rest]
            worth = weight + table @ weight
            inside = np.ones(len(rest), dtype=bool)
            while inside.any():
                best = int(np.argmax(np.where(inside, worth, -1)))
                clique.append(int(rest[best]))
                gone = inside & ~table[best]
                inside &= ~gone
                worth -= table[:, gone] @ weight[gone]
        clique.sort()
        self._open[np.ix_(clique, clique)] = False
        return clique


def _joined(members: Sequence[Sequence[int]], vertices: int) -> list[dict[int, tuple[int, ...]]]:
    """Return for each clique those that it is joined to in a forest that shares as much as any, and the vertices shared."""
    has = np.zeros((len(members), vertices), dtype=bool)
    for n, clique in enumerate(members):
        has[n, clique] = True
    counted = has.astype(np.float32)
    shares = counted @ counted.T  # exact: no clique has 2^24 members
    joined: list[dict[int, tuple[int, ...]]] = [{} for _ in members]
    shared, nearest = np.full(len(members), -1, dtype=np.float32), np.zeros(len(members), dtype=np.int64)
    is_open = np.ones(len(members), dtype=bool)
    for _ in in_time(range(len(members)), PREPARING):
        n = int(np.argmax(np.where(is_open, shared, -2)))
        is_open[n] = False
        if shared[n] > 0:
            other = int(nearest[n])
            joined[n][other] = joined[other][n] = tuple(np.flatnonzero(has[n] & has[other]).tolist())
        nearest[shares[n] > shared] = n
        shared = np.maximum(shared, shares[n])
    return joined
