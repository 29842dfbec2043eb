"""Pieces that are glued together: trees whose leaves are blocks, as in native/gluing/forest.hpp."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(slots=True)
class Piece:
    """A block, or pieces joined: two, one on top of the other or one after the other, or a pinwheel of five."""

    begin: int
    end: int
    height: int
    parts: tuple[int, ...] = ()
    """The lower and the upper; or the earlier and the later.

    Or of a wheel what lies below its middle, what begins when the middle ends, what ends when it begins, what lies above it, and the middle.
    """
    is_chain: bool = False
    place: int = -1
    """Index in the list of loose pieces; -1 if the piece is part of another."""

    @property
    def is_leaf(self) -> bool:
        return not self.parts

    @property
    def is_wheel(self) -> bool:
        return len(self.parts) > 2

    def touches(self, time: int) -> bool:
        return self.begin <= time <= self.end


class Forest:
    """All pieces. A piece is loose if it is part of no other."""

    def __init__(self, sections: int, leaves: list[tuple[int, int, int]]) -> None:
        self.pieces = [Piece(*leaf) for leaf in leaves]
        self.loose: list[int] = []
        self.unused: list[int] = []
        self.begins: list[list[int]] = [[] for _ in range(sections + 1)]
        self.ends: list[list[int]] = [[] for _ in range(sections + 1)]
        for leaf in reversed(range(len(leaves))):
            self._loosen(leaf)

    def copy(self) -> Forest:
        """Another one like this."""
        new = Forest(0, [])
        new.pieces = [replace(piece) for piece in self.pieces]
        new.loose, new.unused = self.loose.copy(), self.unused.copy()
        new.begins, new.ends = [row.copy() for row in self.begins], [row.copy() for row in self.ends]
        return new

    def __getitem__(self, node: int) -> Piece:
        return self.pieces[node]

    def is_loose(self, node: int) -> bool:
        return self.pieces[node].place >= 0

    def join(self, made: Piece) -> int:
        if self.unused:
            node = self.unused.pop()
            self.pieces[node] = made
        else:
            node = len(self.pieces)
            self.pieces.append(made)
        self.rejoin(node)
        return node

    def rejoin(self, node: int) -> None:
        piece = self.pieces[node]
        for part in piece.parts:
            self._bind(part)
        self._loosen(node)

    def split(self, node: int) -> None:
        self._bind(node)
        for part in reversed(self.pieces[node].parts):
            self._loosen(part)

    def _loosen(self, node: int) -> None:
        piece = self.pieces[node]
        piece.place = len(self.loose)
        self.loose.append(node)
        self.begins[piece.begin].insert(0, node)
        self.ends[piece.end].insert(0, node)

    def _bind(self, node: int) -> None:
        piece = self.pieces[node]
        moved = self.loose.pop()
        if moved != node:
            self.loose[piece.place] = moved
            self.pieces[moved].place = piece.place
        piece.place = -1
        self.begins[piece.begin].remove(node)
        self.ends[piece.end].remove(node)
