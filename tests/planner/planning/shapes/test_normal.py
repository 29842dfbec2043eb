"""Expressions of equal value look alike in normal form, and the form has their value."""

from __future__ import annotations

import random

import pytest

from planner import Buffer, Problem
from planner.planning.shapes import Mode, plan_shapes, shaped, verify_shapes
from planner.planning.shapes.expression import ExpressionError, largest, parse
from planner.planning.shapes.normal import alternatives, normal
from planner.planning.shapes.polynomial import expression, value_at
from planner.planning.shapes.ranges import size_range
from tests.planner.planning.shapes.shaped_problems import OPTIONS
from tests.planner.planning.shapes.test_expression import BOX, NAMES, SHAPES, made_up
from tests.small.strategies import NIGHTLY

WIDE = {"n": (1, 1 << 20), "m": (0, 1 << 20)}


@pytest.mark.parametrize("seed", range(2000 if NIGHTLY else 80))
def test_normal_forms_have_the_value_of_the_expression(seed: int) -> None:
    made = parse(made_up(random.Random(seed), 4)[0], NAMES)
    found = alternatives(made, BOX)
    for values in SHAPES:
        assert max(value_at(each, values) for each in found) == made.at(values)
        assert largest([expression(each) for each in found]).at(values) == made.at(values)
        assert normal(made, BOX).at(values) == made.at(values)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("n + m - m", "n"),
        ("max(n, n)", "n"),
        ("max(n, n, n - m)", "n"),
        ("min(n, n + m)", "n"),
        ("min(n*m, 2*n*m) + n", "n*m + n"),
        ("ceildiv(4*n, 4)", "n"),
        ("ceildiv(4*n + 3, 4)", "n + 1"),
        ("ceildiv(6*n + 4*m, 2)", "3*n + 2*m"),
        ("ceildiv(2*n + 3, 4)", "1 + ceildiv(n, 2)"),
        ("ceildiv(4*n, 64)", "ceildiv(n, 16)"),
        ("ceildiv(ceildiv(n, 4), 4)", "ceildiv(n, 16)"),
        ("ceildiv(ceildiv(n, 4) + m, 4)", "ceildiv(n + 4*m, 16)"),
        ("ceildiv(n*n + n, n + 1)", "n"),
        ("ceildiv(n*(n + m), n)", "n + m"),
        ("ceildiv(n, 1048576)", "1"),
        ("(n + m)*(n + m) - m*m", "n*n + 2*n*m"),
        ("(n + 2)*(m + 3)", "n*m + 3*n + 2*m + 6"),
        ("4*max(n, m)", "max(4*n, 4*m)"),
        ("n*max(n, m) + n", "max(n + n*n, n*m + n)"),
        ("max(n, m) + max(m, n)", "2*max(n, m)"),
        ("ceildiv(max(4*n, 8*m), 4)", "max(n, 2*m)"),
        ("-min(-n, -m)", "max(n, m)"),
        ("max(n, m) - max(m, n) + n", "n"),
        ("(n + m)*max(n, m) - m*max(n, m)", "n*max(n, m)"),
        ("3*min(2*n, 2*m)", "6*min(m, n)"),
        ("min(n + 4, m + 4)", "4 + min(n, m)"),
        ("n + m - max(n, m)", "min(n, m)"),
        ("min(max(n, n), m)", "min(m, n)"),
        ("(n + 1)*min(m, 3)", "min(n*m + m, 3*n + 3)"),
        ("n*min(m, 3) + 2*min(m, 3) - min(3, m)", "(n + 1)*min(m, 3)"),
    ],
)
def test_equal_sizes_are_one_size(text: str, plain: str) -> None:
    a, b = parse(text, NAMES), parse(plain, NAMES)
    assert [found.value for found in size_range(a, WIDE)] == [found.value for found in size_range(b, WIDE)]
    if not text.startswith("n + m - max"):  # a minimum is not written as a sum less a maximum
        assert {str(expression(each)) for each in alternatives(a, WIDE)} >= {
            str(expression(each)) for each in alternatives(b, WIDE)
        }
    problem = Problem((Buffer("a", 0, live=((0, 2),)), Buffer("b", 0, live=((1, 3),))))
    peaks = set()
    for first, second in ((text, plain), (plain, text), (plain, plain)):
        symbols = {"n": (1, 64), "m": (0, 64)} if "1048576" not in text else WIDE
        made = shaped(problem, symbols, {"a": first, "b": second})
        found = plan_shapes(made, Mode.EXPRESSIONS, [{"n": 3, "m": 2}], OPTIONS)
        assert verify_shapes(made, found) == ()
        assert found.exact
        peaks.add(found.pools[0].peak)
    if not text.startswith("n + m - max"):
        assert len(peaks) == 1


@pytest.mark.parametrize("seed", range(1000 if NIGHTLY else 100))
def test_roundabout_spellings_are_the_same(seed: int) -> None:
    chance = random.Random(seed)
    text = made_up(chance, 3)[0]
    other, more = made_up(chance, 2)[0], chance.randint(2, 9)
    plain = alternatives(parse(text, NAMES), BOX)
    for roundabout in (
        f"({text}) + ({other}) - ({other})",
        f"max({text}, ({text}))",
        f"min({text}, ({text}) + n)",
        f"ceildiv({more}*({text}), {more})",
        f"-min(-({text}), -({text}))",
        f"{more}*({text}) - {more - 1}*({text})",
    ):
        found = alternatives(parse(roundabout, NAMES), BOX)
        assert {frozenset(each.items()) for each in found} == {frozenset(each.items()) for each in plain}, roundabout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n + m - m - 2", "it is -1 where n=1, m=0"),
        ("max(n - m, n - m)", "can be negative"),
        ("ceildiv(4*n - 8, 4)", "it is -1 where n=1"),
        ("n*n*n*n - n*n*n*n", "n*n*n*n can reach 2^62"),
        ("ceildiv(n, m - m)", "is not always 1 or more"),
        ("ceildiv(n, min(m, m))", "is not always 1 or more"),
    ],
)
def test_what_is_no_size_is_refused_in_every_form(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        size_range(parse(text, NAMES), WIDE)
    assert says in str(refused.value)


def test_steps_that_cancel_out_are_not_taken_for_large() -> None:
    low, high = size_range(parse("(n - n + 1)*2305843009213693952", NAMES), WIDE)
    assert low.value == high.value == 1 << 61


@pytest.mark.parametrize(
    "text",
    [
        "*".join(["(n + m + 1)"] * 50),
        "max(" + ", ".join(f"{k}*n + {60 - k}*m" for k in range(40)) + ")",
        " + ".join(f"max({k}*n, m)" for k in range(2, 40)),
        "*".join(f"max({k}*n, m)" for k in range(1, 50)),
        "max(" * 30 + "n" + "".join(f", {k}*m - n*n)" for k in range(30)),
        "ceildiv(" * 30 + "n" + "".join(f" + {k}*m, {k + 2})" for k in range(30)),
    ],
)
def test_forms_stay_small(text: str) -> None:
    symbols = {"n": (0, 1), "m": (0, 1)}
    made = parse(text, NAMES)
    found = normal(made, symbols)
    for values in ({"n": 1, "m": 0}, {"n": 1, "m": 1}):
        assert found.at(values) == made.at(values)
    assert len(alternatives(made, symbols)) <= 32
