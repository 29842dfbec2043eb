"""The local search that leaves blocks where an older plan had them."""

from __future__ import annotations

from dataclasses import replace

from planner import Options, Stability, plan, with_stability
from planner.generate import Request, generate
from planner.planning.placing.lowering import lower, lower_start
from solvers.geometry.rules import violation
from solvers.heuristics.keep import Keep
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement
from solvers.model.objective import evaluate
from solvers.model.solver import Goal, Limits, Silent, Task


class Impatient(Silent):
    """A control that says stop after so many questions."""

    def __init__(self, patience: int) -> None:
        super().__init__()
        self.patience, self.questions = patience, 0

    def stopped(self) -> StopReason | None:
        self.questions += 1
        return StopReason.TIME_LIMIT if self.questions > self.patience else None


def changed(stability: Stability) -> tuple[Instance, Placement]:
    """Return the instance of a problem with an older plan, and a placement by another planner to start from."""
    before = generate("convnet", Request(200, 1))
    old = plan(before, Options(solver="greedy", workers=1))
    after = replace(before, buffers=tuple(replace(b, size=b.size + 64) for b in before.buffers))
    lowered = lower(with_stability(after, stability, old))
    start = lower_start(after, lowered, plan(after, Options(solver="usmp_by_size", workers=1)))
    assert start is not None
    return lowered.instance, start


def test_results_are_no_worse_than_the_start_and_repeatable() -> None:
    instance, start = changed(Stability.FIRST)
    task = Task(limits=Limits(work=100_000), start=start)
    first, again = (Keep().solve(instance, task, Silent()) for _ in range(2))
    assert first.placement is not None
    assert again.placement is not None
    assert first.value == evaluate(instance, first.placement) < evaluate(instance, start)
    assert violation(instance, first.placement) is None
    assert (first.placement.offset == again.placement.offset).all()


def test_a_stop_ends_the_run_soon_even_amid_a_change() -> None:
    instance, start = changed(Stability.TIES)
    control = Impatient(3)
    outcome = Keep().solve(instance, Task(start=start), control)
    assert outcome.stop is StopReason.TIME_LIMIT
    assert control.questions < 10
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert evaluate(instance, outcome.placement) <= evaluate(instance, start)


def test_nothing_is_done_without_a_start_or_an_older_plan() -> None:
    instance, start = changed(Stability.TIES)
    assert Keep().solve(instance, Task(), Silent()).placement is None
    same = Keep().solve(replace(instance, was=None), Task(start=start), Silent()).placement
    assert same is start
    fits = Keep().solve(instance, Task(start=start, goal=Goal.FIT), Silent())
    assert (fits.placement, fits.stop) == (start, StopReason.GOAL_MET)
