"""Gluing where blocks leave no room unused, as in native/gluing/exact.cpp: only joints that waste nothing.

Pieces of equal height that follow each other are joined, wheels, and pieces that begin and end together: as many of them as are as high as a piece beside
them, since there are many such sets of short-lived pieces, and any will do.
"""

from __future__ import annotations

from collections.abc import Iterable

from .assembly import LOOKS_A_PAYMENT
from .course import Course
from .forest import Piece
from .gluer import NOISES, Gluer
from .leaves import LeafBlocks
from .slack import ONE

# The same numbers stand in kernels/native/gluing.
MOST_RENEWED = 500
LONG = 20
STUCK = 8
MOST_SUMMED = 14
MOST_HEIGHTS = 4
FEW_ALIKE = 3
LOOKS_A_CANDIDATE = 20
LOOKS_A_SUM = 8


class ExactGluing(Gluer):
    temperature = 28_000
    looks = LOOKS_A_SUM

    def __init__(self, blocks: LeafBlocks, course: Course, height: int) -> None:
        super().__init__(blocks, course)
        self.height = height
        """All sections are filled up to it."""
        self._window = (0, 0)

    def glue_all(self) -> None:
        """Begin with loose blocks and glue them, from the surest joint on."""
        self._glue_once(self.height)

    def renew(self, until: int) -> bool:
        """Take apart all that lies in a window of time, and glue it anew. True if that leaves fewer pieces; if it leaves more, it is undone.

        The window is that of two loose pieces that touch one time, or of one.
        """
        forest, course = self.forest, self.course
        known = len(forest.loose)
        one = forest[forest.loose[course.below(known)]]
        near = self._loose_where(lambda node: forest[node].begin <= one.end and one.begin <= forest[node].end)
        other = forest[near[course.below(len(near))]]
        self._window = (min(one.begin, other.begin), max(one.end, other.end))
        nodes = self.glued.with_parts(self._loose_where(self._is_inside))
        course.work += LOOKS_A_PAYMENT * len(nodes)
        # One node in two is a block.
        if len(nodes) > 2 * MOST_RENEWED:
            return False
        kept = self.glued.copy()
        course.work += len(forest.pieces)
        self._forget()
        begun = course.work
        for node in nodes:
            if not forest[node].is_leaf:
                self.glued.split(node)
                self.glued.give_back(node)
        self.noise = NOISES[0]
        for node in nodes:
            if forest.is_loose(node):
                self._look_around(node)
        self._glue()
        once = course.work - begun
        self._improve(min(until, course.work + LONG * once), STUCK * once)
        if len(forest.loose) > known or course.is_over():
            self.glued = kept
        return len(self.glued.loose) < known

    def _is_inside(self, node: int) -> bool:
        return self._window[0] <= self.forest[node].begin and self.forest[node].end <= self._window[1]

    def _place(self) -> int:
        """A loose piece in the window, or a block in one; what was joined last is as likely as all that was joined before."""
        below, forest = self.course.below, self.forest
        inside = self._loose_where(self._is_inside) or forest.loose  # all may be part of what begins or ends outside
        node = inside[below(len(inside))]
        if below(2) == 1:
            while not forest[node].is_leaf:
                node = forest[node].parts[below(len(forest[node].parts))]
        return node

    def _key(self, made: Piece) -> int:
        return self._chance(made) if made.is_chain or made.is_wheel else 0

    def _joins_others(self, made: Piece) -> bool:
        """Looks for a better use of the pieces before two of them are stacked."""
        return not made.is_chain and not made.is_wheel and self.noise > 0 and self._chain_some(made.begin, made.end)

    def _consider(self, made: Piece) -> None:
        self.course.work += LOOKS_A_CANDIDATE
        noise = self._some_noise()
        self._push(self._key(made) + noise, made, noise)

    def _look_around(self, node: int) -> None:
        forest = self.forest
        piece = forest[node]
        beginning, following, before = forest.begins[piece.begin], forest.begins[piece.end], forest.ends[piece.begin]
        self.course.work += 2 * len(beginning) + len(following) + len(before)
        for other in following:
            if forest[other].height == piece.height:
                self._consider(self.glued.joined(node, other))
        for other in before:
            if forest[other].height == piece.height:
                self._consider(self.glued.joined(other, node))
        for other in beginning:
            if other != node and forest[other].end == piece.end:
                self._consider(self.glued.joined(min(node, other), max(node, other)))
        for parts in self._wheels_with(node):
            made = self.glued.joined(*parts)
            if not self.glued.wasted(made):
                self._consider(made)

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
