"""TVM's hill climb: first fit in an order, and 500 attempts to improve it by swapping two buffers below one that defines the peak.

It begins with the order of usmp_by_size. A worse result is accepted with a probability that falls with each attempt; the last accepted one is the
answer. It stops at the memory pressure, for which the proven bound is used here. Random numbers are those of TVM on Linux, so the swaps are too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ....model.instance import Instance, Placement, Term
from ....model.solver import Feature
from ..heuristic import Heuristic, NothingFits, Run
from ..rigid import Rigid, conflict_lists
from .first_fit import Attempt, FirstFit
from .greedy import FEATURES, Lists, order_by_size

ATTEMPTS = 500
SECOND_LEVEL_ABOVE = 25
"""Percent. The second buffer of a swap is from the second level if a draw from 0 to 99 exceeds this, and there is one."""


class UsmpHillClimb(Heuristic):
    """See the module."""

    name: ClassVar[str] = "usmp_hill_climb"
    features: ClassVar[frozenset[Feature]] = FEATURES

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        if not len(blocks):
            return Placement.in_one_pool([])
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
    """A total size that cannot be improved."""
    counts_bytes = instance.terms[0] is Term.SUM_OF_PEAKS and all(pool.cost == 1 for pool in instance.pools)
    return max(sum(run.task.pool_bounds), *(run.task.bound[:1] if counts_bytes else ()), 0)


class _Climb:
    """The order, the last accepted attempt, and the last swap."""

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
        """First fit in the present order; blocks before the first change keep the accepted attempt's places."""
        return self.fit.attempt(self.order, self.accepted, run)

    def accepts(self, new: int, old: int, number: int) -> bool:
        """True for better results always; for others the more rarely, the worse they are and the later they come."""
        return old > new or (new > 0 and self.random.below(100) < 50 * (new - old) // new // number)

    def undo(self) -> None:
        """Takes back the last swap. (After an attempt that found nothing to swap, TVM takes back the one before; so does this.)"""
        self._exchange(*self.swapped)

    def swap(self) -> None:
        """Swaps two buffers that come before one at the peak and conflict with it, directly or through another."""
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
                break  # TVM would loop for ever if that one were listed twice
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
    """The C library's rand_r, which TVM uses: the same seed gives the same swaps.

    A linear congruential generator with three steps per draw (as in GNU's C library).
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
        """The remainder of a draw, as C programs compute it."""
        return self.draw() % count
