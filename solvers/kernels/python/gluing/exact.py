"""Gluing where blocks leave no room unused, as in native/gluing/exact.cpp: only joints that waste nothing.

Pieces of equal height that follow each other are joined, and pieces that begin and end together: as many of them as are as high as a piece beside them,
since there are many such sets of short-lived pieces, and any will do.
"""

from __future__ import annotations

from collections.abc import Iterable

from .course import Course
from .forest import Piece
from .gluer import Gluer
from .leaves import LeafBlocks
from .slack import ONE

# The same numbers stand in kernels/native/gluing.
LONG = 20
MOST_SUMMED = 14
MOST_HEIGHTS = 4
FEW_ALIKE = 3
LOOKS_A_CANDIDATE = 20
LOOKS_A_SUM = 8


class ExactGluing(Gluer):
    temperature = 28_000
    stuck = 8
    looks = LOOKS_A_SUM

    def __init__(self, blocks: LeafBlocks, course: Course, height: int) -> None:
        super().__init__(blocks, course)
        self.height = height
        """All sections are filled up to it."""

    def glue_all(self, noise: int, until: int) -> None:
        """Begin with loose blocks and glue them, from the surest joint on; then take apart and glue again."""
        self.noise = noise
        self._glue_once(self.height)
        self._improve(min(until, self.course.work + LONG * self.once))

    def _place(self) -> int:
        """A loose piece, or a block in one; what was joined last is as likely as all that was joined before."""
        below, forest = self.course.below, self.forest
        node = forest.loose[below(len(forest.loose))]
        if below(2) == 1:
            while not forest[node].is_leaf:
                node = forest[node].first if below(2) == 0 else forest[node].second
        return node

    def _key(self, made: Piece) -> int:
        return self._chance(made) if made.is_chain else 0

    def _joins_others(self, made: Piece) -> bool:
        """Looks for a better use of the pieces before two of them are stacked."""
        return not made.is_chain and self.noise > 0 and self._chain_some(made.begin, made.end)

    def _consider(self, first: int, second: int) -> None:
        self.course.work += LOOKS_A_CANDIDATE
        noise = self._some_noise()
        self._push(self._key(self.glued.joined(first, second)) + noise, first, second, noise)

    def _look_around(self, node: int) -> None:
        forest = self.forest
        piece = forest[node]
        beginning, following, before = forest.begins[piece.begin], forest.begins[piece.end], forest.ends[piece.begin]
        self.course.work += 2 * len(beginning) + len(following) + len(before)
        for other in following:
            if forest[other].height == piece.height:
                self._consider(node, other)
        for other in before:
            if forest[other].height == piece.height:
                self._consider(other, node)
        for other in beginning:
            if other != node and forest[other].end == piece.end:
                self._consider(min(node, other), max(node, other))

    def _chain_some(self, begin: int, end: int) -> bool:
        """Stack some of the pieces with this begin and end, as high as a piece before or after them, and chain them with it.

        First come the heights of which there is a piece on both sides, the highest before all. False if none is found.
        """
        forest, below = self.forest, self.course.below
        alike = [node for node in forest.begins[begin] if forest[node].end == end]
        total = sum(forest[node].height for node in alike)
        self.course.work += 2 * len(forest.begins[begin]) + len(forest.ends[begin]) + len(forest.begins[end])
        if len(alike) < FEW_ALIKE:
            return False
        left = [node for node in forest.ends[begin] if forest[node].height < total]
        beside = [(True, below(ONE), node) for node in left]
        before = {forest[node].height for node in left}
        for node in forest.begins[end]:
            height = forest[node].height
            if height < total:
                both = height in before
                beside.append((not both, -height if both else below(ONE), node))
        for _, _, node in sorted(beside)[:MOST_HEIGHTS]:
            chosen = self._add_up_to(forest[node].height, alike)
            if chosen is None:
                continue
            stack = chosen[0]
            for other in chosen[1:]:
                stack = self._join(self.glued.joined(stack, other))
            first, second = (node, stack) if forest[node].end == begin else (stack, node)
            self._look_around(self._join(self.glued.joined(first, second)))
            return True
        return False

    def _add_up_to(self, height: int, pieces: list[int]) -> list[int] | None:
        """Pieces at random whose heights add up to this one: all sets of some of them are tried, in two halves."""
        row = pieces.copy()
        count = min(len(row), MOST_SUMMED)
        for i in range(count):
            k = i + self.course.below(len(row) - i)
            row[i], row[k] = row[k], row[i]
        low, high = self._sums(row, range(count // 2)), self._sums(row, range(count // 2, count))
        a, b = 0, len(high)
        while a < len(low) and b > 0:
            total = low[a][0] + high[b - 1][0]
            if total < height:
                a += 1
            elif total > height:
                b -= 1
            else:
                bits = low[a][1] | high[b - 1][1]
                return [row[i] for i in range(count) if bits >> i & 1]
        return None

    def _sums(self, row: list[int], places: Iterable[int]) -> list[tuple[int, int]]:
        """Each sum of heights of some of these pieces, with a bit for each piece in it."""
        found = [(0, 0)]
        for i in places:
            found += [(total + self.forest[row[i]].height, bits | 1 << i) for total, bits in found]
        self.course.work += LOOKS_A_SUM * len(found)
        return sorted(found)
