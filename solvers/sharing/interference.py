"""Which blocks must not share an object: those needed at one time or in conflict, unless they are excluded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..model.conflicts import live_pair_count, live_pairs, part_pairs, sets_of_partners
from ..model.errors import Unsupported
from ..model.instance import Instance, Ints
from ..model.interruption import interruptible

MOST_PAIRS = 3_000_000
"""More clashing pairs than these are not listed: it would take minutes."""


class Interference:
    """Answers whether a block may join the users of an object. Times are bits of one long integer, so one operation compares them all."""

    def __init__(self, instance: Instance) -> None:
        self._spans = merged_spans(instance)
        self._conflicting = sets_of_partners(conflict_pairs(instance).tolist())
        self._compatible = sets_of_partners(compatible_pairs(instance).tolist())

    def times(self, block: int) -> int:
        """The sections in which the block is needed, as bits."""
        bits = 0
        for start, end in self._spans[block]:
            bits |= (1 << end) - (1 << start)
        return bits

    def first(self, block: int) -> int:
        """The first section in which the block is needed; 0 if it never is."""
        return self._spans[block][0][0] if self._spans[block] else 0

    def hull(self, block: int) -> tuple[int, int]:
        """The first section in which it is needed, and the end of the last."""
        return self.first(block), self._spans[block][-1][1] if self._spans[block] else 0

    def only_time_parts(self, block: int) -> bool:
        """True if it must be apart from those that are needed when it is, and from no others."""
        return block not in self._conflicting and block not in self._compatible

    def is_one_stretch(self, block: int) -> bool:
        """True if it is needed without a break."""
        return len(self._spans[block]) <= 1

    def length(self, block: int) -> int:
        """The number of sections in which it is needed."""
        return sum(end - start for start, end in self._spans[block])

    def can_join(self, block: int, times: int, busy: int, members: Iterable[int]) -> bool:
        """True if the block, needed at `times`, may use an object that is busy at `busy` and has these users."""
        if times & busy:
            compatible = self._compatible.get(block)
            if compatible is None or any(m not in compatible and self._meet(block, m) for m in members):
                return False
        conflicting = self._conflicting.get(block)
        return conflicting is None or conflicting.isdisjoint(members)

    def _meet(self, block: int, other: int) -> bool:
        """True if both are needed in one section."""
        if self.is_one_stretch(block) and self.is_one_stretch(other):
            (start, end), (first, last) = self.hull(block), self.hull(other)
            return start < last and first < end
        return self.times(block) & self.times(other) != 0


def merged_spans(instance: Instance) -> list[list[tuple[int, int]]]:
    """The ranges of sections in which each block is needed, sorted and not touching."""
    spans: list[list[tuple[int, int]]] = [[] for _ in range(instance.blocks)]
    owner = instance.part_block[instance.rect_part]
    by_start = np.argsort(instance.rect_start, kind="stable")
    columns = (owner, instance.rect_start, instance.rect_end)
    for block, start, end in interruptible(list(zip(*(column[by_start].tolist() for column in columns), strict=True))):
        mine = spans[block]
        if mine and start <= mine[-1][1]:
            mine[-1] = (mine[-1][0], max(end, mine[-1][1]))
        else:
            mine.append((start, end))
    return spans


def block_pairs(instance: Instance, most: int) -> Ints:
    """All pairs of blocks that clash, each once. Raises Unsupported if they are more than `most`."""
    count = live_pair_count(instance) + len(instance.conflicts)
    if count > most:
        text = (
            f"with exclusions, all pairs that clash are compared, and no more than {most:,}; here there are {count:,}"
        )
        raise Unsupported("sharing", text)
    return _blocks(instance, part_pairs(instance))


def compatible_pairs(instance: Instance) -> Ints:
    """The pairs of blocks that may share although both are needed at one time, each once: no two of their parts clash, because of exclusions.

    Where blocks of several parts are too many to compare, theirs are left out.
    """
    pairs = _blocks(instance, instance.exclusions)
    compared = (np.bincount(instance.part_block, minlength=instance.blocks) > 1)[pairs].any(axis=1)
    if not compared.any():
        return pairs
    there = np.isin(instance.part_block[instance.rect_part], pairs[compared])
    rects = (instance.rect_part, instance.rect_start, instance.rect_end)
    part, start, end = (column[there] for column in rects)
    theirs = replace(instance, rect_part=part, rect_start=start, rect_end=end)
    if live_pair_count(theirs) > MOST_PAIRS:
        return pairs[~compared]
    clashing = [_keys(_blocks(instance, each), instance.blocks) for each in live_pairs(theirs)]
    return pairs[~np.isin(_keys(pairs, instance.blocks), np.concatenate([*clashing, np.zeros(0, dtype=np.int64)]))]


def conflict_pairs(instance: Instance) -> Ints:
    """The pairs of blocks that clash whatever their lifetimes, each once."""
    solid = instance.part_high > instance.part_low
    return _blocks(instance, instance.conflicts[solid[instance.conflicts].all(axis=1)])


def _blocks(instance: Instance, pairs: Ints) -> Ints:
    """The pairs' blocks, sorted, each pair once and none of a block with itself."""
    blocks = np.sort(instance.part_block[pairs], axis=1).reshape(-1, 2)
    return distinct(blocks[blocks[:, 0] != blocks[:, 1]], instance.blocks)


def distinct(pairs: Ints, count: int) -> Ints:
    """The pairs of numbers below `count`, sorted, each once. Each pair becomes one number, which is much faster than comparing rows."""
    keys = np.sort(_keys(pairs, count))
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return np.stack([keys // max(count, 1), keys % max(count, 1)], axis=1)


def _keys(pairs: Ints, count: int) -> Ints:
    keys: Ints = pairs[:, 0] * count + pairs[:, 1]
    return keys
