"""Packs every pool by itself for a choice of pools: the best placement's, or each in turn where there are few."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from ...model.errors import StopReason
from ...model.instance import LINEAR_TERMS, Instance, Ints, Term
from ...model.linear_terms import choice_cost
from ...model.outcome import Outcome
from ...model.solver import Goal, Task
from ..execute import Engines
from ..roster import packers, task_of_round
from ..separate import solve_separate_pools
from .kept_apart import may_share, parted
from .known import Known
from .proven import Proven

PEAKS_ADD_UP = frozenset(term for term, adds in LINEAR_TERMS.items() if adds.peaks)
"""Terms that improve when any pool is packed lower."""
OF_PEAKS = PEAKS_ADD_UP | {Term.LARGEST_PEAK}
"""Terms that improve when a pool is packed lower, the choice of pools staying as it is."""
MOST_CHOICES, MOST_BLOCKS = 64, 200
"""Up to this many choices of pools, each is packed: that takes milliseconds, while loading a solver's library takes hundreds."""
WORK_OF_A_CHOICE = 100_000


def is_settled_by_choice(instance: Instance) -> bool:
    """True if all choices of pools can be tried, and the objective weighs only the choice and how low each pool is packed."""
    if instance.blocks > MOST_BLOCKS:
        return False
    choices = math.prod(instance.allowed.sum(axis=1).tolist())
    terms = all(term in PEAKS_ADD_UP or choice_cost(instance, term) is not None for term in instance.terms)
    weighs_more = len(instance.penalties) > 0 or instance.weighs_moves
    return choices <= MOST_CHOICES and terms and not weighs_more


def all_choices(instance: Instance) -> Iterator[Ints]:
    """The pool of each block, in every way that keeps together and apart what must be."""
    first, second = instance.apart[:, 0], instance.apart[:, 1]
    together = instance.first_of_class
    for pools in product(*(np.flatnonzero(row).tolist() for row in instance.allowed)):
        pool = np.array(pools, dtype=np.int64)
        if (pool[first] != pool[second]).all() and (pool == pool[together]).all():
            yield pool


class SettledPools:
    """Packs choices of pools low, for one run."""

    def __init__(self, instance: Instance, task: Task, engines: Engines, known: Known, proven: Proven) -> None:
        self._instance, self._task, self._engines = instance, task, engines
        self._known, self._proven = known, proven
        self._packed: bytes | None = None
        """The choice of pools, and of pairs that share, that is proven to be packed as low as can be."""
        self._in_vain: tuple[bytes, int] | None = None
        """Such a choice that could not even be begun to be packed, and the work that was too little for that."""
        self.all_are_tried = False
        """True once every choice of pools was tried, and with it every tie."""

    def can_lower(self) -> bool:
        """True if the best placement's choice is not yet proven to be packed as low as can be."""
        return self._known.placement is not None and self._settled() != self._packed

    def lower(self, number: int, work: int) -> None:
        """Pack the best placement's choice lower, with this work in this round."""
        assert self._known.placement is not None
        settled = self._settled()
        if self._in_vain is not None and self._in_vain[0] == settled and work <= self._in_vain[1]:
            return  # bounds, which are not counted, would be worked out again for nothing
        outcome = self._pack(self._known.placement.pool, number, work)
        if outcome.stop is StopReason.PROVED:
            self._packed = settled
        elif not outcome.work:
            self._in_vain = settled, work

    def _settled(self) -> bytes:
        """What is settled where the best placement is packed lower."""
        placement = self._known.placement
        assert placement is not None
        return placement.pool.tobytes() + may_share(self._instance, placement).tobytes()

    def try_all(self, number: int) -> None:
        """If there are few choices, pack each as low as can be: the best of them is optimal."""
        instance, known = self._instance, self._known
        if not is_settled_by_choice(instance) or self._task.goal is not Goal.MINIMISE:
            return
        cost = choice_cost(instance, instance.terms[0])
        blocks = np.arange(instance.blocks)
        for pool in all_choices(instance):
            if cost is not None and known.value is not None and int(cost[blocks, pool].sum()) > known.value[0]:
                continue
            if self._pack(pool, number, WORK_OF_A_CHOICE).stop is not StopReason.PROVED:
                return
        if known.value is None:
            return
        self.all_are_tried = True
        if known.value > self._proven.bound:
            self._proven.take_search(Outcome(StopReason.PROVED, bound=known.value), packers()[0])

    def _pack(self, pool: Ints, number: int, work: int) -> Outcome:
        """Pack this choice of pools low. Its bound holds for this choice alone, so it is not passed on."""
        instance = self._instance
        allowed = np.zeros_like(instance.allowed)
        allowed[np.arange(instance.blocks), pool] = True
        settled = replace(
            parted(instance, may_share(instance, self._known.placement)),
            allowed=allowed,
            apart=instance.apart[:0],
            was=None,
            terms=tuple(term for term in instance.terms if term in OF_PEAKS),
        )
        task = task_of_round(replace(self._task, bound=(), target=(), pool_bounds=()), number, work)
        relay = self._known.relay(packers()[0])
        outcome = solve_separate_pools(settled, task, relay, packers(), by_name=False)
        self._engines.count(outcome, *outcome.took_part)
        if outcome.placement is not None:
            relay.incumbent(outcome.placement)
        return outcome
