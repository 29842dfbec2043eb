"""Second terms of choices after peaks: when they are chosen again from the fullest sections."""

from __future__ import annotations

import pytest

from solvers.choice.pools import budget
from solvers.choice.pools.later.held_peaks import HeldPeaks
from solvers.choice.pools.questions.asking import ByHeights

from .begun import begun

A_NUMBER = 60
"""So much work for each number in the program is enough to choose again, and too little for all choices below one height after another."""


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done in turn, of what is only noted."""
    names = list[str]()
    for name in ("_with_room_for_gaps", "_settle_heights"):
        monkeypatch.setattr(HeldPeaks, name, lambda *_, name=name: names.append(name))
    return names


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
