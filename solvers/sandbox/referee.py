"""Checks every claim of a child before it is used, so that a faulty solver only loses its own answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.geometry.rules import violation
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement
from solvers.model.objective import evaluate, peaks
from solvers.model.outcome import Outcome, Value
from solvers.model.solver import Task


class Contradiction(Exception):
    """A solver's claim cannot be true. Caught where claims are judged."""


class Referee:
    """Keeps the best of what a child has proven to be true."""

    def __init__(self, name: str, instance: Instance, task: Task) -> None:
        self._name = name
        self._instance = instance
        self.best: Placement | None = None
        self.value: Value | None = None
        self._given: Value = task.bound
        self._claimed: Value = ()
        self._reached: Value | None = None
        """The best value of any valid placement, from any source: no bound may exceed it."""
        self._reached_peaks: tuple[int, ...] | None = None
        """The lowest valid peak of each pool so far."""
        if task.start is not None and violation(instance, task.start) is None:
            self._note(task.start)

    @property
    def bound(self) -> Value:
        """The best bound: the one given to the child, or a better one that it proved."""
        return max(self._given, self._claimed)

    def placement(self, placement: Placement) -> bool:
        """True if this placement is the best so far. Raises Contradiction if it breaks a rule of the instance."""
        if self.best is not None and _same(placement, self.best):
            return False
        wrong = violation(self._instance, placement)
        if wrong is not None:
            raise Contradiction(f"a placement that breaks a rule: {wrong}")
        value = self._note(placement)
        is_better = self.value is None or value < self.value
        if is_better:
            self.best, self.value = placement, value
        self._check(self._claimed)
        return is_better

    def proven(self, bound: Value) -> bool:
        """True if this bound is higher than all before. Raises Contradiction if a valid placement is below it."""
        self._check(bound)
        is_higher = bound > self.bound
        self._claimed = max(self._claimed, bound)
        return is_higher

    def ended(self, outcome: Outcome) -> Outcome:
        """The child's outcome with its best placement. Raises Contradiction if it cannot be true."""
        if outcome.placement is not None:
            self.placement(outcome.placement)
            if outcome.value is not None and outcome.value != evaluate(self._instance, outcome.placement):
                raise Contradiction("a placement whose value is not the claimed one")
        elif outcome.value is not None:
            raise Contradiction("a value without a placement")
        self.proven(outcome.bound)
        if outcome.pool_bounds and self._reached_peaks is not None:
            if len(outcome.pool_bounds) != len(self._reached_peaks):
                raise Contradiction("bounds for other pools than there are")
            if any(b > p for b, p in zip(outcome.pool_bounds, self._reached_peaks, strict=True)):
                raise Contradiction("a pool's bound above a peak that was reached")
        if outcome.infeasible and self._reached is not None:
            raise Contradiction("a proof that nothing fits, although something does")
        return replace(
            outcome,
            placement=self.best,
            value=self.value,
            bound=self.bound,
            reproducible=outcome.reproducible and outcome.stop.is_repeatable,
            solver=outcome.solver or (self._name if self.best is not None or outcome.infeasible else None),
        )

    def cut_short(self, stop: StopReason, *, notes: tuple[str, ...] = (), trusted: bool = True) -> Outcome:
        """The outcome if the child is gone. A lying child's proofs do not count, but its valid placements do."""
        return Outcome(
            stop=stop,
            placement=self.best,
            value=self.value,
            bound=self.bound if trusted else self._given,
            solver=self._name if self.best is not None else None,
            reproducible=False,
            notes=notes,
        )

    def _note(self, placement: Placement) -> Value:
        """Records the value and peaks of a valid placement."""
        value, reached = evaluate(self._instance, placement), peaks(self._instance, placement)
        self._reached = value if self._reached is None else min(self._reached, value)
        before = reached if self._reached_peaks is None else self._reached_peaks
        self._reached_peaks = tuple(min(a, b) for a, b in zip(before, reached, strict=True))
        if self._is_exceeded(self._given):
            self._given = ()  # a valid placement is certain, so the given bound was wrong, not the child
        return value

    def _check(self, bound: Value) -> None:
        if self._is_exceeded(bound):
            raise Contradiction(f"a bound of {bound} above a placement worth {self._reached}")

    def _is_exceeded(self, bound: Value) -> bool:
        return self._reached is not None and bound > self._reached[: len(bound)]


def _same(one: Placement, other: Placement) -> bool:
    return np.array_equal(one.offset, other.offset) and np.array_equal(one.pool, other.pool)
