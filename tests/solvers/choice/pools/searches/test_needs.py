"""What pools that end too low cost: counted by hand, and heights that are looked for again because of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.program.program import Costs, Program, Room, Row
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.choice.pools.searches import needs
from solvers.choice.pools.searches.fullest import FullestFirst
from solvers.choice.pools.searches.needs import Needs

WORK = 3_000_000
ROOMS = (Room(20, (), 0, 0), Room(None, (), 0, 0))
PROGRAM = Program(
    homes=((0, 1), (0, 1), (0, 1), (1,)),
    rooms=ROOMS,
    rows=(Row(0, 0, 2, ((0, 4), (1, 6))), Row(0, 1, 0, ((2, 10),)), Row(1, 0, 0, ((0, 4), (1, 6), (3, 5)))),
    terms=(Costs(((10, 70), (20, 50), (30, 130), (7,)), (0, 0)),),
    apart=(),
)


def test_classes_that_are_too_high_cost_what_they_cost_elsewhere() -> None:
    """At a price of 2 in the first row: 18, 32, 30 in the first pool, and a unit of its height is worth 2."""
    found = Needs(PROGRAM, 0, {0: 2.0}, {1})
    assert found.value((20, 30), {1: 0}) == 32 - 2 * 20
    assert found.value((9, 30), {1: 0}) == 100 + 32 - 2 * 9
    assert found.value((5, 30), {1: 1}) == 100 + 52 + 50 - 2 * 5


@pytest.mark.parametrize(("top", "height"), [(20, None), (10, None), (9, 10), (6, 10), (5, 10), (3, 10)])
def test_the_pool_becomes_so_high_that_half_of_that_is_saved(top: int, height: int | None) -> None:
    raised = Needs(PROGRAM, 0, {0: 2.0}, {1}).raised(ROOMS, (top, 30))
    assert raised == (None if height is None else (ROOMS[0]._replace(lowest=height), ROOMS[1]))


@pytest.mark.parametrize(("top", "height"), [(20, None), (9, 10)])
def test_classes_that_find_no_room_beside_what_is_there_in_any_case_are_not_waited_for(
    top: int, height: int | None
) -> None:
    """The last class fits in the first pool, but not beside its 2 units."""
    high = Row(0, 2, 2, ((4, 19),))
    costs = PROGRAM.terms[0]._replace(of_homes=(*PROGRAM.terms[0].of_homes, (1, 1_000)))
    program = replace(PROGRAM, homes=(*PROGRAM.homes, (0, 1)), rows=(*PROGRAM.rows, high), terms=(costs,))
    raised = Needs(program, 0, {0: 2.0}, {1}).raised(ROOMS, (top, 30))
    assert raised == (None if height is None else (ROOMS[0]._replace(lowest=height), ROOMS[1]))


def test_what_costs_little_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here 100 of 87."""
    found = Needs(PROGRAM, 0, {0: 2.0}, {1})
    monkeypatch.setattr(needs, "MATTERS", 0.88)
    assert found.raised(ROOMS, (9, 30)) is not None
    monkeypatch.setattr(needs, "MATTERS", 0.86)
    assert found.raised(ROOMS, (9, 30)) is None


@pytest.mark.parametrize("is_cheaper", [False, True])
def test_heights_are_looked_for_again_and_the_cheaper_ones_taken(
    is_cheaper: bool, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = lower(with_preference(generate("hot", Request(40, 1)), Preference.SIZE)).instance
    program = program_of(instance)
    search = FullestFirst(instance, program, instance.class_number, asking, Question(1))
    tried = list[Any]()

    def find(prices: Mapping[int, float], work: int, rooms: tuple[Room, ...] | None) -> tuple[int, ...]:
        tried.append(rooms)
        return (len(tried),) * len(program.rooms)

    monkeypatch.setattr(search, "_find_tops", find)
    monkeypatch.setattr(Needs, "value", lambda _, tops, chosen: -tops[0] if is_cheaper else tops[0])
    monkeypatch.setattr(Needs, "raised", lambda _, rooms, tops: rooms if tops[0] < 2 else None)
    found = search.heights({}, WORK)
    assert found is not None
    assert tried == [None, program.rooms]
    assert found[0] == (2 if is_cheaper else 1,) * len(program.rooms)
