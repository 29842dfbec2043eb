"""Parts of a problem that share no pool, each solved on its own: where all terms are sums over pools, the best of each is the best of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...geometry.presolve import restrict
from ...model.conflicts import connected
from ...model.errors import StopReason
from ...model.instance import Instance, Ints, Placement
from ...model.linear_terms import LINEAR
from ...model.objective import evaluate
from ...model.outcome import Outcome, Value
from ...model.solver import Control, Task
from ..board import Board, Relay
from ..execute import ask
from .added_up import Solve, added_up, gone_on, translated

WORK, GROWTH = 4_000_000, 4
"""The work of a part if there is no limit, and by how much more it is in each pass after the first."""
ANEW = 4
"""A part begins anew in each pass, so with less than such a part of what it took before it finds nothing more."""


def parts_of(instance: Instance) -> list[Ints]:
    """Sets of blocks that share no pool with each other; one set if only one of them has a choice of pools, or if terms do not add up."""
    if not instance.has_choice or instance.weighs_moves or not LINEAR.issuperset(instance.terms):
        return [np.arange(instance.blocks)]
    _, of_class = np.unique(instance.pool_class, return_inverse=True)
    common = np.zeros((int(of_class.max()) + 1, len(instance.pools)), dtype=bool)
    np.logical_or.at(common, of_class.reshape(-1), instance.allowed)
    first = np.argmax(common, axis=1)
    rows, pools = np.nonzero(common)
    label = connected(np.arange(len(instance.pools)), np.stack([first[rows], pools], axis=1))[first][of_class]
    marks = np.unique(label)
    is_wide = np.array([bool((instance.allowed[label == mark].sum(axis=1) > 1).any()) for mark in marks.tolist()])
    if np.count_nonzero(is_wide) < 2:
        return [np.arange(instance.blocks)]
    alone = np.isin(label, marks[~is_wide])  # pools without a choice need no division
    sets = [np.flatnonzero(label == mark) for mark in marks[is_wide].tolist()]
    return [*sets, np.flatnonzero(alone)] if alone.any() else sets


def solve_disjoint(
    instance: Instance, task: Task, control: Control, sets: Sequence[Ints], solve: Solve, as_one: Solve
) -> Outcome:
    """Solve each set of blocks on its own, the small ones first, so that others have what they leave; then add up.

    If the proofs of all that are done do not add up, the problem is solved as one with the work that is left.
    """
    found = _Disjoint(instance, task, control, sets, solve).run()
    if found.stop is not StopReason.PROVED or found.is_optimal or found.infeasible:
        return found
    return gone_on(replace(found, stop=StopReason.WORK_LIMIT), instance, task, control, as_one)


class _Part:
    """A set of blocks with the pools that they may be in, and what is known of it."""

    def __init__(self, instance: Instance, blocks: Ints) -> None:
        self.cut = restrict(instance, blocks, np.flatnonzero(instance.allowed[blocks].any(axis=0)).tolist())
        self.places = int(np.count_nonzero(self.cut.instance.allowed))
        self.best: Placement | None = None
        self.value: Value | None = None
        self.outcome = Outcome(StopReason.WORK_LIMIT)
        self.took = 0
        """The work of its last run."""
        self.least = 0
        """What is proven of its first term."""

    def take(self, placement: Placement) -> bool:
        """Keep it if it is better."""
        value = evaluate(self.cut.instance, placement)
        if self.value is not None and self.value <= value:
            return False
        self.best, self.value = placement, value
        return True

    def learn(self, outcome: Outcome) -> None:
        """Take the outcome of a run; what an earlier one proved stays if it is more."""
        if outcome.placement is not None:
            self.take(outcome.placement)
        self.took = outcome.work
        before = self.outcome
        if outcome.infeasible or outcome.bound >= before.bound:
            self.outcome = outcome
        is_met = self.value is not None and self.value == self.outcome.bound
        self.outcome = replace(
            self.outcome,
            stop=StopReason.PROVED if is_met or self.outcome.infeasible else outcome.stop,
            placement=self.best,
            value=self.value,
            work=before.work + outcome.work,
            took_part=tuple(dict.fromkeys((*before.took_part, *outcome.took_part))),
            notes=tuple(dict.fromkeys((*before.notes, *outcome.notes))),
            reproducible=before.reproducible and outcome.reproducible,
        )


class _Disjoint:
    """One run."""

    def __init__(self, instance: Instance, task: Task, control: Control, sets: Sequence[Ints], solve: Solve) -> None:
        self._instance, self._task, self._solve = instance, replace(task, bound=(), target=(), pool_bounds=()), solve
        self._board = Board(instance, control)
        self._parts = sorted((_Part(instance, blocks) for blocks in sets), key=lambda part: part.places)
        self._begun = Outcome(StopReason.WORK_LIMIT)

    def run(self) -> Outcome:
        """Pass after pass, as long as there is enough work for another."""
        self._begin()
        todo, usual = list(self._parts), WORK
        while todo:
            before = self._spent
            for number, part in enumerate(todo):
                work = self._share(todo[number:], usual)
                if work * ANEW >= part.took:
                    self._run(part, work)
                if part.outcome.infeasible:
                    return self._outcome()
            todo = [part for part in todo if part.outcome.stop is StopReason.WORK_LIMIT]
            if self._spent == before or self._board.stopped() is not None:
                break
            usual *= GROWTH
        return self._outcome()

    def _begin(self) -> None:
        """Take the start; without one greedy's quickest placement, so that there is one of all parts however soon time is up."""
        start = self._task.start
        if start is None:
            limits = replace(self._task.limits, work=0)
            found = ask("greedy", self._instance, replace(self._task, limits=limits), Relay(self._board))
            if not isinstance(found, Outcome):
                return
            self._begun, start = found, found.placement
        if start is None:
            return
        for part in self._parts:
            cut = part.cut
            part.take(Placement(np.searchsorted(cut.pools, start.pool[cut.blocks]), start.offset[cut.blocks]))
            self._put(part)

    @property
    def _spent(self) -> int:
        return self._begun.work + sum(part.outcome.work for part in self._parts)

    def _share(self, todo: Sequence[_Part], usual: int) -> int:
        """The first part's share of the work that is left, by the places that blocks may have."""
        limit = self._task.limits.work
        if limit is None:
            return usual
        return max(limit - self._spent, 0) * todo[0].places // max(sum(part.places for part in todo), 1)

    def _run(self, part: _Part, work: int) -> None:
        limits = replace(self._task.limits, work=work)
        task = replace(self._task, limits=limits, start=part.best)
        part.learn(self._solve(part.cut.instance, task, self._relay(part)))
        self._put(part)

    def _relay(self, part: _Part) -> Relay:
        def put(placement: Placement) -> None:
            if part.take(placement):
                self._put(part)

        def prove(bound: Value) -> None:
            part.least = max(part.least, bound[0])
            self._board.prove((sum(each.least for each in self._parts),))

        return Relay(self._board, put, prove)

    def _put(self, part: _Part) -> None:
        if part.best is not None:
            self._board.put(part.cut.blocks, part.cut.pools[part.best.pool], part.best.offset)

    def _outcome(self) -> Outcome:
        """The outcome of the whole."""
        cuts, outcomes = [part.cut for part in self._parts], [part.outcome for part in self._parts]
        lost = next((part for part in self._parts if part.outcome.infeasible), None)
        bounds = [0] * len(self._instance.pools)
        for cut, outcome in zip(cuts, outcomes, strict=True):
            for pool, bound in zip(cut.pools.tolist(), outcome.pool_bounds, strict=False):
                bounds[pool] = max(bounds[pool], bound)
        placement = None if lost else self._board.placement
        found = Outcome(
            stop=self._stop(),
            placement=placement,
            value=None if placement is None else evaluate(self._instance, placement),
            pool_bounds=tuple(bounds),
            infeasible=lost is not None,
            solver=next((o.solver for o in outcomes if o.solver not in (None, "greedy")), outcomes[0].solver),
            work=self._spent,
            took_part=tuple(dict.fromkeys(name for o in (self._begun, *outcomes) for name in o.took_part)),
            reproducible=all(outcome.reproducible for outcome in outcomes),
            notes=tuple(dict.fromkeys(note for outcome in outcomes for note in outcome.notes)),
        )
        if lost is not None:
            why = tuple(translated(certificate, lost.cut) for certificate in lost.outcome.certificates)
            of_others = [(c, part.cut) for part in self._parts if part is not lost for c in part.outcome.certificates]
            return replace(
                found, certificates=(*why, *(translated(c, cut) for c, cut in of_others if c.pool is not None))
            )
        by_piece = [[translated(c, cut) for c in o.certificates] for cut, o in zip(cuts, outcomes, strict=True)]
        total = added_up(self._instance, by_piece, outcomes)
        found = replace(found, bound=total.bound, floors=total.floors, certificates=total.certificates)
        return replace(found, stop=StopReason.PROVED) if found.is_optimal else found

    def _stop(self) -> StopReason:
        """Why the run ended: the first reason that is no proof."""
        stops = [part.outcome.stop for part in self._parts]
        if any(part.outcome.infeasible for part in self._parts):
            return StopReason.PROVED
        return next((stop for stop in stops if stop is not StopReason.PROVED), StopReason.PROVED)
