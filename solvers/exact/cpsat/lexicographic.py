"""Minimises the terms of any objective one after the other, each with the earlier ones held at the best values reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...model.errors import StopReason
from ...model.instance import Instance, Placement
from ...model.objective import evaluate
from ...model.outcome import Outcome, Value
from ...model.solver import Control, Goal, Task, Warm
from .engine import NAME, WORK_PER_BLOCK, Answer, Budget, ReadValue, Reply, solve
from .program.cover import cover
from .program.model import Model, build
from .program.objective import Costs

SHARE_OF_SEARCH = 2
"""A call that would spend more than half of its work before its search is skipped, unless there is no placement yet."""


class Lexicographic:
    """The state of one run."""

    def __init__(self, instance: Instance, task: Task, control: Control, warm: Warm, budget: Budget) -> None:
        self._instance, self._task, self._control, self._budget = instance, task, control, budget
        self._warm = warm
        self._best: Placement | None = task.start if warm.gives_bound else None
        self._value: Value | None = None if self._best is None else evaluate(instance, self._best)
        self._hint = task.start if warm.gives_hint else None
        self._has_found = False
        self._proven: list[int] = []
        """The proven optima of the first terms."""
        self._bound: Value = task.bound
        self._work = 0
        self._cover = cover(instance)
        self._fixed_work = WORK_PER_BLOCK * instance.blocks
        """The work of each call before its search begins."""

    def run(self) -> Outcome:
        """Solve term by term."""
        stop = self._control.stopped()
        for index in range(1 if self._is_any_good_enough else len(self._instance.terms)):
            if stop is not None:
                break
            reply = self._solve(index)
            if reply.answer is Answer.INFEASIBLE and self._value is None:
                return Outcome(StopReason.PROVED, bound=self._bound, infeasible=True, solver=NAME, work=self._work)
            if self._value is None or reply.stopped not in (None, StopReason.WORK_LIMIT):
                stop = reply.stopped
            elif reply.stopped is None and len(self._proven) == index and not self._is_any_good_enough:
                self._prove(self._value[index])
        if self._value is not None:
            if self._bound == self._value:
                stop = StopReason.PROVED
            elif self._is_any_good_enough:
                stop = StopReason.GOAL_MET
        stop = stop or StopReason.WORK_LIMIT
        return Outcome(
            stop=stop,
            placement=self._best,
            value=self._value,
            bound=self._bound,
            solver=NAME if self._has_found else None,
            work=self._work,
            reproducible=stop.is_repeatable,
        )

    @property
    def _is_any_good_enough(self) -> bool:
        return self._task.goal is Goal.FIT

    def _solve(self, index: int) -> Reply:
        """Lowers one term, with the earlier ones no worse than they are."""
        work = self._left()
        if work is not None and index + 1 < len(self._instance.terms) and not self._is_any_good_enough:
            work = (work + 1) // 2
        if self._value is not None and work is not None and work < SHARE_OF_SEARCH * self._fixed_work:
            return Reply(Answer.UNKNOWN, None, 0, StopReason.WORK_LIMIT)
        model = build(self._instance, self._cover)
        if model.is_impossible:
            return Reply(Answer.INFEASIBLE, None, 0, None)
        if self._hint is not None:
            model.suggest(self._hint)
        if self._is_any_good_enough:
            return self._search(model, work, on_bound=None)
        costs = Costs(model, self._cover, self._task.pool_bounds)
        terms = self._instance.terms
        for term, reached in zip(terms[:index], self._value or (), strict=False):
            model.cp.add(costs.term(term) <= reached)
        goal = costs.term(terms[index])
        prefix = tuple(self._proven)
        is_exact = len(prefix) == index
        if is_exact and len(self._bound) > index and self._bound[:index] == prefix:
            model.cp.add(goal >= self._bound[index])
        if self._value is not None:
            model.cp.add(goal <= self._value[index] - 1)  # only better placements are useful
        model.cp.minimize(goal)
        reply = self._search(model, work, self._raise_bound if is_exact else None)
        if is_exact and reply.bound is not None:
            self._raise_bound(reply.bound)
        return reply

    def _search(self, model: Model, work: int | None, on_bound: Callable[[int], None] | None) -> Reply:
        def keep(value: ReadValue) -> None:
            self._accept(model.placement(value))

        search = None if work is None else max(work - self._fixed_work, 1)
        reply = solve(model.cp, replace(self._budget, work=search), self._control, keep, on_bound)
        self._work += reply.work + self._fixed_work
        return reply

    def _left(self) -> int | None:
        return None if self._budget.work is None else max(self._budget.work - self._work, 1)

    def _accept(self, placement: Placement) -> None:
        value = evaluate(self._instance, placement)
        if self._value is None or value < self._value:
            self._best, self._value, self._has_found = placement, value, True
            if self._warm.gives_hint:
                self._hint = placement
            self._control.incumbent(placement)

    def _prove(self, optimum: int) -> None:
        """Records the optimum of a term, given the optima of the earlier ones."""
        self._proven.append(optimum)
        self._raise_bound(None)

    def _raise_bound(self, of_next_term: int | None) -> None:
        bound = (*self._proven, *(() if of_next_term is None else (of_next_term,)))
        if self._value is not None and bound > self._value[: len(bound)]:
            bound = self._value[: len(bound)]
        if bound > self._bound:
            self._bound = bound
            self._control.bound(bound)
