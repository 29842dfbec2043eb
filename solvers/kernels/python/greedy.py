"""The greedy passes in plain Python. They give the same placements as the native kernel: the tests' reference, and the fallback without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...fitting.measures import measure
from ...fitting.neighbours import neighbours
from ...fitting.orders import ORDERS, Fit, ordered
from ...fitting.placing import Partial, Pass, place_all, place_components, place_what_fits
from ...model.conflicts import components
from ...model.instance import ADDRESS_LIMIT, Instance, Ints
from ..columns import Columns
from ..interface import Report
from .input import demand, instance_of


def greedy(
    sections: int,
    columns: Columns,
    passes: Sequence[tuple[str, str]],
    start: Ints | None,
    enough: int | None,
    threads: int,
    report: Report,
) -> Ints | None:
    """Runs pass after pass until all components end low enough, in one thread."""
    instance = instance_of(sections, columns)
    turns = [(_order(order), _fit(fit)) for order, fit in passes]
    demand(turns, "there are no passes")
    if start is not None:
        demand(len(start) == instance.blocks, "one start offset a block")
        demand(((start >= 0) & (start <= ADDRESS_LIMIT)).all(), "start offsets are addresses")
    near, measures = neighbours(instance), measure(instance)
    best = _Best(instance, start, enough)
    for number, (order, fit) in enumerate(turns):
        # The first pass is always completed; it hurries if there is little time.
        must = number == 0 and start is None
        if best.is_settled() or (report(None) and not must):
            break
        found = place_components(
            instance,
            Pass(ordered(order, measures), fit),
            near.fresh(),
            best.component,
            lambda: report(None),
            finish=must,
        )
        if found is not None and best.take(found) and best.placed.all():
            report(best.offset)
    return best.offset if best.placed.all() else None


def greedy_orders() -> list[str]:
    """The names of all orders."""
    return list(ORDERS)


def greedy_order(sections: int, columns: Columns, order: str) -> Ints:
    """The blocks in this order, fixed ones first."""
    sequence = ordered(_order(order), measure(instance_of(sections, columns)))
    movable = columns.lowest != columns.highest
    return sequence[np.argsort(movable[sequence], kind="stable")]


def greedy_place(
    sections: int, columns: Columns, order: Ints, fit: str, hurries: Callable[[], bool] | None = None
) -> Ints | None:
    """Offsets of the blocks, placed in this order; the rest is stacked on top once it hurries. None if one fits nowhere."""
    instance = _ordered_instance(sections, columns, order)
    stopped, near = hurries or (lambda: False), neighbours(instance)
    placed = place_all(instance, Pass(order, _fit(fit)), near, stopped, finish=True)
    return None if placed is None else placed.offset


def greedy_fill(
    sections: int, columns: Columns, order: Ints, fit: str, hurries: Callable[[], bool] | None = None
) -> tuple[Ints, Ints]:
    """The same, where blocks that fit nowhere are left out: offsets, and these blocks."""
    instance = _ordered_instance(sections, columns, order)
    found = place_what_fits(instance, Pass(order, _fit(fit)), neighbours(instance), hurries or (lambda: False))
    return found.offset, order[~found.placed[order]]


def _ordered_instance(sections: int, columns: Columns, order: Ints) -> Instance:
    instance = instance_of(sections, columns)
    demand(((order >= 0) & (order < instance.blocks)).all(), "an order is of blocks")
    return instance


def _order(name: str) -> str:
    demand(name in ORDERS, f"there is no order {name}")
    return name


def _fit(name: str) -> Fit:
    demand(name in tuple(Fit), f"there is no fit {name}")
    return Fit(name)


class _Best:
    """The best placement of each component."""

    def __init__(self, instance: Instance, start: Ints | None, enough: int | None) -> None:
        roots, component = np.unique(components(instance), return_inverse=True)
        self.component: Ints = component.reshape(-1)
        self._high = instance.block_high
        self._count = len(roots)
        self._enough = -1 if enough is None else enough
        self.offset = np.zeros(instance.blocks, dtype=np.int64)
        self.placed = np.zeros(self._count, dtype=bool)
        self._score = np.zeros(self._count, dtype=np.int64)
        if start is not None:
            self.take(Partial(start, np.ones(instance.blocks, dtype=bool)))

    def take(self, found: Partial) -> bool:
        """Keeps the components that are better in `found`; true if there are any."""
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
