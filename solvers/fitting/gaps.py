"""Finds an open base among closed ones: the lowest, or the one in the tightest gap; over lists for few, over arrays for many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.instance import Ints
from .orders import Fit


@dataclass(frozen=True, slots=True)
class Span:
    """The bases a block may have in a pool before others are placed: from lowest to highest, congruent to residue."""

    lowest: int
    highest: int
    modulus: int
    residue: int


def open_base(closed: list[tuple[int, int]], span: Span, fit: Fit) -> int | None:
    """The base that the fit chooses, or None; `closed` are open intervals of closed bases, sorted by their low ends."""
    base, modulus, residue = span.lowest, span.modulus, span.residue
    best: tuple[int, int] | None = None
    for low, high in closed:
        if low >= base:
            if fit is Fit.LOWEST:
                break
            if base <= span.highest and (best is None or low - base < best[0]):
                best = (low - base, base)
        if high > base:
            base = high + (residue - high) % modulus
    if best is not None:
        return best[1]
    return base if base <= span.highest else None


def open_base_of_many(low: Ints, high: Ints, span: Span, fit: Fit) -> int | None:
    """open_base over arrays: the first k intervals reach to the running maximum of their high ends."""
    reach = np.maximum.accumulate(np.concatenate([[span.lowest], high]))
    base = reach + (span.residue - reach) % span.modulus
    room = np.where(base[:-1] <= span.highest, low - base[:-1], -1)
    gaps = np.flatnonzero(room >= 0)
    if len(gaps):
        chosen = gaps[0] if fit is Fit.LOWEST else gaps[np.argmin(room[gaps])]
        return int(base[chosen])
    return int(base[-1]) if base[-1] <= span.highest else None
