"""The orders in which blocks are placed, and the passes, orders with fits, that greedy makes.

No order wins everywhere, so the passes try them all. A name lists the sort keys, greatest first: size (height of the block), width (sections it is
live in), area (size x width), total (the greatest sum of sizes live in any of its sections). `birth` sorts by time, `death` against it. Ties end at
the block's number.

To add an order: a row in ORDERS, a row of the same name in kernels/native/greedy/orders.cpp, and a row in PASSES for the fit with which
scripts/measure/solving/passes.py finds most, and for each other with which it finds a gain. A new sort key is a measure: a field in measures.py, and in kernels/native/greedy/orders.hpp. The tests
compare both kernels in every order and every pass of this table.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ..model.instance import Instance, Ints

if TYPE_CHECKING:
    from .measures import Measures


class Fit(StrEnum):
    """Which of the large enough gaps a block goes to."""

    LOWEST = "lowest"
    """The lowest one."""
    BEST = "best"
    """The one that leaves least room; the lowest of several."""


ORDERS: dict[str, Callable[[Measures], tuple[Ints, ...]]] = {
    "size": lambda m: (-m.size, m.birth),
    "area": lambda m: (-m.area, -m.size),
    "width_area_total": lambda m: (-m.width, -m.area, -m.total),
    "total_area_width": lambda m: (-m.total, -m.area, -m.width),
    "total_width_area": lambda m: (-m.total, -m.width, -m.area),
    "total_size": lambda m: (-m.total, -m.size),
    "size_width": lambda m: (-m.size, -m.width),
    "width_size": lambda m: (-m.width, -m.size),
    "birth": lambda m: (m.birth, -m.size),
    "death": lambda m: (-m.death, -m.size),
}
"""By name: the sort keys, least first; later keys break ties."""

PASSES = (
    ("size", Fit.LOWEST),
    ("total_width_area", Fit.BEST),
    ("total_area_width", Fit.BEST),
    ("death", Fit.LOWEST),
    ("total_size", Fit.BEST),
    ("area", Fit.BEST),
    ("total_size", Fit.LOWEST),
    ("area", Fit.LOWEST),
    ("birth", Fit.BEST),
    ("width_area_total", Fit.LOWEST),
    ("total_area_width", Fit.LOWEST),
    ("total_width_area", Fit.LOWEST),
    ("size_width", Fit.LOWEST),
    ("width_size", Fit.LOWEST),
    ("birth", Fit.LOWEST),
    ("size", Fit.BEST),
    ("width_area_total", Fit.BEST),
    ("size_width", Fit.BEST),
    ("width_size", Fit.BEST),
    ("death", Fit.BEST),
)
"""The passes tried in one pool. Each is the one that gained most after those before it, on generated problems of eight kinds."""


def ordered(order: str, measures: Measures) -> Ints:
    """All blocks in this order."""
    keys = ORDERS[order](measures)
    sequence: Ints = np.lexsort((np.arange(len(keys[0])), *reversed(keys)))
    return sequence


def orders(instance: Instance) -> dict[str, Ints]:
    """All blocks in every order, by name."""
    from .measures import measure  # the native kernels measure for themselves

    measures = measure(instance)
    return {order: ordered(order, measures) for order in ORDERS}
