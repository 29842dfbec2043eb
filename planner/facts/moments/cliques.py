"""Maximal cliques of a graph, as the nodes of a forest, and the edges that no clique has.

Lexicographic breadth-first search visits the vertices; the neighbours that a vertex finds visited are a clique if the graph is chordal
(Rose, Tarjan and Lueker 1976), and where they are not, some of its edges are left out, so that what remains is chordal.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from heapq import nlargest
from typing import NamedTuple, TypeAlias

from ...model.deadline import PREPARING, in_time

Edge: TypeAlias = tuple[int, int]

LOOKS = 8
"""So many of a vertex's neighbours are looked at for the one with whom it keeps most edges."""


class Cliques(NamedTuple):
    """Cliques in the order in which they were found, and two of each joined where they share most."""

    members: list[list[int]]
    joined: list[dict[int, tuple[int, ...]]]
    """For each clique: those that it is joined to, and the vertices shared."""
    missing: list[Edge]
    """The edges that are in no clique."""


def cliques_of(neighbours: Sequence[Set[int]], most_missing: int | None = None) -> Cliques | None:
    """Return cliques with all edges of the graph, or nearly all where it is not chordal; None if they would lack more than `most_missing`."""
    members: list[list[int]] = []
    joined: list[dict[int, tuple[int, ...]]] = []
    missing: list[Edge] = []
    order = visited_in_order(neighbours)
    place = {vertex: n for n, vertex in enumerate(order)}
    before: list[Set[int]] = [frozenset()] * len(order)
    home = [0] * len(order)
    """The clique that each vertex was put into first."""
    for vertex in in_time(order, PREPARING):
        earlier = {each for each in neighbours[vertex] if place[each] < place[vertex]}
        if earlier:
            last = max(earlier, key=place.__getitem__)
            if not earlier <= before[last] | {last}:
                latest = nlargest(LOOKS, earlier, key=place.__getitem__)
                last = max(latest, key=lambda each: len(earlier & before[each]))
                kept = (earlier & before[last]) | {last}
                missing += [(min(vertex, each), max(vertex, each)) for each in sorted(earlier - kept)]
                earlier = kept
                if most_missing is not None and len(missing) > most_missing:
                    return None
            before[vertex] = earlier
            home[vertex] = home[last]
            if len(earlier) == len(members[home[last]]):
                members[home[last]].append(vertex)
                continue
            joined[home[last]][len(members)] = shared = tuple(sorted(earlier))
            joined.append({home[last]: shared})
        else:
            joined.append({})
        home[vertex] = len(members)
        members.append([*sorted(earlier), vertex])
    return Cliques(members, joined, missing)


def visited_in_order(neighbours: Sequence[Set[int]]) -> list[int]:
    """Return the vertices as lexicographic breadth-first search visits them, the first ones first where nothing else decides."""
    order = [*range(len(neighbours))]
    place = [*range(len(neighbours))]
    kind = [0] * len(neighbours)
    """The class of each vertex; classes are ranges of the order, and split by who is next to the vertex that is visited."""
    begin = [0]
    for at in in_time(range(len(order)), PREPARING):
        vertex = order[at]
        begin[kind[vertex]] = at + 1
        split = dict[int, int]()
        for each in sorted(neighbours[vertex]):
            if place[each] <= at:
                continue
            old = kind[each]
            if old not in split:
                split[old] = len(begin)
                begin.append(begin[old])
            front = begin[old]
            other = order[front]
            order[front], order[place[each]] = each, other
            place[other], place[each] = place[each], front
            begin[old] += 1
            kind[each] = split[old]
    return order
