"""Refuses arrays that break the kernel's contract, as the native kernel does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....model.instance import ADDRESS_LIMIT, Ints
from ...columns import Columns
from ...interface import BadKernelInput
from .given import Given

MOST = 1 << 30


def check_columns(columns: Columns) -> None:
    """Lengths fit together, and what is numbered is there."""
    c = columns
    _check_lengths(
        (c.part_block, c.part_low, c.part_high),
        (c.rect_part, c.rect_start, c.rect_end),
        (c.modulus, c.residue, c.lowest, c.highest),
    )
    _check_pairs(c.reserved, c.conflicts, c.exclusions)
    _check_owners(c.part_block, len(c.modulus))
    for numbers in (c.rect_part, c.conflicts, c.exclusions):
        _check_owners(numbers, len(c.part_block))


def _check_lengths(*groups: Sequence[Ints]) -> None:
    """Arrays of one group are as long as each other."""
    for group in groups:
        if len({len(array) for array in group}) > 1:
            raise BadKernelInput("arrays that belong together differ in length")
        if len(group[0]) >= MOST:
            raise BadKernelInput("too many blocks, parts or rects")


def _check_owners(owners: Ints, count: int) -> None:
    """Numbers of things that there are."""
    if len(owners) and (owners.min() < 0 or owners.max() >= count):
        raise BadKernelInput("a part, rect or pair is of something that is not there")


def _check_pairs(*arrays: Ints) -> None:
    """Pairs stand one after the other."""
    if any(len(array) % 2 for array in arrays):
        raise BadKernelInput("conflicts, exclusions and reserved ranges come in pairs")


def check_given(given: Given, sections: int) -> None:
    """All addresses are within the limit, also where they are added up, and all times within the sections."""
    for block in given.blocks:
        _demand(1 <= block.modulus <= ADDRESS_LIMIT, "a modulus is positive")
        _demand(0 <= block.residue < block.modulus, "a residue is below its modulus")
        _demand(_address(block.lowest) and abs(block.highest) <= ADDRESS_LIMIT, "bounds are addresses")
        aligned = block.lowest % block.modulus == block.residue
        _demand(aligned or not block.moves, "a lowest base is aligned")
    for part in given.parts:
        _demand(_address(part.low) and _address(part.high) and part.low <= part.high, "a part is a range of addresses")
        _demand(given.blocks[part.block].highest + part.high <= ADDRESS_LIMIT, "all ends are addresses")
        _demand(all(0 <= start < end <= sections for start, end in part.live), "a rect is live for some sections")
    _demand(sum(part.high for part in given.parts) <= ADDRESS_LIMIT, "the sizes add up to less than 2^62")
    _demand(all(_address(x) for x in np.ravel(given.reserved).tolist()), "a reserved range is of addresses")


def _address(x: int) -> bool:
    return 0 <= x <= ADDRESS_LIMIT


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise BadKernelInput(what)
