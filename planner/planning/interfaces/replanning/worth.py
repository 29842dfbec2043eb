"""What a plan is worth: each term sums up what buffers cost in their pools, and what the pools' peaks cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.choice.over_time import Choosing, Weights
from solvers.model.instance import LINEAR_TERMS, Choice, Ints
from solvers.model.outcome import Value

from ....facts.costs import cost_table
from ....facts.figures import amounts
from ....facts.intervals import merged
from ....model.problem import Pool, Problem
from .blocks import Blocks


class Worth:
    """The terms of a problem that these arrays can express."""

    def __init__(self, problem: Problem) -> None:
        adds = [LINEAR_TERMS[term] for term in problem.terms]
        self._problem = problem
        self._choice = next((each.choice for each in adds if each.choice is not None), None)
        self._counts_choice = [each.choice is not None for each in adds]
        self._prices = [each.peaks * (problem.peak_price if each.priced else 1) for each in adds]
        """Of the sum of peaks, each times its pool's cost."""
        self._cost_of_pool = [pool.cost for pool in problem.pools]
        self.cost = self._costs()
        """Of each buffer in each pool."""

    @property
    def weighs_pools(self) -> bool:
        """True if a byte or a use costs more in one pool than in another."""
        return any(cost != 1 for cost in self._cost_of_pool) or bool((self.cost != self.cost[:, :1]).any())

    def of_peaks(self, peaks: Sequence[int]) -> int:
        """Return the sum of these peaks, each times its pool's cost."""
        return sum(cost * peak for cost, peak in zip(self._cost_of_pool, peaks, strict=True))

    def values(self, pool: Ints, total: int) -> Value:
        """Return each term's value, if the buffers are in these pools and this is the sum of peaks, each times its pool's cost."""
        choice = int(self.cost[np.arange(len(pool)), pool].sum())
        pairs = zip(self._counts_choice, self._prices, strict=True)
        return tuple(choice * counts + price * total for counts, price in pairs)

    def weights(self, least: int) -> list[Weights]:
        """Return what each term adds up, if the sum of peaks is this at least."""
        pairs = zip(self._counts_choice, self._prices, strict=True)
        return [
            Weights(counts, tuple(price * cost for cost in self._cost_of_pool), price * least)
            for counts, price in pairs
        ]

    def _costs(self) -> Ints:
        problem = self._problem
        if self._choice is Choice.ACCESS:
            return cost_table(problem)[:, :-1]
        if self._choice is Choice.RANK:
            rank = np.array([pool.rank for pool in problem.pools], dtype=np.int64)
            return amounts(problem).size[:, None] * rank
        return np.zeros((len(problem.buffers), len(problem.pools)), dtype=np.int64)


def choosing_of(blocks: Blocks, worth: Worth, least: int) -> Choosing:
    """Return the choice of pools for blocks that are single buffers, if the sum of peaks, each times its pool's cost, is this at least."""
    problem, lives = blocks.problem, blocks.lives
    allowed = blocks.allowed
    if allowed is None:
        allowed = np.ones((len(problem.buffers), len(problem.pools)), dtype=bool)
    room = [_room(pool) for pool in problem.pools]
    weights = worth.weights(least)
    return Choosing(blocks.known.size, worth.cost, allowed, room, lives.part, lives.start, lives.end, weights)


def _room(pool: Pool) -> int | None:
    """Return the bytes that no reserved range takes; None if there are any number."""
    if pool.size is None:
        return None
    return pool.size - sum(max(min(end, pool.size) - start, 0) for start, end in merged(pool.reserved))
