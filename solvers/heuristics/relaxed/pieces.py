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
        self._tiles = tiles
        self._parts: list[list[int]] = [[] for _ in range(len(parents))]
        self._loose = list[int]()
        for node, parent in enumerate(parents.tolist()):
            (self._parts[parent] if parent >= 0 else self._loose).append(node)
        self._members: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(parents)
        for node in self._from_below():
            parts = self._parts[node]
            self._members[node] = np.concatenate([self._members[part] for part in parts]) if parts else np.array([node])
        self._height = [_height(tiles, low, members) for members in self._members]

    def boxes(self, low: Ints, loose: Iterable[int]) -> list[Ints]:
        """The tiles of each piece that lies in a rectangle of its own, if no loose tile is part of it, no larger than when it was glued."""
        is_loose = np.zeros(len(low), dtype=bool)
        is_loose[list(loose)] = True
        found, todo = list[int](), list(self._loose)
        while todo:
            while todo:
                node = todo.pop()
                members, parts = self._members[node], self._parts[node]
                if parts and (is_loose[members].any() or _height(self._tiles, low, members) > self._height[node]):
                    todo += parts
                else:
                    found.append(node)
            torn = self._overlapping(found, low)
            todo = [part for node in torn for part in self._parts[node]]
            found = [node for node in found if node not in torn or not self._parts[node]]
        return [self._members[node] for node in found]

    def _from_below(self) -> list[int]:
        """All tiles and pieces, parts before what they are part of."""
        order = list(self._loose)
        for node in order:
            order += self._parts[node]
        return order[::-1]

    def _overlapping(self, nodes: list[int], low: Ints) -> set[int]:
        """Those whose rectangles overlap another's: something was put into room that the piece leaves empty."""
        tiles = self._tiles
        begin, end, bottom, top = np.array(
            [
                (tiles.begin[own].min(), tiles.end[own].max(), low[own].min(), (low[own] + tiles.size[own]).max())
                for own in (self._members[node] for node in nodes)
            ]
        ).T
        meet = (begin[:, None] < end) & (begin < end[:, None]) & (bottom[:, None] < top) & (bottom < top[:, None])
        np.fill_diagonal(meet, False)
        return {nodes[at] for at in np.flatnonzero(meet.any(axis=1)).tolist()}


def _height(tiles: Tiles, low: Ints, members: Ints) -> int:
    return int((low[members] + tiles.size[members]).max() - low[members].min())
