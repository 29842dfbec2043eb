"""Where the search stands: each unplaced block's low, what each clique has room for, and the journal that takes it all back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

EVERYWHERE = 1 << 63
"""Above all addresses."""

CHUNK = 32
"""Cliques side by side whose changes are watched together."""


@dataclass(frozen=True, slots=True)
class Level:
    """Facts about a clique's unplaced members from its last examination."""

    floor: int
    """A lower bound on all their bases."""
    reach: int
    """The lowest of them begins no higher: above, there is not enough room for all."""
    candidates: int
    """How many can be the lowest."""
    partial: bool
    """Some cannot."""

    @property
    def slack(self) -> int:
        return self.reach - self.floor


UNKNOWN = Level(0, EVERYWHERE, 0, True)
EMPTY = Level(0, 0, 0, False)


class State(Protocol):
    """The methods that the decision search needs."""

    low: list[int]
    """By block: no start below this is possible."""
    placed: list[bool]
    offset: list[int]
    """Of what is placed, and of what conflicts with nothing."""
    left: list[int]
    """By clique: how many of its members are unplaced."""
    levels: list[Level]
    ceiling: list[int]
    """By clique: the highest that a member of it can end."""
    spanned: list[int]
    """By clique: how many unplaced blocks span it and the next one."""
    weight: list[int]
    """By clique: its failures, fading."""
    failures: list[int]
    """Cliques that failed since the search last learnt from it."""
    restless: set[int]
    """Chunks of cliques that have changed since they were last rated."""
    work: int
    self_contained: bool
    """What is placed matters only by the lows of what is not."""

    def start(self, height: int) -> bool:
        """Everything as at the root of the search for this height; false if that is impossible at once."""

    def lowest(self, clique: int, rank: Sequence[int]) -> int:
        """The unplaced member that can begin lowest."""

    def undermost(self, block: int, rank: Sequence[int]) -> tuple[int, int | None]:
        """From a block down to one that nothing unplaced can lie below, and where that one lies at least if not at its low.

        None: then it need not be tried anywhere else.
        """

    def place(self, block: int) -> bool:
        """At its low. False if that leaves another block without room."""

    def raise_to(self, block: int, least: int) -> bool:
        """Its low becomes this or more. False if there is no room."""

    def settle(self) -> bool:
        """Brings all cliques up to date; false if one of them cannot hold its members."""

    def mark(self) -> int:
        """A point to come back to."""

    def undo(self, mark: int) -> None:
        """Back to where the mark was taken."""

    def take_cut(self) -> bool:
        """Has a cut in time opened since the last call?"""
