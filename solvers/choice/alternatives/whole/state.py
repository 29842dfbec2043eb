"""A choice with a memory for each block, and how full that makes the memories."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from ..instance import Choice, Choices, Pick, Share

Homes: TypeAlias = dict[int, int]
"""The memory of each block."""
Spot: TypeAlias = tuple[int, int]
"""The number of a time, and a memory."""


class Extent(NamedTuple):
    """The numbers of the first and the last time at which something may be live."""

    first: int
    last: int

    def is_within(self, low: int, high: int) -> bool:
        return low <= self.first and self.last < high


class Layout:
    """What does not change in an instance: when blocks and groups are live, and in which memories each block may be."""

    def __init__(self, choices: Choices) -> None:
        assert choices.memories is not None
        self.choices = choices
        self.live: tuple[tuple[Share, ...], ...] = choices.memories.live
        self.pools: dict[int, tuple[int, ...]] = {}
        self.blocks: dict[int, Extent] = {}
        self.is_single: dict[int, bool] = {}
        """Is the block there with one set of picks only?"""
        picks: dict[int, tuple[Pick, ...]] = {}
        for time, shares in enumerate(self.live):
            for share in shares:
                known = self.blocks.get(share.block)
                self.blocks[share.block] = Extent(time if known is None else known.first, time)
                self.pools[share.block] = share.pools
                same = picks.setdefault(share.block, share.picks) == share.picks
                self.is_single[share.block] = same and self.is_single.get(share.block, True)
        self.groups = self._groups()
        self._begun = [0] * (len(self.live) + 1)
        for extent in self.blocks.values():
            self._begun[extent.first + 1] += 1
        self._begun = [*accumulate(self._begun)]

    def _groups(self) -> list[Extent]:
        """When the blocks are live that depend on each group."""
        found: list[Extent | None] = [None] * len(self.choices.costs)
        for shares in self.live:
            for share in shares:
                for g, _ in share.picks:
                    extent, known = self.blocks[share.block], found[g]
                    found[g] = extent if known is None else Extent(min(known[0], extent[0]), max(known[1], extent[1]))
        return [Extent(0, -1) if extent is None else extent for extent in found]

    def after(self, time: int, blocks: int) -> int:
        """The first time by which this many blocks more have begun; there is at least one time in between."""
        return min(max(bisect_left(self._begun, self._begun[time] + blocks), time + 1), len(self.live))

    def before(self, time: int, blocks: int) -> int:
        """The last time after which this many blocks have begun before the given one."""
        return max(bisect_left(self._begun, self._begun[time] - blocks + 1) - 1, 0)

    def is_there(self, share: Share, choice: Sequence[int]) -> bool:
        return not share.picks or any(choice[g] == a for g, a in share.picks)

    def loads(self, choice: Sequence[int], homes: Mapping[int, int]) -> list[list[int]]:
        """How many bytes are live at each time in each memory."""
        assert self.choices.memories is not None
        found = [[0] * len(self.choices.memories.prices) for _ in self.live]
        for load, shares in zip(found, self.live, strict=True):
            for share in shares:
                if self.is_there(share, choice):
                    load[homes[share.block]] += share.size
        return found


class State:
    """One choice, with the memories of the blocks that have one so far, and how full each memory may be at each time."""

    def __init__(
        self,
        layout: Layout,
        choice: Choice,
        homes: Mapping[int, int],
        tops: Sequence[int | None],
        caps: Mapping[Spot, int],
    ) -> None:
        self.layout = layout
        self.choice = list(choice)
        self.homes: Homes = dict(homes)
        self.tops = tops
        self._caps = caps

    def cap(self, time: int, pool: int) -> int | None:
        """The bytes that may be live then and there; None: any number."""
        return self._caps.get((time, pool), self.tops[pool])

    def too_full(self) -> list[int]:
        """The times at which some memory is fuller than it may be."""
        return [
            time
            for time, load in enumerate(self.layout.loads(self.choice, self.homes))
            if any((cap := self.cap(time, p)) is not None and size > cap for p, size in enumerate(load))
        ]
