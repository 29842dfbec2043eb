"""Pools that are alike are one in linear programs: with fewer numbers, the same is proven."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.model.problem import Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.prices import alike
from solvers.choice.pools.prices.alike import Alike, entries_as_one
from solvers.choice.pools.prices.crowds import Crowd, Relaxed
from solvers.choice.pools.prices.relaxation import Relaxation, bound_of
from solvers.choice.pools.program import writing
from solvers.choice.pools.program.program import Program
from solvers.choice.pools.program.writing import program_of, size_as_one
from solvers.model.instance import Instance
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task

PADS = 4
WORK = 4_000_000


def in_pads(kind: str, buffers: int, prefer: Preference, *, differ: int = 0) -> Program:
    """The program of a problem whose first memory is there several times, one of them larger by so many bytes."""
    return program_of(instance_in_pads(kind, buffers, prefer, differ))


def instance_in_pads(kind: str, buffers: int, prefer: Preference, differ: int = 0) -> Instance:
    made = generate(kind, Request(buffers, 3))
    pads = tuple(replace(made.pools[0], name=f"pad{n}") for n in range(PADS))
    pads = (*pads[:-1], replace(pads[-1], size=(pads[-1].size or 0) + differ))
    names = {made.pools[0].name: tuple(pad.name for pad in pads)} | {each.name: (each.name,) for each in made.pools[1:]}
    every = tuple(names)
    buffers_of = tuple(
        replace(each, pools=tuple(name for home in each.pools or every for name in names[home]))
        for each in made.buffers
    )
    problem: Problem = replace(made, pools=(*pads, *made.pools[1:]), buffers=buffers_of)
    return lower(with_preference(problem, prefer)).instance


def bounded(program: Program, held: tuple[int, ...] = ()) -> tuple[Relaxation, Relaxed]:
    asked = Relaxation(program, held)
    found = asked.solve(1, WORK, lambda: False)
    assert found is not None
    return asked, found


@pytest.mark.parametrize("prefer", list(Preference))
def test_the_same_is_proven_with_one_of_them(prefer: Preference, monkeypatch: pytest.MonkeyPatch) -> None:
    program = in_pads("hot", 60, prefer)
    joined, found = bounded(program)
    monkeypatch.setattr(alike, "_first_alike", lambda program: range(len(program.rooms)))
    apart, other = bounded(program)
    assert joined.work < apart.work
    assert bound_of(program, found) == pytest.approx(bound_of(program, other), rel=1e-5)
    assert [sum(each) for each in found.shares] == pytest.approx([1.0] * len(program.homes), abs=1e-4)


def test_earlier_terms_are_held_over_all_of_them() -> None:
    program = in_pads("hot", 60, Preference.SIZE)
    _, found = bounded(program)
    least = bound_of(program, found)
    bounds = []
    for most in (least, 2 * least):
        _, held = bounded(program, (most,))
        bounds.append(bound_of(program, held, (most,)))
    assert bounds[0] > bounds[1] > 0


def test_what_differs_stays_apart() -> None:
    assert Alike(in_pads("hot", 60, Preference.BALANCED)).times.count(0) == PADS - 1
    assert Alike(in_pads("hot", 60, Preference.BALANCED, differ=64)).times.count(0) == PADS - 2


def test_rows_of_such_pools_are_written_once() -> None:
    program = in_pads("hot", 60, Preference.BALANCED)
    assert entries_as_one(program) == Alike(program).program.entries < program.entries
    members = {id(row.members) for row in program.rows if row.pool < PADS}
    assert len(members) * PADS == sum(row.pool < PADS for row in program.rows)


@pytest.mark.parametrize("kind", ["hot", "pools", "memories"])
def test_how_many_numbers_they_have_is_known_before(kind: str) -> None:
    for differ in (0, 64):
        instance = instance_in_pads(kind, 200, Preference.BALANCED, differ)
        assert size_as_one(instance) == pytest.approx(entries_as_one(program_of(instance)), rel=0.05)


def test_no_program_is_begun_with_less_work_than_that_takes() -> None:
    instance = instance_in_pads("hot", 60, Preference.BALANCED)
    least = budget.LEAST_TO_BEGIN_PER_ENTRY * size_as_one(instance)
    told = [get("pools_first").solve(instance, Task(Limits(work=work)), Silent()) for work in (least - 1, 2 * least)]
    assert not told[0].bound
    assert told[1].bound


def test_without_such_pools_the_program_is_as_it_was() -> None:
    program = program_of(lower(generate("hot", Request(60, 3))).instance)
    assert Alike(program).program is program


def test_crowds_stand_for_all_of_them_and_come_back_as_one() -> None:
    program = in_pads("hot", 60, Preference.BALANCED)
    joined = Alike(program)
    number = next(n for n, row in enumerate(joined.program.rows) if row.pool == 0 and row.members)
    mine = joined.program.rows[number]
    crowds = joined.in_whole(Crowd(number, (mine.members[0][0],), (1,)))
    assert [program.rows[each.row] for each in crowds] == [mine._replace(pool=pool) for pool in range(PADS)]
    assert list(joined.in_smaller(crowds)) == [Crowd(number, (mine.members[0][0],), (1,))]


def test_where_rows_are_too_many_pools_that_are_alike_lose_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = in_pads("hot", 60, Preference.BALANCED).entries
    for most in range(entries - 40, entries):
        monkeypatch.setattr(writing, "MOST_ENTRIES", most)
        assert Alike(in_pads("hot", 60, Preference.BALANCED)).times.count(0) == PADS - 1
