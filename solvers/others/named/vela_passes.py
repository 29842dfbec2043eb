"""First fit as Vela's hill climb runs it in each round: each buffer remembers which one pushed it up, and its turn."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...model.instance import Instance
from .heuristic import Run
from .rigid import Rigid


class Passes:
    """The passes over one pool's blocks.

    Blocks that a pass does not reach keep their end, pusher and turn of an earlier one, but not their address.
    """

    def __init__(self, blocks: Rigid, pool: int, members: list[int], near: list[list[int]]) -> None:
        self.members = members
        self._blocks, self._pool = blocks, pool
        inside = set(members)
        self.near = {b: self._as_met(b, [c for c in near[b] if c in inside]) for b in members}
        """In Vela's order: by the first time that two are live together."""
        self.near_set = {b: set(row) for b, row in self.near.items()}
        self._live_sum = self._sums()
        self.most_live = int(self._live_sum.max(initial=0))
        self._base: dict[int, int | None] = dict.fromkeys(members)
        self._end = dict.fromkeys(members, 0)
        self._pusher: dict[int, int | None] = dict.fromkeys(members)
        self._turn = dict.fromkeys(members, 0)

    def _as_met(self, block: int, others: list[int]) -> list[int]:
        start = self._blocks.start
        return sorted(others, key=lambda other: (max(start[block], start[other]), other))

    def _sums(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The live sum of each section."""
        blocks = self._blocks
        change = np.zeros(blocks.instance.sections + 1, dtype=np.int64)
        for b in self.members:
            if blocks.is_live(b):
                change[blocks.start[b]] += blocks.size[b]
                change[blocks.end[b]] -= blocks.size[b]
        return np.cumsum(change[:-1])

    def by_urgency(self, instance: Instance) -> list[int]:
        """By urgency, then lifetime in the user's time, then begin, then size; ties in input order."""
        blocks = self._blocks
        times = None if instance.source is None else instance.source.times.tolist()

        def key(b: int) -> tuple[int, int, int, int]:
            start, end = blocks.start[b], blocks.end[b]
            life = end - start if times is None or end <= start else times[end] - times[start]
            return -int(self._live_sum[start:end].max(initial=0)), -life, start, -blocks.size[b]

        return sorted(self.members, key=key)

    def make(self, order: list[int], best: int | None, run: Run) -> int | None:
        """Places all blocks in this order; returns the greatest end, or None as soon as it exceeds the best."""
        self._base = dict.fromkeys(self.members)
        size = 0
        for turn, block in enumerate(order):
            size = max(size, self._place(block, run))
            self._turn[block] = turn
            if best is not None and size > best:
                return None
        return size

    def _place(self, block: int, run: Run) -> int:
        """Places the block at the lowest free address and returns its end."""
        length, ends = self._blocks.size[block], self._end
        walls = [(c, base) for c in self.near[block] if (base := self._base[c]) is not None]
        run.spend(1 + len(self.near[block]) // 4)
        at, pusher = self._blocks.aligned(block, self._pool, 0), None
        fits = False
        while not fits:
            fits = True
            for other, base in walls:
                if ends[other] > at and base < at + length:
                    fits = False
                    at, pusher = self._blocks.aligned(block, self._pool, ends[other]), other
        self._base[block], self._end[block], self._pusher[block] = at, at + length, pusher
        return at + length

    def bases(self) -> list[int]:
        """The bases of all members, after a pass that placed them all."""
        return [base for b in self.members if (base := self._base[b]) is not None]

    def highest(self) -> int:
        """The block that ends highest; the first of equals."""
        return max(self.members, key=lambda b: (self._end[b], -b))

    def turns_below(self, block: int) -> list[int]:
        """The turns of the block, its neighbours, and all that pushed them up; each once, in the order found."""
        found: dict[int, None] = {}
        for begin in (block, *self.near[block]):
            at: int | None = begin
            while at is not None:
                found[self._turn[at]] = None
                at = self._pusher[at]
        return list(found)

    def turns_near(self, blocks: Iterable[int]) -> list[int]:
        """The turns of these blocks' neighbours."""
        return [self._turn[other] for block in blocks for other in self.near[block]]
