"""Heights from the fullest sections: never a wrong bound, and choices that keep to what is held."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from operator import le
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from planner import Options, Preference, plan, verify
from planner.generate import Request, generate
from planner.model.problem import Buffer, Constraints, Pool, Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.bounds.first_bounds import first_bounds
from solvers.choice.pools import budget
from solvers.choice.pools.pieces import cutting
from solvers.choice.pools.placing.packing import Packing
from solvers.choice.pools.prices.crowds import Crowd
from solvers.choice.pools.program.program import Costs, Program, Room, Row
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking, ByHeights
from solvers.choice.pools.questions.question import Answer, Question
from solvers.choice.pools.searches import fullest
from solvers.choice.pools.searches.fullest import FullestFirst
from solvers.choice.pools.searches.peaks import is_held_by_peaks
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Ints, Placement
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.property.test_solvers_alone import check
from tests.small.oracle import solve
from tests.small.strategies import NIGHTLY, effort, problems

WORK = 3_000_000


def sized(kind: str, buffers: int, seed: int) -> Instance:
    return lower(with_preference(generate(kind, Request(buffers, seed)), Preference.SIZE)).instance


def test_only_a_choice_after_peaks_is_held_by_peaks() -> None:
    def small(prefer: Preference) -> Program:
        return program_of(lower(with_preference(generate("hot", Request(12, 5)), prefer)).instance)

    assert is_held_by_peaks(small(Preference.SIZE), 1)
    assert not is_held_by_peaks(small(Preference.SIZE), 0)
    assert not is_held_by_peaks(small(Preference.SPEED), 1)


@pytest.mark.parametrize("kind", ["hot", "pools"])
@pytest.mark.parametrize("seed", range(4 if NIGHTLY else 2))
@pytest.mark.parametrize("few", [4, 12])
def test_the_best_choice_is_between_bound_and_choice(
    kind: str, seed: int, few: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fullest, "MOST_CLASSES", few)
    instance = sized(kind, 40, seed)
    program = program_of(instance)
    least = asking.ask(program, Question(0), WORK).value
    assert least is not None
    question = Question(1, held=(least,))
    exact = asking.ask(program, question, WORK)
    assert exact.stopped is None
    assert exact.value is not None
    relaxed = asking.relax(program, (least,), WORK, 1)
    assert relaxed is not None
    search = FullestFirst(instance, program, instance.class_number, asking, question)
    search.run(dict(relaxed.of_rows), WORK)
    assert search.bound <= exact.value
    if search.best is not None:
        assert search.best.value >= exact.value
        assert program.terms[0].of_tops(search.best.tops) <= least
        needed = program.least_tops(search.best.pools)
        assert all(load <= top for load, top in zip(needed, search.best.tops, strict=True))


@pytest.mark.parametrize("seed", range(2, 4))
def test_what_several_pools_do_not_hold_is_packed_in_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def pack(self: Packing, pool: Ints, counted: frozenset[int], work: int) -> tuple[Placement | None, list[int]]:
        several: list[int] = np.unique(pool).tolist()
        return (None, several) if len(several) > 1 else packed(self, pool, counted, work)

    packed = Packing.pack
    monkeypatch.setattr(Packing, "pack", pack)
    instance = sized("hot", 30, seed)
    instance = replace(instance, terms=instance.terms[:1])
    outcome = get("pools_first").solve(instance, Task(Limits(work=500_000)), Silent())
    assert outcome.stop is StopReason.PROVED


@pytest.mark.parametrize("most_entries", [budget.MOST_ENTRIES_OF_SMALL, 0])
@effort(9, 5_000)
@given(problem=problems(max_buffers=6))
def test_answers_never_beat_the_optimum_where_few_classes_come_first(most_entries: int, problem: Problem) -> None:
    problem = with_preference(problem, Preference.SIZE)
    assume(lower(problem).instance.has_choice)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "MOST_ENTRIES_OF_SMALL", most_entries)
        patch.setattr(fullest, "MOST_CLASSES", 2)
        check("pools_first", problem, solve(problem))


def test_pools_are_not_filled_where_nothing_is_live_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conflicts alone say who shares no address; the fullest section was asked for, and there was none."""
    monkeypatch.setattr(fullest, "MOST_CLASSES", 2)
    buffers, apart = (Buffer("a", 5), Buffer("b", 5), Buffer("c", 5, reads=3)), Constraints(conflicts=(("a", "c"),))
    problem = with_preference(Problem(buffers, (Pool("p", 6), Pool("q", 20, rank=1)), apart), Preference.SIZE)
    outcome = get("pools_first").solve(lower(problem).instance, Task(Limits(work=500_000)), Silent())
    best = solve(problem).value
    assert outcome.value is not None
    assert best is not None
    assert outcome.bound <= best <= outcome.value


@effort(9, 5_000)
@given(problems(max_buffers=6))
def test_bounds_below_the_heights_that_are_left_are_true(problem: Problem) -> None:
    problem = with_preference(problem, Preference.SIZE)
    assume(lower(problem).instance.has_choice)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "LARGE", 0)
        patch.setattr(cutting, "PIECE", 3)
        patch.setattr(fullest, "MOST_CLASSES", 2)
        check("pools_first", problem, solve(problem))


@pytest.mark.parametrize("kind", ["hot", "pools", "memories"])
def test_no_choice_with_what_is_held_is_higher(kind: str, asking: Asking) -> None:
    """Of all choices of eight buffers."""
    for seed in range(4):
        instance = sized(kind, 8, seed)
        program = program_of(instance)
        choices = [(program.least_tops(pools), pools) for pools in product(*program.homes)]
        fitting = [
            tops
            for tops, pools in choices
            if all(room.capacity is None or top <= room.capacity for top, room in zip(tops, program.rooms, strict=True))
            and all(pools[a] != pools[b] for a, b in program.apart)
        ]
        least = min(program.terms[0].of_tops(tops) for tops in fitting)
        for held in (least, least + least // 8):
            search = FullestFirst(instance, program, instance.class_number, asking, Question(1, held=(held,)))
            ends = search.highest(WORK)
            kept = [tops for tops in fitting if program.terms[0].of_tops(tops) <= held]
            assert all(end is None or top <= end for tops in kept for top, end in zip(tops, ends, strict=True))


def fitting_choices(instance: Instance) -> tuple[Program, list[tuple[tuple[int, ...], int]]]:
    """The program, and of all choices that fit their tops and what they cost in the second term."""
    program = program_of(instance)
    choices = [(program.least_tops(pools), pools) for pools in product(*program.homes)]
    return program, [
        (tops, program.value(1, pools, tops))
        for tops, pools in choices
        if all(room.capacity is None or top <= room.capacity for top, room in zip(tops, program.rooms, strict=True))
        and all(pools[a] != pools[b] for a, b in program.apart)
    ]


@pytest.mark.parametrize("kind", ["hot", "pools", "memories"])
def test_below_all_heights_is_the_best_choice(kind: str, asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all choices of six buffers, whatever room costs; with hardly any work nothing above it is claimed."""
    monkeypatch.setattr(fullest, "MOST_CLASSES", 2)
    for seed in range(3):
        instance = sized(kind, 6, seed)
        program, fitting = fitting_choices(instance)
        dearest = max(value for _, value in fitting) + 1

        def settle(highest: tuple[int, ...], fitting: list[tuple[tuple[int, ...], int]] = fitting) -> Answer:
            below = [value for tops, value in fitting if all(map(le, tops, highest))]
            return Answer((), min(below), min(below), None) if below else Answer(None, None, None, None)

        chance = Random(seed)
        prices = {row: chance.choice((0.0, chance.random() * dearest / 100_000)) for row in range(len(program.rows))}
        least = min(program.terms[0].of_tops(tops) for tops, _ in fitting)
        for held in (least, least + least // 8):
            best = min(value for tops, value in fitting if program.terms[0].of_tops(tops) <= held)
            for work in (WORK, 1):
                search = FullestFirst(instance, program, instance.class_number, asking, Question(1, held=(held,)))
                bound = search.over_heights(prices, dearest, settle, work)
                assert bound <= best
                assert bound == best or work == 1 or held > least


@pytest.mark.parametrize("kind", ["hot", "pools", "memories"])
def test_what_is_claimed_below_all_heights_holds_where_a_question_ends_early(
    kind: str, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fullest, "MOST_CLASSES", 2)
    for seed in range(6):
        instance = sized(kind, 6, seed)
        program, fitting = fitting_choices(instance)
        dearest = max(value for _, value in fitting) + 1
        chance = Random(seed)
        prices = {row: chance.choice((0.0, chance.random() * dearest / 100_000)) for row in range(len(program.rows))}
        least = min(program.terms[0].of_tops(tops) for tops, _ in fitting)
        for held, answered in product((least, least + least // 8), range(4)):
            best = min(value for tops, value in fitting if program.terms[0].of_tops(tops) <= held)
            left = iter(range(answered))

            def settle(
                highest: tuple[int, ...],
                fitting: list[tuple[tuple[int, ...], int]] = fitting,
                left: Iterator[int] = left,
            ) -> Answer:
                if next(left, None) is None:
                    return Answer(None, None, None, StopReason.WORK_LIMIT)
                below = [value for tops, value in fitting if all(map(le, tops, highest))]
                return Answer((), min(below), min(below), None) if below else Answer(None, None, None, None)

            search = FullestFirst(instance, program, instance.class_number, asking, Question(1, held=(held,)))
            assert search.over_heights(prices, dearest, settle, WORK) <= best


@pytest.mark.parametrize("seed", [1, 2])
def test_a_large_network_is_planned_below_all_heights_that_its_fullest_sections_allow(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All in one pool is as low as can be; of the heights that come to the same, windows never found better ones."""
    monkeypatch.setattr(budget, "LARGE", 100)
    instance = sized("memories", 300, seed)
    bound = first_bounds(instance, Silent().stopped).value
    found = get("pools_first").solve(instance, Task(Limits(work=2_000_000), bound=bound), Silent())
    assert found.stop is StopReason.PROVED


def test_a_large_problem_is_chosen_again_from_its_fullest_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first placement on, windows ended at more than three times the bound."""
    monkeypatch.setattr(budget, "LARGE", 100)
    instance = sized("hot", 200, 1)
    bound = first_bounds(instance, Silent().stopped).value
    found = get("pools_first").solve(instance, Task(Limits(work=600_000), bound=bound), Silent())
    assert found.value is not None
    assert found.bound[0] == found.value[0]
    assert found.bound[1] <= found.value[1] <= 1.1 * found.bound[1]


def test_the_second_term_of_a_large_problem_is_bounded_in_pools_as_high_as_the_first_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Here they leave the fast pools none; by the cheapest pools alone, a sixth of the second term was proven."""
    monkeypatch.setattr(budget, "LARGE", 100)
    instance = sized("pools", 300, 11)
    found = get("pools_first").solve(
        instance, Task(Limits(work=2_000_000), bound=first_bounds(instance, Silent().stopped).value), Silent()
    )
    assert found.value is not None
    assert found.value == found.bound


def test_the_second_term_ends_near_its_bound() -> None:
    """With heights that only keep the slowest memory low, it ended a third above it."""
    problem = generate("hot", Request(300, 2))
    made = plan(problem, Options(time_limit=None, work_limit=1_000_000, prefer=Preference.SIZE))
    assert not verify(with_preference(problem, Preference.SIZE), made)
    sizes, accesses = made.objective.terms
    assert sizes.value == sizes.bound
    assert accesses.value is not None
    assert accesses.bound is not None
    assert accesses.bound <= accesses.value <= 1.02 * accesses.bound


def test_a_second_term_of_peaks_is_bounded_without_a_limit_on_its_value() -> None:
    """With the limit it ended 6.6 % above its bound."""
    problem = generate("pools", Request(700, 8003))
    made = plan(problem, Options(time_limit=None, work_limit=4_000_000, prefer=Preference.SPEED))
    _, peaks = made.objective.terms
    assert peaks.value is not None
    assert peaks.bound is not None
    assert peaks.bound <= peaks.value <= 1.03 * peaks.bound


@pytest.mark.parametrize(("seed", "most"), [(84_001, 1_000_000), (640_005, 2_200_000)])
def test_a_second_term_is_soon_settled(seed: int, most: int) -> None:
    """The first, whose choice is near its bound, is asked for again at once: by way of the fullest sections and windows it took 1.9 million units.

    The second has a choice from the fullest sections: by way of four choices of heights and windows it took 2.8 million.
    """
    problem = generate("hot", Request(300, seed))
    made = plan(problem, Options(time_limit=None, work_limit=7_500_000, workers=1, prefer=Preference.SIZE))
    assert made.status == "optimal"
    assert made.run.work is not None
    assert made.run.work < most


def test_where_all_is_soon_known_no_short_question_comes_before_divisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """It took 0.3 million units, and hardly ever had an answer."""
    asked, before = list[bool](), list[bool]()
    ask, bound = Asking.ask, Asking.bound_by_heights

    def note(self: Asking, program: Program, question: Question, *more: Any) -> Answer:
        asked.append(question.term == 1 and question.weighs_peaks(program))
        return ask(self, program, question, *more)

    def begin(self: Asking, *arguments: Any) -> ByHeights | None:
        before.append(any(asked))
        return bound(self, *arguments)

    monkeypatch.setattr(Asking, "ask", note)
    monkeypatch.setattr(Asking, "bound_by_heights", begin)
    instance = sized("hot", 300, 640_005)
    task = Task(Limits(work=7_500_000), bound=first_bounds(instance, Silent().stopped).value)
    found = get("pools_first").solve(instance, task, Silent())
    assert found.value == found.bound
    assert any(asked)
    assert before == [False]


def test_heights_follow_from_the_dearest_classes_of_the_fullest_sections(asking: Asking) -> None:
    """Asked for with all costs at once they left a dear class no room, and the choice cost a seventh more."""
    instance = sized("hot", 1_000, 9512)
    program = program_of(instance)
    (least,) = first_bounds(instance, Silent().stopped).value
    relaxed = asking.relax(program, (least,), WORK, 1)
    assert relaxed is not None
    search = FullestFirst(instance, program, instance.class_number, asking, Question(1, held=(least,)))
    search.run(dict(relaxed.of_rows), WORK)
    assert search.best is not None
    assert search.bound <= search.best.value <= 1.03 * search.bound


@pytest.mark.parametrize("times", [10**5, 10**8])
def test_costs_that_can_be_asked_about_are_not_too_large_at_prices(
    times: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prices are counted in parts of a unit of cost, as long as there is room for them in CP-SAT's numbers; beyond 2^53 it proves no more than floating point shows."""
    instance = sized("hot", 60, 1)
    found = get("pools_first").solve(
        replace(instance, access_cost=instance.access_cost * times), Task(Limits(work=1_000_000)), Silent()
    )
    assert found.value is not None
    assert found.value[0] == found.bound[0]
    inexact = 2 * math.ulp(found.value[1]) if found.value[1] >= 1 << 53 else 0
    assert found.value[1] - inexact <= found.bound[1] <= found.value[1]


def test_where_what_was_chosen_first_leaves_no_room_all_are_chosen_dearest_first(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all costs at once CP-SAT hardly finds a choice, whoever keeps its pool."""
    instance = sized("hot", 40, 1)
    program = program_of(instance)
    least = asking.ask(program, Question(0), WORK).value
    assert least is not None
    search = FullestFirst(instance, program, instance.class_number, asking, Question(1, held=(least,)))
    tops = program.least_tops(tuple(homes[-1] for homes in program.homes))
    dearest: list[int] = []
    ask = asking.ask

    def spied(asked: Program, question: Question, work: int | None) -> Answer:
        dearest.append(max(max(costs) for costs in asked.terms[1].of_homes))
        return ask(asked, question, work)

    monkeypatch.setattr(asking, "ask", spied)
    in_the_way = {group: homes[0] for group, homes in enumerate(program.homes)}
    assert search._ask(tops, in_the_way, None, WORK) is not None
    assert len(dearest) > 2
    assert dearest[1] * 10 < max(max(costs) for costs in program.terms[1].of_homes)


def test_a_crowd_in_a_pool_without_end_may_have_all_its_votes_above_a_reserved_range() -> None:
    rooms = Room(None, ((0, 3),), 0, 0), Room(None, (), 0, 0)
    rows = tuple(Row(pool, 0, 0, ((0, 5), (1, 5))) for pool in range(2))
    program = Program(((0, 1), (0, 1)), rooms, rows, (Costs(((1, 9), (1, 9)), (0, 0)),), ())
    assert fullest._most_votes(program, Crowd(0, (0, 1), (1, 1))) == 2
