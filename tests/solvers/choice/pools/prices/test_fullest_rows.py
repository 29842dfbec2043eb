"""Prices of a second term from the fullest rows alone prove true bounds, near what there is, also where the first term is not at its least."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise, product

import pytest

from planner import Options, Preference, plan, verify
from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.prices import fullest_rows
from solvers.choice.pools.prices.crowds import Crowd, Relaxed
from solvers.choice.pools.prices.fullest_rows import FullestRows, spread_rows
from solvers.choice.pools.prices.proving import certificate_of
from solvers.choice.pools.prices.relaxation import bound_of
from solvers.choice.pools.program.program import Costs, Program, Room, Row
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.model.outcome import Proof

WORK = 1_000_000


def choices(program: Program) -> list[tuple[int, int]]:
    """Both terms of every choice that fits."""
    found = []
    for pools in product(*program.homes):
        tops = program.least_tops(pools)
        if all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True)):
            found.append((program.value(0, pools, tops), program.value(1, pools, tops)))
    return found


def with_some_crowds(program: Program, relaxed: Relaxed, chance: random.Random) -> Relaxed:
    """The solution, with crowds at random beside those that bind."""
    crowds = list(relaxed.of_crowds)
    for number, row in enumerate(program.rows):
        classes = tuple(group for group, _ in row.members if chance.random() < 0.8)
        if classes and chance.random() < 0.5:
            crowds.append((Crowd(number, classes, tuple(chance.choice((1, 1, 2)) for _ in classes)), 1.0))
    return replace(relaxed, of_crowds=tuple(dict(crowds).items()))


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_bounds_hold_for_every_choice_whose_first_term_is_no_greater(kind: str, asking: Asking) -> None:
    chance, raised = random.Random(kind), 0
    for seed in range(6):
        instance = lower(with_preference(generate(kind, Request(7, seed)), Preference.SPEED)).instance
        program, every = program_of(instance), choices(program_of(instance))
        first = asking.relax(program, (), WORK)
        assert first is not None
        relaxed = with_some_crowds(program, first, chance)
        for most in sorted({first for first, _ in every})[:4]:
            rows = FullestRows(program, relaxed)
            found = asking.relax_at_once(rows.program, (most,), rows.crowds, WORK)
            assert found is not None
            second = rows.in_whole(found)
            least = min(second for first, second in every if first <= most)
            bound = bound_of(program, second, (most,))
            assert bound <= least
            assert certificate_of(instance, program, instance.class_number, second, (most,)).value <= least
            raised += bound > min(second for _, second in every)
    assert raised or kind == "memories"


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_bounds_by_some_rows_spread_over_all_hold_for_every_choice(
    kind: str, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fullest_rows, "MOST_LIVE", 1)
    fewer = 0
    for seed in range(6):
        instance = lower(with_preference(generate(kind, Request(7, seed)), Preference.SIZE)).instance
        program, every = program_of(instance), choices(program_of(instance))
        for part in (1, 2):
            rows = spread_rows(program, program.entries * part // 2)
            assert rows.program.entries <= program.entries
            assert rows.program.rows == program.rows or part < 2
            fewer += rows.program.entries < program.entries
            for most in sorted({first for first, _ in every})[:3]:
                found = asking.relax(rows.program, (most,), WORK, 1)
                assert found is not None
                bound = bound_of(program, rows.in_whole(found), (most,))
                assert bound <= min(second for first, second in every if first <= most)
    assert fewer


def test_rows_that_are_spread_are_everywhere_and_the_fullest_are_among_them() -> None:
    instance = lower(with_preference(generate("hot", Request(400, 1)), Preference.SIZE)).instance
    program = program_of(instance)
    rows = spread_rows(program, program.entries // 4).program
    assert program.entries // 8 < rows.entries <= program.entries // 4
    for pool in range(len(program.rooms)):
        sections = [row.section for row in rows.rows if row.pool == pool]
        every = [row.section for row in program.rows if row.pool == pool]
        assert max(b - a for a, b in pairwise(sections)) <= 10 * max(b - a for a, b in pairwise(every))
    fullest = max(program.rows, key=lambda row: row.always + sum(units for _, units in row.members))
    assert fullest in rows.rows


def test_where_fewer_numbers_are_wanted_than_a_row_has_there_is_one_of_each_pool_beside_the_fullest() -> None:
    rows = tuple(Row(pool, at, 0, tuple((group, at + 1) for group in range(50))) for at in range(20) for pool in (0, 1))
    costs = Costs(((0, 1),) * 50, (0, 0))
    program = Program(((0, 1),) * 50, (Room(4, (), 0, 0), Room(None, (), 0, 0)), rows, (costs,), ())
    for most in (0, 49, 99):
        assert len(spread_rows(program, most).program.rows) <= 2 * (fullest_rows.MOST_LIVE + 1)


def test_a_fast_pool_is_full_where_the_first_term_has_to_be_low(asking: Asking) -> None:
    # At each of eight sections two classes of four units, of which the fast pool holds one; that saves 10.
    rows = tuple(Row(pool, at, 0, ((2 * at, 4), (2 * at + 1, 4))) for at in range(8) for pool in range(2))
    first, second = Costs(((0, 10),) * 16, (0, 0)), Costs(((0, 0),) * 16, (5, 1))
    program = Program(((0, 1),) * 16, (Room(4, (), 0, 0), Room(None, (), 0, 0)), rows, (first, second), ())
    relaxed = asking.relax(program, (), WORK)
    assert relaxed is not None
    for most, bound in ((80, 4 * 5 + 4), (120, 2 * 5 + 6), (160, 8)):
        of_few = FullestRows(program, relaxed)
        found = asking.relax_at_once(of_few.program, (most,), of_few.crowds, WORK)
        assert found is not None
        assert bound_of(program, of_few.in_whole(found), (most,)) == bound


@pytest.mark.parametrize(("kind", "seed"), [("pools", 1), ("hot", 2)])
def test_bounds_of_crowded_problems_are_near_the_plan_and_verified(kind: str, seed: int) -> None:
    problem = with_preference(generate(kind, Request(200, seed, 1, {"live": 60})), Preference.SPEED)
    made = plan(problem, Options(time_limit=None, work_limit=1_000_000))
    assert made.status is PlanStatus.FEASIBLE
    first, second = made.objective.terms
    assert first.bound is not None
    assert first.value is not None
    assert first.bound < first.value
    assert second.bound is not None
    assert second.value is not None
    assert 0.75 * second.value <= second.bound <= second.value
    proofs = [each for each in made.certificates if each.term is problem.terms[1]]
    assert max(each.value for each in proofs if each.proof is Proof.PRICED_ROOM) == second.bound
    assert not verify(problem, made)
