"""Where pools may end without losing the best: below ranges that are reserved higher up, or where their blocks may reach at most."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..geometry.simpler import lowered
from ..model.instance import Instance
from .one_pool import pool_bound


class Low(NamedTuple):
    """An instance whose pools end below reserved ranges."""

    instance: Instance
    others: int
    """With one pool, all placements that are not among its own end at least so high."""


def below_ranges(instance: Instance, least: int, stopped: Callable[[], object]) -> Low | None:
    """The instance whose pools end at the lowest range below which all their blocks may lie; None if there is no such range.

    A placement of it is better than any other. With one pool, none ends below `least`.
    """
    low, others = instance, 0
    for pool, spec in enumerate(instance.pools):
        if not spec.reserved or not instance.allowed[:, pool].any():
            continue
        most, found = _most(instance, pool), pool_bound(instance, pool, stopped=stopped)
        bound = max(least, 0 if found is None else found.value)
        for begin, end in spec.reserved:
            if bound <= begin < most:
                low, others = lowered(low, pool, begin), end + 1
                break
    return None if low is instance else Low(low, others)


def limited(instance: Instance, stopped: Callable[[], object]) -> Instance:
    """The same placements, where pools end as high as any of their blocks may reach; the instance itself if that is no limit, or too low."""
    low = instance
    for pool, spec in enumerate(instance.pools):
        inside = instance.allowed[:, pool]
        if not inside.any():
            continue
        most = _most(instance, pool)
        if most >= (int(instance.block_high[inside].sum()) if spec.capacity is None else spec.capacity):
            continue
        found = pool_bound(instance, pool, stopped=stopped)
        if found is None or found.value <= most:
            low = lowered(low, pool, most)
    return low


def _most(instance: Instance, pool: int) -> int:
    """How high any block may reach."""
    inside = instance.allowed[:, pool]
    return int((instance.highest[inside, pool] + instance.block_high[inside]).max())
