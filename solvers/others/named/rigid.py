"""Buffers as most planners see them: one size, and one lifetime from first use to last.

A block of several parts, or with several live ranges, becomes its hull: as high as all of it, live from its first section to its last. A placement of
the hulls is a valid placement of the real blocks; tighter ones are not found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...fitting.gaps import Span
from ...model.conflicts import live_pair_count, part_pairs
from ...model.errors import Unsupported
from ...model.instance import Instance, Ints
from ...model.needs import fixed


@dataclass(frozen=True, slots=True, eq=False)
class Rigid:
    """An instance of hulls, with the data that planners need for each block, as plain integers."""

    instance: Instance
    """The instance of the hulls: block i is part i, and has at most one rect."""
    size: list[int]
    start: list[int]
    """First section in which the block is live; 0 if it never is."""
    end: list[int]
    """The section after the last in which it is live; 0 if it never is."""
    lowest: list[list[int]]
    highest: list[list[int]]
    modulus: list[list[int]]
    residue: list[list[int]]
    fixed: list[bool]
    """True if the block's place is fixed."""

    def __len__(self) -> int:
        return len(self.size)

    def is_live(self, block: int) -> bool:
        return self.end[block] > self.start[block]

    def span(self, block: int, pool: int) -> Span:
        """The bases that the block may have there."""
        return Span(
            self.lowest[block][pool], self.highest[block][pool], self.modulus[block][pool], self.residue[block][pool]
        )

    def aligned(self, block: int, pool: int, address: int) -> int:
        """The first address from `address` on that has the block's alignment."""
        return address + (self.residue[block][pool] - address) % self.modulus[block][pool]

    def base(self, block: int, pool: int, address: int) -> int | None:
        """The least base from `address` on; None if it is too high."""
        base = self.aligned(block, pool, max(address, self.lowest[block][pool]))
        return base if base <= self.highest[block][pool] else None

    def rounded(self, block: int, pool: int) -> int:
        """The block's size, rounded up to its alignment."""
        return self.size[block] + -self.size[block] % self.modulus[block][pool]

    def reserved(self, block: int, pool: int) -> list[tuple[int, int]]:
        """Open intervals of bases that the pool's reserved ranges close."""
        size = self.size[block]
        return [(begin - size, end) for begin, end in self.instance.pools[pool].reserved] if size else []


def rigid(instance: Instance) -> Rigid:
    """The hulls of an instance's blocks."""
    hulls = _hulls(instance)
    n = hulls.blocks
    start, end = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    start[hulls.rect_part], end[hulls.rect_part] = hulls.rect_start, hulls.rect_end
    return Rigid(
        instance=hulls,
        size=hulls.part_high.tolist(),
        start=start.tolist(),
        end=end.tolist(),
        lowest=hulls.lowest.tolist(),
        highest=hulls.highest.tolist(),
        modulus=hulls.modulus.tolist(),
        residue=hulls.residue.tolist(),
        fixed=fixed(instance).tolist(),
    )


def _hulls(instance: Instance) -> Instance:
    n = instance.blocks
    owner = instance.part_block[instance.rect_part]
    first, last = np.full(n, instance.sections, dtype=np.int64), np.zeros(n, dtype=np.int64)
    np.minimum.at(first, owner, instance.rect_start)
    np.maximum.at(last, owner, instance.rect_end)
    live = np.flatnonzero(last > first)
    return replace(
        instance,
        part_block=np.arange(n, dtype=np.int64),
        part_low=np.zeros(n, dtype=np.int64),
        part_high=instance.block_high,
        rect_part=live,
        rect_start=first[live],
        rect_end=last[live],
        conflicts=_conflicts(instance),
        exclusions=_exclusions(instance),
        penalties=np.zeros((0, 3), dtype=np.int64),
        source=None,
    )


def _conflicts(instance: Instance) -> Ints:
    """Pairs of blocks with parts in explicit conflict, each once."""
    solid = instance.part_high > instance.part_low
    pairs = instance.part_block[instance.conflicts[solid[instance.conflicts].all(axis=1)]]
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0).reshape(-1, 2)


def _exclusions(instance: Instance) -> Ints:
    """Excluded pairs of blocks of one part. Other parts of a block may still conflict, so hulls of several parts do."""
    is_single_part = np.bincount(instance.part_block, minlength=instance.blocks) == 1
    pairs = instance.part_block[instance.exclusions]
    kept: Ints = pairs[is_single_part[pairs].all(axis=1)]
    return kept


MOST_PAIRS = 3_000_000
"""More pairs are refused: in Python, these planners would take minutes."""


def conflict_lists(instance: Instance, solver: str) -> list[list[int]]:
    """The list of conflicting blocks of each block. Asymmetric lists of a source are kept as they are."""
    source = instance.source
    if source is not None and len(source.listed):
        return _grouped(instance.part_block[source.listed], instance.blocks)
    count = live_pair_count(instance) + len(instance.conflicts)
    if count > MOST_PAIRS:
        raise Unsupported(
            solver, f"it lists all pairs that conflict, and takes no more than {MOST_PAIRS:,}; here there are {count:,}"
        )
    pairs = np.unique(np.sort(instance.part_block[part_pairs(instance)], axis=1), axis=0).reshape(-1, 2)
    return _grouped(np.concatenate([pairs, pairs[:, ::-1]]), instance.blocks)


def _grouped(pairs: Ints, blocks: int) -> list[list[int]]:
    """For each block, the second numbers of the pairs in which it is first, ascending."""
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    bounds = np.searchsorted(pairs[:, 0], np.arange(blocks + 1)).tolist()
    others = pairs[:, 1].tolist()
    return [others[a:b] for a, b in pairwise(bounds)]
