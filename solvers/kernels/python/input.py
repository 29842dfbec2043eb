"""Checks a kernel's arguments, as the native kernels do (native/shared/check.hpp), and makes an instance of them."""

from __future__ import annotations

import numpy as np

from ...model.instance import ADDRESS_LIMIT, Instance, Ints, PoolSpec, Term
from ..columns import Columns
from ..interface import BadKernelInput

MOST = 1 << 30
LOW_BITS = 31


def demand(holds: object, what: str) -> None:
    """Raises BadKernelInput with this text if the condition is false."""
    if not holds:
        raise BadKernelInput(what)


def check_input(sections: int, columns: Columns) -> None:
    """Checks that lengths agree, that indices exist, that all addresses and their sums are within the limit, and that times are sections."""
    demand(len(columns) == len(Columns._fields), "not as many columns as there should be")
    c = Columns(*columns)
    parts = len(c.part_block)
    for group in ((c.part_block, c.part_low, c.part_high), (c.rect_part, c.rect_start, c.rect_end), c[6:10]):
        demand(len({len(array) for array in group}) == 1, "arrays that belong together differ in length")
        demand(len(group[0]) < MOST, "too many blocks, parts or rects")
    for pairs in (c.reserved, c.conflicts, c.exclusions):
        demand(len(pairs) % 2 == 0, "conflicts, exclusions and reserved ranges come in pairs")
    demand(are_within(c.part_block, 0, len(c.modulus) - 1), "a part is of a block that is not there")
    for numbers in (c.rect_part, c.conflicts, c.exclusions):
        demand(are_within(numbers, 0, parts - 1), "a rect or pair is of a part that is not there")
    demand(are_within(c.modulus, 1, ADDRESS_LIMIT), "a modulus is positive")
    demand(((c.residue >= 0) & (c.residue < c.modulus)).all(), "a residue is below its modulus")
    demand(are_addresses(c.lowest) and are_within(c.highest, -ADDRESS_LIMIT, ADDRESS_LIMIT), "bounds are addresses")
    aligned = c.lowest % c.modulus == c.residue
    demand((aligned | (c.lowest >= c.highest)).all(), "a lowest base is aligned")
    demand(are_addresses(c.part_low) and (c.part_low <= c.part_high).all(), "a part is a range of addresses")
    demand(exact_sum(c.part_high) <= ADDRESS_LIMIT, "the sizes add up to less than 2^62")
    room = ADDRESS_LIMIT - np.maximum(c.highest[c.part_block], 0)
    demand((c.part_high <= room).all(), "all ends are addresses")
    live = (c.rect_start >= 0) & (c.rect_start < c.rect_end) & (c.rect_end <= sections)
    demand(sections >= 0 and live.all(), "a rect is live for some sections")
    demand(are_addresses(c.reserved), "a reserved range is of addresses")


def check_start(columns: Columns, start: Ints, enough: int, work: int) -> None:
    """Checks the further arguments of the improving kernels."""
    demand(len(start) == len(columns.modulus), "one start offset a block")
    inside = (columns.lowest <= start) & (start <= columns.highest)
    demand(inside.all(), "a start offset is out of its block's bounds")
    demand(enough >= 0 and work >= 0, "neither a peak nor work is negative")


def instance_of(sections: int, columns: Columns) -> Instance:
    """The instance of these columns; its objective is the peak of its only pool."""
    check_input(sections, columns)
    c, blocks = columns, len(columns.modulus)
    nothing, number = np.zeros((blocks, 1), dtype=np.int64), np.arange(blocks, dtype=np.int64)
    return Instance(
        pools=(PoolSpec(None, tuple((begin, end) for begin, end in c.reserved.reshape(-1, 2).tolist())),),
        terms=(Term.SUM_OF_PEAKS,),
        sections=sections,
        part_block=c.part_block,
        part_low=c.part_low,
        part_high=c.part_high,
        rect_part=c.rect_part,
        rect_start=c.rect_start,
        rect_end=c.rect_end,
        allowed=np.ones((blocks, 1), dtype=bool),
        modulus=c.modulus.reshape(-1, 1),
        residue=c.residue.reshape(-1, 1),
        lowest=c.lowest.reshape(-1, 1),
        highest=c.highest.reshape(-1, 1),
        access_cost=nothing,
        pool_class=number,
        preference=nothing,
        apart=np.zeros((0, 2), dtype=np.int64),
        conflicts=c.conflicts.reshape(-1, 2),
        exclusions=c.exclusions.reshape(-1, 2),
        penalties=np.zeros((0, 3), dtype=np.int64),
        hint=np.zeros(blocks, dtype=np.int64),
        hinted=np.zeros(blocks, dtype=bool),
        input_rank=number,
        name_rank=number,
    )


def exact_sum(numbers: Ints) -> int:
    """The exact sum of non-negative numbers. High and low bits are summed apart, since an int64 sum could overflow unseen."""
    return (int((numbers >> LOW_BITS).sum()) << LOW_BITS) + int((numbers & ((1 << LOW_BITS) - 1)).sum())


def are_addresses(numbers: Ints) -> bool:
    """Is each of them an address?"""
    return are_within(numbers, 0, ADDRESS_LIMIT)


def are_within(numbers: Ints, least: int, most: int) -> bool:
    """Is none of them less or more than that?"""
    return not len(numbers) or bool(least <= numbers.min() and numbers.max() <= most)
