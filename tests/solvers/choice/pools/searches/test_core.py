"""A core is chosen, the rest as the linear program has it: choices that fit, cost little, and are found where the whole program gives none as good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from solvers.choice.pools.prices.crowds import Relaxed
from solvers.choice.pools.program.program import Costs, Pools, Program, Room, Row
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Answer, Clash, Question
from solvers.choice.pools.searches import core
from solvers.choice.pools.searches.core import CoreSearch

from ..prices.test_crowds import program_like
from .test_dearest_first import program_for_speed
from .test_floors import choices, fitting

WORK = 400_000


def relaxed(asking: Asking, program: Program) -> Relaxed:
    found = asking.relax(program, (), WORK)
    assert found is not None
    return found


@pytest.mark.parametrize("size", [0, 3, 100])
@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_choices_fit_and_a_core_of_all_classes_gives_the_best(
    kind: str, size: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "CORE", size)
    monkeypatch.setattr(core, "WINDOW", 4)
    for seed in range(4):
        program = program_for_speed(kind, 8, seed)
        everything = {pools: first for first, _, pools in choices(program)}
        search = CoreSearch(asking, program, 0, relaxed(asking, program))
        found = search.choice(Question(0), WORK)
        if found is None:
            assert size < 100
            continue
        assert search.value(found) == everything[found]
        better = search.improved(Question(0), found, WORK)
        assert min(everything.values()) <= everything[better] <= everything[found]
        if size == 100:
            assert everything[found] == min(everything.values())


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_heights_are_weighed_where_they_have_a_price(
    kind: str, size: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "CORE_WITH_PEAKS", size)
    for seed in range(4):
        program = program_like(kind, 8, seed)
        everything = {pools: program.value(0, pools, tops) for pools, tops in fitting(program)}
        found = CoreSearch(asking, program, 0, relaxed(asking, program)).choice(Question(0), WORK)
        if found is None:
            assert size < 100
            continue
        assert found in everything
        if size == 100:
            assert everything[found] == min(everything.values())


@pytest.mark.parametrize("stretch", [0, 50, 200])
def test_rows_are_longer_by_the_stretch(stretch: int, asking: Asking) -> None:
    program = program_for_speed("pools", 60, 3)
    search = CoreSearch(asking, program, 0, relaxed(asking, program))
    ends = [room.capacity for room in program.rooms]
    question = Question(0, stretch=tuple(0 if end is None else stretch for end in ends))
    found = search.choice(question, WORK)
    assert found is not None
    for pools in (found, search.improved(question, found, WORK)):
        tops = program.least_tops(pools)
        assert all(end is None or top <= end * 1_000 // (1_000 + stretch) for top, end in zip(tops, ends, strict=True))


def test_where_rows_are_longer_than_the_linear_program_knew_there_is_a_choice_all_the_same(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it decides fills the pools: some of that must be chosen anew."""
    monkeypatch.setattr(core, "CORE", 0)
    program = program_for_speed("pools", 200, 5)
    search = CoreSearch(asking, program, 0, relaxed(asking, program))
    ends = [room.capacity for room in program.rooms]
    half = Question(0, stretch=tuple(0 if end is None else 1_000 for end in ends))
    answers = list[Answer]()
    asked = search._asked

    def noted(question: Question, free: set[int], others: Pools, near: Pools | None, work: int) -> Answer:
        answers.append(asked(question, free, others, near, work))
        return answers[-1]

    monkeypatch.setattr(search, "_asked", noted)
    assert search.choice(half, WORK) is not None
    assert not answers[0].is_impossible
    answers.clear()
    monkeypatch.setattr(search, "_free_where_full", lambda free, question: None)
    assert search.choice(half, WORK) is not None
    assert answers[0].is_impossible


def test_where_there_is_no_choice_the_crowded_classes_are_chosen_next(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And all of them are not asked about: that is no core any more."""
    program = program_for_speed("pools", 200, 5)
    search = CoreSearch(asking, program, 0, relaxed(asking, program))
    cores = list[set[int]]()

    def impossible(question: Question, free: set[int], others: Pools, near: Pools | None, work: int) -> Answer:
        cores.append(free)
        return Answer(None, None, None, None)

    monkeypatch.setattr(core, "CORE", 4)
    monkeypatch.setattr(search, "_asked", impossible)
    assert search.choice(Question(0), WORK) is None
    assert len(cores[0]) < len(cores[1])
    beside = set(range(200)) - cores[0]
    crowded = set(sorted(beside)[:7])
    plain, cores[:] = list(cores), []
    assert search.choice(Question(0), WORK, crowded) is None
    assert cores[0] == plain[0]
    assert cores[1] == plain[0] | crowded
    assert cores[2] == plain[1] | crowded
    assert all(2 * len(free) < 200 for free in plain[:-1])


def test_clashes_are_kept_apart(asking: Asking) -> None:
    program = program_for_speed("hot", 12, 1)
    search = CoreSearch(asking, program, 0, relaxed(asking, program))
    found = search.choice(Question(0), WORK)
    assert found is not None
    pool = max(found, key=found.count)
    clash = Clash(pool, tuple(group for group, p in enumerate(found) if p == pool))
    other = search.choice(replace(Question(0), clashes=(clash,)), WORK)
    assert other is None or any(other[group] != pool for group in clash.classes)


def test_hundreds_of_classes_are_chosen_where_all_at_once_give_nothing_better(asking: Asking) -> None:
    """And what is found is close to the bound."""
    program = program_for_speed("pools", 400, 9701)
    prices = relaxed(asking, program)
    search, begun = CoreSearch(asking, program, 0, prices), asking.work
    found = search.choice(Question(0), WORK)
    assert found is not None
    assert asking.work - begun <= 1.2 * WORK
    at_once = asking.ask(program, Question(0), WORK)
    assert at_once.value is None or search.value(found) <= at_once.value
    assert at_once.bound is not None
    assert search.value(found) <= 1.01 * at_once.bound


def test_without_work_there_is_no_choice(asking: Asking) -> None:
    program = program_for_speed("hot", 12, 1)
    assert CoreSearch(asking, program, 0, relaxed(asking, program)).choice(Question(0), 0) is None


def test_where_what_is_decided_leaves_no_choice_more_is_chosen(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "CORE", 0)
    sizes = (3, 1, 2, 2)
    rooms = tuple(Room(4, (), 0, 0) for _ in range(2))
    rows = tuple(Row(pool, 0, 0, tuple(enumerate(sizes))) for pool in range(2))
    terms = (Costs(((0, 1),) * 4, (0, 0)),)
    program = Program(((0, 1),) * 4, rooms, rows, terms, ())
    shares = ((1.0, 0.0), (0.0, 1.0), (1.0, 0.0), (0.0, 1.0))  # 5 in the first, 3 in the second
    search = CoreSearch(asking, program, 0, replace(relaxed(asking, program), shares=shares))
    found = search.choice(Question(0), WORK)
    assert found is not None
    assert program.least_tops(found) == (4, 4)
