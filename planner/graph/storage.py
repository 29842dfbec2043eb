"""Bytes that may have several names: from the first use under any of them to the last, they must stay what they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush


@dataclass(slots=True)
class Name:
    """A name for some of the bytes, and the first and the last tick at which it is used."""

    begin: int
    """Its first byte, counted from the first of the storage."""
    size: int
    number: int
    """Of the buffer with this name, among those of the trace."""
    first: int | None = None
    last: int = -1

    def use(self, first: int, last: int) -> None:
        """Record that it is used at these ticks."""
        self.first = first if self.first is None else min(first, self.first)
        self.last = max(last, self.last)


@dataclass(slots=True)
class Storage:
    """Bytes between their allocation and the end of the last name that stands for them."""

    root: int
    """The number of the buffer that was allocated."""
    generation: int
    """How often that buffer had been allocated before."""
    names: dict[int, Name] = field(default_factory=dict)
    """By the numbers of their buffers."""
    open: int = 0
    """How many names stand for bytes of it now."""

    def lives(self) -> Iterator[tuple[int, int, int]]:
        """Return for each name the number of its buffer, its first tick and its last.

        A byte with several names keeps its value from the first use under any of them to the last. The smallest name that it has is needed all
        that time; the larger ones only while they are used themselves, so that the rest of their bytes is free before and after.
        """
        names = [(name, name.first, name.last) for name in self.names.values() if name.first is not None]
        if len(names) > 1:
            for smallest, first, last in _pieces(names):
                smallest.use(first, last)
        for name, _, _ in names:
            assert name.first is not None
            yield name.number, name.first, name.last


def _pieces(names: list[tuple[Name, int, int]]) -> Iterator[tuple[Name, int, int]]:
    """Return for each run of bytes that have the same names: the smallest name, the first tick at which one is used, and the last."""
    coming = sorted((name.begin, k) for k, (name, _, _) in enumerate(names) if name.size)
    edges = sorted({edge for begin, k in coming for edge in (begin, begin + names[k][0].size)})
    sizes: list[tuple[int, int]] = []
    firsts: list[tuple[int, int]] = []
    lasts: list[tuple[int, int]] = []
    heaps = (sizes, firsts, lasts)
    position = 0
    for edge in edges[:-1]:
        while position < len(coming) and coming[position][0] == edge:
            k = coming[position][1]
            position += 1
            name, first, last = names[k]
            for heap, key in zip(heaps, (name.size, first, -last), strict=True):
                heappush(heap, (key, k))
        for heap in heaps:
            while heap and names[heap[0][1]][0].begin + names[heap[0][1]][0].size <= edge:
                heappop(heap)
        if sizes:
            yield names[sizes[0][1]][0], firsts[0][0], -lasts[0][0]
