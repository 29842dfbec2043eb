"""Sizes are shown exactly or rounded to a unit."""

from __future__ import annotations

import pytest

from api.cli.terminal.text import both, exact, percent, rough


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (1023, "1 023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1048575, "1.0 MiB"),
        (1 << 20, "1.0 MiB"),
        (10**10, "9.3 GiB"),
        (1 << 62, "4.0 EiB"),
        (1 << 73, "8192.0 EiB"),
    ],
)
def test_sizes_are_rounded_to_a_unit(size: int, shown: str) -> None:
    assert rough(size) == shown


def test_exact_has_every_digit() -> None:
    assert exact((1 << 62) - 1) == "4 611 686 018 427 387 903 B"


def test_exact_and_rounded_sizes_are_shown_once_where_equal() -> None:
    assert both(512) == "512 B"
    assert both(1 << 20) == "1 048 576 B (1.0 MiB)"


def test_a_small_gap_is_not_shown_as_zero() -> None:
    assert percent(0.0) == "0.0 %"
    assert percent(0.000001) == "< 0.05 %"
    assert percent(0.031) == "3.1 %"
