"""Dearest classes first: choices that fit, and cost little where the program as a whole hardly finds any."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.program.program import Costs, Program, Room, settled_in
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.choice.pools.searches import dearest_first
from solvers.choice.pools.searches.dearest_first import choose_dearest_first, choose_with_heights

from .test_floors import choices

WORK = 600_000


def program_for_speed(kind: str, buffers: int, seed: int) -> Program:
    return program_of(lower(with_preference(generate(kind, Request(buffers, seed)), Preference.SPEED)).instance)


@pytest.mark.parametrize("dear", [1, 10])
@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_choices_fit_and_never_beat_the_best(
    kind: str, dear: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dearest_first, "DEAR", dear)
    for seed in range(4):
        program = program_for_speed(kind, 8, seed)
        everything = {pools: first for first, _, pools in choices(program)}
        found = choose_dearest_first(asking, program, Question(0), WORK)
        assert found is not None
        assert min(everything.values()) <= everything[found] <= 1.1 * min(everything.values())


@pytest.mark.parametrize("price", [-3, 0, 2])
def test_with_prices_of_heights_the_choice_is_the_best_and_the_bound_is_its_value(asking: Asking, price: int) -> None:
    for seed in range(4):
        program = program_for_speed("hot", 8, seed)
        prices = [price * 10**seed * (pool == 0) for pool in range(len(program.rooms))]
        heights = Costs(tuple((0,) * len(homes) for homes in program.homes), (1,) * len(program.rooms))
        term = program.terms[0]._replace(of_peaks=tuple(prices))
        program = replace(program, terms=(heights, term))
        found = {pools: program.least_tops(pools) for _, _, pools in choices(program)}
        held = min(map(sum, found.values()))
        values = {pools: program.value(1, pools, tops) for pools, tops in found.items() if sum(tops) == held}
        answer = choose_with_heights(asking, program, Question(1, held=(held,)), WORK)
        assert answer.pools is not None
        assert values[answer.pools] == answer.value == answer.bound == min(values.values())


def test_of_no_classes_there_is_a_choice(asking: Asking) -> None:
    """It is empty, which is not the same as none: what is taken for impossible would be a bound."""
    heights = Costs((), (1,)), Costs((), (0,))
    program = Program(homes=(), rooms=(Room(None, (), 0, 4),), rows=(), terms=heights, apart=())
    answer = choose_with_heights(asking, program, Question(1, held=(4,)), WORK)
    assert answer.pools == ()
    assert not answer.is_impossible


def test_a_choice_without_a_bound_is_one_below_what_is_held_for_less_work(asking: Asking) -> None:
    program = program_for_speed("hot", 60, 1)
    heights = Costs(tuple((0,) * len(homes) for homes in program.homes), (1,) * len(program.rooms))
    term = program.terms[0]._replace(of_peaks=(-3,) * len(program.rooms))
    program = replace(program, terms=(heights, term))
    held = Question(1, held=(sum(map(program.highest, range(len(program.rooms)))),))
    alone = choose_with_heights(asking, program, held, WORK, is_bounded=False)
    work = asking.work
    best = choose_with_heights(asking, program, held, WORK)
    assert alone.pools is not None
    assert alone.bound is None
    assert alone.value == program.value(1, alone.pools, program.least_tops(alone.pools))
    assert best.value is not None
    assert alone.value >= best.value
    assert work < asking.work - work


def test_settled_classes_take_room_in_their_homes(asking: Asking) -> None:
    program = program_for_speed("hot", 12, 1)
    pools = choose_dearest_first(asking, program, Question(0), WORK)
    assert pools is not None
    few = {group: pools[group] for group in range(0, len(pools), 2)}
    settled = settled_in(program, few)
    assert settled.least_tops(pools) == program.least_tops(pools)
    assert settled.value(0, pools, program.least_tops(pools)) == program.value(0, pools, program.least_tops(pools))
    assert all(settled.homes[group] == (pool,) for group, pool in few.items())
    assert not any(group in few for row in settled.rows for group, _ in row.members)


def test_hundreds_of_classes_are_chosen_where_all_at_once_give_no_good_choice(asking: Asking) -> None:
    """With as much work for the program as it is, the choice costs more."""
    program = program_for_speed("hot", 500, 9502)
    at_once = asking.ask(program, Question(0), WORK)
    begun = asking.work
    found = choose_dearest_first(asking, program, Question(0), WORK)
    assert found is not None
    assert asking.work - begun <= 1.1 * WORK
    assert at_once.bound is not None
    cost = program.value(0, found, program.least_tops(found))
    assert cost <= 1.004 * at_once.bound
    assert at_once.value is None or at_once.value >= 1.004 * cost


def test_without_work_there_is_no_choice(asking: Asking) -> None:
    assert choose_dearest_first(asking, program_for_speed("hot", 12, 1), Question(0), 0) is None
