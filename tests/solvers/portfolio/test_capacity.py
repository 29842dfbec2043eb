"""What lowers peaks begins above a pool's capacity where nothing is known within it, and what ends there never counts as a plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.generate import Request, generate
from planner.model.problem import Pool
from planner.planning.placing.lowering import lower
from solvers.geometry.rules import violation
from solvers.model.instance import Instance, Placement
from solvers.model.outcome import Outcome
from solvers.model.solver import Goal, Limits, Silent, Task
from solvers.portfolio.solve import solve

HEIGHT = 1 << 20


class Noting(Silent):
    """Notes the peak of each placement that is reported."""

    def __init__(self, instance: Instance) -> None:
        super().__init__()
        self.peaks = list[int]()
        self._high = instance.block_high

    def incumbent(self, placement: Placement) -> None:
        self.peaks.append(int((placement.offset + self._high).max()))


def packing(buffers: int, seed: int, capacity: int | None) -> Instance:
    """A box of that height cut up without waste, for a pool of this capacity."""
    problem = generate("packing", Request(buffers, seed))
    return lower(replace(problem, pools=(Pool("memory", capacity),))).instance


def run(instance: Instance, solver: str, goal: Goal, workers: int = 1) -> tuple[Outcome, list[int]]:
    control = Noting(instance)
    task = Task(limits=Limits(work=2_000_000, workers=workers), goal=goal)
    return solve(instance, task, control, solver), control.peaks


@pytest.mark.parametrize("goal", list(Goal))
@pytest.mark.parametrize(("buffers", "seed", "solver"), [(300, 30, "gluing"), (1_000, 32, "auto")])
def test_a_full_pool_is_packed_as_one_without_a_capacity_is(buffers: int, seed: int, solver: str, goal: Goal) -> None:
    instance = packing(buffers, seed, HEIGHT)
    outcome, peaks = run(instance, solver, goal)
    assert outcome.value == (HEIGHT,)
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert set(peaks) == {HEIGHT}
    assert run(packing(buffers, seed, None), solver, Goal.MINIMISE)[0].value == (HEIGHT,)


@pytest.mark.parametrize("goal", list(Goal))
def test_what_ends_above_the_capacity_is_no_plan(goal: Goal) -> None:
    lowest, _ = run(packing(300, 30, None), "improve", Goal.MINIMISE)
    assert lowest.value is not None
    assert lowest.value[0] > HEIGHT
    outcome, peaks = run(packing(300, 30, HEIGHT), "improve", goal)
    assert (outcome.placement, outcome.value, peaks) == (None, None, [])
    assert not outcome.infeasible


def test_the_same_is_found_with_any_number_of_workers() -> None:
    instance = packing(1_000, 32, HEIGHT)
    alone, others = (run(instance, "auto", Goal.FIT, workers)[0].placement for workers in (1, 3))
    assert alone is not None
    assert others is not None
    np.testing.assert_array_equal(alone.offset, others.offset)
