"""Dimensions: numbers, or expressions in a model's symbols, in a normal form so that equal ones look alike."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TypeAlias

from ....planning.shapes.expression import LIMIT, Expression, ExpressionError, Kind, ceildiv, number, symbol
from ....planning.shapes.intervals import Box, bounds
from ....planning.shapes.polynomial import Polynomial, Powers, constant, expression, multiplied, plus, polynomial
from ....planning.shapes.ranges import parts_of

MOST_PARTS = 64
"""The most parts of one dimension; a size is the product of several."""

REMEMBERED = 4096
"""Cached results of arithmetic: models compute the same dimensions repeatedly."""

Dim: TypeAlias = int | Expression
Shape: TypeAlias = tuple[Dim, ...]


def named(name: str, box: Box) -> Dim:
    """Return the symbol, or its value if it can have only one."""
    low, high = box[name]
    return low if low == high else symbol(name)


def as_expression(dim: Dim) -> Expression:
    return number(dim) if isinstance(dim, int) else dim


def least(dim: Dim, box: Box) -> int:
    """Return a lower bound."""
    return dim if isinstance(dim, int) else bounds(dim, box)[0]


@lru_cache(REMEMBERED)
def add(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return _made(plus(_of(a), _of(b)))


@lru_cache(REMEMBERED)
def sub(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return _made(plus(_of(a), _of(b), -1))


@lru_cache(REMEMBERED)
def mul(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return _made(multiplied(_of(a), _of(b)))


def product(dims: Iterable[Dim]) -> Dim:
    one: Dim = 1
    return reduce(mul, dims, one)


@lru_cache(REMEMBERED)
def up(a: Dim, b: Dim) -> Dim:
    """Return a / b, rounded up."""
    if isinstance(b, int) and b < 1:
        raise ExpressionError(f"a division by {b}")
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b)
    exact = _quotient(_of(a), _of(b))
    return _made(exact) if exact is not None else _simple(ceildiv(as_expression(a), as_expression(b)))


def down(a: Dim, b: Dim) -> Dim:
    """Return a / b, rounded down."""
    if isinstance(a, int) and isinstance(b, int) and b > 0:
        return a // b
    exact = None if b == 0 else _quotient(_of(a), _of(b))
    return _made(exact) if exact is not None else up(sub(add(a, 1), b), b)


def most(a: Dim, b: Dim) -> Dim:
    """Return the greater of the two."""
    return _either(Kind.MAX, a, b)


def fewest(a: Dim, b: Dim) -> Dim:
    """Return the lesser of the two."""
    return _either(Kind.MIN, a, b)


def _either(kind: Kind, a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b) if kind is Kind.MAX else min(a, b)
    difference = sub(a, b)
    if isinstance(difference, int):
        return (a if difference > 0 else b) if kind is Kind.MAX else (b if difference > 0 else a)
    return _simple(Expression(kind, (as_expression(a), as_expression(b))))


def _of(dim: Dim) -> Polynomial:
    return constant(dim) if isinstance(dim, int) else polynomial(dim)


def _made(found: Polynomial) -> Dim:
    if all(not powers for powers in found):
        return int(found.get((), 0))
    if not all(-LIMIT <= coefficient <= LIMIT for coefficient in found.values()):
        raise ExpressionError("a dimension above 2^62")
    return _simple(expression(found))


def _simple(made: Expression) -> Dim:
    if parts_of(made) > MOST_PARTS:
        raise ExpressionError(f"a dimension of more than {MOST_PARTS} parts")
    return made


def _quotient(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """Return a / b if that is a sum of products and b is one product, or if the two differ only by a factor."""
    if len(b) == 1:
        ((below, by),) = b.items()
        found = {}
        for powers, coefficient in a.items():
            left = _without(powers, below)
            if left is None or coefficient % by:
                return None
            found[left] = coefficient // by
        return found
    ratios = {Fraction(coefficient) / b[powers] if powers in b else None for powers, coefficient in a.items()}
    ratio = next(iter(ratios), None)
    if a.keys() == b.keys() and len(ratios) == 1 and ratio is not None and ratio == int(ratio):
        return constant(int(ratio))
    return None


def _without(powers: Powers, below: Powers) -> Powers | None:
    count = dict(powers)
    for atom, power in below:
        if count.get(atom, 0) < power:
            return None
        count[atom] -= power
        if not count[atom]:
            del count[atom]
    return tuple(sorted(count.items(), key=lambda item: str(item[0])))


def require_limit(dims: Iterable[Dim]) -> None:
    """Raise ExpressionError for a number that cannot be a size."""
    for dim in dims:
        if isinstance(dim, int) and not 0 <= dim < LIMIT:
            raise ExpressionError(f"a dimension of {str(dim)[:40]}")
