"""The beam behind the Solver protocol: one pool of plain blocks, no proofs, strong where long-lived blocks leave little room for short ones."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...kernels import active_for
from ...kernels.columns import columns
from ...kernels.interface import Report
from ...model.instance import Instance, Ints
from ...model.solver import Feature
from .ejection import Improver


class Beam(Improver):
    """Sweeps through time with many partial placements side by side, each time to end lower than what is known."""

    name: ClassVar[str] = "beam"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY})

    def lower(
        self, instance: Instance, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int] | None:
        if not is_plain(instance):
            return None
        chosen = active_for(instance)
        most = chosen.sizes.beam_blocks
        if most is not None and instance.blocks > most:
            return None
        return chosen.kernels.beam(instance.sections, columns(instance), start, enough, seed, work, report)


def is_plain(instance: Instance) -> bool:
    """One rect a block, nothing fixed or reserved, no pairs: what is born into a full layout finds its place taken, if it has but one."""
    owner = instance.part_block[instance.rect_part]
    fixed = instance.lowest == instance.highest
    one_each = len(np.unique(owner)) == len(owner)
    return instance.is_plain and one_each and not fixed.any() and not instance.pools[0].reserved
