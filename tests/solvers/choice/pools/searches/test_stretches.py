"""Where many blocks are live at a time, choices leave as much room for gaps as they need, and hardly more."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from planner import Options, Preference, plan, verify
from planner.generate import Request, generate
from planner.model.problem import Buffer, Lifetimes, Pool, Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.placing.displacing import displaced
from solvers.choice.pools.placing.packing import Packing
from solvers.choice.pools.program.program import Pools, Program
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.choice.pools.runs import placed_choices
from solvers.choice.pools.searches.core import CoreSearch
from solvers.choice.pools.searches.stretches import NEAR, StretchSearch, most_live
from solvers.choice.pools.solver import PoolsFirst
from solvers.geometry.presolve import scaled, unit
from solvers.geometry.rules import violation
from solvers.model.instance import Instance, Ints, Placement, Term
from solvers.model.objective import evaluate
from solvers.model.solver import Limits, Silent, Task

WORK = 3_000_000


def instance_of(live: int, buffers: int, seed: int) -> Instance:
    problem = generate("pools", Request(buffers, seed, 1, {"live": live}))
    instance = lower(with_preference(problem, Preference.SPEED)).instance
    return scaled(instance, unit(instance))


def core_of(asking: Asking, program: Program) -> CoreSearch:
    relaxed = asking.relax(program, (), WORK)
    assert relaxed is not None
    return CoreSearch(asking, program, 0, relaxed)


def packing_of(instance: Instance) -> Packing:
    return Packing(instance, Task(Limits(work=WORK)), Silent())


class Needing:
    """Stands for both the choices and their packing: each pool is packed from some stretch on. A choice costs the sum of stretches."""

    def __init__(self, *needed: int) -> None:
        self.needed, self.work, self.tried = needed, 0, list[tuple[int, ...]]()
        self.packed: Placement | None = None

    def choice(self, question: Question, work: int) -> Pools | None:
        self.tried.append(question.stretch)
        self.work += 1
        return question.stretch

    def improved(self, question: Question, pools: Pools, work: int) -> Pools:
        return pools

    def value(self, pools: Pools) -> int:
        return sum(pools)

    def pack(self, pool: Ints, counted: frozenset[int], work: int) -> tuple[Placement | None, list[int]]:
        missed = [p for p, (each, needed) in enumerate(zip(pool.tolist(), self.needed, strict=True)) if each < needed]
        return None if missed else Placement(pool, pool), missed


@pytest.mark.parametrize("needed", [(0, 0, 0), (7, 30, 0), (100, 0, 0), (41, 90, 0), (200, 150, 0)])
def test_pools_are_stretched_by_hardly_more_than_they_need(needed: tuple[int, ...]) -> None:
    program, needing = program_of(instance_of(4, 12, 1)), Needing(*needed)
    core, packing = cast(CoreSearch, needing), cast(Packing, needing)
    found = StretchSearch(core, packing, program, np.arange(3), Question(0)).run(1_000)
    assert found is not None
    for stretch, need in zip(found.pool.tolist(), needed, strict=True):
        assert need <= stretch <= max(need + NEAR, 1.5 * need + 1)
    assert len(needing.tried) <= 12
    assert all(stretch[-1] == 0 for stretch in needing.tried)  # it has no end


def test_where_nothing_can_be_chosen_with_so_much_room_less_is_left() -> None:
    class Choosing(Needing):
        def choice(self, question: Question, work: int) -> Pools | None:
            return super().choice(question, work) if max(question.stretch) <= 20 else None

    choosing = Choosing(5, 0, 0)
    core, packing = cast(CoreSearch, choosing), cast(Packing, choosing)
    found = StretchSearch(core, packing, program_of(instance_of(4, 12, 1)), np.arange(3), Question(0)).run(1_000)
    assert found is not None
    assert 5 <= found.pool[0] <= 5 + NEAR


def test_where_no_stretch_is_enough_nothing_is_found() -> None:
    needing = Needing(10**6, 0, 0)
    core, packing = cast(CoreSearch, needing), cast(Packing, needing)
    search = StretchSearch(core, packing, program_of(instance_of(4, 12, 1)), np.arange(3), Question(0))
    assert search.run(40) is None


@pytest.mark.parametrize("seed", range(2))
def test_what_is_found_is_packed_and_close_to_the_bound(seed: int, asking: Asking) -> None:
    instance = instance_of(60, 150, seed)
    program, number = program_of(instance), instance.class_number
    core = core_of(asking, program)
    found = StretchSearch(core, packing_of(instance), program, number, Question(0)).run(WORK)
    assert found is not None
    assert violation(instance, found) is None
    least = asking.ask(program, Question(0), WORK)
    assert least.bound is not None
    assert least.bound <= evaluate(instance, found)[0] <= 1.08 * least.bound


def test_where_pools_are_not_full_no_room_is_given_up(asking: Asking) -> None:
    instance = instance_of(3, 60, 2)
    program, number = program_of(instance), instance.class_number
    found = StretchSearch(core_of(asking, program), packing_of(instance), program, number, Question(0)).run(WORK)
    assert found is not None
    assert evaluate(instance, found)[0] == asking.ask(program, Question(0), WORK).value


def test_the_most_crowded_pool_that_ends_counts() -> None:
    instance = instance_of(20, 100, 3)
    program, number = program_of(instance), instance.class_number
    packing, groups = packing_of(instance), len(program.homes)
    lives = packing.ends - packing.starts
    assert most_live(packing, program, number, [0] * groups) == pytest.approx(lives.sum() / instance.sections)
    assert most_live(packing, program, number, [2] * groups) == 0
    assert most_live(packing, program, number, [0, *[1] * (groups - 1)]) < lives.sum() / instance.sections


def test_between_its_lifetimes_a_block_crowds_no_pool() -> None:
    """Moments made of cliques are in no order of time, so that blocks are live at a few, far apart."""
    problem = Problem(
        tuple(Buffer(f"b{n}", 1, live=((n, n + 1), (20 + n, 21 + n))) for n in range(20)),
        (Pool("fast", 100), Pool("slow")),
        terms=(Term.ACCESS_COST,),
        lifetimes=Lifetimes.HALF_OPEN,
    )
    instance = lower(problem).instance
    program, number = program_of(instance), instance.class_number
    assert most_live(packing_of(instance), program, number, [0] * len(program.homes)) == 1


def test_where_nothing_is_ever_live_no_pool_is_crowded() -> None:
    pools = (Pool("fast", 10), Pool("slow"))
    problem = Problem(
        (Buffer("a", 4, live=()), Buffer("b", 2, live=())),
        pools,
        terms=(Term.ACCESS_COST,),
        lifetimes=Lifetimes.HALF_OPEN,
    )
    instance = lower(problem).instance
    program, number = program_of(instance), instance.class_number
    assert most_live(packing_of(instance), program, number, [0] * len(program.homes)) == 0


@pytest.mark.parametrize(("live", "is_crowded"), [(60, True), (6, False)])
def test_where_many_are_live_blocks_take_the_places_of_others_from_what_was_packed(
    live: int, is_crowded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = instance_of(live, 200, 4)
    starts, ends = list[int](), list[int]()

    def displaced_here(*given: Any) -> Placement | None:
        found = displaced(*given)
        starts.append(evaluate(instance, given[3])[0])
        ends.extend([] if found is None else [evaluate(instance, found)[0]])
        return found

    monkeypatch.setattr(placed_choices, "displaced", displaced_here)
    outcome = PoolsFirst().solve(instance, Task(Limits(work=WORK)), Silent())
    assert outcome.placement is not None
    assert outcome.value is not None
    assert violation(instance, outcome.placement) is None
    assert bool(starts) == is_crowded
    assert all(outcome.value[0] <= each for each in (*starts, *ends))


def test_a_plan_of_a_crowded_problem_is_the_same_with_one_worker_and_two() -> None:
    problem = generate("hot", Request(150, 8, 1, {"live": 60}))
    made = [
        plan(problem, Options(prefer=Preference.SPEED, time_limit=None, work_limit=2_000_000, workers=workers))
        for workers in (1, 2)
    ]
    assert made[0].placements == made[1].placements
    assert made[0].objective == made[1].objective
    assert not verify(problem, made[0])
