"""Into which stripes the output of an operator can be cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import prod

from .group import Mode, Stripes

MOST_STRIPES = 1024
"""Of a group; more are not looked at."""
LONGEST = 32
"""Operators of a group."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """Which stripes are looked at."""

    modes: tuple[Mode, ...] = tuple(Mode)
    axes: tuple[int, ...] | None = None
    """Of an output, counted from the end if negative; None: all but its channels."""
    most_axes: int = 2
    """Along so many axes at once stripes are cut that are computed again; those that roll, along one."""
    blocks: tuple[int, ...] = ()
    """What the hardware makes at once, along the last axes of an output: stripes are multiples of it."""
    longest: int = LONGEST
    """Operators of a group; fewer where looking at so many would take too long."""


def cuts(demand: Sequence[tuple[int, int]], cutting: Cutting, most: int) -> Iterator[Stripes]:
    """The ways to cut what is needed of an output, those along few axes first, and as many at most as that."""
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
    """How many there are."""
    return prod(-(-(high - low) // extent) for (low, high), extent in zip(demand, extents, strict=True))


def block_along(axis: int, rank: int, blocks: Sequence[int]) -> int:
    """Of blocks that are said of the last axes, what one axis has."""
    from_end = rank - axis
    return blocks[-from_end] if from_end <= len(blocks) else 1


def halves(extent: int, block: int) -> list[int]:
    """A half, a quarter and so on, down to one block; all of them multiples of it."""
    found: dict[int, None] = {}
    parts = 2
    while parts < 2 * extent:
        in_blocks = -(-extent // (parts * block))
        size = in_blocks * block
        if size < extent:
            found[size] = None
        parts *= 2
    return list(found)
