"""SplitMix64 gives the published numbers."""

from __future__ import annotations

import pytest

from solvers.model.splitmix import SplitMix64


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]),
        (1234567, [6457827717110365317, 3203168211198807973, 9817491932198370423]),
    ],
)
def test_splitmix_draws_the_published_numbers(seed: int, expected: list[int]) -> None:
    draw = SplitMix64(seed)
    assert [draw.next() for _ in expected] == expected


def test_fractions_and_picks_reach_both_ends() -> None:
    draw = SplitMix64(1 << 70)
    assert {draw.fraction(2) for _ in range(100)} == {0, 0.25, 0.5, 0.75}
    assert {draw.pick("abc") for _ in range(100)} == {"a", "b", "c"}
