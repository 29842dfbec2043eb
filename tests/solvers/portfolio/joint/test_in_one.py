"""Alike pools solved as one: nothing is claimed that trying everything contradicts, and plans of all of them come of it."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from planner import Buffer, Options, Plan, Pool, Preference, Problem, plan
from planner.checks import check as faults
from planner.facts.possible_places import Places
from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.model.problem import Constraints, ReusePenalty
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from planner.verifying.arguments.certificates import objections
from solvers.geometry.alike_pools import as_one
from solvers.geometry.rules import violation
from solvers.model.instance import Placement, Term
from solvers.model.objective import evaluate
from solvers.model.outcome import Proof
from solvers.model.solver import Limits, Silent, Task
from solvers.portfolio.joint.in_one import joined, solve_in_one, spread
from solvers.portfolio.joint.joint import solve_again, solve_as_they_are
from tests.small import oracle

TASK = Task(Limits(work=400_000))
TERMS = (
    (Term.SUM_OF_PEAKS, Term.ACCESS_COST),
    (Term.ACCESS_COST, Term.SUM_OF_PEAKS),
    (Term.BALANCED,),
    (Term.SUM_OF_PEAKS, Term.REUSE_COST),
)


def made_up(seed: int, terms: tuple[Term, ...], *, differ: bool = False) -> Problem:
    """Three or four buffers in five pools that are alike, unless they `differ` in their room, and perhaps one more, aligned and limited at random."""
    draw = random.Random(seed)
    size, cost = draw.choice((8, 9, 12)), draw.choice((0, 1, 2))
    reserved = draw.choice(((), (), ((3, 5),), ((0, 2), (6, 7))))
    pads = tuple(Pool(f"pad{n}", size, reserved=reserved, cost=cost, rank=0) for n in range(5))
    if differ:
        pads = tuple(replace(pad, size=size - n, reserved=reserved if n % 2 else ()) for n, pad in enumerate(pads))
        pads = (*pads[:4], replace(pads[4], size=None, reserved=())) if seed % 2 else pads
    pools = (*pads, Pool("dram", None, cost=1, rank=1)) if draw.random() < 0.7 else pads
    buffers = []
    for number in range(draw.randint(3, 4)):
        start = draw.randint(0, 3)
        most = draw.randint(2, 9) if draw.random() < 0.1 else None
        live = ((start, start + draw.randint(1, 4)),)
        buffers.append(
            Buffer(
                number,
                draw.randint(1, 7),
                draw.choice((1, 1, 2, 3)),
                live=live,
                max_offset=most,
                accesses=draw.randint(0, 9),
            )
        )
    penalties = (ReusePenalty(0, 1, draw.randint(1, 5)),) if Term.REUSE_COST in terms else ()
    return Problem(
        buffers=tuple(buffers),
        pools=pools,
        terms=terms,
        peak_price=2,
        constraints=Constraints(reuse_penalties=penalties),
    )


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("differ", [False, True])
def test_nothing_is_claimed_that_trying_everything_contradicts(terms: tuple[Term, ...], differ: bool) -> None:
    proven = 0
    for seed in range(6):
        problem = made_up(seed, terms, differ=differ)
        if faults(problem):
            continue
        instance = lower(problem).instance
        one = as_one(instance)
        assert one is not None, seed
        found = solve_in_one(one, TASK, Silent(), solve=solve_again, further=solve_as_they_are)
        best = oracle.solve(problem).value
        if best is None:
            continue
        assert not found.infeasible, seed
        assert found.bound <= best[: len(found.bound)], seed
        assert found.placement is None or violation(instance, found.placement) is None, seed
        assert found.placement is None or found.value == evaluate(instance, found.placement) >= best, seed
        proven += found.bound == best[: len(found.bound)] and found.value == best
        ended = solve_again(instance, TASK, Silent())
        assert ended.value is not None, seed
        assert ended.bound <= best <= ended.value, seed
    assert proven >= 2


def with_pads(problem: Problem, count: int) -> Problem:
    """The problem with so many pools that are alike, each with a quarter of the room, in place of each limited one."""
    limited = next(pool for pool in problem.pools if pool.size is not None)
    assert limited.size is not None
    pads = tuple(replace(limited, name=f"pad{n}", size=limited.size // 4) for n in range(count))
    pools = (*pads, *(pool for pool in problem.pools if pool.size is None))
    names = tuple(pool.name for pool in pools)
    return replace(problem, pools=pools, buffers=tuple(replace(buffer, pools=names) for buffer in problem.buffers))


def test_few_pools_stay_as_they_are() -> None:
    problem = generate("pools", Request(20, 7))
    assert joined(lower(with_pads(problem, 5)).instance) is not None
    assert joined(lower(with_pads(problem, 4)).instance) is None


def in_two_each(problem: Problem) -> Problem:
    """The problem with each pool in two: a third of the room beside the rest, or a limited one beside one that is not."""
    pools = list[Pool]()
    for pool in problem.pools:
        size = 60_000 if pool.size is None else pool.size
        pools += [replace(pool, name=f"{pool.name}.less", size=size // 3)]
        pools += [replace(pool, size=None if pool.size is None else size - size // 3)]
    names = tuple(pool.name for pool in pools)
    return replace(problem, pools=tuple(pools), buffers=tuple(replace(each, pools=names) for each in problem.buffers))


def test_two_of_each_kind_are_solved_as_one_where_heights_are_weighed() -> None:
    problem = in_two_each(generate("pools", Request(20, 7)))
    weighed = {each: joined(lower(with_preference(problem, each)).instance) for each in Preference}
    one = weighed[Preference.BALANCED]
    assert one is not None
    assert one.groups == ((1, 0), (3, 2), (5, 4))
    assert [pool.capacity for pool in one.instance.pools][-1] is None
    assert weighed[Preference.SIZE] is weighed[Preference.SPEED] is None


def planned(problem: Problem, prefer: Preference, work: int = 500_000) -> Plan:
    return plan(problem, Options(workers=1, time_limit=None, work_limit=work, prefer=prefer))


@pytest.mark.parametrize(("kind", "prefer"), [("pools", Preference.BALANCED), ("hot", Preference.SIZE)])
def test_many_memories_that_are_alike_are_proven(kind: str, prefer: Preference) -> None:
    made = planned(with_pads(generate(kind, Request(60, 7)), 8), prefer, 800_000)
    assert made.status is PlanStatus.OPTIMAL


def test_where_one_of_each_kind_has_far_more_room_than_is_needed_two_are_proven_as_one() -> None:
    made = planned(in_two_each(generate("pools", Request(60, 7))), Preference.BALANCED, 300_000)
    assert made.status is PlanStatus.OPTIMAL


def test_where_the_first_of_them_has_the_room_one_pool_is_solved_with_most_of_the_work() -> None:
    made = planned(with_pads(generate("pools", Request(200, 7)), 8), Preference.BALANCED, 1_000_000)
    assert made.status is PlanStatus.OPTIMAL


def test_what_only_needs_a_plan_is_not_bounded() -> None:
    instance = lower(with_preference(with_pads(generate("hot", Request(60, 7)), 5), Preference.BALANCED)).instance
    task = Task(Limits(work=100_000))
    parts = [solve_as_they_are(instance, task, Silent(), is_bounded=each).took_part for each in (True, False)]
    assert ["room_prices" in each for each in parts] == [True, False]


def test_prices_of_one_pool_are_prices_of_each() -> None:
    problem = with_pads(generate("pools", Request(60, 7)), 8)
    made = planned(problem, Preference.BALANCED)
    (proof,) = [each for each in made.certificates if each.proof is Proof.PRICED_ROOM]
    places = Places(with_preference(problem, Preference.BALANCED))
    assert proof.value > 0
    assert not objections(places, [proof])
    pads = {f"pad{n}" for n in range(8)}
    assert not {pool for pool, *_ in proof.weights} & pads or pads <= {pool for pool, *_ in proof.weights}


def test_what_has_no_room_in_one_pool_goes_to_the_next() -> None:
    problem = Problem(
        buffers=tuple(Buffer(number, 5, live=((0, 1),)) for number in range(4)),
        pools=tuple(Pool(f"pad{n}", 10) for n in range(5)),
    )
    instance = lower(problem).instance
    one = as_one(instance)
    assert one is not None
    stacked = Placement(np.zeros(4, dtype=np.int64), np.array([0, 5, 10, 15]))
    placement, _ = spread(one, stacked)
    assert placement is not None
    assert violation(instance, placement) is None
    assert evaluate(instance, placement) == (20,)


def test_of_terms_after_one_that_is_open_nothing_is_claimed() -> None:
    """Stacked, all has room, so that every term is bounded; beside ranges it has not, and the first term is dearer."""
    pads = tuple(Pool(f"pad{n}", 5, base=1, reserved=((3, 5),)) for n in range(6))
    problem = Problem(
        buffers=(Buffer(2, 1, live=((3, 4),)), Buffer(4, 3, 2, live=((2, 6),)), Buffer(5, 2, live=((2, 3),))),
        pools=(Pool("dram", None, alignment=2, cost=0, rank=2), *pads),
        terms=(Term.ACCESS_COST, Term.SPILLED_BYTES, Term.SUM_OF_PEAKS),
        peak_price=2,
    )
    made = plan(problem, Options(workers=1, time_limit=None, work_limit=20_000))
    assert not any("withheld" in warning for warning in made.warnings)
