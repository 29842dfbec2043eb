"""Buffers whose address is decided; in arrays if all that counts of the buffers is in columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from solvers.model.instance import Ints

from ..facts.intervals import merged
from ..facts.sweep import Pieces
from ..model.problem import Pool, Problem
from ..model.varied_columns import NOWHERE, VariedColumns
from .names import Names


class Pinned(NamedTuple):
    """A buffer whose address is decided."""

    pool: int
    offset: int
    by: int
    """The buffer whose `fixed` decides it: itself, or one colocated with it."""


class PinnedColumns(Mapping[int, Pinned]):
    """The buffers in columns that are fixed at an offset, by their numbers. Their sizes and pools are sound; nothing ties them to each other."""

    def __init__(self, columns: VariedColumns, names: Names) -> None:
        offset = columns.rare.get("offset")
        self._columns = columns
        self._which = np.zeros(0, np.int64) if offset is None else np.flatnonzero(offset != NOWHERE)
        self._offset = self._which if offset is None else offset if len(self) == len(offset) else offset[self._which]
        homes = np.array([-1 if each.home is None else names.pools[each.home] for each in columns.sayings])
        self._pool = homes.astype(np.min_scalar_type(-len(names.pools)))[columns.said[self._which]]

    def __len__(self) -> int:
        return len(self._which)

    def __iter__(self) -> Iterator[int]:
        return iter(self._which.tolist())

    def __getitem__(self, i: int) -> Pinned:
        at = int(np.searchsorted(self._which, i))
        if at == len(self._which) or self._which[at] != i:
            raise KeyError(i)
        return Pinned(int(self._pool[at]), int(self._offset[at]), i)

    def misplaced(self, problem: Problem) -> list[int]:
        """Return the numbers of those that break a rule of their pool or of their own, in order."""
        columns, found = self._columns, np.zeros(len(self), bool)
        highest = columns.rare.get("max_offset")
        if highest is not None:
            found = (highest[self._which] != NOWHERE) & (self._offset > highest[self._which])
        for p in _used(self._pool):
            at = np.flatnonzero(self._pool == p)
            which = self._which[at]
            found[at] |= _break_rules(problem.pools[p], self._offset[at], columns.size[which], columns.alignment[which])
        numbers: list[int] = self._which[found].tolist()
        return numbers

    def pieces(self) -> Iterator[Pieces]:
        """Return, for each pool, the addresses that its buffers take, and when."""
        columns, which = self._columns, self._which
        start, end, owner = columns.lives()
        kept = (start < end) & (columns.size[owner] > 0)
        if len(which) < len(columns):
            is_pinned = np.zeros(len(columns), bool)
            is_pinned[which] = True
            kept &= is_pinned[owner]
        if not kept.all():
            start, end, owner = start[kept], end[kept], owner[kept]
        del kept
        at = np.searchsorted(which, owner) if len(which) < len(columns) else owner
        low = self._offset[at]
        high, pool = low + columns.size[owner], self._pool[at]
        del at
        used = _used(pool)
        if len(used) == 1:
            yield Pieces(low, high, start, end, owner)
            return
        for p in sorted(used, key=lambda p: int(np.argmax(pool == p))):  # in the order of the buffers
            its = pool == p
            yield Pieces(low[its], high[its], start[its], end[its], owner[its])


def _used(numbers: Ints) -> list[int]:
    """Return the different ones of these small numbers."""
    found: list[int] = np.flatnonzero(np.bincount(numbers)).tolist()
    return found


def _break_rules(pool: Pool, offset: Ints, size: Ints, alignment: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell of each of the pool's buffers whether it lies outside, in a reserved range or unaligned."""
    end = offset + size
    address = offset.astype(np.uint64) + np.uint64(pool.base or 0)
    found = (address % alignment.astype(np.uint64) != 0) | (address % np.uint64(pool.alignment) != 0)
    if pool.size is not None:
        found |= end > pool.size
    reserved = np.array(merged(pool.reserved), dtype=np.int64).reshape(-1, 2)
    if len(reserved):
        at = np.minimum(np.searchsorted(reserved[:, 1], offset, side="right"), len(reserved) - 1)
        found |= (offset < reserved[at, 1]) & (reserved[at, 0] < end) & (offset < end)
    broken: np.ndarray[tuple[int], np.dtype[np.bool_]] = found
    return broken
