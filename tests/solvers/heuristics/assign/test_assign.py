"""Local search over assignments: no worse than its start, no better than the optimum, and alike for one seed."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given

from planner.generate import Request, generate
from planner.model.problem import Buffer, Constraints, Pool, Problem
from planner.planning.options.options import Preference
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.bounds.room_prices import RoomPrices
from solvers.fitting.orders import Fit
from solvers.geometry.rules import violation
from solvers.heuristics.assign.from_prices import from_prices
from solvers.heuristics.assign.search import Assign
from solvers.heuristics.greedy.packing import ORDERS_TO_TRY, packed
from solvers.heuristics.greedy.solver import Greedy
from solvers.heuristics.layout import Layout
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.interruption import interrupted_by
from solvers.model.objective import evaluate, peaks
from solvers.model.solver import Goal, Limits, Silent, Task
from solvers.portfolio.execute import execute
from tests.small import oracle
from tests.small.instances import make_instance, plain
from tests.small.strategies import effort, problems
from tests.solvers.kernels.kernel_sets import use_reference

WORK = Limits(work=60_000)


def started(instance: Instance) -> Placement | None:
    return Greedy().solve(instance, Task(limits=Limits(work=1)), Silent()).placement


@effort(15, 2000)
@given(problems(max_buffers=6))
def test_results_are_valid_between_the_start_and_the_optimum(problem: Problem) -> None:
    instance = lower(problem).instance
    start = started(instance)
    if start is None or not instance.blocks:
        return
    task = Task(limits=Limits(work=3_000), start=start)
    outcome = execute("assign", instance, task, Silent())
    assert outcome.placement is not None
    assert outcome.value is not None
    assert violation(instance, outcome.placement) is None
    assert outcome.value <= evaluate(instance, start)
    best = oracle.solve(problem).value
    assert best is not None
    assert outcome.value >= best


def test_the_start_stays_where_each_class_has_one_pool_but_single_blocks_have_two() -> None:
    """As where a block is held where it was, and another must share its pool."""
    rules = Constraints(same_pool=(("x", "y"),))
    instance = lower(
        Problem((Buffer("x", 15), Buffer("y", 15)), (Pool("a", 42), Pool("b", 18)), constraints=rules)
    ).instance
    allowed = instance.allowed.copy()
    allowed[0, 1] = False
    held = replace(instance, allowed=allowed)
    assert held.has_choice
    start = started(instance)
    assert start is not None
    assert Assign().solve(held, Task(limits=WORK, start=start), Silent()).placement == start


def test_preparations_can_be_interrupted_pool_by_pool_and_order_by_order() -> None:
    """Greedy's placement would be answered late, or lost, if they went on until the search begins."""
    instance = lower(generate("memories", Request(60, 1))).instance
    start = started(instance)
    assert start is not None
    asked = []
    with interrupted_by(lambda: asked.append(1)):
        from_prices(instance, Task(limits=WORK), Silent())
        assert len(asked) >= 2 * len(ORDERS_TO_TRY)
        asked.clear()
        Layout(instance, start)
        assert len(asked) >= 3


@pytest.mark.parametrize("prefer", Preference)
@pytest.mark.parametrize("kind", ["hot", "memories"])
def test_results_beat_greedy_and_stay_above_the_bound(kind: str, prefer: Preference) -> None:
    instance = lower(with_preference(generate(kind, Request(60, 4)), prefer)).instance
    start = started(instance)
    assert start is not None
    outcome = Assign().solve(instance, Task(limits=WORK, start=start), Silent())
    assert outcome.value is not None
    assert outcome.value < evaluate(instance, start)
    bound = RoomPrices().solve(instance, Task(), Silent()).bound
    assert bound[0] <= outcome.value[0]


def test_one_seed_ends_alike_with_both_kernels_and_another_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = lower(generate("hot", Request(120, 2))).instance
    task = Task(limits=WORK, start=started(instance))
    first = Assign().solve(instance, task, Silent())
    assert first.stop is StopReason.WORK_LIMIT
    assert first.reproducible
    use_reference(monkeypatch)
    again = Assign().solve(instance, task, Silent())
    assert again.placement is not None
    assert first.placement is not None
    assert (again.value, again.work) == (first.value, first.work)
    assert (again.placement.offset == first.placement.offset).all()
    other = Assign().solve(instance, replace(task, seed=5), Silent())
    assert other.placement is not None
    assert (other.placement.offset != first.placement.offset).any()


def test_nothing_is_done_without_a_start_or_a_choice() -> None:
    choice = make_instance([(0, 1, 4)], pools=[PoolSpec(8), PoolSpec(None, rank=1)])
    assert Assign().solve(choice, Task(), Silent()).placement is None
    single = make_instance([(0, 1, 4)])
    start = Placement.in_one_pool([3])
    outcome = Assign().solve(single, Task(start=start), Silent())
    assert (outcome.placement, outcome.value, outcome.solver) == (start, (7,), None)


def test_any_start_meets_the_goal_fit() -> None:
    instance = make_instance([(0, 1, 4)], pools=[PoolSpec(8), PoolSpec(None, rank=1)])
    start = Placement(np.ones(1, dtype=np.int64), np.array([3]))
    outcome = Assign().solve(instance, Task(start=start, goal=Goal.FIT), Silent())
    assert outcome.stop is StopReason.GOAL_MET


def test_a_start_from_prices_gives_room_to_the_blocks_that_gain_most() -> None:
    pools = [PoolSpec(10), PoolSpec(None, rank=1)]
    blocks = [plain(0, 2, 10, access=[0, 50]), plain(1, 3, 10, access=[0, 70]), plain(5, 6, 9, access=[0, 1])]
    instance = make_instance(blocks, pools=pools, terms=[Term.ACCESS_COST])
    placement, work = from_prices(instance, Task(), Silent())
    assert placement is not None
    assert placement.pool.tolist() == [1, 0, 0]
    assert work > 0


def test_blocks_that_must_be_apart_never_join_the_same_pool() -> None:
    pools = [PoolSpec(40), PoolSpec(None, rank=1), PoolSpec(None, rank=2)]
    blocks = [plain(n, n + 2, 10, access=[0, 5 + n, 9 + n]) for n in range(8)]
    apart = [(a, b) for a in range(0, 8, 2) for b in range(1, 8, 2)]
    instance = make_instance(blocks, pools=pools, terms=[Term.ACCESS_COST], apart=apart)
    start = Placement(np.array([1, 2] * 4), np.array([0, 0, 10, 10] * 2))
    assert violation(instance, start) is None
    outcome = execute("assign", instance, Task(limits=Limits(work=40_000), start=start), Silent())
    assert outcome.value is not None
    assert outcome.value < evaluate(instance, start)


def test_packing_names_the_blocks_that_end_too_high() -> None:
    instance = make_instance([(0, 2, 6), (1, 3, 6), (5, 6, 9)], pools=[PoolSpec(10), PoolSpec(None, rank=1)])
    for order in ORDERS_TO_TRY:
        answer = packed(instance, 0, np.arange(3), order, Fit.LOWEST)
        assert answer is not None
        bases, excess = answer
        assert sorted(bases[:2].tolist()) == [0, 6]
        assert sorted(excess.tolist()) == [0, 0, 2]


def test_of_blocks_that_just_fit_a_pool_all_but_one_end_too_high() -> None:
    instance = make_instance([(0, 2, 10), (1, 3, 10)], pools=[PoolSpec(10), PoolSpec(None, rank=1)])
    answer = packed(instance, 0, np.arange(2), "size", Fit.LOWEST)
    assert answer is not None
    assert sorted(answer[1].tolist()) == [0, 10]


def test_what_is_packed_without_an_end_stays_below_the_last_address() -> None:
    large, wall = 1 << 60, 3 << 58
    pools = [PoolSpec(None, reserved=((1 << 59, wall),)), PoolSpec(None, rank=1)]
    instance = make_instance([(0, 2, large), (1, 3, large), (1, 4, large)], pools=pools)
    answer = packed(instance, 0, np.arange(3), "size", Fit.LOWEST)
    assert answer is not None
    assert sorted(answer[0].tolist()) == [wall, wall + large, wall + 2 * large]


def test_a_layout_puts_everything_back() -> None:
    blocks = [plain(0, 2, 6, pool_class=0), plain(1, 3, 3, pool_class=0), plain(0, 3, 4)]
    instance = make_instance(blocks, pools=[PoolSpec(20), PoolSpec(20, rank=1)])
    layout = Layout(instance, Placement.in_one_pool([0, 6, 9]))
    old = layout.lift([0])
    assert layout.room(0, 0, Fit.LOWEST) == [(0, 0, 0), (1, 0, 6)]
    assert layout.room(0, 1, Fit.LOWEST) == [(0, 1, 0), (1, 1, 6)]
    layout.set_down(old)
    assert layout.offset.tolist() == [0, 6, 9]
    assert peaks(instance, layout.placement) == (13, 0)


class _OverSoon(Silent):
    """A control whose time is over at the second look."""

    looks = 0

    def stopped(self) -> StopReason | None:
        self.looks += 1
        return StopReason.TIME_LIMIT if self.looks > 1 else None


def test_a_change_of_very_many_blocks_is_given_up_when_time_is_over() -> None:
    count = 1000
    buffers = tuple(Buffer(i, 1 + i % 3, live=((0, 1),)) for i in range(count))
    pools = (Pool("a", 3000, reserved=((0, 1),)), Pool("b", 3000))
    together = Constraints(same_pool=(tuple(range(count)),))
    instance = lower(Problem(buffers, pools, constraints=together)).instance
    start = Placement.in_one_pool(1 + np.cumsum([0, *(1 + i % 3 for i in range(count - 1))]))
    assert violation(instance, start) is None
    with patch.object(Layout, "base", autospec=True, side_effect=Layout.base) as looked:
        outcome = Assign().solve(instance, Task(start=start, goal=Goal.MINIMISE), _OverSoon())
    assert outcome.stop is StopReason.TIME_LIMIT
    assert looked.call_count < count
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
