"""Sizes that are no multiples of the alignment: what is best in whole steps comes first, and what is proven there holds where peaks are low enough."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from planner import Options, Preference, plan
from planner.generate import Request, generate
from planner.model.problem import Buffer, Pool, Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget, solver
from solvers.choice.pools.program.program import Costs
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.runs import in_steps
from solvers.choice.pools.runs.in_steps import InSteps
from solvers.geometry.simpler import Stepped, stepped
from solvers.heuristics.greedy.solver import Greedy
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome, Value
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain
from tests.small.judge import judge
from tests.small.oracle import solve

STEP, WASTE = 64, 63
WORK = 3_000_000


def aligned(buffers: int, seed: int) -> Instance:
    problem = generate("hot", Request(buffers, seed, STEP))
    return lower(with_preference(problem, Preference.SIZE)).instance


def wide_of(instance: Instance) -> Stepped:
    wide = stepped(instance)
    assert wide is not None
    assert {pool.step for pool in wide.instance.pools} == {STEP}
    assert set(wide.waste) == {WASTE}
    return wide


def begun(instance: Instance, work: int | None = None) -> InSteps:
    """A run that has nothing but greedy's placement."""
    start = Greedy().solve(instance, Task(Limits(work=1)), Silent()).placement
    return InSteps(instance, program_of(instance), Task(Limits(work=work), start=start), Silent())


def solved(instance: Instance, work: int) -> Outcome:
    return get("pools_first").solve(instance, Task(Limits(work=work)), Silent())


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_what_counts_after_peaks_is_better_for_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = aligned(100, seed)
    outcome = solved(instance, 800_000)
    assert outcome.value is not None
    monkeypatch.setattr(solver, "_begins_in_steps", lambda *_: False)
    without = solved(instance, 800_000)
    assert without.value is not None
    assert outcome.value < without.value
    assert outcome.value[1] < without.value[1]


def test_with_little_work_only_the_fullest_moment_bounds_the_peaks(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = aligned(300, 3)
    asked = list[bool]()

    def solve(*_: Any) -> Outcome:
        asked.append(True)
        return Outcome(StopReason.WORK_LIMIT)

    for least, begins in ((budget.IN_STEPS_PER_ENTRY, False), (0, True)):
        monkeypatch.setattr(budget, "IN_STEPS_PER_ENTRY", least)
        run = begun(instance, 70 * program_of(instance).entries)
        assert run.begin_in_steps(wide_of(instance), solve) is begins
        run.asking.close()
        assert len(run.bound) == 1
        assert run.bound[0] > 0
        assert bool(asked) is begins


def test_what_is_proven_in_whole_steps_holds_where_peaks_are_no_higher_in_whole_steps() -> None:
    instance = aligned(60, 3)
    run = begun(instance)
    assert run.value is not None
    first, second = run.value
    run.bound, run.wide = (first,), wide_of(instance)
    whole = first + WASTE * len(instance.pools)
    for most, is_known in ((whole - STEP - whole % STEP, False), (whole - whole % STEP, True)):
        run.bound_in_steps = (most, second - 5)
        run._learn_from_steps()
        assert run.bound == ((first, second - 5) if is_known else (first,))


def test_peaks_are_proven_but_for_what_steps_add() -> None:
    instance = aligned(60, 3)
    run = begun(instance)
    assert run.value is not None
    run.wide, run.bound_in_steps = wide_of(instance), (run.value[0],)
    run._learn_from_steps()
    assert run.bound == (run.value[0] - WASTE * len(instance.pools),)


@pytest.mark.parametrize(
    ("term", "value", "found"),
    [
        (Costs((), (1, 1)), 65, 128),
        (Costs((), (1, 1)), 66, 192),
        (Costs((), (2, 4)), 100, 384),
        (Costs((), (0, 0)), 0, 0),
        (Costs((), (0, 0), is_largest=True), 65, 128),
    ],
)
def test_how_high_peaks_may_be_in_whole_steps(term: Costs, value: int, found: int) -> None:
    instance = aligned(60, 3)
    run = begun(instance)
    run.wide = wide_of(instance)
    run.wide = Stepped(replace(run.wide.instance, pools=run.wide.instance.pools[:2]), run.wide.waste[:2])
    assert run._in_steps(term, value) == found


def test_only_what_is_live_where_pools_are_full_is_chosen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = aligned(200, 3)
    run = begun(instance)
    assert run.best is not None
    program, near = run.program, tuple(run.best.pool.tolist())
    highest = tuple(program.highest(pool) for pool in range(len(program.rooms)))
    assert not any(row.members for row in run._around_full(near, highest).rows)
    monkeypatch.setattr(in_steps, "MOST_CHOSEN", 50)
    row = max(program.rows, key=lambda row: sum(units for _, units in row.members))
    lows = list(highest)
    lows[row.pool] = row.always + sum(units for group, units in row.members if near[group] == row.pool) - 1
    part = run._around_full(near, tuple(lows))
    free = {group for group, homes in enumerate(part.homes) if len(homes) > 1}
    assert {group for group, _ in row.members if len(program.homes[group]) > 1} <= free
    assert len(free) <= 50
    assert part.ends(near) == program.ends(near)


def test_bytes_that_are_charged_by_pool_are_not_bounded_by_those_in_whole_steps() -> None:
    """Rounded up, other blocks fill the fast pool than as they are."""
    sizes = {"a": (9, (1, 2)), "b": (1, (0, 2)), "c": (4, (0, 2)), "d": (3, (1, 2))}
    problem = Problem(
        tuple(Buffer(name, size, 4, live=(live,)) for name, (size, live) in sizes.items()),
        (Pool("slow", rank=2), Pool("fast", reserved=((8, 9),), rank=0)),
        terms=(Term.SUM_OF_PEAKS, Term.SPILLED_BYTES),
    )
    made = plan(problem, Options(solver="pools_first", work_limit=WORK, time_limit=None, workers=1))
    assert judge(problem, made, solve(problem)) == []


class Watching(Silent):
    """Keeps what each reported placement is worth."""

    def __init__(self, instance: Instance) -> None:
        super().__init__()
        self.instance, self.values = instance, list[Value]()

    def incumbent(self, placement: Placement) -> None:
        self.values.append(evaluate(self.instance, placement))


def test_only_placements_better_than_all_before_are_reported() -> None:
    """In whole steps a placement can be better that is not, as sizes are."""
    blocks = [plain(0, 1, 3, alignment=2, access=(3, 3))]
    pools = (PoolSpec(rank=1), PoolSpec(rank=1))
    instance = make_instance(blocks, pools=pools, terms=(Term.SUM_OF_PEAKS, Term.ACCESS_COST))
    control = Watching(instance)
    outcome = get("pools_first").solve(instance, Task(Limits(work=WORK)), control)
    assert all(later < earlier for earlier, later in pairwise(control.values))
    assert outcome.value == control.values[-1]


def test_a_bound_in_whole_steps_may_be_beyond_all_that_the_program_knows() -> None:
    """Gaps make the one pool higher than all that is in it. Asked for such peaks the program has no choice, which is no proof that nothing is better."""
    live = ((1, 4),)
    sizes = (("a", 96), ("b", 64), ("c", 64))
    pools = Pool("other", alignment=16, base=48, cost=2), Pool("full", alignment=16, base=16, cost=3, rank=2)
    problem = Problem(
        (
            *(Buffer(name, 64, alignment=step, live=live, pools=("full",), accesses=4) for name, step in sizes),
            Buffer("free", 0, alignment=96, live=((5, 9),), accesses=6),
        ),
        pools,
        terms=(Term.SUM_OF_PEAKS, Term.ACCESS_COST),
    )
    least = solve(problem).value
    assert least is not None
    outcome = get("pools_first").solve(lower(problem).instance, Task(Limits(work=WORK)), Silent())
    assert outcome.bound <= least
