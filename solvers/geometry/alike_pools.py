"""Pools that differ in their room alone as one pool, in which there is as much room as in all of them together.

Whatever lies in them may as well be stacked in the one: first what one of them holds, on top of that what the next one holds. Its peak then is no more
than the sum of theirs, so what is proven with one pool holds with all. The reverse may be false, as blocks may be in the way of others at the ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..model.instance import ADDRESS_LIMIT, Bools, Instance, Placement
from ..model.linear_terms import ADDITIVE, choice_cost
from .rooms import torn_blocks


@dataclass(frozen=True, slots=True, eq=False)
class AsOne:
    """An instance with one pool for each group of pools that are alike."""

    original: Instance
    instance: Instance
    groups: tuple[tuple[int, ...], ...]
    """The pools of the original that each pool stands for."""

    def at_first(self, placement: Placement) -> Placement:
        """The placement with all that is in a group in the first pool of it, whether it has the room or not."""
        first = np.array([group[0] for group in self.groups], dtype=np.int64)
        return Placement(first[placement.pool], placement.offset)


def as_one(instance: Instance) -> AsOne | None:
    """The instance with alike pools as one; None if there are none, or if something counts each by itself."""
    if instance.weighs_moves or not ADDITIVE.issuperset(instance.terms):
        return None
    groups, torn = list[tuple[int, ...]](), torn_blocks(instance)
    for group in _alike(instance):
        groups += [group] if all(_can_merge(instance, pool, torn) for pool in group) else [(pool,) for pool in group]
    groups.sort()
    if len(groups) == len(instance.pools):
        return None
    first = np.array([group[0] for group in groups], dtype=np.int64)
    merged = np.array([len(group) > 1 for group in groups])
    specs, allowed = list(instance.pools), np.ascontiguousarray(instance.allowed[:, first])
    highest = np.ascontiguousarray(instance.highest[:, first])
    for number, group in enumerate(groups):
        if len(group) == 1:
            continue
        capacity = _capacity(instance, group)
        specs[group[0]] = replace(specs[group[0]], capacity=capacity, reserved=())
        allowed[:, number] = _allowed_in(instance, group)
        room = sum(instance.block_high.tolist()) if capacity is None else capacity
        highest[:, number] = np.where(allowed[:, number], room - instance.block_high, 0)
    order = np.argsort(instance.preference[:, first], axis=1, kind="stable")
    found = replace(
        instance,
        pools=tuple(specs[pool] for pool in first.tolist()),
        allowed=allowed,
        modulus=np.where(merged, 1, instance.modulus[:, first]),
        residue=np.where(merged, 0, instance.residue[:, first]),
        lowest=np.where(merged, 0, instance.lowest[:, first]),
        highest=highest,
        access_cost=np.ascontiguousarray(instance.access_cost[:, first]),
        preference=np.argsort(order, axis=1, kind="stable"),
        hinted=np.zeros(instance.blocks, dtype=np.bool_),
        source=None,
        was=None,
    )
    return AsOne(instance, found, tuple(groups)) if allowed.any(axis=1).all() else None


def _alike(instance: Instance) -> list[tuple[int, ...]]:
    """The groups of pools that nothing tells apart but how much room they have."""
    costs = [cost for term in instance.terms if (cost := choice_cost(instance, term)) is not None]
    columns = [instance.modulus, instance.residue, instance.lowest, *costs]
    groups = dict[object, list[list[int]]]()
    largest = sorted(range(len(instance.pools)), key=lambda pool: (-_largest_gap(instance, pool), pool))
    for pool in largest:
        key = (instance.pools[pool].cost, *(column[:, pool].tobytes() for column in columns))
        same = groups.setdefault(key, [])
        fits = instance.block_high <= _largest_gap(instance, pool)
        mine = instance.allowed[:, pool] & fits
        group = next((each for each in same if (mine == instance.allowed[:, each[0]] & fits).all()), None)
        if group is None:
            same.append([pool])
        else:
            group.append(pool)
    return [tuple(group) for same in groups.values() for group in same]


def _largest_gap(instance: Instance, pool: int) -> int:
    if instance.pools[pool].capacity is None:
        return sum(instance.block_high.tolist())
    return max(_gaps(instance, pool), default=0)


def _capacity(instance: Instance, group: tuple[int, ...]) -> int | None:
    """The room in all of them; None if one is unlimited. No more than a pool can have: nothing needs more, and more has no place in 64 bits."""
    if any(instance.pools[pool].capacity is None for pool in group):
        return None
    return min(sum(sum(_gaps(instance, pool)) for pool in group), ADDRESS_LIMIT)


def _allowed_in(instance: Instance, group: tuple[int, ...]) -> Bools:
    """Who may be in one of them: nobody whose class has a block that is too high for all."""
    found = np.zeros(instance.blocks, dtype=np.bool_)
    for pool in group:
        is_high = np.bincount(instance.pool_class, instance.block_high > _largest_gap(instance, pool)) > 0
        found |= instance.allowed[:, pool] & ~is_high[instance.pool_class]
    return found


def _can_merge(instance: Instance, pool: int, torn: Bools) -> bool:
    """May what lies in such pools be stacked, ranges left out? Not where two must be in different ones, or something lies on both sides of a range."""
    inside, spec = instance.allowed[:, pool], instance.pools[pool]
    a, b = instance.apart.T
    if (spec.capacity is None and spec.reserved) or (inside[a] & inside[b]).any():
        return False
    return not spec.reserved or not (inside & torn).any()


def _gaps(instance: Instance, pool: int) -> list[int]:
    spec = instance.pools[pool]
    assert spec.capacity is not None
    begins = [0, *(end for _, end in spec.reserved)]
    ends = [*(begin for begin, _ in spec.reserved), spec.capacity]
    return [max(min(end, spec.capacity) - begin, 0) for begin, end in zip(begins, ends, strict=True)]
