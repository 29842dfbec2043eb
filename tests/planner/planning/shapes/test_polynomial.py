"""Facts proven about polynomials hold for all values, and a polynomial written and read again is the same."""

from __future__ import annotations

import random
import time

import pytest

from planner.model.deadline import OutOfTime, time_limit
from planner.planning.shapes.expression import ceildiv, number, parse, symbol
from planner.planning.shapes.polynomial import (
    Powers,
    Rational,
    above_all,
    constant,
    envelope,
    is_multiple,
    multiplied,
    never_below,
    plus,
    polynomial,
    value_at,
)
from tests.planner.planning.shapes.test_expression import BOX, NAMES, SHAPES, made_up


@pytest.mark.parametrize("seed", range(150))
def test_proven_facts_hold_for_all_values(seed: int) -> None:
    chance = random.Random(seed)
    a, b = (polynomial(parse(made_up(chance, 3)[0], NAMES)) for _ in range(2))
    differences = [value_at(a, values) - value_at(b, values) for values in SHAPES]
    if never_below(a, b, BOX):
        assert min(differences) >= 0
    raised = plus(a, constant(max(0, -int(min(differences)))))
    if never_below(raised, plus(b, constant(1)), BOX):
        assert min(differences) > 0 or min(value_at(raised, v) - value_at(b, v) for v in SHAPES) > 0


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("n*n", "n"),
        ("n*n + 1", "2*n"),
        ("4*n*(n+m)", "4*n*n"),
        ("8*ceildiv(n, 8)", "n"),
        ("n + 7", "8*ceildiv(n, 8)"),
        ("4*ceildiv(n*m, 4) + 3", "n*m"),
        ("max(n, m)*2", "2"),
    ],
)
def test_plain_facts_are_proven(above: str, below: str) -> None:
    assert never_below(polynomial(parse(above, NAMES)), polynomial(parse(below, NAMES)), {"n": (0, 4096), "m": (1, 64)})


@pytest.mark.parametrize("seed", range(30))
def test_an_envelope_loses_nothing_and_one_sum_dominates(seed: int) -> None:
    chance = random.Random(seed)
    sums = [polynomial(parse(made_up(chance, 2)[0], NAMES)) for _ in range(8)]
    kept, above = envelope(sums, BOX), above_all(sums, BOX)
    for values in SHAPES:
        assert max(value_at(each, values) for each in kept) == max(value_at(each, values) for each in sums)
        assert value_at(above, values) >= max(value_at(each, values) for each in sums)
    for one in sums:
        assert any(never_below(each, one, BOX) for each in kept)


def test_multiples_are_seen_in_the_coefficients() -> None:
    aligned = polynomial(ceildiv(symbol("n"), number(16)))
    assert is_multiple({powers: 16 * value for powers, value in aligned.items()}, 16)
    assert not is_multiple(polynomial(parse("16*n + 8", NAMES)), 16)


def test_long_products_end_at_the_time_limit() -> None:
    many: dict[Powers, Rational] = {((symbol("n"), power),): 1 for power in range(3000)}
    with time_limit(1.0, time.monotonic() - 10), pytest.raises(OutOfTime):
        multiplied(many, many)
