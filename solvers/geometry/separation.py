"""The forbidden distances between two blocks and the forbidden bases of one block: open intervals, merged where they overlap.

Two parts that must not share addresses forbid an open interval of distances (base of the second block minus base of the first). The parts of two
blocks together forbid a union of such intervals. An order of the blocks chooses one of the two sides of each interval in the union.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.instance import Instance, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Separations:
    """s choices: offset[second] - offset[first] <= below, or >= above (if both blocks are in one pool)."""

    first: Ints
    second: Ints
    below: Ints
    above: Ints

    def __len__(self) -> int:
        return len(self.first)


def separations(instance: Instance, part_pairs: Ints) -> Separations:
    """The choices for these pairs of non-empty parts of different blocks; sorted by blocks, then by distance."""
    block = instance.part_block[part_pairs]
    turn = block[:, 0] > block[:, 1]
    a = np.where(turn, part_pairs[:, 1], part_pairs[:, 0])
    b = np.where(turn, part_pairs[:, 0], part_pairs[:, 1])
    rows = np.stack(
        [
            instance.part_block[a],
            instance.part_block[b],
            instance.part_low[a] - instance.part_high[b],
            instance.part_high[a] - instance.part_low[b],
        ],
        axis=1,
    )
    rows = rows[np.lexsort(rows.T[::-1])]
    merged: list[list[int]] = []
    for first, second, below, above in rows.tolist():
        last = merged[-1] if merged else None
        if last is not None and last[0] == first and last[1] == second and below < last[3]:
            last[3] = max(last[3], above)
        else:
            merged.append([first, second, below, above])
    table = np.array(merged, dtype=np.int64).reshape(-1, 4)
    return Separations(table[:, 0], table[:, 1], table[:, 2], table[:, 3])


def forbidden_bases(instance: Instance, block: int, pool: int) -> list[tuple[int, int]]:
    """Open intervals in which the block's base cannot lie, because a part would overlap a reserved range of the pool; sorted, disjoint."""
    reserved = instance.pools[pool].reserved
    if not reserved:
        return []
    parts = np.flatnonzero(instance.part_block == block)
    spans = zip(instance.part_low[parts].tolist(), instance.part_high[parts].tolist(), strict=True)
    forbidden = sorted((begin - high, end - low) for low, high in spans if high > low for begin, end in reserved)
    merged: list[tuple[int, int]] = []
    for begin, end in forbidden:
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged
