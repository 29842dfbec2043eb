"""Who conflicts with whom, as lists: for planners that count conflicts, or walk from one to the next."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...model.conflicts import live_pair_count, part_pairs
from ...model.errors import Unsupported
from ...model.instance import Instance, Ints

MOST_PAIRS = 3_000_000
"""More pairs are refused: these planners would be at it for minutes, in Python."""


def conflict_lists(instance: Instance, solver: str) -> list[list[int]]:
    """Each block's list. Those of a source that are not symmetric are given as they are."""
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
    """The second of each pair, in the list of the first; ascending."""
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    bounds = np.searchsorted(pairs[:, 0], np.arange(blocks + 1)).tolist()
    others = pairs[:, 1].tolist()
    return [others[a:b] for a, b in pairwise(bounds)]
