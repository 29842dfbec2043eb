"""Short local searches for a placement at the bound: where one peak is all that counts, they mostly find one within milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...heuristics.greedy.solver import Greedy
from ...heuristics.improve import Improve
from ...kernels import Origin, active_for
from ...model.errors import StopReason
from ...model.instance import Instance, Placement
from ...model.needs import is_one_pool
from ...model.outcome import Outcome, Value
from ...model.solver import Limits, Silent, Task

UNITS_PER_TRY = 10_000
TRIES = 20
"""Each with another seed: a single long search gives up before it has done as much."""
GREEDY_WORK = 1_000_000
"""Greedy mostly makes every pass with less, where programs are small enough to be written."""


def tries(instance: Instance, task: Task) -> Iterator[Outcome]:
    """The outcome of each try, the first from the task's start and every other from the best so far, until the bound is met or the work is done.

    The instance has one pool of which only the peak counts. Without native kernels nothing is tried: programs find more in that time.
    """
    best, left, number = task.start, task.limits.work, 0
    native = active_for(instance).origin is Origin.NATIVE
    while native and number < TRIES and (left is None or left > 0):
        limits = replace(task.limits, work=UNITS_PER_TRY if left is None else min(UNITS_PER_TRY, left))
        outcome = Improve().solve(
            instance, replace(task, limits=limits, seed=task.seed + number, start=best), Silent(limits)
        )
        best, number = outcome.placement, number + 1
        left = None if left is None else left - outcome.work
        yield outcome
        if outcome.stop is StopReason.PROVED:
            return


def quick_placement(instance: Instance, bound: Value) -> Placement | None:
    """Greedy's placement, lowered by tries where there is one pool; None if greedy has none."""
    task = Task(Limits(work=GREEDY_WORK), bound=bound)
    best = Greedy().solve(instance, task, Silent()).placement
    if best is not None and is_one_pool(instance):
        for outcome in tries(instance, replace(task, limits=Limits(), start=best)):
            best = outcome.placement
    return best
