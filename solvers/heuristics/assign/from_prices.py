"""A first placement: each block goes to the pool that is best for it (by prices on room, say), or to the next best if there is no room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...bounds.prices.market import Floats, Market
from ...fitting.orders import Fit
from ...geometry.rules import violation
from ...model.instance import Instance, Ints, Placement
from ...model.solver import Control, Task
from ..greedy.packing import ORDERS_TO_TRY, packed
from .apart import kept_apart, raising

WORK_OF_PACKING, WORK_OF_AN_ORDER = 2, 500
SHARE_OF_WORK = 8
"""Finding prices takes at most an eighth of the work."""
PRIORITY = "priority"
"""First the blocks that lose most, for their size, by going elsewhere."""


def from_prices(instance: Instance, task: Task, control: Control) -> tuple[Placement | None, int]:
    """The placement, if every block found room; and the work it took."""
    market = Market(instance)
    share = None if task.limits.work is None else task.limits.work // SHARE_OF_WORK
    prices, work, _ = market.haggle(None, replace(task, limits=replace(task.limits, work=share)), control)
    wanted = market.costs_at(prices)
    if len(instance.apart) and market.heights is not None:
        number = instance.class_number
        some = np.unique(number[instance.apart])
        wanted[some] += raising(instance, number, market.heights)[some]
    found, spent = settled(instance, wanted)
    return found, work + spent


def work_of_settling(instance: Instance) -> int:
    """Less than `settled` takes: each block is packed once, in all orders."""
    return (len(ORDERS_TO_TRY) + 1) * (WORK_OF_PACKING * instance.blocks + WORK_OF_AN_ORDER)


def settled(instance: Instance, wanted: Floats) -> tuple[Placement | None, int]:
    """Place each class where `wanted` (classes x pools) is least, or next to least if there is no room; and the work it took."""
    work = 0
    number = instance.class_number
    pairs = number[instance.apart]
    pool_of, offset = np.full(instance.blocks, -1, dtype=np.int64), np.zeros(instance.blocks, dtype=np.int64)
    open_to, is_placed = np.isfinite(wanted), np.zeros(len(wanted), dtype=bool)
    rows = np.arange(len(wanted))
    kept = kept_apart(pairs, wanted)
    for pool in in_turn(instance):
        if kept is None:
            return None, work
        left = np.where(open_to, kept, np.inf)
        wants = (left.argmin(axis=1) == pool) & np.isfinite(left[:, pool])
        mine = wants[number] & (pool_of < 0)
        blocks = np.flatnonzero(mine)
        open_to[:, pool] = False
        if not len(blocks):
            continue
        left[:, pool] = np.inf
        elsewhere = left.min(axis=1) - np.where(wants, wanted[rows, pool], 0.0)
        found, spent = _best_packing(instance, pool, blocks, elsewhere[number[blocks]])
        work += spent
        if found is None:
            return None, work
        bases, excess = found
        lost = np.isin(number[blocks], number[blocks[excess > 0]])
        pool_of[blocks[~lost]], offset[blocks[~lost]] = pool, bases[~lost]
        is_placed[number[blocks[~lost]]] = True
        waiting = pairs[~is_placed[pairs].any(axis=1)]
        if np.isin(waiting, number[blocks[lost]]).any():
            kept = kept_apart(waiting, np.where(open_to, wanted, np.inf))
    placement = Placement(pool_of, offset)
    if (pool_of < 0).any() or violation(instance, placement) is not None:
        return None, work
    return placement, work


def in_turn(instance: Instance) -> list[int]:
    """The order of pools: unlimited ones come last, since blocks without room elsewhere go there."""
    pools = instance.pools
    return sorted(range(len(pools)), key=lambda p: (pools[p].capacity is None, pools[p].rank, p))


def _best_packing(instance: Instance, pool: int, blocks: Ints, loss: Floats) -> tuple[tuple[Ints, Ints] | None, int]:
    """Of the packings in all orders, the one whose leftover blocks lose least by leaving."""
    best: tuple[Ints, Ints] | None = None
    least = np.inf
    work = 0
    area = instance.block_high[blocks].astype(np.float64)
    for order in (*ORDERS_TO_TRY, PRIORITY):
        sequence = (
            np.argsort(-np.minimum(loss, 1e30) / np.maximum(area, 1.0), kind="stable") if order == PRIORITY else order
        )
        found = packed(instance, pool, blocks, sequence, Fit.LOWEST)
        work += WORK_OF_PACKING * len(blocks) + WORK_OF_AN_ORDER
        if found is None:
            continue
        lost = float(np.minimum(loss[found[1] > 0], 1e30).sum())
        if lost < least:
            best, least = found, lost
    return best, work
