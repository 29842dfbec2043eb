"""Rows without a big M, from sets of blocks of which no two share addresses: the blocks below one of them are stacked.

Let K be such a set in one pool, its members' heights h, and a[j, i] = 1 if i lies above j. Those below i do not overlap each other, so

    offset[i] >= base + sum over the others j in K of h[j] * a[j, i],
    peak      >= offset[i] + h[i] + sum over the others j in K of h[j] * a[i, j].

Summed over K with the heights as weights, these imply that the peak is at least the sum of all heights, which rows with a big M never do.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....bounds.weighted_sections import LiveHeights, peak_sections
from .model import Expression, Program

MOST_ENTRIES = 200_000
"""Most entries in all rows together."""


def add_stacks(program: Program) -> None:
    """Adds two rows for each member of every set that `cliques` finds."""
    entries = 0
    for number, clique in enumerate(cliques(program)):
        entries += 2 * len(clique) ** 2
        if entries > MOST_ENTRIES:
            return
        _stack(program, number, clique)


def _stack(program: Program, number: int, clique: list[int]) -> None:
    instance, length = program.instance, program.length
    high = instance.block_high.tolist()
    (pool,) = program.ranges.homes[clique[0]]
    base = min(program.ranges.lowest(block) for block in clique)
    for i in clique:
        name = f"{program.names.blocks[i]}_{number}"
        below: Expression = 0
        above: Expression = 0
        for j in clique:
            if j != i:
                is_above = _is_above(program, i, j)
                above = above + length(high[j]) * is_above
                below = below + length(high[j]) * (1 - is_above)
        program.require(program.offset[i] - below >= length(base), f"stacked_below_{name}")
        program.require(program.peak[pool] - program.offset[i] - above >= length(high[i]), f"stacked_above_{name}")


def _is_above(program: Program, i: int, j: int) -> Expression:
    """1 if j lies above i, else 0, as an expression."""
    return program.above[i, j] if i < j else 1 - program.above[j, i]


def cliques(program: Program) -> Iterator[list[int]]:
    """Sets of at least three blocks of one pool whose pairs all have a known order variable: first what is live at each busy section, then sets until
    every such pair was in one.
    """
    near: dict[int, set[int]] = {}
    for i, j in program.above:
        near.setdefault(i, set()).add(j)
        near.setdefault(j, set()).add(i)
    seen: set[frozenset[int]] = set()
    left = set(program.above)
    for blocks in (*_live_together(program), *sorted(left)):
        if len(blocks) == 2 and blocks not in left:
            continue
        found = _grown(program, blocks, near)
        left.difference_update((i, j) for i in found for j in found if i < j)
        if len(found) > 2 and frozenset(found) not in seen:
            seen.add(frozenset(found))
            yield sorted(found)


def _live_together(program: Program) -> Iterator[tuple[int, ...]]:
    for _, heights in LiveHeights(program.instance).over(peak_sections(program.instance)):
        yield tuple(sorted(heights, key=lambda block: (-heights[block], block)))


def _grown(program: Program, blocks: tuple[int, ...], near: dict[int, set[int]]) -> list[int]:
    """The blocks that are near all those kept before them, in order; then further blocks near all of them, the highest first."""
    found: list[int] = []
    common: set[int] | None = None
    for block in blocks:
        if block in near and (common is None or block in common):
            found.append(block)
            common = near[block] if common is None else common & near[block]
    while common:
        block = max(common, key=lambda each: (int(program.instance.block_high[each]), -each))
        found.append(block)
        common = common & near[block]
    return found
