"""Improvers run on large components that greedy leaves open, before exact solvers, and alone if asked for by name."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from solvers.geometry.rules import violation
from solvers.heuristics.greedy.squeaky_wheel import SqueakyWheel
from solvers.heuristics.improve import Improve
from solvers.kernels import active_for
from solvers.kernels.columns import columns
from solvers.model.instance import Instance
from solvers.model.registry import SolverKind, names
from solvers.model.solver import Limits, Silent, Task
from solvers.portfolio.roster import share_of
from solvers.portfolio.solve import solve
from tests.small.instances import make_instance, plain
from tests.solvers.kernels.kernel_sets import where_native_run

MANY = share_of("improve").smallest


def chained(blocks: int) -> Instance:
    """An instance of one component that greedy does not place at its bound."""
    rng = np.random.default_rng(5)
    starts, lengths, sizes = (rng.integers(1, high, blocks).tolist() for high in (blocks // 4, 40, 1000))
    return make_instance([plain(s, s + w, z) for s, w, z in zip(starts, lengths, sizes, strict=True)])


native = where_native_run("it takes no part without them")


@pytest.mark.parametrize(("blocks", "takes_part"), [(MANY // 4, False), pytest.param(MANY + 500, True, marks=native)])
def test_improvers_take_part_where_blocks_are_many(blocks: int, takes_part: bool) -> None:
    instance = chained(blocks)
    outcome = solve(instance, Task(limits=Limits(work=30_000)), Silent())
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert ("improve" in outcome.took_part) == takes_part


def of_pairs(blocks: int, percent: int) -> Instance:
    """An instance of so many blocks at different times, so many per cent of whose pairs conflict all the same."""
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 1_000, blocks).tolist()
    pairs = [pair for pair in combinations(range(blocks), 2) if rng.integers(100) < percent]
    return make_instance([plain(n, n + 1, size) for n, size in enumerate(sizes)], conflicts=pairs)


@native
def test_few_blocks_are_improved_where_most_pairs_conflict_that_no_lifetimes_say() -> None:
    instance = of_pairs(150, 15)
    outcome = solve(instance, Task(limits=Limits(work=400_000)), Silent())
    without = solve(instance, Task(limits=Limits(work=400_000)), Silent(), "search")
    both = solve(instance, Task(limits=Limits(work=400_000, workers=2)), Silent())
    assert outcome.placement is not None
    assert both.placement is not None
    assert violation(instance, outcome.placement) is None
    assert {"improve", "late_first"} <= set(outcome.took_part)
    assert outcome.value is not None
    assert without.value is not None
    assert 100 * outcome.value[0] <= 95 * without.value[0]
    assert both.placement.offset.tolist() == outcome.placement.offset.tolist()


@native
def test_no_program_is_built_of_very_many_conflicts() -> None:
    """CP-SAT took part where the search refused, and 400 buffers with half of all pairs took 8 seconds for a million units."""
    outcome = solve(of_pairs(230, 80), Task(limits=Limits(work=200_000)), Silent())
    assert set(outcome.took_part) == {"greedy", "late_first", "improve"}


@native
def test_small_steps_lower_what_ends_far_above_its_bound() -> None:
    """Steps were parts of the distance to the bound, and plans of 400 buffers with half of all pairs ended 5 to 9 % higher."""
    instance = of_pairs(200, 50)
    kernel, given = active_for(instance).kernels.improve, columns(instance)
    first = solve(instance, Task(limits=Limits(work=100)), Silent(), "greedy")
    assert first.placement is not None
    task = Task(limits=Limits(work=200_000), start=first.placement, bound=first.bound)
    found = Improve().solve(instance, task, Silent())
    assert found.placement is not None
    assert found.value is not None
    assert violation(instance, found.placement) is None
    assert found.work <= 210_000
    offset, _ = kernel(
        instance.sections, given, first.placement.offset, first.bound[0], 0, 200_000, lambda _offset: False
    )
    assert 100 * found.value[0] <= 98 * instance.end_of(offset)


def test_passes_over_many_conflicts_are_counted_as_more_work() -> None:
    few, many = of_pairs(100, 4), of_pairs(100, 64)
    works = [
        SqueakyWheel(each, columns(each), active_for(each).kernels, 0, lambda: False).work_of_pass
        for each in (few, many)
    ]
    assert works[1] > 3 * works[0]


@native
def test_the_work_of_all_engines_keeps_to_the_limit() -> None:
    outcome = solve(chained(MANY), Task(limits=Limits(work=40_000)), Silent())
    assert outcome.work <= 44_000  # an engine ends soon after its share is spent


@pytest.mark.parametrize("name", names(SolverKind.IMPROVER))
def test_an_improver_asked_for_by_name_runs_alone_after_greedy(name: str) -> None:
    instance = chained(120)
    first = solve(instance, Task(limits=Limits(work=200_000)), Silent(), "greedy")
    outcome = solve(instance, Task(limits=Limits(work=200_000)), Silent(), name)
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert outcome.took_part == ("greedy", name)
    assert first.value is not None
    assert outcome.value is not None
    assert outcome.value <= first.value
    assert outcome.work > first.work
