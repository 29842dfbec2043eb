"""The bases that reserved ranges close. A pool may have very many ranges, so only those that can matter to a block are listed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

import numpy as np

from ..model.instance import Instance
from .gaps import Span
from .orders import Fit

TRIES = 64
"""At most this many ranges are skipped one by one; then a base above all of them is taken."""


FIRST_LOOK = 16
"""Gaps examined at first, then four times as many, and so on."""


class Reserved:
    """The reserved ranges of each pool of an instance."""

    def __init__(self, instance: Instance) -> None:
        self._begins = [[begin for begin, _ in pool.reserved] for pool in instance.pools]
        self._ends = [[end for _, end in pool.reserved] for pool in instance.pools]
        self._gaps = [
            np.array([b[0] - a[1] for a, b in pairwise(pool.reserved)], dtype=np.int64) for pool in instance.pools
        ]
        """By pool: the room above each range except the last."""
        self._parts: list[list[tuple[int, int]]] = []
        """By block: the ranges of its non-empty parts."""
        if any(self._begins):
            self._parts = [[] for _ in range(instance.blocks)]
            for block, low, high in zip(
                instance.part_block.tolist(), instance.part_low.tolist(), instance.part_high.tolist(), strict=True
            ):
                if high > low:
                    self._parts[block].append((low, high))

    def above(self, block: int, pool: int, span: Span, base: int) -> int:
        """A base from this one on at which the block overlaps no range, found quickly: with few ranges, above them all."""
        if len(self._ends[pool]) > TRIES:
            return self._free(block, pool, span, base)
        base = max(base, self._top(pool))
        return base + (span.residue - base) % span.modulus

    def _top(self, pool: int) -> int:
        """The end of the last range; 0 without any."""
        return self._ends[pool][-1] if self._ends[pool] else 0

    def closed(self, block: int, pool: int, span: Span, above: int, fit: Fit) -> list[tuple[int, int]]:
        """The open intervals of bases that ranges close. For the lowest fit, those above the first free base from `above` on are left out."""
        begins, ends = self._begins[pool], self._ends[pool]
        if not begins:
            return []
        last = None
        if fit is Fit.LOWEST:
            last = self._free(block, pool, span, max(above, span.lowest))
        found = []
        for low, high in self._parts[block]:
            first = bisect_right(ends, span.lowest + low)
            until = len(begins) if last is None else bisect_left(begins, last + high)
            found += [(begins[r] - high, ends[r] - low) for r in range(first, until)]
        return found

    def _free(self, block: int, pool: int, span: Span, base: int) -> int:
        """A base from this one on at which the block overlaps no range."""
        begins, ends = self._begins[pool], self._ends[pool]
        for _ in range(TRIES):
            base += (span.residue - base) % span.modulus
            raised = base
            for low, high in self._parts[block]:
                at = bisect_right(ends, raised + low)
                if at < len(begins) and begins[at] < raised + high:
                    raised = ends[self._with_room_above(pool, at, high - low)] - low
            if raised == base:
                return base
            base = raised
        base = max(base, self._top(pool))
        return base + (span.residue - base) % span.modulus

    def _with_room_above(self, pool: int, at: int, height: int) -> int:
        """The first range from `at` on with at least this much room before the next."""
        gaps, look = self._gaps[pool], FIRST_LOOK
        while at < len(gaps):
            wide = np.flatnonzero(gaps[at : at + look] >= height)
            if len(wide):
                return at + int(wide[0])
            at, look = at + look, 4 * look
        return len(gaps)
