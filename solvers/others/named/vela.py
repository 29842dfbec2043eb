"""Arm Vela's hill climb: first fit in an order, improved by swapping two buffers that push the highest one up.

The first order is by urgency: the greatest live sum during a buffer's life. The climb ends when the largest live sum is reached; or after 500 rounds
without improvement if the result is within the memory's size; or after 99 999 rounds. Random numbers are those of Python's generator with seed 1, as
in Vela. A failed round leaves its partial placement behind, from which the next swap is chosen: as in Vela.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

import numpy as np

from ...model.instance import Instance, Placement
from ...model.solver import Feature
from .heuristic import Heuristic, NothingFits, Run
from .rigid import Rigid, conflict_lists
from .shared_objects import homes
from .vela_passes import Passes

MOST_ROUNDS = 99_999
ROUNDS_AFTER_IMPROVEMENT = 500
ROUNDS_STUCK = 50
"""After more rounds than this without a better result, each round swaps two further buffers."""
NO_NEIGHBOUR_PERCENT = 30


class VelaHillClimb(Heuristic):
    """See the module. Pools are planned one by one."""

    name: ClassVar[str] = "vela_hill_climb"
    features: ClassVar[frozenset[Feature]] = frozenset(
        {Feature.CAPACITY, Feature.MULTI_RECT, Feature.CONFLICTS, Feature.EXCLUSIONS}
    )

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        near = conflict_lists(blocks.instance, self.name)
        pool_of = instance.allowed.argmax(axis=1).astype(np.int64)
        climbs = [
            _Climb(instance, Passes(blocks, pool, members, near), instance.pools[pool].capacity)
            for pool, members in homes(instance).items()
        ]

        try:
            for climb in climbs:
                climb.climb(run)
        finally:
            base: dict[int, int] = {}
            for climb in climbs:
                base.update(zip(climb.passes.members, climb.best_base, strict=False))
            stuck = _highest_too_high(blocks, base, pool_of.tolist())
            if len(base) == len(blocks) and stuck is None:
                run.answer = Placement(pool_of, np.array([base[b] for b in range(len(blocks))], dtype=np.int64))
        if stuck is not None:
            raise NothingFits(stuck)
        assert run.answer is not None
        return run.answer


class _Climb:
    """One pool's order, and the best placement that an order gave."""

    def __init__(self, instance: Instance, passes: Passes, capacity: int | None) -> None:
        self.passes = passes
        self.capacity = capacity
        self.order = passes.by_urgency(instance)
        self.best_base: list[int] = []
        self.random = Random(1)

    def climb(self, run: Run) -> None:
        """Runs the climb. Raises Interrupted; the best so far is kept."""
        passes = self.passes
        best = passes.make(self.order, None, run)
        assert best is not None
        self.best_base = passes.bases()
        best_order = list(self.order)
        improved = number = 0
        while best > passes.most_live and self._goes_on(best, number, number - improved):
            if run.is_spent(number + 1):
                break
            self._exchange(number - improved)
            new = passes.make(self.order, best, run)
            if new is None:
                self.order = list(best_order)
            else:
                improved = number if new < best else improved
                best, best_order, self.best_base = new, list(self.order), passes.bases()
            number += 1

    def _goes_on(self, best: int, number: int, idle: int) -> bool:
        too_large = self.capacity is not None and best > self.capacity
        return (too_large and number < MOST_ROUNDS) or idle < ROUNDS_AFTER_IMPROVEMENT

    def _exchange(self, idle: int) -> None:
        """Swaps two of the turns that influenced the highest block's end; after long idleness two more, from further away."""
        draw, order, passes = self.random.randint, self.order, self.passes
        top = passes.highest()
        turns = passes.turns_below(top)
        strangers = [turn for turn in turns if order[turn] != top and order[turn] not in passes.near_set[top]]
        if draw(0, 100) < NO_NEIGHBOUR_PERCENT and strangers:
            one = strangers[draw(0, len(strangers) - 1)]
        else:
            one = turns[draw(0, len(turns) - 1)]
        if len(turns) == 1:
            return  # there is nothing to swap it with
        other = turns[draw(0, len(turns) - 2)]
        if one == other:
            other = turns[-1]
        order[one], order[other] = order[other], order[one]
        if idle > ROUNDS_STUCK:
            turns = list(dict.fromkeys([*turns, *passes.turns_near([order[turn] for turn in strangers])]))
            one, other = turns[draw(0, len(turns) - 1)], turns[draw(0, len(turns) - 1)]
            order[one], order[other] = order[other], order[one]


def _highest_too_high(blocks: Rigid, base: dict[int, int], pool: list[int]) -> int | None:
    """The highest of the blocks above their greatest base; None if there is none."""
    wrong = [b for b, at in base.items() if at > blocks.highest[b][pool[b]]]
    return max(wrong, key=lambda b: (base[b] + blocks.size[b], -b), default=None)
