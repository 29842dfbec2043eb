"""Rounds of engines over components that are not yet proven optimal, with engines made up for the tests."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

from solvers.geometry.presolve import restrict
from solvers.heuristics.greedy.solver import Greedy
from solvers.model import registry
from solvers.model.errors import SolverFailed, StopReason, Unsupported
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.outcome import Outcome, Proof
from solvers.model.solver import Control, Feature, Goal, Input, Limits, Silent, Task
from solvers.portfolio.joint.joint import solve_joint
from solvers.portfolio.roster import NAMED, ROSTER, SEED_STEP, Role, Share
from solvers.portfolio.separate import solve_separate_pools
from solvers.portfolio.separate_pools import AGAIN_STEP
from solvers.portfolio.single_pool import SinglePool
from solvers.portfolio.solve import solve
from tests.small.instances import make_instance, plain


class Engine:
    """Base of the made-up engines, which take everything and run in this process."""

    name: ClassVar[str] = "engine"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    wants: ClassVar[Input] = Input.PRESOLVED
    sandboxed: ClassVar[bool] = False
    calls: ClassVar[list[Task]] = []

    def unavailable(self) -> str | None:
        return None


class Refuter(Engine):
    """Raises the proven bound by one unit at each call, and uses up its work."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        Engine.calls.append(task)
        bound = task.bound[0] + 1
        return Outcome(StopReason.WORK_LIMIT, bound=(bound,), work=task.limits.work or 0)


class Breaker(Engine):
    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        raise SolverFailed("engine", "it broke")


class Liar(Engine):
    """Returns everything at offset 0 and calls it optimal."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        zeros = np.zeros(instance.blocks, dtype=np.int64)
        return Outcome(StopReason.PROVED, Placement(zeros, zeros), (1,), (1,), work=1)


class Picky(Engine):
    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        raise Unsupported("engine", "it does not like it")


class Modest(Engine):
    """Takes only blocks of one rectangle."""

    features: ClassVar[frozenset[Feature]] = frozenset()

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        Engine.calls.append(task)
        return Outcome(StopReason.WORK_LIMIT, work=1)


class Idle(Engine):
    """Uses up its work, and finds nothing."""

    granted: ClassVar[list[int]] = []

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        Idle.granted.append(task.limits.work or 0)
        return Outcome(StopReason.WORK_LIMIT, work=task.limits.work or 0)


class Sleeper(Engine):
    """Does nothing at all."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        Engine.calls.append(task)
        return Outcome(StopReason.WORK_LIMIT)


class Denier(Engine):
    """Proves that nothing fits."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        return Outcome(StopReason.PROVED, infeasible=True, work=1)


@pytest.fixture(autouse=True)
def engines(monkeypatch: pytest.MonkeyPatch) -> None:
    Engine.calls.clear()
    Idle.granted.clear()
    for made_up in (Refuter, Breaker, Liar, Picky, Modest, Idle, Sleeper, Denier):
        monkeypatch.setitem(
            registry.SOLVERS,
            made_up.__name__.lower(),
            registry.Entry(registry.SolverKind.METHOD, f"{__name__}:{made_up.__name__}", "made up"),
        )
        monkeypatch.setattr(made_up, "name", made_up.__name__.lower())
    monkeypatch.setitem(sys.modules, __name__, ModuleType(__name__))
    vars(sys.modules[__name__]).update(globals())


OPEN = [
    (int(s), int(s + w), 50 * int(h) + i)
    for i, (s, w, h) in enumerate(np.random.default_rng(1).integers(1, 12, (30, 3)))
]


def open_instance(capacity: int | None = None, copies: int = 1) -> Instance:
    """An instance on which greedy stays above the bound; of several copies, one after the other, each is a component."""
    blocks = [(start + 100 * at, end + 100 * at, high) for at in range(copies) for start, end, high in OPEN]
    return make_instance(blocks, capacity=capacity)


def run(instance: Instance, solver: str, work: int | None = 1_000_000, goal: Goal = Goal.MINIMISE) -> Outcome:
    return solve(instance, Task(limits=Limits(work=work), goal=goal), Silent(), solver)


def test_greedy_leaves_the_open_instance_open() -> None:
    outcome = run(open_instance(), "greedy")
    assert outcome.value is not None
    assert outcome.value > outcome.bound
    assert outcome.stop is StopReason.WORK_LIMIT


def test_refutations_raise_the_bound_until_a_placement_meets_it() -> None:
    greedy = run(open_instance(), "greedy")
    outcome = run(open_instance(), "refuter", work=None)
    assert outcome.stop is StopReason.PROVED
    assert outcome.bound == outcome.value == greedy.value
    assert outcome.certificates[0].proof is Proof.SEARCH
    assert outcome.certificates[0].solver == "refuter"


def test_work_goes_to_the_engine_that_finds_something() -> None:
    task = Task(limits=Limits(work=10_000_000))
    solve_separate_pools(open_instance(), task, Silent(), ("idle", "refuter"), by_name=True)
    busy = [call.limits.work or 0 for call in Engine.calls]
    assert busy[0] == Idle.granted[0]
    shares = [mine / other for mine, other in zip(busy, Idle.granted, strict=True)]
    assert shares[1] == pytest.approx(4, rel=0.01)
    assert shares[2] == pytest.approx(16, rel=0.01)


def test_rounds_grow_and_end_with_the_work() -> None:
    outcome = run(open_instance(), "refuter", work=400_000)
    assert outcome.stop is StopReason.WORK_LIMIT
    assert outcome.reproducible
    assert 300_000 <= outcome.work <= 400_000
    spent = [task.limits.work or 0 for task in Engine.calls]
    assert spent == sorted(spent)


def test_components_take_turns_if_there_is_too_little_work_for_a_round_of_all() -> None:
    optimum = run(open_instance(), "search").value
    many = run(open_instance(copies=10), "search", work=30_000)  # a round of all would take 120 000 at least
    assert many.value == optimum
    assert many.stop is StopReason.PROVED


def test_work_that_is_too_little_for_all_components_is_used_up_by_some() -> None:
    outcome = run(open_instance(copies=5), "idle", work=12_000)  # a round of all would take 20 000 at least
    assert outcome.stop is StopReason.WORK_LIMIT
    assert len(Idle.granted) == 3
    assert 10_000 < sum(Idle.granted) <= 12_000


def test_a_run_ends_if_no_engine_works_though_some_components_need_none() -> None:
    """A component that fits has no turn where fitting is all that counts."""
    best = run(open_instance(), "greedy").value
    assert best is not None
    instance = make_instance([*OPEN, (200, 201, 7)], capacity=best[0] - 1)
    outcome = run(instance, "sleeper", goal=Goal.FIT)
    assert outcome.stop is StopReason.WORK_LIMIT
    assert len(Engine.calls) == 1


def test_a_run_ends_if_what_has_no_placement_cannot_use_the_last_of_the_work() -> None:
    """Blocks that have no room together, and others that are placed at once."""
    tight = [((1, 2), 5, 8), ((3, 5), 5, 3), ((0, 3), 1, 15), ((3, 4), 6, 1), ((2, 3), 7, 2)]
    placed = [(23, 26, 6), (24, 25, 5), (23, 27, 1), (24, 28, 4), (22, 25, 4), (20, 24, 8), (22, 23, 7), (27, 28, 6)]
    instance = make_instance([*(plain(*live, size, max_offset=most) for live, size, most in tight), *placed])
    assert solve(instance, Task(Limits(work=1_000)), Silent(), "improve").stop is StopReason.WORK_LIMIT


def test_an_engine_that_starts_from_nothing_gets_all_the_work_in_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NAMED, "idle", Share(at_once=True))
    outcome = run(open_instance(), "idle", work=400_000)
    assert outcome.stop is StopReason.WORK_LIMIT
    assert len(Idle.granted) == 1
    assert 300_000 <= Idle.granted[0] <= 400_000


def test_a_broken_engine_does_not_affect_the_others() -> None:
    outcome = run(open_instance(), "breaker")
    assert outcome.stop is StopReason.SOLVER_FAILED
    assert outcome.placement is not None
    assert not outcome.reproducible
    assert any("it broke" in note for note in outcome.notes)


def test_a_lying_engine_is_not_believed() -> None:
    outcome = run(open_instance(), "liar")
    assert outcome.stop is StopReason.SOLVER_FAILED
    assert outcome.solver == "greedy"
    assert not outcome.is_optimal


def test_a_refusal_of_an_engine_asked_for_by_name_is_raised() -> None:
    with pytest.raises(Unsupported, match="does not like"):
        run(open_instance(), "picky")


@pytest.mark.parametrize("workers", [1, 2])
def test_the_engines_of_a_round_do_not_depend_on_each_other_s_results(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If an engine refuses the first component, the engines of the second stay the same until the next round."""
    monkeypatch.setitem(ROSTER, "refuter", Role(Share(from_round=3)))
    blocks = [replace(plain(*block), pools=(pool,)) for pool in (0, 1) for block in OPEN]
    instance = make_instance(blocks, pools=[PoolSpec(), PoolSpec()])
    limits = Limits(work=1_000_000, workers=workers)
    outcome = solve_separate_pools(instance, Task(limits=limits), Silent(), ("picky", "refuter"), by_name=False)
    assert outcome.notes == ("engine cannot take this problem: it does not like it",)
    assert len(Engine.calls) >= 4
    assert {task.seed // SEED_STEP for task in Engine.calls[:2]} == {2}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_engine_that_takes_part_twice_has_two_seeds_and_one_start(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ROSTER, "refuter", Role(Share(blocks_per_part=1, is_quick=True)))
    limits = Limits(work=2_000_000, workers=workers)
    solve_separate_pools(open_instance(), Task(limits=limits), Silent(), ("refuter",), by_name=False)
    first, again = sorted(Engine.calls[:2], key=lambda task: task.seed)
    assert first.seed == SEED_STEP
    assert again.seed == SEED_STEP + AGAIN_STEP
    assert first.bound == again.bound < Engine.calls[2].bound


@pytest.mark.parametrize(("capacity", "is_asked"), [(None, True), (100_000, False)])
def test_an_engine_is_not_asked_for_unsupported_components(capacity: int | None, is_asked: bool) -> None:
    task = Task(limits=Limits(work=400_000))
    outcome = solve_separate_pools(open_instance(capacity), task, Silent(), ("modest", "refuter"), by_name=False)
    assert {"greedy", "refuter"} <= set(outcome.took_part)
    assert ("modest" in outcome.took_part) == is_asked
    assert outcome.notes == ()


@pytest.mark.parametrize("features", [frozenset(), frozenset(Feature)])
def test_an_engine_is_not_asked_for_unsupported_joint_problems(
    features: frozenset[Feature], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Modest, "features", features)
    instance = make_instance(OPEN, pools=[PoolSpec(100_000), PoolSpec(100_000)], terms=(Term.LARGEST_PEAK,))
    task = Task(limits=Limits(work=400_000))
    outcome = solve_joint(instance, task, Silent(), ("modest", "refuter"), by_name=False)
    assert {"greedy", "refuter"} <= set(outcome.took_part)
    assert ("modest" in outcome.took_part) == bool(features)


def test_a_heuristic_that_finds_nothing_better_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        registry.SOLVERS, "modest", registry.SOLVERS["modest"]._replace(kind=registry.SolverKind.HEURISTIC)
    )
    outcome = run(open_instance(), "modest", work=100_000)
    assert outcome.stop is StopReason.WORK_LIMIT
    assert len(Engine.calls) == 1


def test_a_proof_that_nothing_fits_is_the_answer() -> None:
    best = run(open_instance(), "greedy")
    assert best.value is not None
    outcome = run(open_instance(capacity=best.value[0] - 1), "denier")
    assert outcome.infeasible
    assert outcome.placement is None
    assert outcome.certificates[0].proof is Proof.SEARCH


def test_components_that_fit_are_kept_although_others_do_not() -> None:
    best = run(open_instance(), "greedy").value
    assert best is not None
    hard = open_instance()
    rects = [
        *zip(hard.rect_start.tolist(), hard.rect_end.tolist(), hard.part_high.tolist(), strict=True),
        (100, 101, 7),
    ]
    single = SinglePool(restrict(make_instance(rects, capacity=best[0] - 1), np.arange(31), [0], squeeze=False))
    outcome = Greedy().solve(single.uncapped(), Task(target=(single.bound,)), Silent())
    assert outcome.placement is not None
    single.accept(outcome.placement.offset)
    assert single.placed.tolist() == [False] * 30 + [True]
    assert [component.piece.blocks.tolist() for component in single.open] == [list(range(30))]
    assert single.open[0].placement is None
    assert single.peak is None


def test_components_that_greedy_places_stay_placed_although_it_places_not_all() -> None:
    at_the_bottom = plain(100, 101, 7, max_offset=3)
    run(make_instance([*OPEN[:3], at_the_bottom, at_the_bottom]), "refuter", work=20_000)
    assert {task.start is None for task in Engine.calls} == {True}
    assert len(Engine.calls) == 1


def test_components_get_no_bounds_of_their_own_once_time_is_over() -> None:
    single = SinglePool(restrict(open_instance(), np.arange(30), [0], squeeze=False))
    outcome = Greedy().solve(single.uncapped(), Task(target=(single.bound,)), Silent())
    assert outcome.placement is not None
    single.accept(outcome.placement.offset)
    assert all(component.bound > 0 for component in single.open)
    single.accept(outcome.placement.offset, lambda: StopReason.TIME_LIMIT)
    assert single.open
    assert all(component.bound == 0 for component in single.open)
    assert single.placed.all()


def test_components_are_not_cut_apart_once_time_is_over() -> None:
    """Cutting could make a thousand components, on none of which an engine would still work."""
    single = SinglePool(restrict(open_instance(copies=5), np.arange(5 * len(OPEN)), [0], squeeze=False))
    placement = Greedy().solve(open_instance(), Task(), Silent()).placement
    assert placement is not None
    offset = np.tile(placement.offset, 5) // single.unit
    single.accept(offset)
    assert len(single.open) == 5
    single.accept(offset, lambda: StopReason.TIME_LIMIT)
    assert [component.blocks for component in single.open] == [5 * len(OPEN)]


def test_capacity_below_the_bound_is_infeasible_at_once() -> None:
    outcome = run(make_instance([(0, 2, 4), (1, 3, 4)], capacity=7), "auto")
    assert outcome.infeasible
    assert outcome.certificates[0].proof is Proof.LIVE_TOGETHER
    assert outcome.certificates[0].value == 8


def test_pools_without_choice_are_solved_apart() -> None:
    pools = [PoolSpec(None, cost=2), PoolSpec(None)]
    instance = make_instance(
        [plain(0, 2, 4, pools=[0]), plain(1, 3, 4, pools=[0]), plain(0, 9, 5, pools=[1])], pools=pools
    )
    outcome = run(instance, "auto")
    assert outcome.is_optimal
    assert outcome.value == (2 * 8 + 5,)
    assert outcome.pool_bounds == (8, 5)


def test_fit_stops_at_the_first_placement_within_the_capacity() -> None:
    outcome = run(open_instance(capacity=100_000), "auto", goal=Goal.FIT)
    assert outcome.stop is StopReason.GOAL_MET
    assert outcome.placement is not None


def test_a_placement_as_good_as_the_callers_target_ends_the_run() -> None:
    greedy = run(open_instance(), "greedy")
    assert greedy.value is not None
    outcome = solve(open_instance(), Task(target=greedy.value), Silent(), "refuter")
    assert outcome.stop is StopReason.PROVED
    assert outcome.value == greedy.value
    assert not Engine.calls


def test_engines_get_the_callers_target_in_the_units_of_their_pool() -> None:
    tripled = [(start, end, 3 * size) for start, end, size in OPEN]
    instance = make_instance(tripled)
    greedy = run(instance, "greedy")
    assert greedy.value is not None
    target = greedy.value[0] - 1
    assert target > greedy.bound[0]
    solve(instance, Task(target=(target,), limits=Limits(work=1_000_000)), Silent(), "refuter")
    assert {task.target for task in Engine.calls} == {(target // 3,)}


def test_an_empty_instance_is_optimal() -> None:
    outcome = run(make_instance([]), "auto")
    assert (outcome.is_optimal, outcome.value) == (True, (0,))


@pytest.mark.parametrize(("peak", "is_last", "components"), [(9, False, 1), (9, True, 0), (11, True, 1)])
def test_a_last_placement_within_the_capacity_opens_no_components(peak: int, is_last: bool, components: int) -> None:
    blocks = make_instance([(0, 4, 2), (2, 5, 3), (4, 8, 2), (6, 9, 1)], capacity=10)
    pool = SinglePool(restrict(blocks, np.arange(4), [0]))
    pool.accept(np.array([peak - 2, 0, 3, 5]), is_last=is_last)
    assert (len(pool.open), pool.peak) == (components, peak if peak <= 10 else None)
