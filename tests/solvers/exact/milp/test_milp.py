"""The integer program, solved by each of its two solvers: an outcome is exact or does not claim to be."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.problem import Buffer, Lifetimes, Pool, Problem
from planner.planning.placing.lowering import lower
from solvers.exact.milp import Cbc, Highs
from solvers.geometry.rules import violation
from solvers.model.errors import StopReason, Unsupported
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome
from solvers.model.solver import Goal, Limits, Solver, Task, Warm
from solvers.portfolio.execute import willing
from tests.small import oracle
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import effort, problems
from tests.solvers.exact.milp.milp_child import ROOT, Child


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    made = Child()
    yield made
    made.close()


@pytest.fixture(scope="module", params=[Cbc, Highs])
def solver(request: pytest.FixtureRequest) -> str:
    kind: type[Solver] = request.param
    reason = kind().unavailable()
    if reason is not None:
        pytest.skip(reason)
    return kind.__name__


def optimal(outcome: Outcome, instance: Instance, *value: int) -> bool:
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert outcome.stop is StopReason.PROVED
    return outcome.value == outcome.bound == evaluate(instance, outcome.placement) == value


def stacked(instance: Instance) -> Placement:
    """A placement of all blocks on top of each other, without alignment."""
    high = instance.block_high
    return Placement.in_one_pool(np.cumsum(high) - high)


def knotty(count: int, seed: int, pools: int = 1, term: Term = Term.SUM_OF_PEAKS) -> Instance:
    """An instance with random lifetimes and sizes."""
    rng = random.Random(seed)
    spans = [(s := rng.randrange(count), s + 1 + rng.randrange(max(2, count // 3))) for _ in range(count)]
    blocks = [(s, e, rng.choice([1, 2, 3, 5, 8, 13, 20, 33])) for s, e in spans]
    return make_instance(blocks, pools=[PoolSpec()] * pools, terms=[term])


SETTINGS = effort(10, 1000)


@SETTINGS
@given(problem=problems(max_buffers=5))
def test_random_problems_of_all_kinds_agree_with_trying_everything(solver: str, child: Child, problem: Problem) -> None:
    truth = oracle.solve(problem)
    instance = lower(problem).instance
    if instance.weighs_moves:
        with pytest.raises(Unsupported, match="moves"):
            willing(solver.lower(), instance)
        return
    outcome = child.solve(solver, instance)
    if truth.value is None:
        assert outcome.infeasible
        assert outcome.placement is None
        return
    assert not outcome.infeasible
    assert optimal(outcome, instance, *truth.value)


@pytest.mark.parametrize("warm", list(Warm))
def test_every_warm_start_leads_to_the_same_optimum(solver: str, child: Child, warm: Warm) -> None:
    instance = knotty(12, 305)
    cold = child.solve(solver, instance)
    assert cold.value is not None
    start = stacked(instance)
    assert evaluate(instance, start) > cold.value
    outcome = child.solve(solver, instance, Task(start=start, warm=warm))
    assert optimal(outcome, instance, *cold.value)
    assert outcome.solver == solver.lower()


@SETTINGS
@given(blocks=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(1, 7)), min_size=4, max_size=6))
def test_from_a_bad_start_the_optimum_is_found_at_the_bound_or_above(
    solver: str, child: Child, blocks: list[tuple[int, int, int]]
) -> None:
    buffers = tuple(Buffer(i, size, live=((start, start + length),)) for i, (start, length, size) in enumerate(blocks))
    problem = Problem(buffers, (Pool("arena"),), lifetimes=Lifetimes.HALF_OPEN)
    instance = lower(problem).instance
    truth = oracle.solve(problem)
    assert truth.value is not None
    assert optimal(child.solve(solver, instance, Task(start=stacked(instance))), instance, *truth.value)


def test_an_optimal_start_is_kept(solver: str, child: Child) -> None:
    instance = make_instance([(0, 1, 3), (0, 1, 4)])
    outcome = child.solve(solver, instance, Task(start=stacked(instance)))
    assert optimal(outcome, instance, 7)
    assert outcome.solver is None, "the placement is the caller's"


def test_an_instance_without_blocks_costs_nothing(solver: str, child: Child) -> None:
    outcome = child.solve(solver, make_instance([]))
    assert outcome.value == outcome.bound == (0,)
    assert outcome.placement is not None
    assert len(outcome.placement.offset) == 0


def test_blocks_of_no_size_take_no_room(solver: str, child: Child) -> None:
    instance = make_instance([(0, 2, 0), (0, 2, 0), (0, 2, 3)])
    assert optimal(child.solve(solver, instance), instance, 3)


def test_interlocked_blocks_are_placed_optimally(solver: str, child: Child) -> None:
    comb = Block([(0, 4, [(0, 1)]), (10, 14, [(0, 1)])])
    instance = make_instance([comb, comb, (0, 1, 2)])
    assert optimal(child.solve(solver, instance), instance, 18)


def test_identical_blocks_with_holes_keep_clear_of_each_other(solver: str, child: Child) -> None:
    comb = Block([(0, 2, [(0, 1)]), (6, 8, [(0, 1)])])
    instance = make_instance([comb, comb, comb, comb])
    assert optimal(child.solve(solver, instance), instance, 20)


def test_reserved_ranges_lie_between_aligned_blocks(solver: str, child: Child) -> None:
    instance = make_instance(
        [plain(0, 1, 5, alignment=4, residue=3), plain(0, 1, 6, alignment=5)], pools=[PoolSpec(40, ((8, 12), (14, 15)))]
    )
    assert optimal(child.solve(solver, instance), instance, 20)


def test_several_pools_are_weighed_by_cost(solver: str, child: Child) -> None:
    pools = [PoolSpec(10, cost=5), PoolSpec(12, cost=1), PoolSpec(None, cost=3)]
    instance = make_instance([(0, 2, 7), (0, 2, 6), (0, 2, 5), (1, 2, 4)], pools=pools)
    assert optimal(child.solve(solver, instance), instance, 12 + 30)


def test_terms_are_minimised_one_after_the_other(solver: str, child: Child) -> None:
    pools = [PoolSpec(8, rank=0), PoolSpec(None, rank=1)]
    blocks = [plain(0, 2, 5, access=[0, 9]), plain(0, 2, 4, access=[0, 4]), plain(1, 3, 3, access=[0, 2])]
    instance = make_instance(blocks, pools=pools, terms=[Term.ACCESS_COST, Term.LARGEST_PEAK, Term.SUM_OF_PEAKS])
    assert optimal(child.solve(solver, instance), instance, 4, 8, 12)


def test_penalties_for_shared_addresses_are_counted(solver: str, child: Child) -> None:
    instance = make_instance(
        [(0, 1, 4), (1, 2, 4), (2, 3, 4)], capacity=8, terms=[Term.REUSE_COST, Term.SUM_OF_PEAKS],
        penalties=[(0, 1, 5), (1, 2, 3), (0, 2, 2)],
    )  # fmt: skip
    assert optimal(child.solve(solver, instance), instance, 2, 8)


def test_too_small_a_capacity_is_proven_infeasible(solver: str, child: Child) -> None:
    instance = make_instance(
        [(0, 2, 4), (1, 3, 4), (2, 4, 4), (0, 1, 3), (3, 4, 3), plain(0, 4, 1, fixed=4)], capacity=8
    )
    outcome = child.solve(solver, instance)
    assert outcome.infeasible
    assert outcome.stop is StopReason.PROVED
    assert outcome.placement is None


def test_a_block_without_a_pool_is_infeasible(solver: str, child: Child) -> None:
    assert child.solve(solver, make_instance([(0, 1, 9)], capacity=8)).infeasible


def test_the_goal_fit_stops_at_the_first_placement(solver: str, child: Child) -> None:
    instance = make_instance([(s, s + 3, 4 + s % 3) for s in range(8)], capacity=17)
    outcome = child.solve(solver, instance, Task(goal=Goal.FIT))
    assert outcome.stop is StopReason.GOAL_MET
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    tight = make_instance([(0, 1, 9), (0, 1, 9)], capacity=17)
    assert child.solve(solver, tight, Task(goal=Goal.FIT)).infeasible


@pytest.mark.parametrize("seed", range(3))
def test_sizes_beyond_a_solver_s_precision_keep_placements_exact(solver: str, child: Child, seed: int) -> None:
    rng = random.Random(seed)
    spans = [(s := rng.randrange(6), s + 1 + rng.randrange(4), rng.randrange(10**9, 10**10) | 1) for _ in range(7)]
    aligned = [plain(0, 9, 12_345, alignment=4096), plain(2, 5, 10**10 + 1, alignment=37, residue=5)]
    instance = make_instance([*spans, *aligned])
    outcome = child.solve(solver, instance, Task(Limits(time.monotonic() + 60)))
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert outcome.value is not None
    assert outcome.bound <= outcome.value
    assert (outcome.stop is StopReason.PROVED) == outcome.is_optimal


def test_a_program_with_coarse_numbers_proves_nothing_itself(solver: str, child: Child) -> None:
    """Only the program could prove the optimum, 5 * 10^9 + 3 above the live sum; its numbers are too large for it."""
    g = 10**9 + 1
    instance = make_instance(
        [(0, 1, 3 * g), (0, 2, 2 * g), (1, 3, 3 * g), (2, 4, 2 * g), (3, 4, 3 * g), plain(1, 4, g, fixed=2 * g)]
    )
    outcome = child.solve(solver, instance, Task(Limits(time.monotonic() + 60)))
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert not outcome.is_optimal or outcome.bound == outcome.value
    assert outcome.stop in (StopReason.WORK_LIMIT, StopReason.PROVED)


def test_the_time_limit_ends_a_run_with_the_best_so_far(solver: str, child: Child) -> None:
    instance = knotty(120, 11)
    start = stacked(instance)
    deadline = time.monotonic() + 0.6
    outcome = child.solve(solver, instance, Task(Limits(deadline), start=start))
    assert outcome.value is not None
    assert outcome.value <= evaluate(instance, start)
    assert outcome.bound <= outcome.value
    assert outcome.stop is StopReason.TIME_LIMIT
    assert not outcome.reproducible


def test_the_work_limit_ends_a_run_alike_every_time(solver: str, child: Child) -> None:
    """In two pools: in one, HiGHS proves the optimum before."""
    instance = knotty(20, 1, 2, Term.LARGEST_PEAK)
    task = Task(Limits(work=20_000), start=stacked(instance))
    first, second = (child.solve(solver, instance, task) for _ in range(2))
    assert first.reproducible
    assert first.stop is second.stop is StopReason.WORK_LIMIT
    assert (first.value, first.bound, first.work) == (second.value, second.bound, second.work)
    assert first.placement is not None
    assert second.placement is not None
    assert first.placement.offset.tolist() == second.placement.offset.tolist()


def test_too_many_pairs_are_refused(solver: str, child: Child) -> None:
    with pytest.raises(Unsupported, match="too large"):
        child.solve(solver, make_instance([(0, 1, 1)] * 205))


def test_known_bounds_are_used(solver: str, child: Child) -> None:
    instance = make_instance([(0, 1, 3), (0, 1, 4)], terms=[Term.LARGEST_PEAK])
    outcome = child.solve(solver, instance, Task(bound=(7,), pool_bounds=(7,), start=stacked(instance)))
    assert optimal(outcome, instance, 7)
    assert outcome.work == 0


def test_importing_the_package_loads_no_library() -> None:
    code = "import sys, solvers.exact.milp as m; m.Cbc().unavailable(); m.Highs().unavailable(); print('pulp' in sys.modules, 'highspy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_plan_near_another_reorders_few_pairs() -> None:
    """The goal of that question is the number of pairs in another order."""
    code = """
import numpy as np
from solvers.exact.milp.program.build import Question, build, choices_of
from solvers.exact.milp.program.model import numbered
from solvers.model.instance import Placement
from tests.small.instances import make_instance
instance = make_instance([(0, 3, 2), (1, 4, 3), (2, 5, 4)])
def at(*offsets):
    return Placement.in_one_pool(offsets)
near = at(0, 2, 5)
model = build(instance, choices_of(instance, "cbc"), numbered(3, 1), Question(None, floors=(9,), near=near))
problem = model.program.problem
for placement in near, at(3, 0, 5), at(7, 4, 0):
    values = model.program.start(placement)
    print(round(problem.objective.constant + sum(c * values[v.name] for v, c in problem.objective.items())))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1", "3"]
