"""Names packed into texts are found by their numbers and by themselves, as in a list with a dictionary."""

from __future__ import annotations

import pickle
import random

import pytest

from planner.model.columns import numbered
from planner.model.columns.numbered import TOGETHER, Found, Numbered

PIECES = ("a", "b", "\n", "\0", "é", "€", "\U0001f600", "\ud800", "layer", "7")


def test_random_names_are_found_as_in_a_list() -> None:
    rng = random.Random(3)
    for _ in range(200):
        names = ["".join(rng.choices(PIECES, k=rng.randrange(4))) for _ in range(rng.randrange(60))]
        made = Numbered(names)
        assert [*made] == names
        assert made[: len(names) // 2] == names[: len(names) // 2]
        assert made.are_different == (len({*names}) == len(names))
        for name in (*names, "absent"):
            assert made.number(name) == (names.index(name) if name in names else None)
            assert (name in made) == (name in names)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert [*pickle.loads(pickle.dumps(made, protocol))] == names


def test_many_names_are_found_in_all_texts() -> None:
    names = [f"/layers.{i}/Relu" for i in range(2 * TOGETHER + 3)]
    made = Numbered(names)
    assert [*made] == names
    assert [made.number(name) for name in names] == [*range(len(names))]
    assert made.append(names[5]) == len(names)
    assert made.number(names[5]) == 5
    assert not made.are_different
    made.clear()
    assert [*made] == []
    assert made.are_different


@pytest.mark.parametrize("first", [0, 3, 1000])
def test_each_name_has_one_number_whether_it_is_packed_or_not(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbered, "FIRST", first)
    rng = random.Random(5)
    names = ["".join(rng.choices(PIECES, k=rng.randrange(4))) for _ in range(200)]
    found, numbers = Found(), dict[str, int]()
    for name in names:
        assert (name in found) == (name in numbers)
        assert found.of(name) == numbers.setdefault(name, len(numbers))
    assert [*found] == [found[i] for i in range(len(found))] == [*numbers]
    found.clear()
    assert len(found) == 0
    assert names[0] not in found
