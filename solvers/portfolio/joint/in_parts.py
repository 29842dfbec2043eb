"""Solves the parts of a problem whose terms add up, each on its own, so that what one leaves of the work goes to the others; then adds up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeAlias

from ...geometry.presolve import Piece
from ...model.errors import StopReason
from ...model.instance import Instance, Placement
from ...model.outcome import Outcome, Value
from ...model.solver import Control, Task
from ..board import Board, Relay
from ..execute import ask
from .added_up import Solve, gone_on, sum_of
from .joint import Joint, work_of_part
from .parts import Part

WORK, GROWTH = 500_000, 8
"""The work of a part in the first pass if there is no limit, and by how much more it is in each pass after that."""
OF_THE_FIRST, LEAST_OF_THE_FIRST = 16, 30_000
"""The first pass takes such a part of the work, if that is enough for each: then all had something should time be up before the work is."""
ANEW = 4
"""A part begins anew in each pass, so with less than such a part of what it took before it finds nothing more."""

Begin: TypeAlias = Callable[[Instance, Task, Control], Joint]


def solve_in_parts(
    instance: Instance, task: Task, control: Control, cuts: Sequence[Piece], begin: Begin, solve: Solve
) -> Outcome:
    """Solve each part on its own, then add up.

    If the proofs of all that are done do not add up, the problem is solved as one with the work that is left.
    """
    parts = _Parts(instance, task, control, cuts)
    if instance.has_choice:
        _in_passes(parts, solve)
    else:
        _in_rounds(parts, begin)
    found = parts.outcome()
    if found.stop is not StopReason.PROVED or found.is_optimal or found.infeasible:
        return found
    found = replace(found, stop=StopReason.WORK_LIMIT)
    return gone_on(found, instance, task, control, lambda *whole: begin(*whole).solve())


def _in_rounds(parts: _Parts, begin: Begin) -> None:
    """Without a choice of pools: all runs begin with the whole work, of which they take little; then come rounds of all that are open."""
    runs = list[Joint]()
    for part in parts.every:
        runs.append(run := begin(part.cut.instance, replace(parts.task, start=part.best), parts.relay(part)))
        run.begin()
        if run.proven.infeasible:
            break
    while not any(run.proven.infeasible for run in runs) and (todo := [run for run in runs if run.is_open]):
        spent = sum(run.engines.work for run in runs)
        budget = work_of_part(parts.task.limits.work, spent, sum(run.parts for run in todo))
        if not budget:
            break
        for run in todo:
            run.round(budget)
            if run.proven.infeasible:
                break
    for part, run in zip(parts.every, runs, strict=False):
        parts.learn(part, run.outcome())


def _in_passes(parts: _Parts, solve: Solve) -> None:
    """With a choice of pools, where most is done before the rounds: each part begins anew in each pass, the small ones first, as long as there is enough work."""
    parts.begin_with_greedy()
    todo = sorted(parts.every, key=lambda part: part.places)
    for number in count():
        before = parts.spent
        for at, part in enumerate(todo):
            work = parts.share(todo[at:], number)
            if work * ANEW >= part.took:
                task = replace(parts.task, limits=replace(parts.task.limits, work=work), start=part.best)
                parts.learn(part, solve(part.cut.instance, task, parts.relay(part)))
            if part.outcome.infeasible:
                return
        todo = [part for part in todo if part.outcome.stop is StopReason.WORK_LIMIT]
        if not todo or (number and parts.spent == before) or parts.stopped() is not None:
            return


class _Parts:
    """All parts of an instance, and what is known of them together."""

    def __init__(self, instance: Instance, task: Task, control: Control, cuts: Sequence[Piece]) -> None:
        self.task = replace(task, bound=(), target=(), pool_bounds=())
        """Of each part."""
        self.every = list(map(Part, cuts))
        self._instance, self._board = instance, Board(instance, control)
        self._begun = Outcome(StopReason.WORK_LIMIT)
        self.stopped = control.stopped
        if task.start is not None:
            self._begin_with(task.start)

    def begin_with_greedy(self) -> None:
        """Without a start, take greedy's quickest placement, so that there is one of all parts however soon time is up."""
        if self.task.start is not None:
            return
        task = replace(self.task, limits=replace(self.task.limits, work=0))
        found = ask("greedy", self._instance, task, Relay(self._board))
        if isinstance(found, Outcome):
            self._begun = found
            if found.placement is not None:
                self._begin_with(found.placement)

    def _begin_with(self, start: Placement) -> None:
        for part in self.every:
            part.take(part.part_of(start))
            self._put(part)

    @property
    def spent(self) -> int:
        """The work of all runs so far."""
        return self._begun.work + sum(part.outcome.work for part in self.every)

    def share(self, todo: Sequence[Part], number: int) -> int:
        """The first part's share of the work that is left, by the places that blocks may have, in the pass with this number."""
        limit = self.task.limits.work
        if limit is None:
            return int(WORK * GROWTH**number)
        share = max(limit - self.spent, 0) * todo[0].places // max(sum(part.places for part in todo), 1)
        is_enough = share // OF_THE_FIRST >= LEAST_OF_THE_FIRST
        return share // OF_THE_FIRST if is_enough and not number else share

    def relay(self, part: Part) -> Relay:
        """The Control of a part's run: its placements and bounds go to the board of the whole."""

        def put(placement: Placement) -> None:
            if part.take(placement):
                self._put(part)

        def prove(bound: Value) -> None:
            part.least = max(part.least, bound[0])
            self._board.prove((sum(each.least for each in self.every),))

        return Relay(self._board, put, prove)

    def learn(self, part: Part, outcome: Outcome) -> None:
        """Take the outcome of a part's run."""
        part.learn(outcome)
        self._put(part)

    def _put(self, part: Part) -> None:
        if part.best is not None:
            self._board.put(part.cut.blocks, part.cut.pools[part.best.pool], part.best.offset)

    def outcome(self) -> Outcome:
        """The outcome of the whole."""
        cuts, outcomes = [part.cut for part in self.every], [part.outcome for part in self.every]
        found = sum_of(self._instance, cuts, outcomes, self._board.placement)
        names = (*self._begun.took_part, *found.took_part)
        return replace(found, work=self.spent, took_part=tuple(dict.fromkeys(names)))
