"""A placement from prices: each block in the pool that is cheapest at them, as far as there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....bounds.prices.market import Floats
from ....heuristics.assign.from_prices import settled
from ....model.instance import Instance, Ints, Placement
from ..prices.crowds import Priced
from ..program.program import Program
from .packing import ending_at

DEAREST = 1e30
"""More than any class costs."""


def settled_below(
    instance: Instance,
    program: Program,
    number: Ints,
    priced: Priced,
    tops: Sequence[int],
    kept: Mapping[int, int] | None = None,
) -> tuple[Placement | None, int]:
    """Place each block in the pool that is cheapest at the relaxation's prices, in pools cut off at these tops unless they are unlimited; and the work it took.

    `number` is the class of each block; who is kept wants his pool more than anybody else.
    """
    wanted: Floats = np.full((len(program.homes), len(program.rooms)), np.inf)
    for group in range(len(program.homes)):
        for pool, due in priced.due(group).items():
            wanted[group, pool] = due
    limited = [None if pool.capacity is None else top for pool, top in zip(instance.pools, tops, strict=True)]
    lower = ending_at(instance, limited)
    closed = np.zeros(wanted.shape, dtype=bool)
    np.logical_or.at(closed, number, ~lower.allowed)
    wanted[closed] = np.inf
    for group, pool in (kept or {}).items():
        wanted[group, pool] -= DEAREST
    found, work = settled(lower, wanted)
    if found is None:  # blocks as high as a pool have one place there, and two of them may meet
        np.logical_or.at(closed, number, (lower.lowest == lower.highest) & (instance.lowest < instance.highest))
        found, again = settled(lower, np.where(closed, np.inf, wanted))
        work += again
    return found, work
