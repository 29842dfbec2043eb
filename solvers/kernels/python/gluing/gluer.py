"""Joins pieces, takes them apart where they meet at one time, and joins them again, as in native/gluing/gluer.hpp."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from heapq import heappop, heappush

from .assembly import Assembly
from .course import Course
from .forest import Forest, Piece
from .leaves import LeafBlocks
from .slack import ONE, log2
from .wheels import wheels_with

# The same numbers stand in kernels/native/gluing.
NOISES = (69_400, 231_300, 693_900)
MOST_RIVALS = 64
MOST_SURETY = 20 * ONE
PATH_BITS = 9
MOST_OTHERS = 4
WASTE_WEIGHS = 4
FEW_WHEELS = 100


class Gluer(ABC):
    """Which joints there are, and which come first, its heirs say."""

    temperature: int
    """At which moves may increase the pieces."""
    looks: int
    """The work of looking at a candidate again."""

    def __init__(self, blocks: LeafBlocks, course: Course) -> None:
        self.blocks, self.course = blocks, course
        self.glued = Assembly(blocks, 0, course)
        self.noise = self._turn = 0
        self.has_wheels = True
        self.once = 0
        """The work of the first gluing."""
        self._queue: list[tuple[int, int, tuple[int, ...], int]] = []
        self._log: list[tuple[int, bool]] = []
        self._fresh: list[int] = []

    @abstractmethod
    def _key(self, made: Piece) -> int | None:
        """The logarithm of the joint's cost; None if it is impossible."""

    @abstractmethod
    def _look_around(self, node: int) -> None:
        """Considers the joints of a new piece."""

    @abstractmethod
    def _place(self) -> int:
        """A piece, loose or not, at one of whose ends others are taken apart."""

    def _joins_others(self, made: Piece) -> bool:
        """Makes other joints that should come before this one; false if there are none."""
        return False

    @property
    def forest(self) -> Forest:
        return self.glued.forest

    def _glue_once(self, height: int) -> None:
        """Begins with loose blocks and glues them below a height, from the cheapest joint on."""
        begun = self.course.work
        self.glued = Assembly(self.blocks, height, self.course)
        self._forget()
        for leaf in range(len(self.blocks.pieces)):
            if self.course.is_over():
                break
            self._look_around(leaf)
        self._glue()
        nodes = self.glued.with_parts(self.glued.loose)
        wheels = sum(self.forest[node].is_wheel for node in nodes)
        self.has_wheels = self.has_wheels and wheels * FEW_WHEELS > len(self.blocks.pieces)
        self.course.work += len(nodes)
        self.once = self.course.work - begun

    def _wheels_with(self, node: int) -> list[tuple[int, ...]]:
        """The wheels of which this loose piece is part; none if hardly any were made so far: where blocks were cut straight, they are chance."""
        return wheels_with(self.forest, node, self.course) if self.has_wheels else []

    def _improve(self, until: int, patience: int) -> None:
        """Takes apart and glues again until one piece is left, or this much work brings no new minimum of pieces."""
        course = self.course
        last = course.work
        fewest, energy = len(self.glued.loose), self._energy()
        while len(self.glued.loose) > 1 and course.work < until:
            if course.work - last >= patience or course.is_over():
                break
            if len(self.glued.loose) < fewest:
                fewest, last = len(self.glued.loose), course.work
            self._move()
            after = self._energy()
            if not course.is_over() and after - energy <= self._leniency():
                energy = after
                for node, was_made in self._log:
                    if not was_made:
                        self.glued.give_back(node)
            else:
                self.glued.undo(self._log)

    def _loose_where(self, suits: Callable[[int], bool]) -> list[int]:
        """The loose pieces that are suitable."""
        self.course.work += len(self.glued.loose)
        return [node for node in self.glued.loose if suits(node)]

    def _forget(self) -> None:
        self._queue, self._turn, self._log, self._fresh = [], 0, [], []

    def _glue(self) -> None:
        """Makes joints from the cheapest on."""
        while self._queue and not self.course.is_over():
            known, _, parts, noise = candidate = heappop(self._queue)
            self.course.work += self.looks
            if not all(map(self.forest.is_loose, parts)):
                continue
            made = self.glued.joined(*parts)
            key = self._key(made)
            if key is None:
                continue
            if key + noise > known and self._queue and key + noise > self._queue[0][0]:
                self._push(key + noise, made, noise)
            elif self._joins_others(made):
                heappush(self._queue, candidate)
            else:
                self._look_around(self._join(made))

    def _push(self, key: int, made: Piece, noise: int) -> None:
        heappush(self._queue, (key, self._turn, made.parts, noise))
        self._turn += 1

    def _join(self, made: Piece) -> int:
        node = self.glued.join(made)
        self._log.append((node, True))
        return node

    def _some_noise(self) -> int:
        if self.noise == 0:
            return 0
        up = self.course.below(ONE)
        return self.noise * (up - self.course.below(ONE)) >> 16

    def _rivals(self, made: Piece) -> tuple[int, int]:
        """How many pieces end where the first of these does, and begin where the second does."""
        ends = len(self.forest.ends[self.forest[made.parts[0]].end])
        begins = len(self.forest.begins[self.forest[made.parts[1]].begin])
        return min(ends, MOST_RIVALS), min(begins, MOST_RIVALS)

    def _chance(self, made: Piece) -> int:
        """The logarithm of how many pairs could be chained there, less that of the height.

        Equal heights are the less likely by chance the greater they are, and where there are many pairs a joint can wait. In a wheel two heights
        are equal to those of two pieces.
        """
        ends, begins = self._rivals(made)
        sure = made.parts[1:3] if made.is_wheel else made.parts[1:]
        return log2(ends * begins) - sum(min(log2(self.forest[node].height + 1), MOST_SURETY) for node in sure)

    def _energy(self) -> int:
        return len(self.glued.loose) * ONE + self.glued.waste // (self.glued.room // (WASTE_WEIGHS * ONE) + 1)

    def _leniency(self) -> int:
        """The increase of energy that a move is allowed."""
        return ((64 << 16) - log2(self.course.random.next())) * self.temperature >> 16

    def _move(self) -> None:
        """Takes apart pieces that meet at one time, some way down, and glues them again."""
        self._forget()
        below = self.course.below
        self.noise = NOISES[below(len(NOISES))]
        where = self._place()
        forest = self.forest
        time = forest[where].begin if below(2) == 0 else forest[where].end
        touching = self._loose_where(lambda other: other != where and forest[other].touches(time))
        first = [where] if forest.is_loose(where) else []
        others = min(len(touching), 1 + below(MOST_OTHERS))
        for i in range(others):
            k = i + below(len(touching) - i)
            touching[i], touching[k] = touching[k], touching[i]
        for node in (*first, *touching[:others]):
            self._take_apart(node, time)
        for node in self._fresh:
            if forest.is_loose(node):
                self._look_around(node)
        self._glue()

    def _take_apart(self, node: int, time: int) -> None:
        self._fresh.append(node)
        forest, below = self.forest, self.course.below
        for _ in range(1 + below(2 << below(PATH_BITS))):
            piece = forest[node]
            if piece.is_leaf:
                break
            self.glued.split(node)
            self._log.append((node, False))
            self._fresh += piece.parts
            there = [part for part in piece.parts if forest[part].touches(time)] or piece.parts
            node = there[0 if len(there) == 1 else below(len(there))]
