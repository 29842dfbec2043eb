"""Expressions of sizes: their syntax, their values, and refusals with the place of the error."""

from __future__ import annotations

import random
from math import inf
from typing import Any

import numpy as np
import pytest

from planner.model.deadline import time_limit
from planner.planning.shapes import ranges
from planner.planning.shapes.expression import Expression, ExpressionError, Kind, parse
from planner.planning.shapes.intervals import Box, bounds
from planner.planning.shapes.normal import normal
from planner.planning.shapes.ranges import Effort, greatest, least, size_range

NAMES = ("n", "m")
BOX = {"n": (0, 6), "m": (1, 5)}


def made_up(chance: random.Random, depth: int) -> tuple[str, str]:
    """Return a random expression, and the same expression in Python's syntax."""
    kind = chance.randrange(8) if depth else chance.randrange(2)
    if kind == 0:
        number = str(chance.randint(0, 9))
        return number, number
    if kind == 1:
        name = chance.choice(NAMES)
        return name, name
    (a, x), (b, y) = (made_up(chance, depth - 1) for _ in range(2))
    match kind:
        case 2 | 3:
            return f"({a}) + {b}", f"(({x}) + ({y}))"
        case 4:
            return f"({a})*({b})", f"(({x}) * ({y}))"
        case 5:
            return f"{a} - ({b})", f"(({x}) - ({y}))"
        case 6:
            word = chance.choice(("max", "min"))
            return f"{word}({a}, {b})", f"{word}({x}, {y})"
        case _:
            divisor = chance.randint(1, 4)
            return f"ceildiv({a}, {divisor})", f"(-(-({x}) // {divisor}))"


def of_python(text: str, **values: int) -> int:
    found = eval(text, {"__builtins__": {}, "max": max, "min": min}, values)
    assert isinstance(found, int)
    return found


SHAPES = [{"n": n, "m": m} for n in range(7) for m in range(1, 6)]


@pytest.mark.parametrize("seed", range(60))
def test_values_ranges_and_texts_agree_with_python(seed: int) -> None:
    text, python = made_up(random.Random(seed), 4)
    expression = parse(text, NAMES)
    truth = [of_python(python, **values) for values in SHAPES]
    assert [expression.at(values) for values in SHAPES] == truth
    arrays = {name: np.array([values[name] for values in SHAPES]) for name in NAMES}
    assert np.broadcast_to(expression.at_many(arrays), len(SHAPES)).tolist() == truth
    again = parse(str(expression), NAMES)
    assert [again.at(values) for values in SHAPES] == truth
    low, high = bounds(expression, BOX)
    assert low <= min(truth)
    assert max(truth) <= high
    for found, extreme in ((least(expression, BOX), min(truth)), (greatest(expression, BOX), max(truth))):
        assert found is not None
        assert found.value == extreme == expression.at(found.at)


def test_operators_have_the_usual_precedence() -> None:
    assert [parse(text, NAMES).at({"n": 3, "m": 2}) for text in ("1+2*n-m", "-n*m+10", "2*-m+9", "(n - m) - 1")] == [
        5,
        4,
        5,
        0,
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is missing at character 1, where it ends"),
        ("n +", "is missing at character 4, where it ends"),
        ("n m", "an operator or the end is missing at character 3"),
        ("4n", "character 2"),
        ("n**2", "character 3"),
        ("n/2", "'/' at character 2 means nothing here"),
        ("n\u0663", "character 2"),
        ("k*2", "'k' at character 1 is no symbol that has a range"),
        ("pow(n, 2)", "no function 'pow'"),
        ("max(n)", "takes two values or more, not 1"),
        ("ceildiv(n, 2, 3)", "takes two values, not 3"),
        ("__import__('os')", "character"),
        ("n.__class__", "character 2"),
        ("n(2)", "no function 'n'"),
        ("99999999999999999999", "above 2^62"),
        ("4611686018427387905", "above 2^62"),
        ("(" * 40 + "n" + ")" * 40, "deeper than 32"),
        ("-" * 40 + "n", "deeper than 32"),
        ("+".join("n" * 401), "more than 400 parts"),
        ("n" + " " * 1024, "1025 characters"),
        ("(n", "')' is missing"),
        ("n)", "an operator or the end"),
    ],
)
def test_wrong_syntax_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        parse(text, NAMES)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n - m", "it is -5 where n=0, m=5"),
        ("3*m - n*n", "can be negative"),
        ("n*4611686018427387904", "can reach 2^62"),
        ("(n+1)*2147483648*2147483648*0", "can reach 2^62"),
        ("ceildiv(n, m - 1)", "is not always 1 or more"),
        ("ceildiv(n, n - 3)", "is not always 1 or more"),
        ("ceildiv(n, 0)", "is not always 1 or more (it is 0)"),
        ("2 - 5", "it is -3"),
        ("min(n, n - 1)", "it is -1 where n=0"),
    ],
)
def test_expressions_that_are_no_size_are_refused(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        size_range(parse(text, NAMES), BOX)
    assert says in str(refused.value)


def test_sizes_over_wide_ranges_are_found_without_trying_all_values() -> None:
    wide = {"n": (0, 1 << 29), "m": (1, 1000)}
    low, high = size_range(parse("n*n - n + m", NAMES), wide)
    assert (low.value, high.value) == (1, (1 << 58) - (1 << 29) + 1000)


def test_entangled_expressions_are_refused_after_limited_effort() -> None:
    tangled = parse("max(n*m - n*m*ceildiv(n, m) + 99999999999999, 0) + ceildiv(n, 7)*m - ceildiv(n*m, 7)+1000", NAMES)
    with pytest.raises(ExpressionError, match="entangled"):
        size_range(tangled, {"n": (0, 1 << 20), "m": (1, 1 << 10)}, Effort(1000))


MANY = {f"n{i}": (1, 4) for i in range(16)}


def product_of_sums(sign: str) -> str:
    """Return a product with more than a thousand terms when it is multiplied out."""
    sums = ("+".join(f"n{(3 * k + j) % 16}" for j in range(4)) for k in range(5))
    return "*".join(f"({each}{sign}n{k + 9}+4)" for k, each in enumerate(sums))


def test_what_is_largest_at_an_end_is_not_multiplied_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "normal", None)
    low, high = size_range(parse(product_of_sums("+"), MANY), MANY)
    assert (low.value, high.value) == (9**5, 24**5)


def test_the_clock_is_looked_at_between_boxes_of_a_long_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    def is_called_off() -> bool:
        looks.append(1)
        return False

    def multiplied_out(made: Expression, box: Box) -> Expression:
        found = normal(made, box)
        looks.clear()
        return found

    monkeypatch.setattr(ranges, "normal", multiplied_out)
    with time_limit(inf, called_off=is_called_off):
        assert greatest(parse(product_of_sums("-"), MANY), MANY) is None
    assert len(looks) > 1


def test_numbers_up_to_the_largest_address_are_accepted() -> None:
    assert parse("4611686018427387904", ()) == Expression(parse("1", ()).kind, value=1 << 62)


@pytest.mark.parametrize(
    ("text", "values", "says"),
    [
        ("4*n", {}, "the symbol n has no value"),
        ("n + m", {"n": 1}, "the symbol m has no value"),
        ("4*n", None, "the symbol n has no value"),
        ("4*n", {"n": "x"}, "the value of n must be an integer, not 'x'"),
        ("4*n", {"n": 2.5}, "the value of n must be an integer, not 2.5"),
        ("ceildiv(n, m)", {"n": 1, "m": 0}, r"'ceildiv\(n, m\)' divides by 0"),
    ],
)
def test_what_has_no_value_says_why(text: str, values: Any, says: str) -> None:
    with pytest.raises(ExpressionError, match=says):
        parse(text, NAMES).at(values)


def test_the_values_of_many_shapes_need_all_symbols() -> None:
    with pytest.raises(ExpressionError, match="the symbol m has no value"):
        parse("n*m", NAMES).at_many({"n": np.arange(3)})


@pytest.mark.parametrize("kind", [Kind.MAX, Kind.MIN, Kind.CEILDIV])
def test_what_was_put_together_wrongly_is_no_expression(kind: Kind) -> None:
    with pytest.raises(ExpressionError, match="has 0 parts"):
        Expression(kind).at({})
