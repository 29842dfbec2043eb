"""The random numbers of the generators stay in their ranges and never change."""

from __future__ import annotations

from planner.generate.chance import Chance


def test_random_numbers_never_change() -> None:
    chance = Chance(1)
    assert [chance.below(1000) for _ in range(6)] == [569, 802, 63, 117, 760, 472]
    assert [chance.spread(1, 1000) for _ in range(6)] == [9, 30, 12, 217, 7, 35]
    items = list(range(8))
    chance.shuffle(items)
    assert items == [4, 1, 7, 5, 6, 3, 0, 2]


def test_random_numbers_cover_exactly_their_ranges() -> None:
    chance = Chance(2)
    assert {chance.below(5) for _ in range(200)} == set(range(5))
    assert {chance.between(3, 6) for _ in range(200)} == {3, 4, 5, 6}
    assert {chance.spread(0, 5) for _ in range(400)} == set(range(6))
    assert {chance.spread(7, 7) for _ in range(20)} == {7}
    assert {chance.one_in(2) for _ in range(50)} == {True, False}


def test_shuffling_loses_no_item() -> None:
    items = list(range(50))
    Chance(3).shuffle(items)
    assert items != list(range(50))
    assert sorted(items) == list(range(50))
