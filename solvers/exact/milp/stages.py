"""Minimises one term of the objective after the other, each by a program of its own. Every answer is made exact before it counts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from math import ceil

import numpy as np

from ...geometry.separation import Separations
from ...model.errors import SolverFailed, StopReason
from ...model.instance import Instance, Placement, Term
from ...model.linear_terms import LINEAR, least_choice_cost, peak_price
from ...model.needs import is_one_pool
from ...model.objective import evaluate, value_of_peaks
from ...model.outcome import Certificate, Outcome, Proof, Value
from ...model.solver import Control, Goal, Task, Warm
from .answer import Answer, Backend, Budget, Listener
from .program.build import Model, Question, build, choices_of, read_placement
from .program.model import numbered
from .program.pairs import in_twin_order
from .program.terms import floors
from .tries import tries

UNITS_PER_NODE_AND_CHOICE = 10
"""Work of a node per binary: microseconds, measured (docs/experiments/exact.md, "MILP")."""
UNITS_PER_PROGRAM = 50_000
"""Work before the first node."""
SHARE_AT_BOUND = 0.75
"""Part of the budget for the question whether a placement reaches the bound."""
LEAST_SECONDS = 0.02
ROUNDING = 0.01
"""The rounding error allowed in an integer objective; the trusted programs stay far below."""


class Stages:
    """The state of a run on one instance: best placement, bounds, and the remaining work."""

    def __init__(self, backend: Backend, instance: Instance, task: Task, control: Control, warm: Warm) -> None:
        self.backend = backend
        self.instance = instance
        self.task = task
        self.control = control
        self.warm = warm
        self.best: Placement | None = task.start
        self.value: Value | None = None if task.start is None else evaluate(instance, task.start)
        self.improved = False
        self.bound: list[int] = []
        self.infeasible = False
        self.work = 0
        self.choices: Separations | None = None
        self.floors: tuple[int, ...] = ()

    def run(self) -> Outcome:
        """Minimises all terms, as far as the limits allow."""
        instance = self.instance
        self.choices = choices_of(instance, self.backend.name)
        if impossible_by_itself(instance):
            self.infeasible = True
            return self._outcome(StopReason.PROVED)
        self.floors = floors(instance, self.task.pool_bounds)
        if self.task.goal is Goal.FIT:
            return self._outcome(self._fit())
        for index, term in enumerate(instance.terms):
            reason = self._stage(index, term)
            if reason is not None:
                return self._outcome(reason)
        return self._outcome(StopReason.PROVED)

    def _fit(self) -> StopReason:
        if self.best is not None:
            return StopReason.GOAL_MET
        model = self._model(Question(None, floors=self.floors))
        answer = None if model is None else self._ask(model, None, first_only=True)
        if self.best is not None:
            return StopReason.GOAL_MET
        if model is None or answer is None or (answer.proves_empty and model.is_certain):
            self.infeasible = True
            return StopReason.PROVED
        return StopReason.WORK_LIMIT if answer.stop is StopReason.PROVED else answer.stop

    def _stage(self, index: int, term: Term) -> StopReason | None:
        """Minimises one term, with the earlier ones held at their proven values. Returns why it stopped; None if the term is proven."""
        known = self._known_bound(index)
        self.bound.append(known)
        if tuple(self.bound) > self.task.bound:
            self.control.bound(tuple(self.bound))
        if self._is_proven(index):
            return None
        limits = {t: self.bound[i] for i, t in enumerate(self.instance.terms[:index])}
        if self.value is not None and is_one_pool(self.instance):
            self._search_locally()
            if self._is_proven(index):
                return None
            self._look_at_bound(index, {**limits, term: known})
            if self._is_proven(index):
                return None
            known = self.bound[index]
        target = None if self.value is None or not self.warm.gives_bound else self.value[index]
        if target is not None:
            limits[term] = target if self.warm.gives_hint else target - 1
        model = self._model(Question(term, limits, {term: known} if known > 0 else {}, self.floors))
        if model is None:
            return self._nothing_below(index, target)
        if model.settled:
            self._raise_bound(index, model.constant)
            if self._is_proven(index):
                return None
        answer = self._ask(model, term, first_only=model.settled)
        if answer.proves_empty:
            return self._nothing_below(index, target) if model.is_certain else StopReason.WORK_LIMIT
        if answer.bound is not None:
            self._believe(model, term, answer.bound)
        if self._is_proven(index):
            return None
        return StopReason.WORK_LIMIT if answer.stop is StopReason.PROVED else answer.stop

    def _search_locally(self) -> None:
        """Tries to reach the bound without a program. What misses it is still a better placement to begin with."""
        work = self.task.limits.work
        limits = replace(self.task.limits, work=None if work is None else work - self.work)
        for outcome in tries(
            self.instance, replace(self.task, limits=limits, start=self.best, bound=tuple(self.bound))
        ):
            self.work += outcome.work
            self._take(outcome.placement)
            if self.control.stopped():
                return

    def _look_at_bound(self, index: int, limits: Mapping[Term, int]) -> None:
        """Asks with part of the budget for a placement at the bound, near the best. Mostly there is one, and offsets have the least room there.

        Without that goal, solvers that branch have no direction.
        """
        model = self._model(Question(None, limits, floors=self.floors, near=self.best))
        answer = None if model is None else self._ask(model, None, first_only=True, share=SHARE_AT_BOUND)
        if model is None or answer is None or (answer.proves_empty and model.is_certain):
            self._raise_bound(index, self.bound[index] + 1)

    def _is_proven(self, index: int) -> bool:
        return self.value is not None and self.value[index] <= self.bound[index]

    def _known_bound(self, index: int) -> int:
        """The bound on a term that was given or follows from the pools' least peaks. A given bound only counts if the earlier values are equal."""
        term, given = self.instance.terms[index], self.task.bound
        known = 0
        if term is Term.LARGEST_PEAK:
            known = max(self.floors, default=0)
        elif term in LINEAR:
            known = least_choice_cost(self.instance, term)
            known += peak_price(self.instance, term) * value_of_peaks(self.instance, self.floors)
        if len(given) > index and tuple(self.bound) == given[:index]:
            known = max(known, given[index])
        return known

    def _nothing_below(self, index: int, target: int | None) -> StopReason | None:
        """Handles a program without solution: then the target that was left out is the optimum, or nothing fits."""
        if target is None and index == 0 and self.value is None:
            self.infeasible = True
            self.bound.pop()
            return StopReason.PROVED
        if target is None or self.warm.gives_hint:
            return StopReason.SOLVER_FAILED
        self._raise_bound(index, target)
        return None

    def _believe(self, model: Model, term: Term, reported: float) -> None:
        """Takes a bound that the solver reports, if the program's numbers allow a proof."""
        if model.is_certain and not model.settled:
            exact = ceil(reported - ROUNDING) + model.constant
            if model.question.limits.get(term) is not None and self.value is not None:
                exact = min(exact, self.value[len(self.bound) - 1])
            self._raise_bound(len(self.bound) - 1, exact)

    def _raise_bound(self, index: int, bound: int) -> None:
        """Raises the bound, unless it exceeds the value reached: then the solver is wrong."""
        if bound > self.bound[index] and (self.value is None or bound <= self.value[index]):
            self.bound[index] = bound
            self.control.bound(tuple(self.bound))

    def _model(self, question: Question) -> Model | None:
        assert self.choices is not None
        names = numbered(self.instance.blocks, len(self.instance.pools))
        return build(self.instance, self.choices, names, question)

    def _ask(self, model: Model, term: Term | None, *, first_only: bool, share: float = 1) -> Answer:
        """Runs the program with this share of what is left of the budget, and reads its answer."""
        stopped = self.control.stopped() or self._out_of_budget()
        if stopped is not None:
            return Answer(stopped)

        def on_bound(bound: float) -> None:
            if term is not None:
                self._believe(model, term, bound)

        def on_values(values: Mapping[str, float]) -> None:
            self._take(read_placement(model, values))

        memory = self.task.limits.memory_bytes
        budget = Budget(self._deadline(share), self._nodes(model, share), first_only, self.task.seed, memory)
        listener = Listener(self.control, on_bound, on_values)
        answer = self.backend.run(model.program.problem, self._start(model), budget, listener)
        self.work += UNITS_PER_PROGRAM + answer.nodes * self._node_units(model)
        if answer.message:
            self.control.log(f"{self.backend.name}: {answer.message}")
        if answer.values is not None:
            on_values(answer.values)
        if answer.stop is StopReason.SOLVER_FAILED and self.best is None:
            raise SolverFailed(self.backend.name, answer.message or "no answer")
        return answer

    def _start(self, model: Model) -> dict[str, float] | None:
        if self.best is None or not self.warm.gives_hint:
            return None
        return model.program.start(in_twin_order(self.best, model.twins))

    def _take(self, placement: Placement | None) -> None:
        """Keeps a valid placement if it is better than the best."""
        if placement is None:
            return
        value = evaluate(self.instance, placement)
        if self.value is None or value < self.value:
            self.best, self.value, self.improved = placement, value, True
            self.control.incumbent(placement)
            if value < tuple(self.bound):
                claimed = ", ".join(map(str, self.bound))
                raise SolverFailed(
                    self.backend.name, f"it claimed a bound of {claimed} above what it reached afterwards"
                )

    def _node_units(self, model: Model) -> int:
        return UNITS_PER_NODE_AND_CHOICE * (10 + model.program.binaries)

    def _deadline(self, share: float) -> float | None:
        deadline, now = self.task.limits.deadline, time.monotonic()
        return None if deadline is None else now + share * (deadline - now)

    def _nodes(self, model: Model, share: float) -> int | None:
        work = self.task.limits.work
        left = None if work is None else work - self.work - UNITS_PER_PROGRAM
        return None if left is None else max(int(share * left) // self._node_units(model), 1)

    def _out_of_budget(self) -> StopReason | None:
        deadline, work = self.task.limits.deadline, self.task.limits.work
        if deadline is not None and deadline - time.monotonic() < LEAST_SECONDS:
            return StopReason.TIME_LIMIT
        return StopReason.WORK_LIMIT if work is not None and self.work >= work else None

    def _outcome(self, stop: StopReason) -> Outcome:
        bound = tuple(self.bound)
        sole = len(self.instance.pools) == 1 and bound and self.instance.terms[0] is Term.SUM_OF_PEAKS
        cost = self.instance.pools[0].cost
        name = self.backend.name
        return Outcome(
            stop,
            placement=self.best,
            value=self.value,
            bound=bound,
            pool_bounds=(-(-bound[0] // cost),) if sole and cost > 0 else (),
            certificates=(Certificate(Proof.SEARCH, bound[0], solver=name),) if bound and bound[0] > 0 else (),
            infeasible=self.infeasible,
            solver=name if self.improved or self.infeasible else None,
            work=self.work,
            reproducible=stop.is_repeatable,
        )


def impossible_by_itself(instance: Instance) -> bool:
    """True if some block has no pool, or parts of one block conflict and share addresses."""
    if not instance.allowed.any(axis=1).all():
        return True
    a, b = instance.conflicts[:, 0], instance.conflicts[:, 1]
    low = np.maximum(instance.part_low[a], instance.part_low[b])
    high = np.minimum(instance.part_high[a], instance.part_high[b])
    return bool(((instance.part_block[a] == instance.part_block[b]) & (high > low)).any())
