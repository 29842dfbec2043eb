"""Writes choices down for a search if there is time for it, ends questions in time, and bounds what every choice needs even if there is none."""

from __future__ import annotations

import time

from solvers.choice.alternatives.bounds.least import least_load, least_value
from solvers.choice.alternatives.instance import Choices
from solvers.model.errors import StopReason
from solvers.model.solver import Limits, Silent

from ....facts.variants import count_of_alternatives
from ....model.columns.buffers import sizes
from ....model.deadline import LEAST_SECONDS, PREPARING, OutOfTime, tick, until
from ....model.problem import Problem
from ..watching import Cancelled, Clock
from .choices import lower_choices, measure_of

SECONDS_TO_LOWER = 8e-6
"""At least so long takes each alternative to be written down for a question."""


class Patience(Silent):
    """Ends a question when its time is over or the run is cancelled."""

    def __init__(self, limits: Limits, cancelled: Cancelled | None) -> None:
        super().__init__(limits)
        self._cancelled = cancelled

    def stopped(self) -> StopReason | None:
        if self._cancelled is not None and self._cancelled():
            return StopReason.CANCELLED
        return super().stopped()


def lowered_in_time(problem: Problem, clock: Clock) -> Choices | None:
    """Return what there is to choose; None if writing it down takes half of the time left, which a plain choice needs."""
    if clock.end is None:
        return lower_choices(problem)
    left = clock.end - time.monotonic()
    return _lowered(problem, left / 2) if left > 0 else None


def value_of_any_choice(problem: Problem, choices: Choices | None) -> int:
    """Return a lower bound on the objective of every choice; a weak one if the choices were not written down and are not quickly."""
    choices = _lowered(problem, LEAST_SECONDS) if choices is None else choices
    if choices is not None:
        try:
            load = least_load(choices, lambda: tick(PREPARING))
            return (
                measure_of(problem).least_value(load)
                if choices.memories is None
                else least_value(choices.memories, load)
            )
        except OutOfTime:
            pass
    return largest_buffer(problem) if len(problem.pools) == 1 else 0


def largest_buffer(problem: Problem) -> int:
    """Return the objective at which the largest buffer that every choice has just fits, with one memory."""
    return measure_of(problem).least_value(max(sizes(problem.buffers), default=0))


def _lowered(problem: Problem, seconds: float) -> Choices | None:
    """Return what there is to choose; None if writing it down takes longer."""
    assert problem.variants is not None
    if SECONDS_TO_LOWER * count_of_alternatives(problem.variants) > seconds:
        return None
    try:
        with until(time.monotonic() + seconds):
            return lower_choices(problem)
    except OutOfTime:
        return None
