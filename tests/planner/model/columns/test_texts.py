"""Texts packed into one come out unchanged, one by one, in parts and all together."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from planner.model.columns.texts import BLOCK, GatheredTexts, Texts
from planner.model.problem import BufferId

COUNTS = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 3, 90 * BLOCK + 7]
STRANGE: list[BufferId] = ["", "é" * 9, "\ud800", "a b", "\t", "\0", "\x85", "\u2028", "\r"]


def gathered(ids: list[BufferId]) -> GatheredTexts:
    made = GatheredTexts()
    for id_ in ids:
        made.append(id_)
    return made


@pytest.mark.parametrize("count", COUNTS)
def test_texts_come_out_unchanged(count: int) -> None:
    names: list[BufferId] = [f"name {i}" if i % 10 else STRANGE[i // 10 % len(STRANGE)] for i in range(count)]
    made = gathered(names)
    for first in (0, 1, BLOCK, count - 1):
        assert [*made.rows(max(first, 0))] == names[max(first, 0) :]
    assert len(made) == count
    packed = made.all()
    assert isinstance(packed, Texts)
    assert packed == names == [*packed] == pickle.loads(pickle.dumps(packed))
    assert packed != [*names, "more"]
    assert [packed[i] for i in range(count)] == names == [packed[i - count] for i in range(count)]
    for some in (slice(1, 3), slice(BLOCK - 1, 3 * BLOCK), slice(None, None, -7), slice(-5, None), slice(9, 2)):
        assert packed[some] == names[some]
    if count:
        assert packed[np.int64(count - 1)] == names[count - 1]  # type: ignore[call-overload]
    with pytest.raises(IndexError):
        packed[count]


@pytest.mark.parametrize("other", [7, "two\nlines"])
@pytest.mark.parametrize("at", [0, BLOCK - 1, BLOCK, 3 * BLOCK - 1])
def test_other_ids_are_kept_as_they_are(other: BufferId, at: int) -> None:
    names: list[BufferId] = [f"name {i}" for i in range(3 * BLOCK)]
    names[at] = other
    made = gathered(names)
    assert [*made.rows(0)] == names
    assert made.all() == names
    assert made.all() == names


@pytest.mark.parametrize("piece", [1, 3, BLOCK, BLOCK + 1])
def test_lines_become_texts(piece: int) -> None:
    lines = [f"{i:x}" for i in range(5 * BLOCK + 9)]
    made = GatheredTexts()
    for first in range(0, len(lines), piece):
        made.add_lines("".join(f"{line}\n" for line in lines[first : first + piece]).encode())
    assert made.all() == lines
    assert made.all()[2 * BLOCK + 1] == lines[2 * BLOCK + 1]


@pytest.mark.parametrize("piece", [1, 3, BLOCK, BLOCK + 1])
def test_many_are_added_at_once(piece: int) -> None:
    names: list[BufferId] = [f"{i:x}" for i in range(3 * BLOCK + 9)]
    for other in ([], ["two\nlines"], [7]):
        made = GatheredTexts()
        for first in range(0, len(names), piece):
            made.extend(names[first : first + piece])
            made.extend([])
        made.extend(other)
        made.append("last")
        assert made.all() == [*names, *other, "last"]


@pytest.mark.parametrize("longest", [1, 7, 8, 9, 32, 33])
@pytest.mark.parametrize("letters", ["ab", "a\0", "aé\u2028\ud800\U0001f600"])
def test_texts_are_sorted_as_a_list_of_them(longest: int, letters: str) -> None:
    rng = random.Random(longest)
    names: list[BufferId] = ["".join(rng.choices(letters, k=rng.randint(0, longest))) for _ in range(300)]
    packed = gathered(names).all()
    assert isinstance(packed, Texts)
    assert [*packed.order()] == sorted(range(len(names)), key=list(map(str, names)).__getitem__)


def test_no_texts_have_an_order() -> None:
    packed = GatheredTexts().all()
    assert isinstance(packed, Texts)
    assert [*packed.order()] == []
