"""Marks on the axes are round, few, and within the range shown."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner.drawing.ticks import (
    UNITS,
    address_labels,
    address_ticks,
    exact_bytes,
    grouped,
    number_labels,
    short_bytes,
    time_ticks,
    value_ticks,
)


@given(st.integers(1, 1 << 62), st.integers(2, 20))
def test_addresses_are_marked_at_multiples_of_a_power_of_two(top: int, most: int) -> None:
    ticks = address_ticks(top, most)
    assert ticks[0] == 0
    assert len(ticks) <= most + 1
    assert ticks[-1] <= top
    step = ticks[1] if len(ticks) > 1 else 1
    assert step & (step - 1) == 0
    assert top // step >= most // 2 or step == 1


@given(st.integers(1, 1 << 63), st.integers(2, 60))
@example(10_496, 41)
def test_labels_of_addresses_are_short_and_not_rounded(top: int, most: int) -> None:
    ticks = address_ticks(top, most)
    labels = address_labels(ticks)
    for tick, label in zip(ticks, labels, strict=True):
        figure, unit = label.rsplit(" ", 1)
        assert Fraction(figure.replace(grouped(1000)[1], "")) * 1024 ** UNITS.index(unit) == tick
        assert len(label) <= len(f"{grouped(99_999)} KiB")


@given(st.integers(0, 1 << 62), st.integers(1, 1 << 62), st.integers(2, 20))
def test_values_are_marked_at_multiples_of_a_power_of_two_too(low: int, span: int, most: int) -> None:
    ticks = value_ticks(low, low + span, most)
    assert len(ticks) <= most + 1
    assert all(low <= tick <= low + span for tick in ticks)
    if len(ticks) > 1:
        step = ticks[1] - ticks[0]
        assert step & (step - 1) == 0
        assert all(tick % step == 0 for tick in ticks)


@given(st.integers(-(1 << 62), 1 << 62), st.integers(1, 1 << 62), st.integers(2, 20))
@example(101, 48, 2)
@example(3, 667, 4)
def test_times_are_marked_at_round_numbers(begin: int, span: int, most: int) -> None:
    ticks = time_ticks(begin, begin + span, most)
    assert min(span + 1, 2) <= len(ticks) <= max(most, 5)
    assert all(begin <= tick <= begin + span for tick in ticks)
    if len(ticks) > 1:
        step = ticks[1] - ticks[0]
        assert str(step).strip("0") in ("1", "2", "5")
        assert all(tick % step == 0 for tick in ticks)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (3920, "3920 B"),
        (1024, "1 KiB"),
        (24576, "24 KiB"),
        (24528, "24.0 KiB"),
        (10_004_544, "9.54 MiB"),
        (1 << 62, "4 EiB"),
    ],
)
def test_bytes_are_exact_where_that_is_short(size: int, text: str) -> None:
    assert short_bytes(size) == text


def test_long_numbers_are_grouped() -> None:
    assert [grouped(number) for number in (7, 1234, -1234567)] == ["7", "1 234", "-1 234 567"]


def test_rounded_sizes_are_given_to_the_byte_too() -> None:
    assert [exact_bytes(size) for size in (3920, 24576, 1_604_322)] == [
        "3920 B",
        "24 KiB (24 576 B)",
        "1.53 MiB (1 604 322 B)",
    ]


@pytest.mark.parametrize(
    ("ticks", "labels"),
    [
        ([15_872, 15_904, 15_936], ["15 872 B", "15 904 B", "15 936 B"]),
        ([1 << 40, (1 << 40) + (1 << 20)], ["1 048 576 MiB", "1 048 577 MiB"]),
        ([16_384, 32_768], ["16 KiB", "32 KiB"]),
    ],
)
def test_marks_in_bytes_are_never_rounded(ticks: list[int], labels: list[str]) -> None:
    assert address_labels(ticks) == labels


def test_marks_of_numbers_are_never_rounded() -> None:
    numbers = [0, -5, 12_345_678, 2 * 10**9, -2_000_010_000, 1_234_567_891, 10**18 + 10**9, (1 << 63) - 1]
    labels = number_labels(numbers)
    assert labels[:6] == ["0", "-5", "12 345 678", "2e+09", "-2.00001e+09", "1 234 567 891"]
    assert [int(Fraction(label.replace(" ", ""))) for label in labels] == numbers
