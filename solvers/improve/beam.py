"""The beam behind the Solver protocol: one pool of plain blocks, no proofs, strong where long-lived blocks leave little room for short ones."""

from __future__ import annotations

from typing import ClassVar, Protocol, cast

import numpy as np

from ..greedy.native import greedy_kernel
from ..kernels.columns import columns
from ..kernels.python.beam import beam
from ..model.instance import Instance, Ints
from ..model.solver import Feature
from .ejection import Improver, Lower, Report

MOST_BLOCKS_REFERENCE = 300
"""Of more blocks no sweep would end in time where it runs in Python."""


class BeamKernel(Protocol):
    """The part of the native kernels that this solver needs."""

    beam: Lower


class Beam(Improver):
    """Sweeps through time with many partial placements side by side, each time to end lower than what is known."""

    name: ClassVar[str] = "beam"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY})

    def lower(
        self, instance: Instance, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int] | None:
        if not _takes(instance):
            return None
        kernel = _kernel(instance)
        if kernel is not None:
            return kernel.beam(instance.sections, columns(instance), start, enough, seed, work, report)
        if instance.blocks > MOST_BLOCKS_REFERENCE:
            return None
        return beam(instance, start, enough, seed, work, report)


def _takes(instance: Instance) -> bool:
    """One rect a block, nothing fixed or reserved, no pairs: what is born into a full layout finds its place taken, if it has but one."""
    owner = instance.part_block[instance.rect_part]
    fixed = instance.lowest == instance.highest
    one_each = len(np.unique(owner)) == len(owner)
    return instance.is_plain and one_each and not fixed.any() and not instance.pools[0].reserved


def _kernel(instance: Instance) -> BeamKernel | None:
    kernel = greedy_kernel(instance)
    return cast(BeamKernel, kernel) if hasattr(kernel, "beam") else None
