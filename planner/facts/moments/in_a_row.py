"""Cliques put in a row, so that those of each vertex follow each other if there is such a row: the graph is then one of intervals.

Partition refinement after Habib, McConnell, Paul and Viennot (2000): a clique found last is at an end; whoever it shares vertices with comes
next to it, and the vertices shared divide the others.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from .cliques import Cliques


def in_a_row(cliques: Cliques, of_vertex: list[list[int]]) -> list[int]:
    """Return the cliques in a row. `of_vertex` are the cliques of each vertex."""
    return _Row(cliques, of_vertex).run()


class _Row:
    """The row while it is refined: classes are ranges of it."""

    def __init__(self, cliques: Cliques, of_vertex: list[list[int]]) -> None:
        count = len(cliques.members)
        self._of_vertex = of_vertex
        self._joined = [dict(each) for each in cliques.joined]
        self._row = [*range(count)]
        self._place = [*range(count)]
        self._kind = [0] * count
        self._begin, self._end = [0], [count]
        last = [-each for each in range(count)]
        heapify(last)
        self._last = [last]
        """The cliques of each class, those found last first; some may have left it."""
        self._pivots: list[int] = []
        self._used = set[int]()

    def run(self) -> list[int]:
        at = 0
        while at < len(self._row):
            kind = self._kind[self._row[at]]
            if self._pivots:
                pivot = self._pivots.pop()
                if pivot not in self._used:
                    self._used.add(pivot)
                    self._divide(self._of_vertex[pivot])
            elif self._end[kind] - self._begin[kind] == 1:
                at += 1
            else:
                clique = self._found_last(kind)
                self._move(kind, [clique], to_front=False)
                self._part([clique])
        return self._row

    def _found_last(self, kind: int) -> int:
        """Return the clique of the class that was found last."""
        last = self._last[kind]
        while self._kind[-last[0]] != kind:
            heappop(last)
        return -last[0]

    def _divide(self, some: list[int]) -> None:
        """Bring these cliques together: to the back of the first class that has one, and to the front of the last."""
        by_class = dict[int, list[int]]()
        for clique in some:
            by_class.setdefault(self._kind[clique], []).append(clique)
        if len(by_class) > 1:
            first, last = min(by_class, key=self._begin.__getitem__), max(by_class, key=self._begin.__getitem__)
            self._move(first, by_class[first], to_front=False)
            self._move(last, by_class[last], to_front=True)
        self._part(some)

    def _move(self, kind: int, some: list[int], *, to_front: bool) -> None:
        """Make these cliques of a class one of their own, before or behind the rest of it."""
        if len(some) == self._end[kind] - self._begin[kind]:
            return
        new = len(self._begin)
        start = self._begin[kind] if to_front else self._end[kind] - len(some)
        self._begin.append(start)
        self._end.append(start + len(some))
        self._last.append([])
        for n, clique in enumerate(sorted(some, key=self._place.__getitem__, reverse=not to_front)):
            there = start + n if to_front else start + len(some) - 1 - n
            other, here = self._row[there], self._place[clique]
            self._row[there], self._row[here] = clique, other
            self._place[clique], self._place[other] = there, here
            self._kind[clique] = new
            heappush(self._last[new], -clique)
        if to_front:
            self._begin[kind] += len(some)
        else:
            self._end[kind] -= len(some)

    def _part(self, some: list[int]) -> None:
        """Let what these cliques share with others divide the row next."""
        inside = set(some)
        for clique in some:
            for other in [each for each in self._joined[clique] if each not in inside]:
                self._pivots += self._joined[clique].pop(other)
                del self._joined[other][clique]
