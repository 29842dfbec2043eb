"""Second terms of choices after peaks: when they are chosen again from the fullest sections, and when some rows bound them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import ByHeights
from solvers.choice.pools.runs import held_peaks
from solvers.choice.pools.runs.held_peaks import HeldPeaks
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task

A_NUMBER = 60
"""So much work for each number in the program is enough to choose again, and too little for all choices below one height after another."""


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done in turn, of what is only noted."""
    names = list[str]()
    for name in ("_with_room_for_gaps", "_settle_heights", "_relax_some"):
        monkeypatch.setattr(HeldPeaks, name, lambda *_, name=name: names.append(name))
    return names


def begun(a_number: int, seed: int = 3) -> HeldPeaks:
    """A run whose first term is at its least, with so much work for each number in the program."""
    instance = lower(with_preference(generate("hot", Request(60, seed)), Preference.SIZE)).instance
    program = program_of(instance)
    start = get("pools_first").solve(instance, Task(Limits(work=100_000)), Silent()).placement
    used = HeldPeaks(instance, program, Task(Limits(work=1), start=start), Silent()).work
    run = HeldPeaks(instance, program, Task(Limits(work=used + a_number * program.entries), start=start), Silent())
    assert run.value is not None
    run.bound = run.value[:1]
    return run


def test_what_is_far_from_its_bound_is_chosen_again(done: list[str]) -> None:
    begun(A_NUMBER)._choose_at_fullest(1)
    assert done == ["_with_room_for_gaps"]


def test_what_is_near_is_not(done: list[str]) -> None:
    run = begun(A_NUMBER)
    assert run.value is not None
    run._learn_bound(1, run.value[1] - run.value[1] // (2 * budget.FAR))
    run._choose_at_fullest(1)
    assert done == []


def test_nor_what_pools_were_filled_or_divided_for(done: list[str]) -> None:
    filled, divided = begun(A_NUMBER), begun(A_NUMBER)
    filled.is_filled = True
    divided.divided = ByHeights(0, None, None, [])
    for run in (filled, divided):
        run._choose_at_fullest(1)
    assert done == []


def test_nor_with_little_work_nor_a_term_of_peaks(done: list[str]) -> None:
    begun(budget.CHOSEN_AGAIN_PER_ENTRY - 1)._choose_at_fullest(1)
    begun(A_NUMBER)._choose_at_fullest(0)
    assert done == []


def test_where_there_is_much_work_all_heights_come_first(done: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeldPeaks, "_bound_with_peaks_held", lambda *_: True)
    begun(2 * budget.MUCH_PER_ENTRY)._from_peaks_as_they_are(1)
    assert done[:2] == ["_settle_heights", "_with_room_for_gaps"]


@pytest.mark.parametrize(("is_filled", "is_reserved", "asks"), [(False, True, 0), (True, True, 1), (False, False, 1)])
def test_some_rows_bound_what_pools_were_filled_for_or_all_heights_are_tried_for(
    is_filled: bool, is_reserved: bool, asks: int, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_peaks, "has_many_live", lambda *_: True)
    monkeypatch.setattr(budget, "ENTRIES_OF_SOME_ROWS", 100)
    run = begun(2 * budget.MUCH_PER_ENTRY)
    run.is_filled = is_filled
    if is_reserved:
        rooms = tuple(room._replace(reserved=((0, 1),)) for room in run.program.rooms)
        run.program = replace(run.program, rooms=rooms)
    run._bound_with_some_rows(1)
    assert len(done) == asks
