"""The blocks as leaves of the forest, and the placement that a forest stands for, as in native/gluing/leaves.cpp."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from ....model.instance import Instance
from ...columns import Columns
from .course import Course
from .forest import Forest
from .slack import Slack

# The same numbers stand in kernels/native/gluing.
TRIES_A_BOX = 20
LOOKS_A_PAIR = 4


class LeafBlocks:
    """Blocks of one rect each; block i is node i."""

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
        """Heights are counted in this unit: the common alignment if all blocks share it and can lie at the bottom, else 1."""
        self.pieces: list[tuple[int, int, int]] = [
            (first, last, -(-size // self.unit))
            for first, last, size in zip(*places.reshape(2, -1).tolist(), self._sizes, strict=True)
        ]
        """(begin, end, height) of each block; begin and end are sections."""
        sections = max(len(times) - 1, 0)
        change = [0] * (sections + 1)
        for first, last, height in self.pieces:
            change[first] += height
            change[last] -= height
        self.live = list(accumulate(change))[:sections]
        """The sum of live heights in each section."""

    def peak_of(self, offsets: list[int]) -> int:
        return max((offset + size for offset, size in zip(offsets, self._sizes, strict=True)), default=0)

    def settle(
        self, forest: Forest, course: Course, boxes: list[int], floors: list[int], *, falls: bool
    ) -> list[int] | None:
        """The placement of the blocks if these pieces have these bases, and then all blocks fall, if they do. None if a block has no suitable base."""
        leaves = [
            (floor + base, leaf)
            for floor, whole in zip(floors, boxes, strict=True)
            for base, leaf in _leaves_of(forest, whole)
        ]
        top, bases = [0] * len(self.live), [0] * len(self.pieces)
        for base, leaf in sorted(leaves):
            begin, end, height = self.pieces[leaf]
            if not self._put(leaf, max(top[begin:end]) if falls else base, bases):
                return None
            top[begin:end] = [bases[leaf] + height] * (end - begin)
            course.work += end - begin
        return [base * self.unit for base in bases]

    def parents(self, forest: Forest, boxes: list[int]) -> list[int]:
        """The number of the piece that each block and each piece is part of, -1 if it is loose. Pieces of several blocks are numbered after the blocks."""
        parents = [-1] * len(self.pieces)
        todo = [(box, -1) for box in boxes]
        while todo:
            node, parent = todo.pop()
            if forest[node].is_leaf:
                parents[node] = parent
            else:
                todo += [(part, len(parents)) for part in forest[node].parts]
                parents.append(parent)
        return parents

    def _put(self, leaf: int, floor: int, bases: list[int]) -> bool:
        """Puts the block at its lowest suitable base from `floor` on; false if there is none."""
        bases[leaf] = self._suitable(leaf, floor)
        return bases[leaf] <= self._highest[leaf] // self.unit

    def _suitable(self, block: int, base: int) -> int:
        if self.unit > 1:
            return base
        base = max(base, self._lowest[block])
        return base + (self._residue[block] - base) % self._modulus[block]


def by_area(forest: Forest, slack: Slack) -> list[int]:
    """The loose pieces from the largest to the smallest."""

    def largest_first(node: int) -> tuple[int, int]:
        piece = forest[node]
        return -slack.scaled(piece.height) * (piece.end - piece.begin), node

    return sorted(forest.loose, key=largest_first)


def piled(forest: Forest, course: Course, boxes: list[int]) -> list[int]:
    """The bases of the pieces, given from the largest to the smallest.

    Each is put as low as it fits; then two are exchanged, repeatedly, if that makes the whole no higher.
    """
    order = list(range(len(boxes)))
    peak, bases = _lowest_bases(forest, boxes, order)
    tries = TRIES_A_BOX * len(boxes) if len(boxes) > 2 else 0
    for _ in range(tries):
        a, b = course.below(len(order)), course.below(len(order))
        order[a], order[b] = order[b], order[a]
        next_peak, next_bases = _lowest_bases(forest, boxes, order)
        if next_peak <= peak:
            peak, bases = next_peak, next_bases
        else:
            order[a], order[b] = order[b], order[a]
    course.work += (tries + 1) * len(boxes) * len(boxes) * LOOKS_A_PAIR
    return bases


def _lowest_bases(forest: Forest, boxes: list[int], order: list[int]) -> tuple[int, list[int]]:
    """The height of the boxes if each is placed in this order as low as it fits, and their bases."""
    bases, peak = [0] * len(boxes), 0
    for i, at in enumerate(order):
        box = forest[boxes[at]]
        there = [(bases[other], forest[boxes[other]]) for other in order[:i]]
        taken = sorted((base, base + it.height) for base, it in there if it.begin < box.end and box.begin < it.end)
        floor = 0
        for base, end in taken:
            if base - floor >= box.height:
                break
            floor = max(floor, end)
        bases[at] = floor
        peak = max(peak, floor + box.height)
    return peak, bases


def _leaves_of(forest: Forest, whole: int) -> list[tuple[int, int]]:
    """The blocks of a piece, and their distances above its base."""
    leaves: list[tuple[int, int]] = []
    todo = [(0, whole)]
    while todo:
        base, node = todo.pop()
        piece = forest[node]
        if piece.is_leaf:
            leaves.append((base, node))
        else:
            below, right, *others = piece.parts
            top = base + forest[below].height
            todo += [(base, below), (base if piece.is_chain or others else top, right)]
            if others:
                left, above, middle = others
                todo += [
                    (top, left),
                    (max(base + forest[right].height, top + forest[middle].height), above),
                    (top, middle),
                ]
    return leaves
