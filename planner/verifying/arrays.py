"""The verification of a plan in columns of numbers: every rule, checked again in exact integers."""

from __future__ import annotations

import numpy as np

from solvers.model.instance import Ints

from ..facts.sweep import VERIFYING, Pieces, all_apart
from ..model.deadline import look


def wrong_in_arrays(
    size: Ints,
    start: Ints,
    end: Ints,
    alignment: Ints,
    capacity: int | None,
    offset: Ints,
    peak: int | None,
    bound: int,
) -> str | None:
    """Return what is wrong with these offsets (for sizes below 2^62) and with the claims about them; None if nothing."""
    if len(offset) != len(size):
        return f"there are {len(offset)} offsets for {len(size)} buffers"
    top = offset + size
    for wrong, what in (
        (offset < 0, "lies below 0"),
        (offset % alignment != 0, "is not aligned"),
        (np.zeros(len(size), dtype=bool) if capacity is None else top > capacity, "ends above the capacity"),
    ):
        if wrong.any():
            return f"buffer {int(wrong.argmax())} {what}"
    if peak != int(top.max(initial=0)):
        return f"the peak is {int(top.max(initial=0))}, not {peak}"
    if bound > peak:
        return f"the bound {bound} is above the peak {peak}"
    look(VERIFYING)
    some = (size > 0) & (end > start)
    if not all_apart(Pieces(offset[some], top[some], start[some], end[some], np.flatnonzero(some))):
        return "two buffers that are live together overlap"
    return None


def most_live(size: Ints, start: Ints, end: Ints) -> int:
    """Return the most bytes live at one time."""
    some = end > start
    time = np.concatenate([end[some], start[some]])
    change = np.concatenate([-size[some], size[some]])
    order = np.argsort(time, kind="stable")  # at one moment, ends come before begins
    return int(np.cumsum(change[order]).max(initial=0))
