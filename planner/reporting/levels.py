"""Finds the pieces of a pool that end in a range of addresses and are live during an interval."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from ..model.deadline import tick
from ..model.problem import Interval
from .live_profile import LOOKING

LEAF = 8
"""Points that are examined one by one."""
FEW = 128
"""Points that take less time to examine than the tree's nodes."""

Point = tuple[int, int, int, int]
"""Upper end, birth, death, buffer: one stretch of a buffer's life."""


class Levels:
    """A tree that halves the points by each of their three numbers in turn, so that most are never examined.

    A point that is left out is not found until it is put back. A query costs O(n^(2/3)) plus its results, in the worst case. If few points
    end in its range, only these are examined.
    """

    def __init__(self, ends: Sequence[tuple[int, int, tuple[Interval, ...]]]) -> None:
        """Take each buffer's number, upper end and lifetimes."""
        points: list[Point] = [(end, birth, death, i) for i, end, live in ends for birth, death in live]
        self._by_end = sorted(points)
        self._ends = [point[0] for point in self._by_end]
        self._leaves = 1
        while self._leaves * LEAF < len(points):
            self._leaves *= 2
        self._sorted(points)
        self._points = points
        self._where: dict[int, list[int]] = {}
        """The leaves with points of each buffer."""
        self._out: set[int] = set()
        self._boxes: list[tuple[int, int, int, int] | None] = [None] * (2 * self._leaves)
        """For each node: least and greatest end, least birth, greatest death."""
        self._count = [0] * (2 * self._leaves)
        """For each node: the number of its points that are not left out."""
        self._fill()

    def _bounds(self, leaf: int) -> tuple[int, int]:
        """Return the range of a leaf's points."""
        return len(self._points) * leaf // self._leaves, len(self._points) * (leaf + 1) // self._leaves

    def _sorted(self, points: list[Point]) -> None:
        """Sort the points into the order of the leaves."""
        total, blocks, axis = len(points), 1, 0
        while blocks < self._leaves:
            for block in range(blocks):
                tick(LOOKING)
                here = slice(total * block // blocks, total * (block + 1) // blocks)
                points[here] = sorted(points[here], key=lambda point: point[axis])
            blocks, axis = 2 * blocks, (axis + 1) % 3

    def _fill(self) -> None:
        for leaf in range(self._leaves):
            tick(LOOKING)
            low, high = self._bounds(leaf)
            here = self._points[low:high]
            if here:
                ends, births, deaths, _ = zip(*here, strict=True)
                self._boxes[self._leaves + leaf] = (min(ends), max(ends), min(births), max(deaths))
                self._count[self._leaves + leaf] = len(here)
                for point in here:
                    self._where.setdefault(point[3], []).append(leaf)
        for node in range(self._leaves - 1, 0, -1):
            tick(LOOKING)
            boxes = [box for box in (self._boxes[2 * node], self._boxes[2 * node + 1]) if box is not None]
            if boxes:
                low_ends, high_ends, births, deaths = zip(*boxes, strict=True)
                self._boxes[node] = (min(low_ends), max(high_ends), min(births), max(deaths))
            self._count[node] = self._count[2 * node] + self._count[2 * node + 1]

    def leave_out(self, buffers: Iterable[int]) -> list[int]:
        """Leave these buffers out; return those that were not yet."""
        there = [i for i in buffers if i not in self._out and i in self._where]
        self._out.update(there)
        self._counted(there, -1)
        return there

    def put_back(self, buffers: Iterable[int]) -> None:
        back = [i for i in buffers if i in self._out]
        self._out.difference_update(back)
        self._counted(back, 1)

    def _counted(self, buffers: Iterable[int], more: int) -> None:
        for i in buffers:
            for leaf in self._where[i]:
                node = self._leaves + leaf
                while node:
                    self._count[node] += more
                    node //= 2

    def ending(self, low: int, high: int, live: tuple[Interval, ...]) -> Iterator[int]:
        """Yield the points that end above `low` but not above `high`, and are live during `live`; some may appear several times."""
        first, last = bisect_right(self._ends, low), bisect_right(self._ends, high)
        if last - first <= FEW:
            for _, birth, death, i in self._by_end[first:last]:
                if i not in self._out and any(birth < stop and start < death for start, stop in live):
                    yield i
            return
        for start, stop in live:
            todo = [1]
            while todo:
                node = todo.pop()
                box = self._boxes[node]
                if not self._count[node] or box is None:
                    continue
                if box[0] > high or box[1] <= low or box[2] >= stop or box[3] <= start:
                    continue
                if node < self._leaves:
                    todo += (2 * node, 2 * node + 1)
                    continue
                for at in range(*self._bounds(node - self._leaves)):
                    end, birth, death, i = self._points[at]
                    if i not in self._out and low < end <= high and birth < stop and start < death:
                        yield i
