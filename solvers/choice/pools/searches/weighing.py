"""A first placement where peaks are weighed against the choice: pools are filled in turn, about as high as prices on room make them on average.

The prices that prove most are those at which many blocks may as well be in one pool as in another, so their own answer has pools far too high. On average
of all answers pools are about as high as in the best choice with parts of blocks. Below these heights each attempt fills pools with what gains most for its size;
where the last pool is too full, some of its blocks come sooner the next time. The attempt that costs least is packed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ....bounds.prices.market import Floats, Market
from ....bounds.prices.priced_room import can_price_room
from ....geometry.rules import violation
from ....heuristics.assign.apart import kept_apart, raising
from ....model.conflicts import live_pair_count
from ....model.instance import Instance, Ints, Placement
from ....model.linear_terms import choice_cost, peak_price
from ....model.solver import Control, Goal, Task
from .. import budget
from ..placing.packing import Packing, ending_at
from ..program.writing import ruled
from .filling import Filling

PATIENCE = 24
"""So many attempts in a row may cost no less than the best before them."""


class Weighed(NamedTuple):
    """What filling pools in turn came to."""

    placement: Placement | None
    work: int
    """What it took."""
    sections: Ints | None = None
    prices: Floats | None = None
    """The prices on room in each pool at these sections; None where there are none."""


class Weighing(Filling):
    """The attempts of one instance below given heights."""

    def __init__(self, instance: Instance, task: Task, control: Control, heights: Ints) -> None:
        super().__init__(instance, 0, task, control)
        ends = (pool.capacity for pool in instance.pools)
        most = np.maximum(heights, [self._least_height(pool) for pool in range(len(heights))]).tolist()
        self._tops = tuple(top if end is None else min(end, top) for end, top in zip(ends, most, strict=True))
        self._prices = [peak_price(instance, instance.terms[0]) * pool.cost for pool in instance.pools]

    def run(self, work: int) -> Placement | None:
        """The placement of the attempt that costs least; None if the last pool never had room for all others."""
        i, last, found = self._instance, self._turns[-1], None
        lower = ending_at(i, [None if pool == last else top for pool, top in enumerate(self._tops)])
        least, idle = np.inf, 0
        while self.work < work and idle < PATIENCE and self._control.stopped() is None:
            pools, offset = self._filled(lower, np.full(i.blocks, -1))
            rest, live = np.flatnonzero(pools < 0), self._live(pools < 0)
            idle += 1
            if i.allowed[rest, last].all():
                pools[rest] = last
                cost = self._cost(pools, offset, int(live.max()))
                if cost < least:
                    least, found, idle = cost, (pools, offset, rest), 0
            self._let_come_sooner(rest, live - self._tops[last], lower)
        return None if found is None else self._with_last(*found, min(work, budget.PACKING_LAST))

    def _least_height(self, pool: int) -> int:
        """What those take that can be nowhere else."""
        allowed = self._instance.allowed
        stays = allowed[:, pool] & (allowed.sum(axis=1) == 1)
        return int(max(self._live(stays).max(), self._instance.block_high[stays].max(initial=0)))

    def _cost(self, pools: Ints, offset: Ints, height: int) -> float:
        """Of these pools, if the last one is so high; the others are filled up to these offsets."""
        cost = float(self._costs[np.arange(len(pools)), pools].sum()) + self._prices[self._turns[-1]] * height
        ends = offset + self._instance.block_high
        return cost + sum(self._prices[p] * int(ends[pools == p].max(initial=0)) for p in self._turns[:-1])

    def _with_last(self, pools: Ints, offset: Ints, rest: Ints, work: int) -> Placement | None:
        """With the blocks of the last pool packed."""
        packing = Packing(self._instance, self._task, self._control)
        outcome = packing.outcome(self._turns[-1], rest, Goal.MINIMISE, work)
        self.work += packing.work
        if outcome.placement is None:
            return None
        offset[rest] = outcome.placement.offset
        return Placement(pools, offset)


def weighed(instance: Instance, task: Task, control: Control, work: int) -> Weighed:
    """A placement within about so much work; None where nothing was found, and where peaks are not weighed.

    Blocks that rules tie to others or keep apart have their pools before pools are filled: `by_itself`.
    """
    if task.goal is not Goal.MINIMISE or not instance.sections or not _is_weighed(instance):
        return Weighed(None, 0)
    if live_pair_count(instance) > budget.PAIRS_FILLED_PER_UNIT * work:
        return Weighed(None, 0)
    market = Market(instance)
    prices, spent, _ = market.haggle(None, replace(task, limits=replace(task.limits, work=work // 2)), control)
    if market.heights is None or not market.heights.any():
        return Weighed(None, spent)
    alone = by_itself(instance, market.costs_at(prices) + raising(instance, instance.class_number, market.heights))
    if alone is None:
        return Weighed(None, spent, market.sections, prices)
    weighing = Weighing(alone, task, control, market.heights.astype(np.int64))
    found = weighing.run(work - spent)
    if found is not None and violation(instance, found) is not None:
        found = None
    return Weighed(found, spent + weighing.work, market.sections, prices)


def by_itself(instance: Instance, costs: Floats) -> Instance | None:
    """The instance where blocks that rules tie to others, or keep apart from some, are in the pools that cost them least; None if one is left without.

    Every placement of it is one of the instance.
    """
    is_ruled = ruled(instance)
    if not is_ruled.any():
        return instance
    number = instance.class_number
    kept = kept_apart(number[instance.apart], costs)
    if kept is None:
        return None
    stays = np.arange(len(instance.pools)) == kept.argmin(axis=1)[number][:, None]
    allowed = instance.allowed & (stays | ~is_ruled[:, None])
    return replace(instance, allowed=allowed, pool_class=np.arange(instance.blocks), apart=instance.apart[:0])


def _is_weighed(instance: Instance) -> bool:
    """Does the first term weigh peaks against the choice?"""
    term = instance.terms[0]
    return choice_cost(instance, term) is not None and bool(peak_price(instance, term)) and can_price_room(instance)
