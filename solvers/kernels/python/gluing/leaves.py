"""The blocks as leaves of the forest, and the way back from pieces to a placement, as native/gluing/leaves.cpp has them."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from ....model.instance import Instance
from ...columns import Columns
from .forest import Forest
from .slack import Slack


class LeafBlocks:
    """Blocks of one rect each: block i is node i."""

    def __init__(self, instance: Instance, columns: Columns) -> None:
        owner = instance.part_block[instance.rect_part]
        begin, end = np.zeros((2, instance.blocks), dtype=np.int64)
        begin[owner], end[owner] = instance.rect_start, instance.rect_end
        times, places = np.unique(np.concatenate([begin, end]), return_inverse=True)
        self._sizes: list[int] = instance.block_high.tolist()
        self._modulus: list[int] = columns.modulus.tolist()
        self._residue: list[int] = columns.residue.tolist()
        self._lowest: list[int] = columns.lowest.tolist()
        self._highest: list[int] = columns.highest.tolist()
        alike = (columns.modulus == columns.modulus[:1]) & (columns.residue == 0) & (columns.lowest == 0)
        self.unit = self._modulus[0] if self._sizes and alike.all() else 1
        """What all are aligned to that may begin at the bottom: heights are counted in it."""
        self.pieces: list[tuple[int, int, int]] = [
            (first, last, -(-size // self.unit))
            for first, last, size in zip(*places.reshape(2, -1).tolist(), self._sizes, strict=True)
        ]
        """Begin and end, both as sections, and height."""
        sections = max(len(times) - 1, 0)
        change = [0] * (sections + 1)
        for first, last, height in self.pieces:
            change[first] += height
            change[last] -= height
        self.live = list(accumulate(change))[:sections]
        """How much is live in every section."""

    def peak_of(self, offsets: list[int]) -> int:
        return max((offset + size for offset, size in zip(offsets, self._sizes, strict=True)), default=0)

    def settle(self, forest: Forest, slack: Slack) -> list[int] | None:
        """The placement that the loose pieces are: the largest stay as they are, with everything let fall; what is left over goes wherever
        it fits. None: a block has no base that suits it."""

        def largest_first(node: int) -> tuple[int, int]:
            piece = forest[node]
            return -slack.scaled(piece.height) * (piece.end - piece.begin), node

        top, bases = [0] * len(self.live), [0] * len(self.pieces)
        placed: list[int] = []
        left: list[int] = []
        for piece in sorted(forest.loose, key=largest_first):
            is_alone = not any(top[forest[piece].begin : forest[piece].end])
            for leaf in _leaves_of(forest, piece):
                if not is_alone:
                    left.append(leaf)
                    continue
                begin, end, height = self.pieces[leaf]
                if not self._put(leaf, max(top[begin:end]), bases):
                    return None
                top[begin:end] = [bases[leaf] + height] * (end - begin)
                placed.append(leaf)
                slack.work += end - begin
        for leaf in sorted(left, key=largest_first):
            slack.work += len(placed)
            if not self._put(leaf, self._lowest_gap(leaf, placed, bases), bases):
                return None
            placed.append(leaf)
        return [base * self.unit for base in bases]

    def _put(self, leaf: int, floor: int, bases: list[int]) -> bool:
        """At the lowest base from there on that suits the block; false: it has none."""
        bases[leaf] = self._suitable(leaf, floor)
        return bases[leaf] <= self._highest[leaf] // self.unit

    def _suitable(self, block: int, base: int) -> int:
        if self.unit > 1:
            return base
        base = max(base, self._lowest[block])
        return base + (self._residue[block] - base) % self._modulus[block]

    def _lowest_gap(self, node: int, placed: list[int], bases: list[int]) -> int:
        begin, end, height = self.pieces[node]
        floor = 0
        for base, leaf in sorted((bases[leaf], leaf) for leaf in placed if self._meet(leaf, begin, end)):
            if base - self._suitable(node, floor) >= height:
                break
            floor = max(floor, base + self.pieces[leaf][2])
        return floor

    def _meet(self, leaf: int, begin: int, end: int) -> bool:
        there, gone, _ = self.pieces[leaf]
        return there < end and begin < gone


def _leaves_of(forest: Forest, whole: int) -> list[int]:
    """The blocks of a piece, by address."""
    leaves: list[tuple[int, int]] = []
    todo = [(0, whole)]
    while todo:
        base, node = todo.pop()
        piece = forest[node]
        if piece.is_leaf:
            leaves.append((base, node))
        else:
            above = 0 if piece.is_chain else forest[piece.first].height
            todo += [(base, piece.first), (base + above, piece.second)]
    return [leaf for _, leaf in sorted(leaves)]
