"""State and propagation for blocks of every kind: several rectangles, exclusions, explicit conflicts."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..building.distances import Edge
from ..building.model import Member, Model
from ..watch import Watch
from .journal import Journal
from .state import EMPTY, Level


class GeneralState(Journal):
    """Lows, placed blocks, and the bounds that cliques put on their members."""

    self_contained = False  # a block may hang below a placed one

    def __init__(self, model: Model, watch: Watch) -> None:
        super().__init__(model, watch)
        self.restricted = any(block.is_restricted for block in model.blocks)
        self.entries: list[list[tuple[int, Member]]] = [[] for _ in model.blocks]
        for c, clique in enumerate(model.cliques):
            for member in clique.members:
                self.entries[member.block].append((c, member))
        self.hanging = [0] * len(model.blocks)
        """By block: the number of placed conflicting blocks that it may lie below."""
        self.rows: list[list[Member]] = []
        self.queue: deque[int] = deque()
        self.queued: set[int] = set()

    def start(self, height: int) -> bool:
        self.at_root(height)
        self._clean()
        self.hanging[:] = [0] * len(self.hanging)
        for j, block in enumerate(self.model.blocks):
            self.low[j] = self._feasible(j, block.lowest)
            if self.low[j] > self.high[j]:
                return False
        self.set_ceilings()
        self.rows = [list(clique.members) for clique in self.model.cliques]
        for c in range(len(self.rows)):
            self._enqueue(c)
        if not self.settle():
            return False
        for j, entries in enumerate(self.entries):
            if not entries:
                self.offset[j] = self.low[j]
        return True

    def undo(self, mark: int) -> None:
        self._clean()
        self.rewind(mark)

    # --- choosing a block ---

    def lowest(self, clique: int, rank: Sequence[int]) -> int:
        return min(self._members(clique), key=lambda m: (self.low[m.block] + m.bottom, rank[m.block])).block

    def undermost(self, block: int, rank: Sequence[int]) -> tuple[int, int | None]:
        # Blocks of several rectangles can fit below each other in a circle.
        for _ in self.low:
            below = self._lying_below(block, rank)
            if below is None:
                break
            block = below
        else:
            self.work += len(self.model.edges[block])
        return block, self._alternative(block)

    def _lying_below(self, block: int, rank: Sequence[int]) -> int | None:
        """Of the unplaced blocks that fit below this one, the one that ends first."""
        x = self.low[block]
        self.work += len(self.model.edges[block])
        below = [
            (self.low[edge.other] - edge.low, rank[edge.other], edge.other)
            for edge in self._unplaced(block)
            if edge.open_from(self.low[edge.other] - x) < edge.high
        ]
        return min(below)[2] if below else None

    def _alternative(self, block: int) -> int | None:
        """The least offset of the block if it does not lie at its low because of an unplaced neighbour; None if no neighbour can push it."""
        x = self.low[block]
        pushed = []
        for edge in self._unplaced(block):
            other = self.model.blocks[edge.other]
            for low, high in edge.gaps:
                # The neighbour overlaps the block at x from positions strictly between x + low and x + high.
                start = other.align_up(max(self.low[edge.other], x + low + 1))
                if start < x + high:
                    pushed.append(start - low)
        return min(pushed, default=None)

    def _unplaced(self, block: int) -> list[Edge]:
        return [edge for edge in self.model.edges[block] if not self.placed[edge.other]]

    def _members(self, clique: int) -> list[Member]:
        """The unplaced members, which come first in the row."""
        return self.rows[clique][: self.left[clique]]

    # --- changes ---

    def place(self, block: int) -> bool:
        x = self.low[block]
        self.offset[block] = x
        self.change(self.placed, block, True)
        for c, member in self.entries[block]:
            row = self.rows[c]
            at, last = row.index(member), self.left[c] - 1
            row[at], row[last] = row[last], row[at]
            self.change(self.left, c, last)
            self.change(self.sum, c, self.sum[c] - member.height)
            self._enqueue(c)
        self.leave_stretch(block)
        self.work += len(self.model.edges[block]) + 2 * len(self.entries[block])
        for edge in self._unplaced(block):
            apart = self.low[edge.other] - x
            least = edge.open_from(apart)
            if least < edge.high:
                self.change(self.hanging, edge.other, self.hanging[edge.other] + 1)
            if least > apart and not self.raise_to(edge.other, x + least):
                return False
        return True

    def raise_to(self, block: int, least: int) -> bool:
        self.watch.look()
        before = self.low[block]
        x = self._feasible(block, least)
        if x > self.high[block]:
            self._blame(block)
            return False
        self.change(self.low, block, x)
        for c, member in self.entries[block]:
            # Raising a member that could not be the lowest changes nothing.
            if before + member.bottom <= self.levels[c].reach:
                self._enqueue(c)
        self.work += len(self.entries[block])
        return True

    def _feasible(self, block: int, x: int) -> int:
        """The least start from x on that avoids forbidden starts and placed blocks."""
        while True:
            before = x
            if self.restricted:
                x = self.model.blocks[block].next_start(x)
            if self.hanging[block] > 0 and x == before:
                for edge in self.model.edges[block]:
                    if self.placed[edge.other]:
                        at = self.offset[edge.other]
                        x = at + edge.open_seen_from_other(x - at)
                self.work += len(self.model.edges[block])
            if x == before or x > self.high[block]:
                return x

    def _blame(self, block: int) -> None:
        """Blames the fullest clique of a block that has no room."""
        if self.entries[block]:
            self.bump(max((c for c, _ in self.entries[block]), key=lambda c: (self.levels[c].floor, -c)))

    # --- bounds from cliques ---

    def settle(self) -> bool:
        """Propagates queued cliques in order."""
        while self.queue:
            c = self.queue.popleft()
            self.queued.discard(c)
            if not self._refresh(c):
                self._clean()
                return False
        return True

    def _enqueue(self, clique: int) -> None:
        if clique not in self.queued:
            self.queued.add(clique)
            self.queue.append(clique)

    def _clean(self) -> None:
        self.queue.clear()
        self.queued.clear()

    def _refresh(self, c: int) -> bool:
        self.watch.look()
        self.change(self.levels, c, self.levels[c])
        members = self._members(c)
        if not members:
            self.set_level(c, EMPTY)
            return True
        self.work += 2 * len(members)
        floor = min(self.low[m.block] + m.bottom for m in members)
        top = self.ceiling[c]
        if self.uneven[c]:
            self.work += len(members)
            *_, second, top = sorted([-1, *(self.high[m.block] + m.top for m in members)])
        reach = self.model.cliques[c].reach_below(top, self.sum[c])
        if self.uneven[c] and reach >= floor and second - floor < self.sum[c]:
            # If only one member can end high enough, it is the last.
            last = next(m for m in members if self.high[m.block] + m.top == top)
            x = floor + self.sum[c] - last.top
            if self.low[last.block] < x:
                if not self.raise_to(last.block, x):
                    return False
                floor = min(self.low[m.block] + m.bottom for m in members)
        if reach < floor:
            self.bump(c)
            return False
        able = [m for m in members if self.low[m.block] + m.bottom <= reach]
        self.set_level(c, Level(floor, reach, len(able), len(able) < len(members)))
        # Members that cannot be the lowest lie above the earliest end of those that can.
        end = min(self.low[m.block] + m.solid_top for m in able)
        late = [m for m in members if reach < self.low[m.block] + m.bottom < end]
        return all(self.raise_to(m.block, end - m.bottom) for m in late)
