"""The native greedy kernel as Python sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import numpy as np

from ..kernels import Kind, active
from ..kernels.columns import Columns
from ..model.instance import ADDRESS_LIMIT, Instance, Ints

MOST_SECTIONS = 1 << 31


class GreedyKernel(Protocol):
    """Ten orders, two fits, on several threads; the answer depends on neither their number nor their speed."""

    def greedy(
        self,
        sections: int,
        columns: Columns,
        start: Ints | None,
        enough: int | None,
        threads: int,
        report: Callable[[Ints | None], bool],
    ) -> Ints | None:
        """Offsets, or None if a component fits nowhere. `report` hears of better ones every few milliseconds; true stops."""

    def greedy_order(self, sections: int, columns: Columns, number: int) -> Ints:
        """One of the orders, fixed blocks first."""

    def greedy_place(self, sections: int, columns: Columns, order: Ints, best_fit: bool) -> Ints | None:
        """Offsets of blocks placed one after the other; None if one fits nowhere."""


def greedy_kernel(instance: Instance) -> GreedyKernel | None:
    """The kernel, if it is there and the instance's numbers are within its limits."""
    selection = active()
    if selection.kind is not Kind.NATIVE or not hasattr(selection.kernels, "greedy"):
        return None
    fits = instance.sections < MOST_SECTIONS and float(instance.part_high.sum(dtype=np.float64)) < ADDRESS_LIMIT / 2
    return cast(GreedyKernel, selection.kernels) if fits else None
