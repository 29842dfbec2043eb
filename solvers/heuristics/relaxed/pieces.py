"""The pieces that a placement is glued of, and which of them can be moved as a whole."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...model.instance import Ints
from .tiles import Tiles


class Pieces:
    """A tree for each piece that is part of no other; its leaves are tiles."""

    def __init__(self, tiles: Tiles, low: Ints, parents: Ints) -> None:
        """The placement and, as `glued_pieces` gives them, the parents of all tiles and pieces."""
        self._parents: list[int] = parents.tolist()
        self._parts: list[list[int]] = [[] for _ in self._parents]
        self._loose = list[int]()
        for node, parent in enumerate(self._parents):
            (self._parts[parent] if parent >= 0 else self._loose).append(node)
        self._joined = self._from_below()
        self._places, self._tiles = self._tiles_in_order(len(low))
        self._size = tiles.size
        self._begin, self._end = self._least(tiles.begin), self._most(tiles.end)
        self._height = self._most(low + tiles.size) - self._least(low)

    def __len__(self) -> int:
        """How many tiles and pieces there are."""
        return len(self._parents)

    def boxes(self, low: Ints, loose: Iterable[int]) -> list[Ints]:
        """The tiles of each piece that lies in a rectangle of its own, if no loose tile is part of it, no larger than when it was glued."""
        bottom, top = self._least(low), self._most(low + self._size)
        is_torn: list[bool] = (top - bottom > self._height).tolist()
        for tile in loose:
            piece = self._parents[tile]
            while piece >= 0:
                is_torn[piece] = True
                piece = self._parents[piece]
        found, todo = list[int](), list(self._loose)
        while todo:
            while todo:
                node = todo.pop()
                if self._parts[node] and is_torn[node]:
                    todo += self._parts[node]
                else:
                    found.append(node)
            torn = self._overlapping(found, bottom, top)
            todo = [part for node in torn for part in self._parts[node]]
            found = [node for node in found if node not in torn or not self._parts[node]]
        return [self._members(node) for node in found]

    def _from_below(self) -> list[tuple[int, int]]:
        """All tiles and pieces that are part of another, and of which; each after its own parts."""
        order = list(self._loose)
        for node in order:
            order += self._parts[node]
        return [(node, parent) for node in reversed(order) if (parent := self._parents[node]) >= 0]

    def _tiles_in_order(self, tiles: int) -> tuple[list[tuple[int, int]], Ints]:
        """All tiles so that those of each piece follow each other, and where these are."""
        count = [1] * tiles + [0] * (len(self) - tiles)
        for node, parent in self._joined:
            count[parent] += count[node]
        first, free = [0] * len(self), 0
        for node in self._loose:
            first[node], free = free, free + count[node]
        for node in [*self._loose, *(node for node, _ in reversed(self._joined))]:
            place = first[node]
            for part in self._parts[node]:
                first[part], place = place, place + count[part]
        order = np.zeros(tiles, dtype=np.int64)
        order[first[:tiles]] = np.arange(tiles)
        return [(place, place + many) for place, many in zip(first, count, strict=True)], order

    def _members(self, node: int) -> Ints:
        begin, end = self._places[node]
        return self._tiles[begin:end]

    def _least(self, numbers: Ints) -> Ints:
        """Of each tile its number, and of each piece the least of its tiles'."""
        least: list[int] = numbers.tolist()
        least += [int(numbers.max(initial=0))] * (len(self) - len(least))
        for node, parent in self._joined:
            if least[node] < least[parent]:
                least[parent] = least[node]
        return np.array(least, dtype=np.int64)

    def _most(self, numbers: Ints) -> Ints:
        return -self._least(-numbers)

    def _overlapping(self, nodes: list[int], low: Ints, high: Ints) -> set[int]:
        """Those whose rectangles overlap another's: something was put into room that the piece leaves empty."""
        begin, end, bottom, top = (numbers[nodes] for numbers in (self._begin, self._end, low, high))
        meet = (begin[:, None] < end) & (begin < end[:, None]) & (bottom[:, None] < top) & (bottom < top[:, None])
        np.fill_diagonal(meet, False)
        return {nodes[at] for at in np.flatnonzero(meet.any(axis=1)).tolist()}
