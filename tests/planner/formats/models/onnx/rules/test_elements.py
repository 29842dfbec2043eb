"""Numbers are rounded, and cut to their digits, as NumPy's types do it."""

from __future__ import annotations

import random
from math import inf, isinf

import numpy as np
import pytest

from planner.formats.models.onnx.model import BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from planner.formats.models.onnx.rules.elements import plain, rounded, wrapped


def numbers(count: int) -> list[float]:
    """Return whole numbers and fractions of all magnitudes, many of them halfway between two others."""
    chance = random.Random(0)
    found: list[float] = []
    for _ in range(count):
        found.append(chance.randint(-(1 << 63), (1 << 63) - 1) >> chance.randrange(63))
        found.append(chance.uniform(-2, 2) * 2.0 ** chance.randint(-170, 130))
        found.append(chance.randint(-5000, 5000) + chance.choice((0.5, 0.25, 0.125)))
        found.append(chance.randrange(1 << 12) * 2.0 ** chance.randint(-150, 120))
    return found


@pytest.mark.parametrize(("element", "kind"), [(FLOAT, np.float32), (FLOAT16, np.float16), (DOUBLE, np.float64)])
def test_the_nearest_number_of_a_type_is_found(element: int, kind: type[np.floating]) -> None:
    for given in numbers(2000):
        with np.errstate(all="ignore"):
            expected = float(np.asarray(given).astype(kind))
        if isinf(expected):
            with pytest.raises(OverflowError):
                rounded(plain(given), element)
        elif isinstance(given, float) or element != FLOAT16:  # NumPy rounds whole numbers twice there
            assert rounded(plain(given), element) == expected, given


@pytest.mark.parametrize(
    ("given", "expected"),
    [(257, 256), (259, 260), (3.0078125, 3), (3.0234375, 3.03125), (4e-41, 0), (2.0**-133, 2.0**-133)],
)
def test_numbers_of_bfloat16_have_eight_digits(given: float, expected: float) -> None:
    assert rounded(plain(given), BFLOAT16) == expected


def test_whole_numbers_are_ints_and_infinities_stay() -> None:
    assert [type(rounded(given, FLOAT16)) for given in (4097.5, 2047.75, 1.5)] == [int, int, float]
    assert rounded(-inf, FLOAT) == -inf


@pytest.mark.parametrize(("element", "kind"), [(INT8, "i1"), (UINT8, "u1"), (INT32, "i4"), (INT64, "i8"), (13, "u8")])
def test_digits_without_room_are_dropped(element: int, kind: str) -> None:
    for given in numbers(200):
        if isinstance(given, int):
            assert wrapped(given, element) == int(np.array(given, np.int64).astype(kind))
