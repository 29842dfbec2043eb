"""Gaps between reserved ranges solved as pools of their own: nothing is claimed that trying everything contradicts."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from planner import Buffer, Options, Plan, Pool, Preference, Problem, plan
from planner.checks import check as faults
from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.model.problem import Was
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.bounds.prices.priced_room import priced_value
from solvers.geometry.rooms import ways_of
from solvers.geometry.rules import violation
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, Term
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome, Proof, Value
from solvers.model.registry import get
from solvers.model.solver import Control, Goal, Limits, Silent, Task
from solvers.portfolio.joint.in_rooms import OF_A_LOOK, KnownWay, solve_in_rooms
from solvers.portfolio.joint.joint import solve_as_they_are
from tests.small import oracle

TASK = Task(Limits(work=1_000_000))
TERMS = (
    (Term.SUM_OF_PEAKS, Term.ACCESS_COST),
    (Term.ACCESS_COST, Term.SUM_OF_PEAKS),
    (Term.BALANCED,),
    (Term.ACCESS_COST, Term.LARGEST_PEAK),
    (Term.STABILITY, Term.SPILLED_BYTES),
)


def made_up(seed: int, terms: tuple[Term, ...]) -> Problem:
    """Up to five buffers in up to two pools with up to three ranges, aligned and limited at random, with old places."""
    draw = random.Random(seed)
    pools = tuple(
        Pool(
            name,
            draw.choice((None, 24)),
            draw.choice((1, 1, 2)),
            reserved=tuple((at, at + draw.randint(1, 5)) for at in draw.sample((0, 4, 7, 12, 19), draw.randint(1, 3))),
            cost=draw.choice((0, 1, 2)),
            rank=rank,
        )
        for rank, name in enumerate(("p", "q")[: draw.randint(1, 2)])
    )
    buffers = []
    for number in range(draw.randint(3, 5)):
        start = draw.randint(0, 4)
        most = draw.randint(4, 20) if draw.random() < 0.2 else None
        step = draw.choice((1, 1, 2, 3))
        live = ((start, start + draw.randint(1, 4)),)
        buffers.append(
            Buffer(number, draw.randint(1, 7), step, live=live, max_offset=most, accesses=draw.randint(0, 9))
        )
    was = tuple(Was(each.id, "p", draw.randint(0, 12)) for each in buffers)
    return Problem(
        buffers=tuple(buffers), pools=pools, terms=terms, peak_price=2, was=was if Term.STABILITY in terms else ()
    )


def solved(problem: Problem, task: Task = TASK) -> Outcome | None:
    return solve_in_rooms(lower(problem).instance, task, Silent(), solve_as_they_are)


@pytest.mark.parametrize("terms", TERMS)
def test_nothing_is_claimed_that_trying_everything_contradicts(terms: tuple[Term, ...]) -> None:
    proven, bounded = 0, 0
    for seed in range(6):
        problem = made_up(seed, terms)
        found = None if faults(problem) else solved(problem)
        if found is None:
            continue
        best = oracle.solve(problem).value
        assert found.infeasible == (best is None), seed
        if best is None:
            continue
        instance = lower(problem).instance
        assert found.bound <= best[: len(found.bound)], seed
        assert found.placement is not None
        assert violation(instance, found.placement) is None, seed
        assert found.value == evaluate(instance, found.placement) >= best
        for proof in found.certificates:
            index = instance.terms.index(proof.term or instance.terms[0])
            assert tuple(most for _, most, *_ in proof.held) in {(), found.value[:index]}
            reached = best if found.value[:index] == best[:index] else found.value
            assert 0 < proof.value <= reached[index], seed
        proven += found.bound == best[: len(found.bound)]
        bounded += len(found.certificates)
    assert proven >= 2
    assert bounded or len(terms) == 1 or Term.LARGEST_PEAK in terms


def with_middles(problem: Problem) -> Problem:
    """The problem with a reserved range in the middle of each memory that has a size."""
    pools = tuple(
        pool
        if pool.size is None
        else replace(pool, size=pool.size + 64, reserved=((pool.size // 2, pool.size // 2 + 64),))
        for pool in problem.pools
    )
    return replace(problem, pools=pools)


def planned(problem: Problem) -> Plan:
    return plan(problem, Options(workers=1, time_limit=None, work_limit=3_000_000))


@pytest.mark.parametrize("seed", [961_001, 961_002])
def test_memories_with_ranges_in_their_middle_are_proven(seed: int) -> None:
    problem = with_middles(generate("pools", Request(60, seed)))
    assert planned(problem).status is PlanStatus.OPTIMAL


def test_the_first_that_fits_is_taken_if_that_is_the_goal() -> None:
    problem = made_up(1, TERMS[0])
    assert len(ways_of(lower(problem).instance)) > 1
    found = solved(problem, replace(TASK, goal=Goal.FIT))
    assert found is not None
    assert found.placement is not None


def test_with_hardly_any_work_nothing_is_begun() -> None:
    assert solved(made_up(1, TERMS[0]), replace(TASK, limits=Limits(work=100))) is None


def test_pools_as_they_are_are_looked_at_first_and_ways_begin_from_there() -> None:
    problem = replace(with_middles(generate("hot", Request(60, 961_001))), terms=TERMS[0])
    instance, begun = lower(problem).instance, list[Value]()
    known = get("greedy").solve(instance, Task(Limits(work=20_000)), Silent())

    def solve(rooms: Instance, task: Task, control: Control) -> Outcome:
        del control
        if task.start is not None:
            assert violation(rooms, task.start) is None
            begun.append(evaluate(rooms, task.start))
        return Outcome(StopReason.WORK_LIMIT, work=task.limits.work or 0)

    found = solve_in_rooms(instance, replace(TASK, start=known.placement), Silent(), solve)
    assert found is not None
    assert found.value is not None
    assert "pools_first" in found.took_part
    assert begun
    assert min(value[1:] for value in begun) == found.value[1:]


def test_where_prices_prove_more_of_pools_as_they_are_these_are_solved_before_ways() -> None:
    made = with_middles(generate("pools", Request(60, 961_001)))
    end = max(pool.size or 0 for pool in made.pools)
    pools = (pool if pool.size else replace(pool, reserved=((end, end + 64),)) for pool in made.pools)
    problem = with_preference(replace(made, pools=tuple(pools)), Preference.BALANCED)
    instance, heard = lower(problem).instance, list[str]()

    class Listening(Silent):
        def incumbent(self, placement: Placement) -> None:
            assert violation(instance, placement) is None
            heard.append("as they are")

    def solve(rooms: Instance, task: Task, control: Control) -> Outcome:
        del rooms, control
        heard.append("way")
        return Outcome(StopReason.WORK_LIMIT, work=task.limits.work or 0)

    found = solve_in_rooms(instance, TASK, Listening(), solve)
    assert found is not None
    assert found.placement is not None
    assert heard[0] == "as they are"
    assert heard[-1] == "way"
    (prices, *_) = (proof for proof in found.certificates if proof.proof is Proof.PRICED_ROOM)
    assert priced_value(instance, prices.weights, prices.crowds) == prices.value <= found.bound[0]


def asked(answer: Callable[[Instance], Outcome]) -> list[int]:
    """The work with which the ways of a problem are solved, if these are the answers."""
    found = list[int]()

    def solve(instance: Instance, task: Task, control: Control) -> Outcome:
        del control
        found.append(task.limits.work or 0)
        return replace(answer(instance), work=task.limits.work or 0)

    problem = replace(with_middles(generate("pools", Request(60, 961_003))), terms=TERMS[0])
    solve_in_rooms(lower(problem).instance, TASK, Silent(), solve)
    return found


def test_all_ways_are_looked_at_before_one_gets_most_of_the_work() -> None:
    works = asked(lambda _: Outcome(StopReason.WORK_LIMIT))
    looked = works.count(TASK.limits.work // OF_A_LOOK if TASK.limits.work else 0)
    assert 1 < looked < len(works)
    assert works[looked] > 4 * works[0]


def test_a_way_that_is_left_alone_by_looks_gets_all_the_work() -> None:
    first = list[Instance]()

    def answer(instance: Instance) -> Outcome:
        first.append(instance)
        return Outcome(StopReason.WORK_LIMIT, infeasible=instance is not first[0])

    works = asked(answer)
    assert len(set(works[:-1])) == 1 < len(works[:-1])
    assert works[-1] > (TASK.limits.work or 0) // 2


WAY = ways_of(lower(made_up(1, TERMS[0])).instance)[0]


@pytest.mark.parametrize(
    ("bound", "held", "least"),
    [
        ((9,), (8,), None),  # the earlier term is never so low
        ((8, 5), (8,), 5),
        ((7, 9), (8,), 0),
        ((7,), (10,), 3),
        ((7,), (11,), 0),  # nothing was proven of such earlier ones
    ],
)
def test_a_later_term_is_bounded_where_the_earlier_ones_are_held(
    bound: tuple[int, ...], held: tuple[int, ...], least: int | None
) -> None:
    floors: list[tuple[Value, Value]] = [((6, 3), (10, 4))] if bound == (7,) else []
    assert KnownWay(WAY, bound, floors=floors).floor(1, held) == least


def test_of_ways_whose_bounds_are_alike_that_with_the_best_plan_gets_most_of_the_work() -> None:
    problem = with_preference(with_middles(generate("hot", Request(60, 961_001))), Preference.BALANCED)
    instance = lower(problem).instance
    ways, values, works = ways_of(instance), list[Value](), list[int]()

    def solve(rooms: Instance, task: Task, control: Control) -> Outcome:
        del control
        (way,) = (each for each in ways if each.instance.pools == rooms.pools)
        outcome = get("greedy").solve(rooms, Task(Limits(work=2_000)), Silent())
        assert outcome.placement is not None
        values.append(evaluate(instance, way.lifted(outcome.placement)))
        works.append(task.limits.work or 0)
        return replace(outcome, bound=(), stop=StopReason.WORK_LIMIT, work=works[-1])

    solve_in_rooms(instance, TASK, Silent(), solve)
    most = works.index(max(works))
    assert most > 1
    assert values[most] == min(values[:most])
    assert values[most] < max(values[:most])
