"""Gluing where blocks leave no room unused, as in native/gluing/exact.cpp: only joints that waste nothing.

Pieces of equal height that follow each other are joined, and pieces that begin and end together: as many of them as are as high as a piece beside them,
since there are many such sets of short-lived pieces, and any will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from ....model.splitmix import SplitMix64
from .assembly import MOST_OTHERS, MOST_RIVALS, MOST_SURETY, NOISES, PATH_BITS
from .forest import Forest, Piece
from .slack import ONE, Slack, log2

# The same numbers stand in kernels/native/gluing.
TEMPERATURE = 28_000
LONG = 20
STUCK = 8
MOST_SUMMED = 14
MOST_HEIGHTS = 4
FEW_ALIKE = 3
LOOKS_A_CANDIDATE = 20
LOOKS_A_CHANGE = 20
LOOKS_A_SUM = 8


class ExactGluing:
    def __init__(
        self,
        sections: int,
        leaves: list[tuple[int, int, int]],
        random: SplitMix64,
        slack: Slack,
        is_over: Callable[[], bool],
    ) -> None:
        self.sections, self.leaves, self.random, self.slack, self.is_over = sections, leaves, random, slack, is_over
        """`slack` only counts the work."""
        self.forest = Forest(0, [])
        self.noise = self.turn = 0
        self.queue: list[tuple[int, int, int, int, int, bool]] = []
        self.log: list[tuple[int, bool]] = []
        self.fresh: list[int] = []

    def glue_all(self, noise: int, until: int) -> None:
        """Begin with loose blocks and glue them, from the surest joint on; then take apart and glue again."""
        begun = self.slack.work
        self.forest = Forest(self.sections, self.leaves)
        self._forget()
        self.noise = noise
        for leaf in range(len(self.leaves)):
            if self.is_over():
                break
            self._look_around(leaf)
        self._glue()
        once = self.slack.work - begun
        until = min(until, self.slack.work + LONG * once)
        fewest = count = len(self.forest.loose)
        last = self.slack.work
        while len(self.forest.loose) > 1 and self.slack.work < until and self.slack.work - last < STUCK * once:
            if self.is_over():
                break
            self._move()
            more = (len(self.forest.loose) - count) * ONE
            allowed = ((64 << 16) - log2(self.random.next())) * TEMPERATURE >> 16
            if not self.is_over() and more <= allowed:
                self.forest.unused += [node for node, was_made in self.log if not was_made]
            else:
                self._undo()
            count = len(self.forest.loose)
            if count < fewest:
                fewest, last = count, self.slack.work

    def _below(self, most: int) -> int:
        return (self.random.next() >> 32) * most >> 32

    def _forget(self) -> None:
        self.queue, self.turn, self.log, self.fresh = [], 0, [], []

    def _move(self) -> None:
        self._forget()
        self.noise = NOISES[self._below(len(NOISES))]
        forest, loose = self.forest, self.forest.loose
        piece = loose[self._below(len(loose))]
        where = piece if self._below(2) == 0 else self._leaf_of(piece)
        time = forest[where].begin if self._below(2) == 0 else forest[where].end
        touching = [other for other in loose if other != where and forest[other].touches(time)]
        first = [where] if forest.is_loose(where) else []
        self.slack.work += len(loose)
        others = min(len(touching), 1 + self._below(MOST_OTHERS))
        for i in range(others):
            k = i + self._below(len(touching) - i)
            touching[i], touching[k] = touching[k], touching[i]
        for node in (*first, *touching[:others]):
            self._take_apart(node, time)
        for node in self.fresh:
            if forest.is_loose(node):
                self._look_around(node)
        self._glue()

    def _leaf_of(self, node: int) -> int:
        while not self.forest[node].is_leaf:
            piece = self.forest[node]
            node = piece.first if self._below(2) == 0 else piece.second
        return node

    def _take_apart(self, node: int, time: int) -> None:
        self.fresh.append(node)
        forest = self.forest
        for _ in range(1 + self._below(2 << self._below(PATH_BITS))):
            piece = forest[node]
            if piece.is_leaf:
                break
            forest.split(node)
            self.slack.work += LOOKS_A_CHANGE
            self.log.append((node, False))
            self.fresh += (piece.first, piece.second)
            in_first, in_second = forest[piece.first].touches(time), forest[piece.second].touches(time)
            goes_first = self._below(2) == 0 if in_first == in_second else in_first
            node = piece.first if goes_first else piece.second

    def _undo(self) -> None:
        self.slack.work += LOOKS_A_CHANGE * len(self.log)
        for node, was_made in reversed(self.log):
            if was_made:
                self.forest.split(node)
                self.forest.unused.append(node)
            else:
                self.forest.rejoin(node)

    def _key(self, first: int, second: int, is_stack: bool) -> int:
        """The logarithm of how many joints are possible there, less that of the height."""
        if is_stack:
            return 0
        ends = min(len(self.forest.ends[self.forest[first].end]), MOST_RIVALS)
        begins = min(len(self.forest.begins[self.forest[second].begin]), MOST_RIVALS)
        return log2(ends * begins) - min(log2(self.forest[first].height + 1), MOST_SURETY)

    def _consider(self, first: int, second: int, *, is_stack: bool = False) -> None:
        self.slack.work += LOOKS_A_CANDIDATE
        noise = 0
        if self.noise > 0:
            up = self._below(ONE)
            noise = self.noise * (up - self._below(ONE)) >> 16
        heappush(self.queue, (self._key(first, second, is_stack) + noise, self.turn, first, second, noise, is_stack))
        self.turn += 1

    def _look_around(self, node: int) -> None:
        forest = self.forest
        piece = forest[node]
        beginning, following, before = forest.begins[piece.begin], forest.begins[piece.end], forest.ends[piece.begin]
        self.slack.work += 2 * len(beginning) + len(following) + len(before)
        for other in following:
            if forest[other].height == piece.height:
                self._consider(node, other)
        for other in before:
            if forest[other].height == piece.height:
                self._consider(other, node)
        for other in beginning:
            if other != node and forest[other].end == piece.end:
                self._consider(min(node, other), max(node, other), is_stack=True)

    def _join(self, first: int, second: int, *, is_stack: bool) -> int:
        a, b = self.forest[first], self.forest[second]
        height = a.height + (b.height if is_stack else 0)
        node = self.forest.join(Piece(a.begin, b.end, height, first, second, not is_stack))
        self.slack.work += LOOKS_A_CHANGE
        self.log.append((node, True))
        return node

    def _glue(self) -> None:
        while self.queue and not self.is_over():
            known, _, first, second, noise, is_stack = candidate = heappop(self.queue)
            self.slack.work += LOOKS_A_SUM
            if not self.forest.is_loose(first) or not self.forest.is_loose(second):
                continue
            key = self._key(first, second, is_stack) + noise
            if key > known and self.queue and key > self.queue[0][0]:
                heappush(self.queue, (key, self.turn, first, second, noise, is_stack))
                self.turn += 1
            elif is_stack and self.noise > 0 and self._chain_some(first):
                heappush(self.queue, candidate)
            else:
                self._look_around(self._join(first, second, is_stack=is_stack))

    def _chain_some(self, one: int) -> bool:
        """Stack some of the pieces that begin and end with this one, as high as a piece before or after them, and chain them with it.

        First come the heights of which there is a piece on both sides, the highest before all. False if none is found.
        """
        forest, begin, end = self.forest, self.forest[one].begin, self.forest[one].end
        alike = [node for node in forest.begins[begin] if forest[node].end == end]
        total = sum(forest[node].height for node in alike)
        self.slack.work += 2 * len(forest.begins[begin]) + len(forest.ends[begin]) + len(forest.begins[end])
        if len(alike) < FEW_ALIKE:
            return False
        left = [node for node in forest.ends[begin] if forest[node].height < total]
        beside = [(True, self._below(ONE), node) for node in left]
        before = {forest[node].height for node in left}
        for node in forest.begins[end]:
            height = forest[node].height
            if height < total:
                both = height in before
                beside.append((not both, -height if both else self._below(ONE), node))
        for _, _, node in sorted(beside)[:MOST_HEIGHTS]:
            chosen = self._add_up_to(forest[node].height, alike)
            if chosen is None:
                continue
            stack = chosen[0]
            for other in chosen[1:]:
                stack = self._join(stack, other, is_stack=True)
            first, second = (node, stack) if forest[node].end == begin else (stack, node)
            self._look_around(self._join(first, second, is_stack=False))
            return True
        return False

    def _add_up_to(self, height: int, pieces: list[int]) -> list[int] | None:
        """Pieces at random whose heights add up to this one: all sets of some of them are tried, in two halves."""
        row = pieces.copy()
        count = min(len(row), MOST_SUMMED)
        for i in range(count):
            k = i + self._below(len(row) - i)
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
        self.slack.work += LOOKS_A_SUM * len(found)
        return sorted(found)
