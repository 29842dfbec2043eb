"""Lowers what a placement costs in one term: blocks take the places of others in cheaper pools (the kernel `displace`), and who goes where is packed again."""

from __future__ import annotations

import numpy as np

from ....kernels import active_for
from ....kernels.columns import columns
from ....kernels.interface import Homes
from ....kernels.selection import Origin
from ....model.instance import Instance, Ints, Placement
from ....model.linear_terms import choice_cost
from .. import budget
from ..program.writing import ruled
from .packing import Packing

MOST_COST_BITS = 52
"""What the kernel adds up has no more."""


def displaced(instance: Instance, index: int, packing: Packing, start: Placement, work: int) -> Placement | None:
    """A placement that costs less by the choice of pools in this term; None if there is none, or it could not be packed.

    Where the instance's pools end, blocks stay below. Without native kernels hardly anything is found in time: then there is none.
    """
    selection, cost = active_for(instance), choice_cost(instance, instance.terms[index])
    if selection.origin is not Origin.NATIVE or work <= 0 or cost is None:
        return None
    flat = columns(instance)._replace(
        **dict.fromkeys(("modulus", "lowest", "highest"), np.ones(instance.blocks, dtype=np.int64)),
        residue=np.zeros(instance.blocks, dtype=np.int64),
        reserved=np.zeros(0, dtype=np.int64),
    )
    pool, offset, spent = selection.kernels.displace(
        instance.sections,
        flat,
        _homes(instance, cost),
        np.ascontiguousarray(start.pool, dtype=np.int64),
        np.ascontiguousarray(start.offset, dtype=np.int64),
        packing.task.seed,
        work,
        lambda _: packing.control.stopped() is not None,
    )
    packing.work += spent
    if (pool == start.pool).all():
        return None
    for end in (p for p, room in enumerate(instance.pools) if room.capacity is not None):
        here = np.flatnonzero(pool == end)
        packing.know(end, here, offset[here])
    found, _ = packing.pack(pool, frozenset(), budget.PACKING_CROWDED)
    return found


def can_displace(instance: Instance) -> bool:
    """Is there something to be found soon?"""
    return active_for(instance).origin is Origin.NATIVE


def _homes(instance: Instance, cost: Ints) -> Homes:
    """What holds of each block in each pool. Blocks that share a pool with others, or must be apart from some, stay where they are."""
    is_alone = ~ruled(instance)
    counted = np.where(is_alone[:, None] & instance.allowed, cost, 0)
    shift = max(sum(map(sum, counted.tolist())).bit_length() - MOST_COST_BITS, 0)
    taken = [(pool, *ends) for pool, room in enumerate(instance.pools) for ends in room.reserved]
    return Homes(
        cost=(counted >> shift).reshape(-1),
        lowest=instance.lowest.reshape(-1),
        highest=np.where(instance.allowed, instance.highest, -1).reshape(-1),
        modulus=instance.modulus.reshape(-1),
        residue=instance.residue.reshape(-1),
        endless=np.array([room.capacity is None for room in instance.pools], dtype=np.int64),
        taken=np.array(taken, dtype=np.int64).reshape(-1),
        stays=(~is_alone).astype(np.int64),
    )
