"""The state of the search: each unplaced block's low, each clique's room, and the journal that undoes changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

EVERYWHERE = 1 << 63
"""Greater than all addresses."""

CHUNK = 32
"""Number of neighbouring cliques whose changes are tracked together."""


@dataclass(frozen=True, slots=True)
class Level:
    """Facts about a clique's unplaced members when it was last examined."""

    floor: int
    """A lower bound on all their bases."""
    reach: int
    """The highest possible base of the lowest member: above it there is not enough room for all."""
    candidates: int
    """Number of members that can be the lowest."""
    partial: bool
    """True if some members cannot be the lowest."""

    @property
    def slack(self) -> int:
        return self.reach - self.floor


UNKNOWN = Level(0, EVERYWHERE, 0, True)
EMPTY = Level(0, 0, 0, False)


class State(Protocol):
    """The methods that the decision search needs."""

    low: list[int]
    """By block: a lower bound on its start."""
    placed: list[bool]
    offset: list[int]
    """Offsets of placed blocks, and of blocks that conflict with nothing."""
    left: list[int]
    """By clique: the number of its unplaced members."""
    levels: list[Level]
    ceiling: list[int]
    """By clique: the highest possible end of a member."""
    spanned: list[int]
    """By clique: the number of unplaced blocks that span it and the next one."""
    weight: list[int]
    """By clique: its failures, older ones counting less."""
    failures: list[int]
    """Cliques that failed since the search last adjusted its ratings."""
    restless: set[int]
    """Chunks of cliques that have changed since they were last rated."""
    work: int
    self_contained: bool
    """True if placed blocks matter only through the lows of unplaced ones."""

    def start(self, height: int) -> bool:
        """Resets to the root of the search for this height; false if that height is impossible at once."""

    def lowest(self, clique: int, rank: Sequence[int]) -> int:
        """The unplaced member with the lowest possible base."""

    def undermost(self, block: int, rank: Sequence[int]) -> tuple[int, int | None]:
        """Goes down from a block to one that no unplaced block can lie below: that block, and its least offset if not at its low.

        The offset is None if the block has no alternative to its low.
        """

    def place(self, block: int) -> bool:
        """Places the block at its low; false if that leaves another block without room."""

    def raise_to(self, block: int, least: int) -> bool:
        """Raises the block's low to at least this; false if there is no room."""

    def settle(self) -> bool:
        """Brings all cliques up to date; false if one of them cannot hold its members."""

    def mark(self) -> int:
        """A mark to undo back to."""

    def undo(self, mark: int) -> None:
        """Undoes all changes since the mark."""

    def take_cut(self) -> bool:
        """True if a cut in time has opened since the last call."""
