"""The common part of both kinds of state, and the journal that undoes changes."""

from __future__ import annotations

from typing import Any, TypeVar

from ..building.model import Model
from ..watch import Watch
from .state import CHUNK, UNKNOWN, Level

T = TypeVar("T")


class Journal:
    """The fields that both kinds of state share, and the journal of changes."""

    self_contained: bool

    def __init__(self, model: Model, watch: Watch) -> None:
        blocks, cliques = len(model.blocks), len(model.cliques)
        self.model = model
        self.watch = watch
        self.low = [0] * blocks
        self.high = [0] * blocks
        self.placed = [False] * blocks
        self.offset = [0] * blocks
        self.left = [0] * cliques
        self.sum = [0] * cliques
        self.levels = [UNKNOWN] * cliques
        self.ceiling = [0] * cliques
        self.uneven = [False] * cliques
        self.spanned = [0] * cliques
        self.weight = [0] * cliques
        self.failures: list[int] = []
        self.restless: set[int] = set()
        self.work = 0
        self._cut = False
        self._entries: list[tuple[list[Any], int, Any]] = []

    def change(self, values: list[T], i: int, value: T) -> None:
        """Sets a value and records the old one."""
        self._entries.append((values, i, values[i]))
        values[i] = value

    def mark(self) -> int:
        return len(self._entries)

    def rewind(self, mark: int) -> None:
        while len(self._entries) > mark:
            values, i, value = self._entries.pop()
            values[i] = value
            if values is self.levels:
                self.restless.add(i // CHUNK)
        self._cut = False

    def take_cut(self) -> bool:
        cut, self._cut = self._cut, False
        return cut

    def bump(self, clique: int) -> None:
        """Counts a failure of the clique."""
        self.weight[clique] += 1
        self.failures.append(clique)

    def set_level(self, clique: int, level: Level) -> None:
        self.levels[clique] = level
        self.restless.add(clique // CHUNK)

    def leave_stretch(self, block: int) -> None:
        """Takes the block out of the spans of its stretch; a cut opens between two cliques that no unplaced block spans any more."""
        for c in self.model.stretch[block][:-1]:
            self.change(self.spanned, c, self.spanned[c] - 1)
            self._cut |= self.spanned[c] == 0

    def at_root(self, height: int) -> None:
        """Resets to the empty state. Lows and what depends on them are not yet set."""
        self._entries.clear()
        self._cut = True
        self.placed[:] = [False] * len(self.placed)
        self.spanned[:] = [0] * len(self.spanned)
        self.restless.update(c // CHUNK for c in range(len(self.levels)))
        for stretch in self.model.stretch:
            for c in stretch[:-1]:
                self.spanned[c] += 1
        for j, block in enumerate(self.model.blocks):
            top = (height - block.height - self.model.origin) // self.model.unit
            self.high[j] = block.align_down(min(block.highest, top))
        for c, clique in enumerate(self.model.cliques):
            self.watch.look()
            self.left[c] = len(clique.members)
            self.sum[c] = sum(member.height for member in clique.members)
            self.levels[c] = UNKNOWN

    def set_ceilings(self) -> None:
        """Sets the highest end of a member in each clique. A clique is uneven if its members cannot all end equally high."""
        for c, clique in enumerate(self.model.cliques):
            self.watch.look()
            ends = [self.high[member.block] + member.top for member in clique.members]
            self.ceiling[c] = max(ends)
            self.uneven[c] = min(ends) < max(ends)
