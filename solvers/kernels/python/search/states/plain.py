"""State and propagation where every block is one rectangle and all conflicts come from time.

Cliques are in the order of time, and a block is a member of consecutive ones. So no list of pairs is needed: the blocks that conflict with a block
are live when it begins, or begin while it is live.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ..building.model import Model
from ..watch import Watch
from .journal import Journal
from .state import CHUNK, EMPTY, Level

LONG_ROWS = 1_000_000
"""From this many members of cliques on, rows keep their order: moving members would cost more than skipping placed ones."""


class PlainState(Journal):
    """Lows, and the bounds that cliques put on them."""

    self_contained = True

    def __init__(self, model: Model, watch: Watch) -> None:
        super().__init__(model, watch)
        self.size = [block.size for block in model.blocks]
        self.restricted = any(block.is_restricted for block in model.blocks)
        self.moves_rows = sum(len(clique.members) for clique in model.cliques) < LONG_ROWS
        self.rows: list[list[int]] = []
        self.by_first = sorted((stretch.start, j) for j, stretch in enumerate(model.stretch) if stretch)
        self.dirty: set[int] = set()
        self._dirty_span: tuple[int, int] | None = None

    def start(self, height: int) -> bool:
        self.at_root(height)
        self._clean()
        for j, block in enumerate(self.model.blocks):
            self.high[j] = min(self.high[j], block.align_down(self.model.ceiling - block.size))
            self.low[j] = block.next_start(block.lowest)
            if self.low[j] > self.high[j]:
                return False
        self.set_ceilings()
        if any(total > ceiling for total, ceiling in zip(self.sum, self.ceiling, strict=True)):
            return False
        self.rows = [[member.block for member in clique.members] for clique in self.model.cliques]
        for c in range(len(self.rows)):
            self._soil(c)
        if not self.settle():
            return False
        for j, stretch in enumerate(self.model.stretch):
            if not stretch:
                self.offset[j] = self.low[j]
        return True

    def undo(self, mark: int) -> None:
        self._clean()
        self.rewind(mark)

    # --- choosing a block ---

    def lowest(self, clique: int, rank: Sequence[int]) -> int:
        return min(self._members(clique), key=lambda j: (self.low[j], rank[j]))

    def undermost(self, block: int, rank: Sequence[int]) -> tuple[int, int | None]:
        # A block that ends at or below this one's low could lie below it; a block that reaches across the low could push it higher.
        while True:
            x = self.low[block]
            lower = [k for k in self._near(block) if not self.placed[k] and self.low[k] < x + self.size[block]]
            below = [k for k in lower if self.low[k] + self.size[k] <= x]
            if not below:
                return block, min((self.low[k] + self.size[k] for k in lower), default=None)
            block = min(below, key=lambda k: (self.low[k] + self.size[k], rank[k]))

    def _near(self, block: int) -> list[int]:
        """The blocks that conflict with a block, in the order in which they are raised; some may be placed."""
        stretch = self.model.stretch[block]
        first, last = (bisect_left(self.by_first, (c, 0)) for c in (stretch.start + 1, stretch.stop))
        self.work += self._row_length(stretch.start) + last - first
        here = [k for k in self._members(stretch.start) if k != block]
        return here + [k for _, k in self.by_first[first:last]]

    # --- rows: the members of a clique, unplaced ones first ---

    def _row_length(self, clique: int) -> int:
        return self.left[clique] if self.moves_rows else len(self.rows[clique])

    def _members(self, clique: int) -> list[int]:
        """The unplaced members."""
        row = self.rows[clique]
        return row[: self.left[clique]] if self.moves_rows else [j for j in row if not self.placed[j]]

    def _leave_row(self, clique: int, block: int) -> None:
        """Swaps the block with the last unplaced one. Undone by restoring `left`; the order within a row only decides which failure is blamed."""
        if self.moves_rows:
            row, last = self.rows[clique], self.left[clique]
            at = row.index(block)
            row[at], row[last] = row[last], row[at]

    # --- changes ---

    def place(self, block: int) -> bool:
        x, size, stretch = self.low[block], self.size[block], self.model.stretch[block]
        self.offset[block] = x
        self.change(self.placed, block, True)
        for c in stretch:
            self.change(self.left, c, self.left[c] - 1)
            self.change(self.sum, c, self.sum[c] - size)
            self._leave_row(c, block)
            self._level_without(c, x + size, size)
        self.leave_stretch(block)
        self.work += 4 * (len(stretch) - 1) + self.left[stretch.start]
        for k in self._near(block):
            if not self.placed[k] and self.low[k] < x + size and not self.raise_to(k, x + size):
                return False
        return True

    def _level_without(self, c: int, end: int, size: int) -> None:
        """Updates the clique's level after one of its members was placed with this end. The remaining members lie above it.

        Where every member could be the lowest, the level follows without a full refresh, unless the slack becomes negative.
        """
        level = self.levels[c]
        if level.partial or self.uneven[c] or self.model.cliques[c].obstacles or self.left[c] == 0:
            self._soil(c)
            return
        self.change(self.levels, c, Level(max(level.floor, end), level.reach + size, level.candidates - 1, False))
        self.restless.add(c // CHUNK)
        if self.levels[c].slack < 0:
            self._soil(c)

    def raise_to(self, block: int, least: int) -> bool:
        self.watch.look()
        before = self.low[block]
        x = self.model.blocks[block].next_start(least) if self.restricted else least
        if x > self.high[block]:
            self._blame(block)
            return False
        self.change(self.low, block, x)
        stretch = self.model.stretch[block]
        for c in stretch:
            level = self.levels[c]
            # Raising a member matters if it could be the lowest before, and either no longer can or some other already could not.
            if before <= level.reach and (x > level.reach or level.partial):
                self._soil(c)
        if stretch:
            self.work += 4 + (stretch[-1] // CHUNK - stretch.start // CHUNK + 1)
        return True

    def _blame(self, block: int) -> None:
        """Blames the fullest clique of a block that has no room."""
        stretch = self.model.stretch[block]
        if stretch:
            self.bump(max(stretch, key=lambda c: (self.levels[c].floor, -c)))

    # --- bounds from cliques ---

    def settle(self) -> bool:
        """Refreshes dirty cliques in sweeps from the first to the chunk of the last; those that become dirty ahead are done in the same sweep."""
        while self._dirty_span is not None:
            first, last = self._dirty_span
            self._dirty_span = None
            for c in range(first, min((last // CHUNK + 1) * CHUNK, len(self.levels))):
                if c in self.dirty:
                    self.dirty.discard(c)
                    if not self._refresh(c):
                        self._clean()
                        return False
        return True

    def _soil(self, clique: int) -> None:
        self.dirty.add(clique)
        first, last = self._dirty_span or (clique, clique)
        self._dirty_span = min(first, clique), max(last, clique)

    def _clean(self) -> None:
        self.dirty.clear()
        self._dirty_span = None

    def _refresh(self, c: int) -> bool:
        self.watch.look()
        self.change(self.levels, c, self.levels[c])
        if self.left[c] == 0:
            self.set_level(c, EMPTY)
            return True
        members = self._members(c)
        self.work += 2 * self._row_length(c)
        floor = min(self.low[j] for j in members)
        top = self.ceiling[c]
        if self.uneven[c]:
            self.work += self._row_length(c)
            *_, second, top = sorted([-1, *(self.high[j] + self.size[j] for j in members)])
        reach = self.model.cliques[c].reach_below(top, self.sum[c])
        if self.uneven[c] and reach >= floor and second - floor < self.sum[c]:
            # If only one member can end high enough, it is the last.
            last = next(j for j in members if self.high[j] + self.size[j] == top)
            x = floor + self.sum[c] - self.size[last]
            if self.low[last] < x:
                if not self.raise_to(last, x):
                    return False
                floor = min(self.low[j] for j in members)
        if reach < floor:
            self.bump(c)
            return False
        able = [j for j in members if self.low[j] <= reach]
        self.set_level(c, Level(floor, reach, len(able), len(able) < len(members)))
        # Members that cannot be the lowest lie above the earliest end of those that can.
        end = min(self.low[j] + self.size[j] for j in able)
        late = [j for j in members if reach < self.low[j] < end]
        return all(self.raise_to(j, end) for j in late)
