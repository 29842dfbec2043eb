"""An instance with one pool as the kernels take it: plain arrays, in a fixed order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.instance import Instance, Ints


class Columns(NamedTuple):
    """Contiguous flat int64 arrays; a pair or range is two consecutive numbers. The native kernels use the same names (shared/input.hpp)."""

    part_block: Ints
    part_low: Ints
    part_high: Ints
    rect_part: Ints
    rect_start: Ints
    rect_end: Ints
    modulus: Ints
    residue: Ints
    lowest: Ints
    highest: Ints
    reserved: Ints
    conflicts: Ints
    exclusions: Ints


def columns(instance: Instance) -> Columns:
    """The instance's arrays as the kernels take them."""
    return Columns(
        part_block=_flat(instance.part_block),
        part_low=_flat(instance.part_low),
        part_high=_flat(instance.part_high),
        rect_part=_flat(instance.rect_part),
        rect_start=_flat(instance.rect_start),
        rect_end=_flat(instance.rect_end),
        modulus=_flat(instance.modulus),
        residue=_flat(instance.residue),
        lowest=_flat(instance.lowest),
        highest=_flat(instance.highest),
        reserved=_flat(np.array(instance.pools[0].reserved, dtype=np.int64)),
        conflicts=_flat(instance.conflicts),
        exclusions=_flat(instance.exclusions),
    )


def _flat(array: npt.NDArray[np.int64]) -> Ints:
    return np.ascontiguousarray(array, dtype=np.int64).reshape(-1)
