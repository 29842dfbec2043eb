"""The stripes into which an operator's output can be cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import prod

from .group import Mode, Stripes

MOST_STRIPES = 1024
"""The most stripes of a group that are examined."""
LONGEST = 32
"""The most operators of a group."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """The stripes to examine."""

    modes: tuple[Mode, ...] = tuple(Mode)
    axes: tuple[int, ...] | None = None
    """The output's axes to cut, counted from the end if negative; None: all but its channels."""
    most_axes: int = 2
    """Recomputed stripes are cut along up to this many axes at once; rolling ones along one."""
    blocks: tuple[int, ...] = ()
    """What the hardware makes at once, along the last axes of an output: stripes are multiples of it."""
    longest: int = LONGEST
    """The most operators of a group; fewer if examining them would take too long."""


def cuts(demand: Sequence[tuple[int, int]], cutting: Cutting, most: int) -> Iterator[Stripes]:
    """Return at most `most` ways to cut what is needed of an output, those along few axes first."""
    return (
        stripes
        for stripes in islice(_cuts(demand, cutting), most)
        if stripes_in(demand, stripes.extents) <= MOST_STRIPES
    )


def _cuts(demand: Sequence[tuple[int, int]], cutting: Cutting) -> Iterator[Stripes]:
    whole = tuple(max(high - low, 1) for low, high in demand)
    rank = len(demand)
    wanted = range(rank - 1) if cutting.axes is None else (a for a in cutting.axes if -rank <= a < rank)
    axes = sorted({axis % rank for axis in wanted})
    sizes = {axis: halves(whole[axis], block_along(axis, rank, cutting.blocks)) for axis in axes}
    if Mode.ROLLING in cutting.modes:
        for axis in axes:
            for size in sizes[axis]:
                yield Stripes(Mode.ROLLING, (*whole[:axis], size, *whole[axis + 1 :]), axis)
    if Mode.RECOMPUTE in cutting.modes:
        for count in range(1, cutting.most_axes + 1):
            for some in combinations(axes, count):
                for chosen in product(*(sizes[axis] for axis in some)):
                    cut = dict(zip(some, chosen, strict=True))
                    extents = tuple(cut.get(axis, extent) for axis, extent in enumerate(whole))
                    yield Stripes(Mode.RECOMPUTE, extents)


def stripes_in(demand: Sequence[tuple[int, int]], extents: Sequence[int]) -> int:
    """Return the number of stripes."""
    return prod(-(-(high - low) // extent) for (low, high), extent in zip(demand, extents, strict=True))


def block_along(axis: int, rank: int, blocks: Sequence[int]) -> int:
    """Return the block's extent along an axis; blocks are given for the last axes."""
    from_end = rank - axis
    return blocks[-from_end] if from_end <= len(blocks) else 1


def halves(extent: int, block: int) -> list[int]:
    """Return a half, a quarter and so on, down to one block; all are multiples of it."""
    found: dict[int, None] = {}
    parts = 2
    while parts < 2 * extent:
        in_blocks = -(-extent // (parts * block))
        size = in_blocks * block
        if size < extent:
            found[size] = None
        parts *= 2
    return list(found)
