"""TVM's hill climb: first fit in an order, and 500 attempts to better it by swapping two buffers below one that defines the peak.

It begins in the order of usmp_by_size. A worse result is accepted with a probability that falls from attempt to attempt; the last accepted one
is the answer. It stops at the memory pressure, for which the proven bound stands here. Draws are those of TVM on Linux, so that the swaps are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....model.instance import Instance, Placement, Term
from ....model.solver import Feature
from ..heuristic import Heuristic, NothingFits, Run
from ..rigid import Rigid, conflict_lists
from .first_fit import Attempt, FirstFit
from .greedy import FEATURES, Lists, order_by_size

ATTEMPTS = 500
SECOND_LEVEL_ABOVE = 25
"""Percent: how often the second buffer of a swap is one of the first level, if there is a choice."""


class UsmpHillClimb(Heuristic):
    """See the module."""

    name: ClassVar[str] = "usmp_hill_climb"
    features: ClassVar[frozenset[Feature]] = FEATURES

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        if not len(blocks):
            return Placement(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        near = conflict_lists(instance, self.name)
        climb = _Climb(blocks, near, order_by_size(instance, blocks, near))
        pressure = _pressure(instance, run)
        total: int | None = None
        for number in range(ATTEMPTS):
            if run.is_spent(number):
                break
            attempt = climb.attempt(run)
            if total is None or (attempt.stuck is None and climb.accepts(attempt.total, total, number)):
                climb.accepted = attempt
                if attempt.stuck is None:
                    total = attempt.total
                    run.answer = attempt.placement()
                    if total <= pressure:
                        break
            else:
                climb.undo()
            climb.swap()
        if run.answer is None:
            assert climb.accepted is not None
            assert climb.accepted.stuck is not None
            raise NothingFits(climb.accepted.stuck)
        return run.answer


def _pressure(instance: Instance, run: Run) -> int:
    """A total size that cannot be bettered."""
    counts_bytes = instance.terms[0] is Term.SUM_OF_PEAKS and all(pool.cost == 1 for pool in instance.pools)
    return max(sum(run.task.pool_bounds), *(run.task.bound[:1] if counts_bytes else ()), 0)


class _Climb:
    """The order, the last accepted attempt, and the swap that led from there to here."""

    def __init__(self, blocks: Rigid, near: Lists, order: list[int]) -> None:
        self.blocks = blocks
        self.near = near
        self.order = order
        self.place_in_order = [0] * len(order)
        for place, block in enumerate(order):
            self.place_in_order[block] = place
        self.fit = FirstFit(blocks, near)
        self.random = RandR(0)
        self.accepted: Attempt | None = None
        self.swapped: tuple[int, int] = (0, 0)

    def attempt(self, run: Run) -> Attempt:
        """First fit in the present order; what comes before the first change is taken from the accepted attempt."""
        return self.fit.attempt(self.order, self.accepted, run)

    def accepts(self, new: int, old: int, number: int) -> bool:
        """Better ones always; others the more rarely, the worse they are and the later they come."""
        return old > new or (new > 0 and self.random.below(100) < 50 * (new - old) // new // number)

    def undo(self) -> None:
        """Take back the last swap. (After an attempt that found nothing to swap, TVM takes back the one before; so does this.)"""
        self._exchange(*self.swapped)

    def swap(self) -> None:
        """Exchange two of those that come before a buffer at the peak, and that it conflicts with, directly or through another."""
        assert self.accepted is not None
        place, draw = self.place_in_order, self.random.below
        peak = sorted(self.accepted.at_the_peak(), key=place.__getitem__)
        block = peak[draw(len(peak))]
        first = sorted((c for c in self.near[block] if place[c] < place[block]), key=place.__getitem__)
        second = sorted(
            (d for c in self.near[block] for d in self.near[c] if place[d] < place[c]), key=place.__getitem__
        )
        if not first:
            return
        one = other = first[draw(len(first))]
        while other == one:
            level = second if second and draw(100) > SECOND_LEVEL_ABOVE else first
            other = level[draw(len(level))]
            if {*first, *second} == {one}:
                break  # TVM would go on for ever if that one were listed twice
        if one != other:
            self.swapped = (place[one], place[other])
            self._exchange(*self.swapped)

    def _exchange(self, i: int, j: int) -> None:
        a, b = self.order[i], self.order[j]
        self.order[i], self.order[j] = b, a
        self.place_in_order[a], self.place_in_order[b] = j, i


_WORD = 1 << 32


@dataclass(slots=True)
class RandR:
    """The C library's rand_r, from which TVM draws: with the same seed, the same swaps.

    A linear congruential generator of which each draw takes three steps (as GNU's C library defines it).
    """

    seed: int

    def draw(self) -> int:
        """From 0 to 2^31 - 1."""
        drawn = 0
        for bits in (11, 10, 10):
            self.seed = (self.seed * 1103515245 + 12345) % _WORD
            drawn = (drawn << bits) ^ ((self.seed >> 16) % (1 << bits))
        return drawn

    def below(self, count: int) -> int:
        """The draw's remainder, as C programs take it."""
        return self.draw() % count
