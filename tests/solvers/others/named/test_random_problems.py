"""On random problems of all kinds, every named planner's placements are valid, and it refuses only what it declares."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.problem import DEFAULT_TERMS, Buffer, Pool, Problem
from planner.planning.placing.lowering import lower
from solvers.bounds.one_pool import homeless
from solvers.geometry.rules import violation
from solvers.model import registry
from solvers.model.errors import StopReason, Unsupported
from solvers.model.needs import is_joint, needs
from solvers.model.solver import Limits, Silent, Task
from solvers.portfolio.execute import execute
from tests.small.instances import make_instance
from tests.small.oracle import solve
from tests.small.strategies import BRIEF, effort, problems

NAMED = registry.names(registry.SolverKind.PUBLISHED)


def test_there_are_named_planners() -> None:
    assert NAMED


def free(problem: Problem) -> Problem:
    """Return the problem without what most planners refuse: with nothing fixed or reserved, one pool, default terms."""
    buffers = tuple(replace(b, fixed=None, max_offset=None, pools=None) for b in problem.buffers)
    constraints = replace(problem.constraints, different_pool=(), reuse_penalties=())
    return replace(
        problem,
        pools=(replace(problem.pools[0], reserved=()),),
        buffers=buffers,
        constraints=constraints,
        terms=DEFAULT_TERMS,
    )


def test_each_planner_is_valid_gives_up_or_refuses() -> None:
    placed = dict.fromkeys(NAMED, 0)

    @effort(30, 10_000)
    @given(problems(max_buffers=4), st.booleans())
    def on_a_random_problem(problem: Problem, easy: bool) -> None:
        problem = free(problem) if easy else problem
        instance = lower(problem).instance
        if not instance.blocks or homeless(instance) is not None:
            return
        truth = solve(problem)
        for name in NAMED:
            missing = needs(instance, is_joint(instance)) - registry.get(name).features
            refused = ""
            try:
                outcome = execute(name, instance, Task(Limits()), Silent())
            except Unsupported as refusal:
                refused = str(refusal)
            if refused:
                assert missing or "alignments" in refused  # no feature says which alignments go together
                continue
            assert not missing
            assert not outcome.infeasible
            assert outcome.stop is StopReason.WORK_LIMIT
            assert outcome.reproducible
            assert (outcome.placement is None) == (outcome.stuck is not None)
            if outcome.placement is not None:
                placed[name] += 1
                assert truth.value is not None
                assert outcome.value is not None
                assert outcome.value >= truth.value
                assert violation(instance, outcome.placement) is None

    on_a_random_problem()
    assert BRIEF or min(placed.values()) > 4, placed


@pytest.mark.parametrize("name", NAMED)
def test_buffers_with_lifetimes_and_alignments_are_never_refused(name: str) -> None:
    lengths = st.tuples(st.integers(0, 15), st.integers(1, 9), st.integers(0, 30), st.integers(0, 3))

    @effort(10, 5_000)
    @given(st.lists(lengths, min_size=1, max_size=25), st.sampled_from(((1, 2, 4, 16), (1, 3, 6, 6), (37, 1, 37, 37))))
    def on_random_buffers(rows: list[tuple[int, int, int, int]], alignments: tuple[int, ...]) -> None:
        buffers = [Buffer(n, z, alignments[a], ((s, s + length),)) for n, (s, length, z, a) in enumerate(rows)]
        instance = lower(Problem(tuple(buffers), (Pool("arena", base=5),))).instance
        outcome = execute(name, instance, Task(), Silent())
        assert outcome.placement is not None
        again = execute(name, instance, Task(), Silent())
        assert again.placement is not None
        assert again.placement.offset.tolist() == outcome.placement.offset.tolist()

    on_random_buffers()


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize(("size", "alignment"), [(1 << 57, 1), (1, 1 << 58), (1 << 40, 3 << 56), (5, 1 << 61)])
def test_no_number_is_too_large(name: str, size: int, alignment: int) -> None:
    buffers = tuple(Buffer(n, size + n, alignment, ((n // 3, 3 + n),)) for n in range(7))
    instance = lower(Problem(buffers)).instance
    outcome = execute(name, instance, Task(), Silent())
    assert outcome.placement is not None or outcome.stuck is not None
    if alignment == 1:
        assert outcome.placement is not None


@pytest.mark.parametrize("name", NAMED)
def test_a_planner_told_to_stop_stops(name: str) -> None:
    class Impatient(Silent):
        def stopped(self) -> StopReason | None:
            return StopReason.CANCELLED

    instance = make_instance([(i, i + 40, 3 + i % 7) for i in range(300)])
    outcome = execute(name, instance, Task(), Impatient())
    assert outcome.stop is StopReason.CANCELLED
    assert not outcome.reproducible
    assert outcome.stuck is None


@pytest.mark.parametrize("name", ["exir_greedy", "tflm_greedy"])
@pytest.mark.parametrize("capacity", [None, 10])
def test_a_finished_planner_does_not_name_the_time_limit(name: str, capacity: int | None) -> None:
    class Late(Silent):
        def stopped(self) -> StopReason | None:
            return StopReason.TIME_LIMIT

    outcome = execute(name, make_instance([(0, 3, 8), (1, 4, 8)], capacity=capacity), Task(), Late())
    assert (outcome.placement is None) == (capacity is not None)
    assert outcome.stop is StopReason.WORK_LIMIT
    assert outcome.reproducible
