"""Gluing behind the Solver protocol: one pool of plain blocks, no proofs, strong where thousands of blocks leave hardly any room unused."""

from __future__ import annotations

from typing import ClassVar

from ...kernels import active_for
from ...kernels.columns import columns
from ...kernels.interface import Report
from ...model.instance import Instance, Ints
from ...model.solver import Feature
from .beam import is_plain
from .ejection import Improver


class Gluing(Improver):
    """Joins pieces, on top of each other or one after the other, until one is left; below one height after the other."""

    name: ClassVar[str] = "gluing"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY})

    def lower(
        self, instance: Instance, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int] | None:
        if not is_plain(instance):
            return None
        kernels = active_for(instance).kernels
        return kernels.gluing(instance.sections, columns(instance), start, enough, seed, work, report)
