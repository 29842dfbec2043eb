"""A choice with a bin for each block, and how full that makes the bins. A bin is a memory, or a part of it between reserved ranges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from ..instance import Choice, Choices, Pick, Share, Tie

Homes: TypeAlias = dict[int, int]
"""The bin of each block."""
Spot: TypeAlias = tuple[int, int]
"""The number of a time, and a bin."""


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
        self.blocks: dict[int, Extent] = {}
        self.is_single: dict[int, bool] = {}
        """Is the block there with one set of picks only?"""
        picks: dict[int, tuple[Pick, ...]] = {}
        for time, shares in enumerate(self.live):
            for share in shares:
                known = self.blocks.get(share.block)
                self.blocks[share.block] = Extent(time if known is None else known.first, time)
                same = picks.setdefault(share.block, share.picks) == share.picks
                self.is_single[share.block] = same and self.is_single.get(share.block, True)
        self.bins = choices.memories.bins()
        self.pools = self._bins_of_blocks()
        self.groups = self._groups()
        self.ties: dict[int, list[Tie]] = {}
        """The ties of each block."""
        for tie in choices.memories.ties:
            if tie.one in self.blocks and tie.other in self.blocks:
                self.ties.setdefault(tie.one, []).append(tie)
                self.ties.setdefault(tie.other, []).append(tie)
        self._begun = [0] * (len(self.live) + 1)
        for extent in self.blocks.values():
            self._begun[extent.first + 1] += 1
        self._begun = [*accumulate(self._begun)]

    def _bins_of_blocks(self) -> dict[int, tuple[int, ...]]:
        """The bins in which each block may be: a pinned one only where it is pinned, others where they are not too large."""
        memories = self.choices.memories
        assert memories is not None
        found: dict[int, tuple[int, ...]] = {}
        known: dict[tuple[tuple[int, ...], int], tuple[int, ...]] = {}
        for share in {share for shares in self.live for share in shares}:
            kind = share.pools, share.size
            fitting = known[kind] if kind in known else known.setdefault(kind, memories.bins_for(share, self.bins))
            before = found.get(share.block, fitting)
            shared = before if before is fitting else tuple(sorted({*before} & {*fitting}))
            found[share.block] = shared or before or self._bins_in(share.pools)
        for p, taken in enumerate(memories.taken):
            mine = self._bins_in((p,)) if taken.pinned else ()
            for end, _, block in taken.pinned:
                there = tuple(b for b in mine if self.bins[b].low < end and ((high := self.bins[b].high) is None or end <= high))  # fmt: skip
                if there and block in found:
                    found[block] = there
        for tie in memories.ties:
            if tie.is_same and tie.pick is None and tie.one in found and tie.other in found:
                both = {self.bins[b].pool for b in found[tie.one]}.intersection(
                    self.bins[b].pool for b in found[tie.other]
                )
                for block in (tie.one, tie.other):
                    found[block] = tuple(b for b in found[block] if self.bins[b].pool in both) or found[block]
        return found

    def _bins_in(self, pools: Sequence[int]) -> tuple[int, ...]:
        inside = {*pools}
        return tuple(b for b, each in enumerate(self.bins) if each.pool in inside)

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

    def value(self, loads: Sequence[Sequence[int]]) -> int:
        """The least that such loads of the bins are worth."""
        memories = self.choices.memories
        assert memories is not None
        tops = [0] * len(memories.prices)
        for of, *live in zip(self.bins, *loads, strict=True):
            tops[of.pool] = max(tops[of.pool], of.low + max(live) if any(live) else 0)
        if memories.is_largest:
            return max(tops)
        return sum(top * price for top, price in zip(tops, memories.prices, strict=True))

    def loads(self, choice: Sequence[int], homes: Mapping[int, int]) -> list[list[int]]:
        """How many bytes are live at each time in each memory."""
        found = [[0] * len(self.bins) for _ in self.live]
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
        broken = {
            self.layout.blocks[tie.other].first for of in self.layout.ties.values() for tie in of if self._breaks(tie)
        }
        return [
            time
            for time, load in enumerate(self.layout.loads(self.choice, self.homes))
            if time in broken
            or any((cap := self.cap(time, p)) is not None and size > cap for p, size in enumerate(load))
        ]

    def _breaks(self, tie: Tie) -> bool:
        """True if the tie holds, and the blocks' bins break it, should both be there."""
        if tie.pick is not None and self.choice[tie.pick[0]] != tie.pick[1]:
            return False
        one, other = (self.layout.bins[self.homes[block]].pool for block in (tie.one, tie.other))
        return (one == other) != tie.is_same
