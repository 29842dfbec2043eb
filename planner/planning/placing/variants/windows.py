"""Lowers a plan window by window: where it is too high only in places, what is live there is placed anew and the rest stays.

In a long and thin problem each period may be easy, and the whole hard: placing everything anew needs luck everywhere at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from solvers.model.errors import StopReason

from ....facts.colocation import groups
from ....facts.part import only
from ....model.deadline import look
from ....model.plan import Plan, PlanStatus, TermValue, gap_to
from ....model.problem import Buffer, BufferId, Fixed, Problem
from ....verifying.arguments.counterexamples import BRIEF
from ....verifying.verify import verify

SIZES = (48, 96, 192)
"""The approximate numbers of buffers in a window that may move."""
CLOSE = 500
"""The search ends when the gap between what was reached and what was not is at most this part of the peak."""

LOWERING = "lowering the plan of"

Fit: TypeAlias = Callable[[Problem], Plan | None]
"""Returns any plan within the capacities. None: there is no time for it."""


def lowered(problem: Problem, made: Plan, fit: Fit) -> Plan:
    """Return the plan, or a lower one. It may be invalid if there are several pools, or conflicts given as pairs."""
    if len(problem.pools) != 1 or made.peak is None or problem.constraints.conflicts:
        return made
    if any(buffer.live is None for buffer in problem.buffers):
        return made
    peak, least = made.peak, made.pools[0].bound
    if peak <= least:
        return made
    found = _Windows(problem, made, fit)
    found.lower(least)
    if found.peak >= peak:
        return made
    better = found.plan()
    return made if verify(problem, better, effort=BRIEF) else better


class _Windows:
    """The offsets so far."""

    def __init__(self, problem: Problem, made: Plan, fit: Fit) -> None:
        self._problem, self._made, self._fit = problem, made, fit
        self.offsets: dict[BufferId, int] = {place.id: place.offset for place in made.placements}
        self._spans = [
            (buffer, min(start for start, _ in live), max(end for _, end in live))
            for buffer in problem.buffers
            if (live := [span for span in buffer.live or () if span[0] < span[1]])
        ]
        self._tied = self._colocated()
        self._is_over = False
        self._is_reproducible = made.reproducible

    @property
    def peak(self) -> int:
        return max((self._end(buffer) for buffer in self._problem.buffers), default=0)

    def lower(self, least: int) -> None:
        """Lower as far as possible: to `least` if nothing prevents it."""
        failed, target = least - 1, least
        while self.peak - failed - 1 > self.peak // CLOSE and not self._is_over:
            if not self._lower_all(target):
                failed = target
            target = failed + max((self.peak - failed) // 2, 1)

    def _lower_all(self, target: int) -> bool:
        """Lower every place above the target. True: nothing is above it any more. Places that resist are skipped."""
        failed: set[BufferId] = set()
        while over := [
            (start, end, buffer.id)
            for buffer, start, end in self._spans
            if buffer.id not in failed and self._end(buffer) > target
        ]:
            if self._is_over:
                return False
            look(LOWERING)
            start, end, _ = min(over, key=lambda each: each[:2])
            if not self._lower_one((start, end), target):
                failed.update(id_ for begin, stop, id_ in over if begin < end and stop > start)
        return not failed

    def _lower_one(self, core: tuple[int, int], target: int) -> bool:
        """Place what is live around these times below the target."""
        tried = -1
        for size in SIZES:
            free = self._window(core, target, size)
            if len(free) > tried and self._place(free, target):
                return True
            if self._is_over:
                return False
            tried = len(free)
        return False

    def _window(self, core: tuple[int, int], target: int, size: int) -> set[BufferId]:
        """Return the buffers that may move: the nearest ones, those above the target at the same times, and those that move with them."""
        start, end = core
        nearest = sorted(
            (max(begin - end, start - stop, 0), begin, stop, k) for k, (_, begin, stop) in enumerate(self._spans)
        )
        free = {self._spans[k][0].id for *_, k in nearest[:size]}
        while True:
            look(LOWERING)
            low = min(begin for buffer, begin, _ in self._spans if buffer.id in free)
            high = max(stop for buffer, _, stop in self._spans if buffer.id in free)
            more = {
                buffer.id
                for buffer, begin, stop in self._spans
                if begin < high and stop > low and self._end(buffer) > target
            }
            more |= {other for id_ in free | more for other in self._tied.get(id_, ())}
            if more <= free:
                return free
            free |= more

    def _place(self, free: set[BufferId], target: int) -> bool:
        low = min(begin for buffer, begin, _ in self._spans if buffer.id in free)
        high = max(stop for buffer, _, stop in self._spans if buffer.id in free)
        there = {buffer.id for buffer, begin, stop in self._spans if begin < high and stop > low} | free
        there |= {other for id_ in there for other in self._tied.get(id_, ())}
        part = only(self._problem, there)
        pool = self._problem.pools[0]
        made = self._fit(
            replace(
                part,
                buffers=tuple(each if each.id in free else self._held(each) for each in part.buffers),
                pools=(replace(pool, size=target if pool.size is None else min(target, pool.size)),),
            )
        )
        self._is_over = made is None
        if made is None or not made.placements:
            return False
        self._is_reproducible = self._is_reproducible and made.reproducible
        self.offsets.update((place.id, place.offset) for place in made.placements)
        return True

    def _held(self, buffer: Buffer) -> Buffer:
        return replace(buffer, fixed=Fixed(self._problem.pools[0].name, self.offsets[buffer.id]))

    def _end(self, buffer: Buffer) -> int:
        return self.offsets[buffer.id] + buffer.size

    def _colocated(self) -> dict[BufferId, Sequence[BufferId]]:
        """Return, for each buffer, all that moves with it."""
        ids = [buffer.id for buffer in self._problem.buffers]
        found: dict[BufferId, Sequence[BufferId]] = {}
        for group in groups(ids, self._problem.constraints.colocations):
            members = [ids[i] for i in group.members]
            found.update(dict.fromkeys(members, members))
        return found

    def plan(self) -> Plan:
        """Return the plan with the offsets found."""
        made, value = self._made, self.peak
        placements = tuple(replace(place, offset=self.offsets[place.id]) for place in made.placements)
        worth = value if made.objective.value == made.peak else value * self._problem.pools[0].cost
        terms = tuple(TermValue(term.name, worth, term.bound) for term in made.objective.terms)
        is_optimal = made.objective.bound == worth
        return replace(
            made,
            status=PlanStatus.OPTIMAL if is_optimal else made.status,
            stop=StopReason.PROVED if is_optimal else made.stop,
            peak=value,
            gap=gap_to(made.objective.bound, worth),
            objective=replace(made.objective, value=worth, terms=terms),
            pools=(replace(made.pools[0], peak=value),),
            placements=placements,
            reproducible=self._is_reproducible,
        )
