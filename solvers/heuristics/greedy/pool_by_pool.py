"""A first placement of many blocks in several pools, in a hundredth of the time that placing block after block takes.

Each block goes to the pool that it prefers, and a kernel packs each pool as if it were unlimited. What then ends too high goes on to
the next pool that it may be in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...fitting.measures import measure
from ...fitting.orders import Fit, ordered
from ...model.instance import Bools, Instance, Ints, Placement
from ...model.interruption import check_interrupted, interruptible
from .packing import packed

MANY_BLOCKS = 5_000
"""Below this, placing one after the other takes at most a fifth of a second."""


FIRST_ORDER = "size"
"""The first of all orders; other solvers begin with it too."""


class Packed(NamedTuple):
    """The placement found."""

    placement: Placement
    all_as_preferred: bool
    """Is every block in its first pool? Then placing them one after the other, by size and lowest fit, gives the same placement."""


def pool_by_pool(instance: Instance, hurries: Callable[[], bool] | None = None) -> Packed | None:
    """Place all blocks; None if not all find a place this way, which proves nothing. Once `hurries` is true, the rest is stacked on top."""
    homes, count = _homes(instance)
    turn = _turns(instance, homes, count)
    if turn is None:
        return None
    rank, offset = np.empty(instance.blocks, dtype=np.int64), np.zeros(instance.blocks, dtype=np.int64)
    rank[ordered(FIRST_ORDER, measure(instance))] = np.arange(instance.blocks)
    pool = homes[np.arange(instance.blocks), turn]
    fresh = np.ones(instance.blocks, dtype=bool)
    only = instance.allowed & (instance.lowest == instance.highest)  # such blocks come first everywhere
    as_preferred = not turn.any() and bool((only.any(axis=1) == only[np.arange(instance.blocks), pool]).all())
    for _ in instance.pools:
        moving = np.zeros(instance.blocks, dtype=bool)
        for p in np.unique(pool[fresh]).tolist():
            check_interrupted()
            here = np.flatnonzero(pool == p)
            found = packed(instance, p, here, np.argsort(rank[here]), Fit.LOWEST, hurries)
            if found is None:
                return None
            offset[here] = found[0]
            moving[here[found[1] > 0]] = True
        if not moving.any():
            return Packed(Placement(pool, offset), as_preferred)
        as_preferred = False
        if len(instance.apart):
            return None
        fresh = _whole_classes(instance, moving)
        turn[fresh] += 1
        if (turn >= count).any():
            return None
        pool = homes[np.arange(instance.blocks), turn]
    return None


def _homes(instance: Instance) -> tuple[Ints, Ints]:
    """The pools of each block, in the order that the first of its class prefers and closed ones last; and how many are open."""
    first = _first_of_class(instance)
    allowed = instance.allowed[first]
    wish = np.where(allowed, instance.preference[first], len(instance.pools))
    homes: Ints = np.argsort(wish, axis=1, kind="stable")
    return homes, allowed.sum(axis=1)


def _turns(instance: Instance, homes: Ints, count: Ints) -> Ints | None:
    """The number of the pool each block goes to first: 0, or the first not taken by blocks it must be apart from."""
    turn = np.zeros(instance.blocks, dtype=np.int64)
    if not count.all():
        return None
    if not len(instance.apart):
        return turn
    group = _first_of_class(instance)
    others: dict[int, list[int]] = {}
    for a, b in interruptible(group[instance.apart].tolist()):
        others.setdefault(a, []).append(b)
        others.setdefault(b, []).append(a)
    taken: dict[int, int] = {}
    for each in interruptible(sorted(others)):
        closed = {taken.get(other) for other in others[each]}
        choice = next((t for t in range(int(count[each])) if int(homes[each, t]) not in closed), None)
        if choice is None:
            return None
        turn[each], taken[each] = choice, int(homes[each, choice])
    return turn[group]


def _whole_classes(instance: Instance, some: Bools) -> Bools:
    """These blocks, and all that must be in one pool with them."""
    first, marked = _first_of_class(instance), np.zeros(instance.blocks, dtype=bool)
    marked[first[some]] = True
    whole: Bools = marked[first]
    return whole


def _first_of_class(instance: Instance) -> Ints:
    """For each block, the first block that must be in one pool with it."""
    _, first, number = np.unique(instance.pool_class, return_index=True, return_inverse=True)
    found: Ints = first[number.reshape(-1)]
    return found
