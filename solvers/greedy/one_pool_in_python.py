"""The passes over one pool in Python: where there is no native kernel, and to check that one by."""

from __future__ import annotations

import numpy as np

from ..fitting.neighbours import neighbours
from ..fitting.orders import PASSES, orders
from ..fitting.placing import Partial, place_components
from ..geometry.presolve import components
from ..model.instance import Instance, Ints
from ..model.solver import Control
from .one_pool import Known


def run(instance: Instance, known: Known, control: Control, limit: int | None) -> None:
    """Every order with both fits, until all components end low enough."""
    near = neighbours(instance)
    best = _PerComponent(instance, known)
    sequences = orders(instance)
    for number, (name, fit) in enumerate(PASSES):
        # However little time there is, the first pass is made: it hurries if it must.
        must = number == 0 and known.placement is None
        known.work = number * near.work
        spent = limit is not None and known.work >= limit
        if best.is_settled() or ((spent or control.stopped() is not None) and not must):
            return
        found = place_components(
            instance,
            sequences[name],
            near.fresh(),
            fit,
            best.component,
            lambda: control.stopped() is not None,
            finish=must,
        )
        if found is not None and best.take(found) and best.placed.all():
            known.offer(best.offset)


class _PerComponent:
    """The best placement of each component."""

    def __init__(self, instance: Instance, known: Known) -> None:
        roots, component = np.unique(components(instance), return_inverse=True)
        self.component: Ints = component.reshape(-1)
        self._high = instance.block_high
        self._count = len(roots)
        self._enough = -1 if known.enough is None else known.enough
        self.offset = np.zeros(instance.blocks, dtype=np.int64)
        self.placed = np.zeros(self._count, dtype=bool)
        self._score = np.zeros(self._count, dtype=np.int64)
        if known.placement is not None:
            self.take(Partial(known.placement.offset, np.ones(instance.blocks, dtype=bool)))

    def take(self, found: Partial) -> bool:
        """Keep what is better of it; was anything?"""
        whole = np.ones(self._count, dtype=bool)
        whole[self.component[~found.placed]] = False
        score = np.full(self._count, self._enough, dtype=np.int64)
        np.maximum.at(score, self.component, found.offset + self._high)
        better = whole & (~self.placed | (score < self._score))
        at = better[self.component]
        self.offset = np.where(at, found.offset, self.offset)
        self._score = np.where(better, score, self._score)
        self.placed |= better
        return bool(better.any())

    def is_settled(self) -> bool:
        return bool((self.placed & (self._score <= self._enough)).all())
