"""What is glued so far below a height, as in native/gluing/assembly.hpp: the pieces, and the room that their joints waste."""

from __future__ import annotations

from .course import Course
from .forest import Forest, Piece
from .leaves import LeafBlocks
from .slack import Slack

# The same numbers stand in kernels/native/gluing.
LOOKS_A_JOINT = 20
LOOKS_A_PAYMENT = 10


class Assembly:
    """It begins with loose blocks."""

    def __init__(self, blocks: LeafBlocks, height: int, course: Course) -> None:
        self.blocks, self.height, self.course = blocks, height, course
        self.slack = Slack(height, blocks.live, course)
        self.forest = Forest(len(blocks.live), blocks.pieces)
        self.room, self.waste = self.slack.total(), 0
        """The room in all sections while nothing is wasted, and what is wasted of it, scaled."""

    @property
    def loose(self) -> list[int]:
        return self.forest.loose

    def copy(self) -> Assembly:
        """Another one like this."""
        new = Assembly.__new__(Assembly)
        new.blocks, new.height, new.course = self.blocks, self.height, self.course
        new.room, new.waste = self.room, self.waste
        new.slack, new.forest = self.slack.copy(), self.forest.copy()
        return new

    def joined(self, *parts: int) -> Piece:
        """One on top of the other, or after it if it begins no sooner than that ends; or a wheel."""
        a, b = self.forest[parts[0]], self.forest[parts[1]]
        if len(parts) > 2:
            return Piece(a.begin, b.end, max(self._heights(parts)), parts)
        is_chain = a.end <= b.begin
        height = max(a.height, b.height) if is_chain else a.height + b.height
        return Piece(min(a.begin, b.begin), max(a.end, b.end), height, parts, is_chain)

    def _heights(self, wheel: tuple[int, ...]) -> tuple[int, int, int]:
        """Before, beside and after its middle."""
        below, right, left, above, middle = (self.forest[part].height for part in wheel)
        return below + left, below + middle + above, right + above

    def wasted(self, made: Piece) -> list[tuple[int, int, int]]:
        """The rectangles of the joined piece that none of its pieces fills, as (begin, end, height)."""
        a, b = self.forest[made.parts[0]], self.forest[made.parts[1]]
        if made.is_wheel:
            middle = self.forest[made.parts[-1]]
            before, beside, after = (made.height - height for height in self._heights(made.parts))
            found = [
                (made.begin, middle.begin, before),
                (middle.begin, middle.end, beside),
                (middle.end, made.end, after),
            ]
        elif made.is_chain:
            found = [
                (a.begin, a.end, made.height - a.height),
                (a.end, b.begin, made.height),
                (b.begin, b.end, made.height - b.height),
            ]
        else:
            found = [
                (made.begin, a.begin, a.height),
                (a.end, made.end, a.height),
                (made.begin, b.begin, b.height),
                (b.end, made.end, b.height),
            ]
        return [(begin, end, height) for begin, end, height in found if begin < end and height > 0]

    def join(self, made: Piece) -> int:
        self._pay(made, 1)
        return self.forest.join(made)

    def split(self, node: int) -> None:
        """Takes a piece apart. Its node keeps its data until it is given back."""
        self._pay(self.forest[node], -1)
        self.forest.split(node)

    def give_back(self, node: int) -> None:
        self.forest.unused.append(node)

    def undo(self, changes: list[tuple[int, bool]]) -> None:
        for node, was_made in reversed(changes):
            if was_made:
                self.split(node)
                self.give_back(node)
            else:
                self.forest.rejoin(node)
                self._pay(self.forest[node], 1)

    def with_parts(self, nodes: list[int]) -> list[int]:
        """These pieces and all that they are made of, each after what it is part of."""
        found = list(nodes)
        for node in found:
            found += self.forest[node].parts
        return found

    def lower(self, height: int) -> None:
        """Takes apart what cannot be kept below this lower height: each joint that wastes room where it is short, and all joints above it."""
        self.slack.shift_by(height - self.height)
        self.height, self.room = height, self.slack.room(height, self.blocks.live)
        nodes = self.with_parts(self.loose)
        self.course.work += LOOKS_A_PAYMENT * len(nodes)
        goes: set[int] = set()
        for node in reversed(nodes):
            piece = self.forest[node]
            if not piece.is_leaf and (not goes.isdisjoint(piece.parts) or self._lacks_room(piece)):
                goes.add(node)
        for node in nodes:
            if node in goes:
                self.split(node)
                self.give_back(node)

    def _lacks_room(self, made: Piece) -> bool:
        return any(min(self.slack.free[begin:end]) < 0 for begin, end, _ in self.wasted(made))

    def _pay(self, made: Piece, sign: int) -> None:
        self.course.work += LOOKS_A_JOINT
        for begin, end, height in self.wasted(made):
            self.slack.take(begin, end, sign * height)
            self.waste += sign * self.slack.scaled(height) * (end - begin)
            self.course.work += LOOKS_A_PAYMENT + 2 * (end - begin)
