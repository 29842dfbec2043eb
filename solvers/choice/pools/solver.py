"""First the pools, then the addresses, behind the Solver protocol.

A 0-1 program that forgets addresses says who goes to which pool; it is nearly exact, and what it proves holds for every placement. Each pool of
its answer is then packed. Where that fails, the program is asked again with the pool's rows stretched a little, so that less goes there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from ...bounds.prices.market import Market
from ...geometry.simpler import stepped
from ...heuristics.best import Best
from ...model.errors import StopReason
from ...model.instance import Instance
from ...model.libraries import ORTOOLS, Library
from ...model.linear_terms import choice_cost, peak_price
from ...model.objective import evaluate
from ...model.outcome import Outcome
from ...model.solver import Control, Feature, Goal, Solver, Task
from . import budget
from .placing.displacing import can_displace, displaced
from .placing.packing import Packing
from .program.writing import program_of, size_as_one
from .runs.in_pieces import InPieces, is_large
from .runs.in_steps import InSteps
from .runs.standing import NAME
from .runs.whole import Whole
from .searches.peaks import is_held_by_peaks
from .searches.weighing import weighed


class PoolsFirst(Solver):
    """Chooses pools without addresses, proves how good any choice can be, and packs what it chose."""

    name: ClassVar[str] = NAME
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    libraries: ClassVar[tuple[Library, ...]] = (ORTOOLS,)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best placement within the limits; nothing where there is no choice of pools."""
        is_late = _is_late(instance, task)
        if not instance.has_choice or instance.blocks > budget.MOST_BLOCKS or is_late:
            value = None if task.start is None else evaluate(instance, task.start)
            stop = StopReason.TIME_LIMIT if is_late else StopReason.WORK_LIMIT
            return Outcome(stop, task.start, value, task.bound, reproducible=stop.is_repeatable)
        if _has_little_work(instance, task):
            return _without_program(instance, task, control)
        program = program_of(instance)
        kind = InPieces if is_large(instance, program, task.limits.work) else Whole
        run = kind(instance, program, task, control)
        try:
            if not _begins_in_steps(run, self.solve):
                run.begin_narrowed()
                run.begin_apart()
                run.begin_weighed()
            return run.run()
        finally:
            run.asking.close()


def _begins_in_steps(run: InSteps, solve: Callable[[Instance, Task, Control], Outcome]) -> bool:
    """Where sizes are rounded up, and a choice comes after peaks: begin with what is best in whole steps; false if that is not so, or takes too much."""
    program = run.program
    is_asked = program.pads and run.task.goal is Goal.MINIMISE
    if not is_asked or not any(is_held_by_peaks(program, index) for index in range(len(program.terms))):
        return False
    wide = stepped(run.instance)
    return wide is not None and run.begin_in_steps(wide, solve)


def _is_late(instance: Instance, task: Task) -> bool:
    """Is there less time left than it takes to write down the program of a large instance?"""
    deadline = task.limits.deadline
    if deadline is None or instance.blocks <= budget.LARGE:
        return False
    return deadline - time.monotonic() < budget.SECONDS_PER_BLOCK * instance.blocks


def _has_little_work(instance: Instance, task: Task) -> bool:
    """Is there less than it takes to write and solve a program, which others use better? Of peaks alone much may be plain once it is written."""
    counts_choice, work = choice_cost(instance, instance.terms[0]) is not None, task.limits.work
    least = budget.LEAST_TO_BEGIN_PER_ENTRY if counts_choice else budget.LEAST_TO_WRITE_PER_ENTRY
    return work is not None and work < least * size_as_one(instance)


def _without_program(instance: Instance, task: Task, control: Control) -> Outcome:
    """What pools that are filled in turn give where peaks are weighed, and blocks that take the places of others where the choice alone counts."""
    assert task.limits.work is not None
    best = Best(NAME, instance, task, control)
    is_choice = choice_cost(instance, instance.terms[0]) is not None
    if not is_choice or (task.start is None and not peak_price(instance, instance.terms[0])):
        return best.outcome()
    if peak_price(instance, instance.terms[0]):
        part, of = budget.WEIGHED_ALONE
        filled = weighed(instance, task, control, task.limits.work * part // of)
        found, work = filled.placement, filled.work
    elif not can_displace(instance):
        return best.outcome()
    else:
        assert task.start is not None
        part, of = budget.DISPLACED_ALONE
        work = max(task.limits.work * part // of, task.limits.work - Market(instance).most_work)
        packing = Packing(instance, task, control)
        found = displaced(instance, 0, packing, task.start, work)
        work = packing.work
    if found is not None:
        best.offer(found)
    return best.outcome(work=work)
