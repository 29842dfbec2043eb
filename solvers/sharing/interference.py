"""Which blocks must not share an object: those needed at one time or in conflict, unless they are excluded."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..model.conflicts import live_pair_count, part_pairs
from ..model.errors import Unsupported
from ..model.instance import Instance, Ints
from ..model.interruption import interruptible

MOST_PAIRS = 3_000_000
"""With exclusions all clashing pairs are listed; more of them would take minutes."""


class Interference:
    """Answers whether a block may join the users of an object. Times are bits of one long integer, so one operation compares them all."""

    def __init__(self, instance: Instance) -> None:
        self._spans = merged_spans(instance)
        self._listed = bool(len(instance.exclusions))
        pairs = block_pairs(instance) if self._listed else conflict_pairs(instance)
        self._conflicting: dict[int, set[int]] = neighbours(pairs)

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

    def has_conflicts(self, block: int) -> bool:
        """True if anything other than time keeps it apart from others."""
        return bool(self._conflicting) and block in self._conflicting

    def is_one_stretch(self, block: int) -> bool:
        """True if it is needed without a break."""
        return len(self._spans[block]) <= 1

    def length(self, block: int) -> int:
        """The number of sections in which it is needed."""
        return sum(end - start for start, end in self._spans[block])

    def can_join(self, block: int, times: int, busy: int, members: Iterable[int]) -> bool:
        """True if the block, needed at `times`, may use an object that is busy at `busy` and has these users."""
        if not self._listed and times & busy:
            return False
        conflicting = self._conflicting.get(block)
        return conflicting is None or conflicting.isdisjoint(members)


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


def block_pairs(instance: Instance) -> Ints:
    """All pairs of blocks that clash, each once. Raises Unsupported if there are too many."""
    count = live_pair_count(instance) + len(instance.conflicts)
    if count > MOST_PAIRS:
        text = f"with exclusions, all pairs that clash are listed, and no more than {MOST_PAIRS:,}; here there are {count:,}"
        raise Unsupported("sharing", text)
    return _blocks(instance, part_pairs(instance))


def conflict_pairs(instance: Instance) -> Ints:
    """The pairs of blocks that clash whatever their lifetimes, each once."""
    solid = instance.part_high > instance.part_low
    return _blocks(instance, instance.conflicts[solid[instance.conflicts].all(axis=1)])


def neighbours(pairs: Ints) -> dict[int, set[int]]:
    """For each block, the blocks that it forms a pair with."""
    found: dict[int, set[int]] = {}
    for a, b in interruptible(pairs.tolist()):
        found.setdefault(a, set()).add(b)
        found.setdefault(b, set()).add(a)
    return found


def _blocks(instance: Instance, pairs: Ints) -> Ints:
    """The pairs' blocks, sorted, each pair once and none of a block with itself."""
    blocks = np.sort(instance.part_block[pairs], axis=1).reshape(-1, 2)
    return distinct(blocks[blocks[:, 0] != blocks[:, 1]], instance.blocks)


def distinct(pairs: Ints, count: int) -> Ints:
    """The pairs of numbers below `count`, sorted, each once. Each pair becomes one number, which is much faster than comparing rows."""
    keys = np.sort(pairs[:, 0] * count + pairs[:, 1])
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return np.stack([keys // max(count, 1), keys % max(count, 1)], axis=1)
