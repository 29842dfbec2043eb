"""Heights that are paid for as a whole: what is found is a solution at them, and hardly dearer than the cheapest of all."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from planner import Options, Preference, Problem, plan, verify
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.prices.cheapest_heights import CheapestHeights
from solvers.choice.pools.prices.crowds import Relaxed
from solvers.choice.pools.program.program import Program
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.geometry.presolve import scaled, unit

WORK = 1_000_000


def halved(problem: Problem) -> Problem:
    """The problem with two memories in place of each, of which the first has half of the room."""
    size = max(pool.size or 0 for pool in problem.pools)
    halves = {
        pool.name: (
            replace(pool, size=(pool.size or size) // 2),
            replace(pool, name=f"{pool.name}.more", size=None if pool.size is None else pool.size // 2),
        )
        for pool in problem.pools
    }
    buffers = (
        buffer
        if buffer.pools is None
        else replace(buffer, pools=tuple(half.name for name in buffer.pools for half in halves[name]))
        for buffer in problem.buffers
    )
    return replace(problem, pools=tuple(half for both in halves.values() for half in both), buffers=tuple(buffers))


def program_like(kind: str, buffers: int, seed: int) -> Program:
    problem = halved(generate(kind, Request(buffers, seed)))
    instance = lower(with_preference(problem, Preference.BALANCED)).instance
    return program_of(scaled(instance, unit(instance)))


def cost_of(program: Program, found: Relaxed) -> float:
    term = program.terms[0]
    each = zip(found.shares, term.of_homes, strict=True)
    return sum(sum(map(float.__mul__, shares, map(float, costs))) for shares, costs in each) + term.of_tops(found.peaks)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["pools", "hot"])
def test_nobody_is_in_a_pool_that_is_lower_and_all_are_somewhere(kind: str, seed: int) -> None:
    program = program_like(kind, 60, seed)
    found = CheapestHeights(program, lambda: None).run(WORK, 0.0)
    assert found is not None
    assert all(sum(shares) == pytest.approx(1.0) for shares in found.shares)
    inside = [dict(zip(homes, shares, strict=True)) for homes, shares in zip(program.homes, found.shares, strict=True)]
    for row in program.rows:
        room, top = program.rooms[row.pool], found.peaks[row.pool]
        assert room.capacity is None or top <= room.capacity
        load = row.always + sum(units * inside[group][row.pool] for group, units in row.members)
        assert load <= room.below(top) + room.spare + 1.0
        rest = row.pool == len(program.rooms) - 1
        for group, units in row.members:
            assert rest or inside[group][row.pool] < 1e-6 or row.always + units <= room.below(top) + room.spare


@pytest.mark.parametrize("seed", range(6))
def test_the_best_choice_is_hardly_cheaper(seed: int, asking: Asking) -> None:
    """Pools are cut by classes that are in them in part, so heights may be as cheap as those of the best choice, or cheaper."""
    program = program_like("pools", 40, seed)
    found = CheapestHeights(program, lambda: None).run(WORK, 0.0)
    best = asking.ask(program, Question(0), 4 * WORK)
    assert found is not None
    assert best.value is not None
    assert cost_of(program, found) <= 1.02 * best.value


@pytest.mark.parametrize("seed", range(3))
def test_no_pool_alone_is_better_empty(seed: int) -> None:
    program = program_like("pools", 60, seed)
    search = CheapestHeights(program, lambda: None)
    found = search.run(WORK, 0.0)
    assert found is not None
    heights = list(found.peaks[:-1])
    for pool, part in product(range(len(heights)), (0, 1)):
        tried = [*heights[:pool], heights[pool] * part, *heights[pool + 1 :]]
        other = search._at(tried, 2 * WORK)
        assert other is None or other.cost * search._costs >= 0.9999 * cost_of(program, found)


def test_heights_of_the_linear_program_serve_where_no_others_are_much_cheaper(asking: Asking) -> None:
    few = program_of(lower(with_preference(generate("hot", Request(60, 4)), Preference.BALANCED)).instance)
    assert CheapestHeights(few, lambda: None).run(WORK, 0.0) is not None
    assert asking.relax_at_heights(few, WORK) is None


def test_pools_are_not_as_high_as_the_relaxation_mixes_them() -> None:
    """Windows began with heights that no choice has, and left them as they were: 7.7 % above the bound."""
    problem = with_preference(halved(generate("pools", Request(700, 2))), Preference.BALANCED)
    made = plan(problem, Options(time_limit=None, work_limit=4_000_000, workers=1))
    assert not verify(problem, made)
    value, bound = made.objective.value, made.objective.bound
    assert value is not None
    assert bound is not None
    assert value <= 1.05 * bound
