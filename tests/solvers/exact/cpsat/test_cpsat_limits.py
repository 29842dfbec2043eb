"""CP-SAT under limits: budgets, warm starts, goals, cancels, and numbers that are too large."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from solvers import sandbox
from solvers.exact.cpsat import descent
from solvers.exact.cpsat.engine import Answer, Budget, Relaxations, Reply, solve
from solvers.exact.cpsat.sums import Sums
from solvers.geometry.rules import violation
from solvers.model.errors import StopReason, Unsupported
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome, Value
from solvers.model.registry import get
from solvers.model.solver import Goal, Limits, Silent, Task, Warm
from tests.small.instances import make_instance, plain

PEAK = "solvers.exact.cpsat:CpSatPeak"


class Recorder(Silent):
    """A control that records placements and bounds; if impatient, it says stop as soon as there is a placement."""

    def __init__(self, *, patient: bool = True) -> None:
        super().__init__()
        self.placements: list[Placement] = []
        self.bounds: list[Value] = []
        self.patient = patient

    def incumbent(self, placement: Placement) -> None:
        self.placements.append(placement)

    def bound(self, bound: Value) -> None:
        self.bounds.append(bound)

    def stopped(self) -> StopReason | None:
        return StopReason.CANCELLED if self.placements and not self.patient else None


def hard(capacity: int | None = None) -> Instance:
    """An instance that is too hard to finish within the budgets of these tests."""
    rng = random.Random(7)
    rows = [(start := rng.randrange(60), start + rng.randint(2, 25), rng.randint(100, 9999)) for _ in range(160)]
    return make_instance(rows, capacity=capacity)


def test_with_explicit_conflicts_a_deterministic_second_is_more_work(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = list[int]()

    def record(model: object, budget: Budget, *_rest: object) -> Reply:
        rates.append(budget.rate)
        return Reply(Answer.UNKNOWN, None, budget.work or 0, StopReason.WORK_LIMIT)

    monkeypatch.setattr(descent, "solve", record)
    works = []
    for many in (0, 300):
        pairs = [(a, b) for b in range(160) for a in range(b)][:many]
        instance = make_instance([plain(i, i + 20, 3 + i % 7) for i in range(160)], conflicts=pairs)
        works.append(get("cpsat").solve(instance, Task(limits=Limits(work=50_000)), Silent()).work)
    assert rates[-1] == 2 * rates[0]
    assert works[1] >= works[0]


def easy(capacity: int = 30) -> Instance:
    """An instance whose optimum, 7, is two above every simple bound."""
    return make_instance(
        [plain(2, 5, 1, alignment=2), (0, 1, 3), plain(0, 3, 1, alignment=3), plain(0, 3, 1, alignment=3)],
        capacity=capacity,
    )


def stacked(instance: Instance) -> Placement:
    """A placement of all blocks above each other, at bases that suit the alignments of `easy`."""
    step = int(instance.block_high.max())
    step += -step % 6
    return Placement.in_one_pool(step * np.arange(instance.blocks, dtype=np.int64))


def same(one: Outcome, other: Outcome) -> bool:
    assert one.placement is not None
    assert other.placement is not None
    bare = [replace(o, placement=None) for o in (one, other)]
    return bare[0] == bare[1] and np.array_equal(one.placement.offset, other.placement.offset)


def test_importing_the_solver_does_not_import_the_library() -> None:
    code = "import sys, solvers.exact.cpsat as c; print(c.CpSat().unavailable(), 'ortools' in sys.modules)"
    # In a new process, as other tests may have loaded the library in this one.
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["None", "False"]


def test_the_process_that_forks_solvers_imports_the_library_without_pandas_and_numpy() -> None:
    code = """if True:
        import sys
        from solvers.model.solver import Silent
        from solvers.exact.cpsat import engine, preload
        preload()
        print("pandas" in sys.modules, "numpy" in sys.modules)
        model = engine.new_model()
        x = model.new_int_var(0, 9, "")
        model.add(engine.weighted_sum([x], [2]) >= 7)
        model.minimize(x)
        seen = []
        engine.solve(model, engine.Budget(1000, None), Silent(), lambda value: seen.append(value(x)))
        import numpy, pandas
        print(seen[-1], pandas.Series([5]).sum(), engine.load().np is numpy)
    """
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["False", "False", "4", "5", "True"]


@pytest.mark.parametrize("solver", ["cpsat", PEAK])
def test_a_work_limit_ends_the_run_alike_every_time(solver: str) -> None:
    instance = hard()
    task = Task(limits=Limits(work=100_000), start=stacked(instance), seed=3)
    first, second = (sandbox.run(solver, instance, task, Silent()) for _ in range(2))
    assert first.stop is StopReason.WORK_LIMIT
    assert first.reproducible
    assert first.work >= 30_000
    assert same(first, second)


def test_a_deadline_ends_the_run_with_the_best_placement() -> None:
    instance = hard()
    control = Recorder()
    deadline = time.monotonic() + 0.7
    outcome = sandbox.run("cpsat", instance, Task(limits=Limits(deadline=deadline), start=stacked(instance)), control)
    assert outcome.stop is StopReason.TIME_LIMIT
    assert not outcome.reproducible
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert outcome.bound <= (outcome.value or ())


def test_a_cancel_ends_the_run_with_the_best_placement() -> None:
    instance = hard()
    control = Recorder(patient=False)
    outcome = sandbox.run(PEAK, instance, Task(warm=Warm.NONE), control)
    assert outcome.stop is StopReason.CANCELLED
    assert outcome.placement is not None
    assert not outcome.reproducible


def test_a_memory_cap_ends_the_run() -> None:
    outcome = sandbox.run("cpsat", hard(), Task(limits=Limits(memory_bytes=4 << 20)), Silent())
    assert outcome.stop is StopReason.MEMORY_LIMIT
    assert not outcome.reproducible


@pytest.mark.parametrize("warm", list(Warm))
@pytest.mark.parametrize("solver", ["cpsat", PEAK])
def test_every_warm_start_leads_to_the_optimum(solver: str, warm: Warm) -> None:
    instance = easy()
    start = stacked(instance)
    assert violation(instance, start) is None
    outcome = sandbox.run(solver, instance, Task(start=start, warm=warm), Silent())
    assert (outcome.value, outcome.bound, outcome.stop) == ((7,), (7,), StopReason.PROVED)


@pytest.mark.parametrize("solver", ["cpsat", PEAK])
def test_an_optimal_start_is_proven_optimal(solver: str) -> None:
    instance = easy()
    best = sandbox.run("cpsat", instance, Task(), Silent()).placement
    outcome = sandbox.run(solver, instance, Task(start=best, warm=Warm.BOUND), Silent())
    assert (outcome.value, outcome.bound, outcome.stop) == ((7,), (7,), StopReason.PROVED)


@pytest.mark.parametrize("capacity", [7, 6])
def test_the_goal_fit_is_met_or_refuted(capacity: int) -> None:
    outcome = sandbox.run("cpsat", easy(capacity), Task(goal=Goal.FIT), Silent())
    assert outcome.infeasible == (capacity < 7)
    assert outcome.value == (None if capacity < 7 else (7,))


def test_the_goal_fit_with_a_choice_is_refuted() -> None:
    instance = make_instance([(0, 1, 6), (0, 1, 3)], pools=[PoolSpec(7), PoolSpec(2)])
    assert sandbox.run("cpsat", instance, Task(goal=Goal.FIT), Silent()).infeasible


def test_the_goal_fit_with_a_choice_stops_at_the_first_placement() -> None:
    instance = make_instance([(0, 2, 3), (0, 2, 2), (1, 2, 2)], pools=[PoolSpec(6), PoolSpec(8)])
    outcome = sandbox.run("cpsat", instance, Task(goal=Goal.FIT), Silent())
    assert outcome.stop in (StopReason.GOAL_MET, StopReason.PROVED)
    assert outcome.placement is not None


def test_the_order_takes_no_choice_of_pools() -> None:
    with pytest.raises(Unsupported):
        sandbox.run("cpsat_order", make_instance([(0, 1, 1)], pools=[PoolSpec(6), PoolSpec(8)]), Task(), Silent())


def test_a_bound_on_the_value_is_a_bound_on_the_peak() -> None:
    instance = replace(easy(), pools=(PoolSpec(30, cost=3),))
    outcome = sandbox.run("cpsat", instance, Task(bound=(19,), pool_bounds=(6,)), Silent())
    assert (outcome.value, outcome.bound) == ((21,), (21,))


def test_sizes_of_terabytes_are_exact() -> None:
    big = (1 << 40) + 1
    instance = make_instance([(0, 2, big), (0, 2, big), (1, 3, big + 1)], capacity=1 << 50)
    for solver in ("cpsat", PEAK):
        outcome = sandbox.run(solver, instance, Task(), Silent())
        assert outcome.value == outcome.bound == (3 * big + 1,)


def test_numbers_beyond_the_solver_s_range_are_refused() -> None:
    instance = make_instance([(i, i + 1, 1 << 60) for i in range(9)], capacity=1 << 61)
    for solver in ("cpsat", PEAK):
        with pytest.raises(Unsupported, match="too large for this solver"):
            sandbox.run(solver, instance, Task(), Silent())


def test_an_unlimited_pool_needs_no_start() -> None:
    instance = make_instance([(i % 5, i % 5 + 2, 3 + i % 4) for i in range(12)])
    outcome = sandbox.run("cpsat", instance, Task(), Silent())
    assert outcome.placement is not None
    assert outcome.value == outcome.bound == evaluate(instance, outcome.placement)


def test_later_terms_are_improved_although_an_earlier_one_is_not_proven() -> None:
    rng = random.Random(5)
    blocks = [
        plain(start := rng.randrange(40), start + rng.randint(2, 20), rng.randint(100, 999), access=[0, 1])
        for _ in range(60)
    ]
    pools = [PoolSpec(1 << 20, cost=2), PoolSpec(1 << 20, cost=3)]
    instance = make_instance(blocks, pools=pools, terms=[Term.SUM_OF_PEAKS, Term.ACCESS_COST])
    outcome = sandbox.run("cpsat", instance, Task(limits=Limits(work=300_000)), Silent())
    assert outcome.stop is StopReason.WORK_LIMIT
    assert outcome.value is not None
    assert outcome.bound <= outcome.value
    assert len(outcome.bound) == 1


@pytest.mark.parametrize("work", [200_000, 2_000_000])
def test_uncounted_work_beyond_the_limit_is_not_begun(work: int) -> None:
    """The 44 850 pairs of 300 blocks live together take more work than the limit before the search begins."""
    rng = random.Random(3)
    crowded = make_instance([(i % 7, 20 + rng.randrange(9), rng.randint(100, 9999)) for i in range(300)])
    outcome = sandbox.run("cpsat", crowded, Task(limits=Limits(work=work)), Silent())
    assert (outcome.stop, outcome.work, outcome.placement) == (StopReason.WORK_LIMIT, 0, None)


def test_a_call_whose_preparation_uses_up_its_work_is_not_made() -> None:
    pools = (PoolSpec(capacity=100), PoolSpec(cost=2))
    instance = make_instance([(t, t + 3, 30) for t in range(40)], pools=pools)
    start = get("greedy").solve(instance, Task(), Silent())
    assert start.placement is not None
    task = Task(limits=Limits(work=1_000), start=start.placement)
    outcome = sandbox.run("cpsat", instance, task, Silent())
    assert outcome.work <= 1_000
    assert outcome.value == start.value
    assert not outcome.bound > (0,)


def test_later_deterministic_seconds_are_charged_at_a_rate_of_their_own() -> None:
    usual, later = Budget(None, None, rate=1_000), Budget(None, None, rate=1_000, later_rate=100)
    assert [usual.work_of(seconds) for seconds in (0, 0.05, 0.1, 1.1)] == [0, 50, 100, 1_100]
    assert [later.work_of(seconds) for seconds in (0, 0.05, 0.1, 1.1)] == [0, 50, 100, 200]
    for budget in (usual, later):
        for work in (0, 1, 99, 100, 101, 5_000):
            assert budget.work_of(budget.seconds(work)) == work


def test_a_search_goes_on_for_as_many_seconds_as_its_work_stands_for() -> None:
    rng = random.Random(3)
    weights = [rng.randrange(10_000, 20_000) for _ in range(45)]
    replies = []
    for later in (None, 1_000_000):
        model = Sums()
        chosen = [model.variable(0, 1) for _ in weights]
        beside = [model.variable(0, 1) for _ in weights]
        for each in zip(chosen, beside, strict=True):
            model.limit([(literal, 1) for literal in each], high=1)
        model.limit(zip(chosen, weights, strict=True), low=sum(weights) // 3, high=sum(weights) // 3)
        model.limit(zip(beside, weights, strict=True), low=sum(weights) // 3 + 1, high=sum(weights) // 3 + 1)
        model.minimise([(literal, (7 * k) % 31 + 1) for k, literal in enumerate(chosen)], 0)
        budget = Budget(1_000_000, None, rate=5_000_000, later_rate=later, relaxations=Relaxations.ALL)
        reply = solve(model, budget, Silent())
        assert reply.stopped is StopReason.WORK_LIMIT
        assert 900_000 < reply.work < 1_500_000
        replies.append(budget.seconds(reply.work))
    assert replies[1] > 2 * replies[0]
