"""The bases that placed blocks leave open to a block.

A placed block j at base y closes to block i the bases strictly between y + below and y + above: one triple (j, below, above) for each pair of parts
that must not overlap. With few pairs the triples are listed in advance; otherwise all placed rects are scanned.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..model.conflicts import live_pair_count, part_pairs, partners
from ..model.instance import Instance, Ints
from ..model.interruption import check_interrupted, interruptible
from .gaps import Span, open_base, open_base_of_many
from .orders import Fit

LISTED_PAIRS = 400_000
NOWHERE = -1
"""In the column of pools: the rect's block is lifted."""


class Neighbours(Protocol):
    """Holds the placed blocks and finds open bases beside them."""

    work: int
    """The work of one pass over all blocks."""

    def fresh(self) -> Neighbours:
        """An empty copy, with nothing placed."""

    def place(self, block: int, pool: int, base: int) -> None:
        """Places the block there."""

    def lift(self, block: int) -> None:
        """Removes the block."""

    def open_base(self, block: int, pool: int, span: Span, extra: list[tuple[int, int]], fit: Fit) -> int | None:
        """The base that the fit chooses, or None; `extra` are further open intervals of closed bases."""


def neighbours(instance: Instance) -> Neighbours:
    """The kind that suits the instance."""
    few = live_pair_count(instance) + len(instance.conflicts) <= LISTED_PAIRS
    return ListedNeighbours(instance) if few else ScannedNeighbours(instance)


class ListedNeighbours:
    """Lists all pairs: fastest for small instances; `fresh` reuses the lists for the next order."""

    def __init__(self, instance: Instance) -> None:
        pairs = part_pairs(instance)
        near: list[list[tuple[int, int, int]]] = [[] for _ in range(instance.blocks)]
        a, b = pairs[:, 0], pairs[:, 1]
        block, low, high = instance.part_block, instance.part_low, instance.part_high
        for i, j in ((a, b), (b, a)):
            rows = zip(
                block[i].tolist(),
                block[j].tolist(),
                (low[j] - high[i]).tolist(),
                (high[j] - low[i]).tolist(),
                strict=True,
            )
            for here, there, below, above in rows:
                near[here].append((there, below, above))
        self._near = near
        self._where: dict[int, tuple[int, int]] = {}
        self.work = 10 * instance.blocks + len(pairs) // 2

    def fresh(self) -> ListedNeighbours:
        """The same lists with nothing placed."""
        empty = object.__new__(ListedNeighbours)
        empty._near = self._near
        empty.work = self.work
        empty._where = {}
        return empty

    def place(self, block: int, pool: int, base: int) -> None:
        self._where[block] = (pool, base)

    def lift(self, block: int) -> None:
        del self._where[block]

    def open_base(self, block: int, pool: int, span: Span, extra: list[tuple[int, int]], fit: Fit) -> int | None:
        where = self._where
        closed = list(extra)
        for other, below, above in self._near[block]:
            there = where.get(other)
            if there is not None and there[0] == pool:
                closed.append((there[1] + below, there[1] + above))
        closed.sort()
        return open_base(closed, span, fit)


class ScannedNeighbours:
    """Compares with the rects of all placed blocks, by a few array operations for each block; keeps no lists of pairs."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        solid = instance.part_high > instance.part_low
        order = np.argsort(instance.rect_part, kind="stable")
        order = order[solid[instance.rect_part[order]]]
        block = instance.part_block[instance.rect_part[order]]
        by_block = order[np.argsort(block, kind="stable")]
        check_interrupted()
        bounds = np.searchsorted(np.sort(block), np.arange(instance.blocks + 1))
        self._rects = [by_block[s:e] for s, e in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]
        self._times: dict[int, list[tuple[int, Ints, Ints]]] = {}
        self._start, self._end, self._low, self._high, self._pool, self._part = (
            np.empty(len(order), dtype=np.int64) for _ in range(6)
        )
        self._count = 0
        self.work = 50 * instance.blocks + instance.blocks * len(instance.rect_part) // 200
        self._base: dict[int, tuple[int, int]] = {}
        self._rows: dict[int, slice] = {}
        self._lifted = False
        self._apart = partners(instance.conflicts.tolist())
        self._friends = partners(instance.exclusions.tolist())
        self._is_friend = np.zeros(len(instance.part_low), dtype=bool)
        """True for a part's friends while they are looked up."""
        check_interrupted()
        self._parts: list[list[int]] = [[] for _ in range(instance.blocks)]
        if self._apart:
            for part, owner in enumerate(instance.part_block.tolist()):
                self._parts[owner].append(part)

    def fresh(self) -> ScannedNeighbours:
        """The same instance with nothing placed."""
        empty = ScannedNeighbours(self._instance)
        empty._times = self._times
        return empty

    def place(self, block: int, pool: int, base: int) -> None:
        instance, rects = self._instance, self._rects[block]
        here = self._rows.get(block)
        if here is None:
            here = self._rows[block] = slice(self._count, self._count + len(rects))
            self._count += len(rects)
        parts = instance.rect_part[rects]
        self._start[here], self._end[here] = instance.rect_start[rects], instance.rect_end[rects]
        self._low[here], self._high[here] = base + instance.part_low[parts], base + instance.part_high[parts]
        self._pool[here], self._part[here] = pool, parts
        self._base[block] = (pool, base)

    def lift(self, block: int) -> None:
        self._lifted = True
        self._pool[self._rows[block]] = NOWHERE
        del self._base[block]

    def open_base(self, block: int, pool: int, span: Span, extra: list[tuple[int, int]], fit: Fit) -> int | None:
        found = list(extra)
        if self._apart:
            for part in self._parts[block]:
                found.extend(self._closed_to_part(block, part, pool))
        lows, highs = [], []
        if found:
            some = np.array(found, dtype=np.int64)
            lows.append(some[:, 0])
            highs.append(some[:, 1])
        times = self._times.get(block)
        if times is None:
            times = self._times[block] = _times_by_part(self._instance, self._rects[block])
        for part, starts, ends in interruptible(times):
            low, high = self._closed_to_times(part, starts, ends, pool)
            lows.append(low)
            highs.append(high)
        low = np.concatenate(lows) if lows else np.zeros(0, dtype=np.int64)
        high = np.concatenate(highs) if highs else np.zeros(0, dtype=np.int64)
        order = np.argsort(low)
        return open_base_of_many(low[order], high[order], span, fit)

    def _closed_to_times(self, part: int, starts: Ints, ends: Ints, pool: int) -> tuple[Ints, Ints]:
        """The intervals that placed blocks close to a part at any of these times; starts and ends are each sorted."""
        instance, n = self._instance, self._count
        if len(starts) == 1:
            near = (self._start[:n] < ends) & (self._end[:n] > starts)
        else:  # more have begun before its end than had ended by its start
            near = np.searchsorted(starts, self._end[:n]) > np.searchsorted(ends, self._start[:n], side="right")
        if len(instance.pools) > 1 or self._lifted:
            near &= self._pool[:n] == pool
        at = np.flatnonzero(near)
        if part in self._friends:
            friends = self._friends[part]
            self._is_friend[friends] = True
            at = at[~self._is_friend[self._part[at]]]
            self._is_friend[friends] = False
        return self._low[at] - instance.part_high[part], self._high[at] - instance.part_low[part]

    def _closed_to_part(self, block: int, part: int, pool: int) -> list[tuple[int, int]]:
        instance = self._instance
        found = []
        length = instance.part_high[part] - instance.part_low[part]
        for other in self._apart.get(part, ()):
            owner = int(instance.part_block[other])
            there = self._base.get(owner)
            solid = length and instance.part_high[other] > instance.part_low[other]
            if owner != block and solid and there is not None and there[0] == pool:
                found.append(
                    (
                        there[1] + int(instance.part_low[other] - instance.part_high[part]),
                        there[1] + int(instance.part_high[other] - instance.part_low[part]),
                    )
                )
        return found


def _times_by_part(instance: Instance, rects: Ints) -> list[tuple[int, Ints, Ints]]:
    """For each part of a block: the part, its rects' starts, and their ends, each sorted."""
    owners = instance.rect_part[rects]
    by_part = rects[np.argsort(owners, kind="stable")]
    parts, first, counts = np.unique(owners, return_index=True, return_counts=True)
    ends = np.cumsum(counts)
    found = []
    for k in interruptible(np.argsort(first).tolist()):  # in their original order
        some = by_part[ends[k] - counts[k] : ends[k]]
        found.append((int(parts[k]), np.sort(instance.rect_start[some]), np.sort(instance.rect_end[some])))
    return found
