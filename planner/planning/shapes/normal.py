"""Expressions in one form, so that sizes which are equal look alike: a maximum of sums of products, in which what cancels is gone.

A maximum moves outwards through sums, quotients and factors that are never negative; quotients are divided as far as they go; minima (and maxima
that cannot move) keep only what can matter, without what all their parts have in common. The value is the same for all symbols within their ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from .expression import LIMIT, Expression, Kind, largest
from .intervals import Box, bounds
from .polynomial import (
    MOST_TERMS,
    Polynomial,
    Powers,
    Rational,
    constant,
    envelope,
    expression,
    multiplied,
    never_below,
    plus,
    polynomial,
)

EXTREMES = (Kind.MAX, Kind.MIN)
MOST_ALTERNATIVES = 32
"""The most parts of a maximum, and the most sums that are made of several."""
MOST_COMPARED = 16
"""The most parts of a minimum or maximum of which each is compared with all others."""
MOST_DIVISIONS = 64
"""The most terms of a quotient by a sum that are divided one by one."""


def normal(made: Expression, box: Box) -> Expression:
    """Return an expression of the same value in the box, in normal form."""
    return largest([expression(each) for each in alternatives(made, box)])


def alternatives(made: Expression, box: Box) -> list[Polynomial]:
    """Return polynomials in normal form whose maximum always equals the expression."""
    return _spread(_single(made, box), box)


def quotient(made: Polynomial, by: Polynomial, box: Box) -> Polynomial:
    """Return the sum divided by one that is never below 1, rounded up."""
    divisor = _value_of(by)
    if divisor is None:
        whole, rest = _divided(made, by)
        if rest:
            last = _rounded(rest, by, box)
            return _rounded(made, by, box) if _value_of(last) is None else plus(whole, last)
        return whole
    whole = _without_zeros({powers: value // divisor for powers, value in made.items()})
    rest = _without_zeros({powers: value % divisor for powers, value in made.items()})
    common = gcd(divisor, *(int(value) for powers, value in rest.items() if powers))
    rest = _without_zeros(
        {powers: value // common if powers else -(-value // common) for powers, value in rest.items()}
    )
    if common > 1:
        return plus(whole, quotient(rest, constant(divisor // common), box))
    if divisor == 1:
        return plus(whole, rest)
    inner = _only_quotient(rest)
    if inner is not None and inner.parts[1].value * divisor < LIMIT:
        by_both = inner.parts[1].value
        others = plus(rest, {((inner, 1),): 1}, -1)
        return plus(
            whole, quotient(plus(polynomial(inner.parts[0]), others, by_both), constant(by_both * divisor), box)
        )
    return plus(whole, _rounded(rest, constant(divisor), box))


def _rounded(made: Polynomial, by: Polynomial, box: Box) -> Polynomial:
    """Return the quotient as an atom, or its value if it has only one."""
    if not made:
        return {}
    return _known(Expression(Kind.CEILDIV, (expression(made), expression(by))), box)


def _known(made: Expression, box: Box) -> Polynomial:
    low, high = bounds(made, box)
    return constant(low) if low == high else {((made, 1),): 1}


def _only_quotient(made: Polynomial) -> Expression | None:
    """Return the one quotient by a number in the sum, if it stands alone there, and is counted once."""
    found = {base for powers in made for base, _ in powers if base.kind is Kind.CEILDIV}
    if len(found) != 1:
        return None
    only = found.pop()
    stands = [powers for powers in made if any(base == only for base, _ in powers)]
    is_plain = stands == [((only, 1),)] and made[stands[0]] == 1 and only.parts[1].kind is Kind.NUMBER
    return only if is_plain else None


def _value_of(made: Polynomial) -> int | None:
    """Return its value if it is a number."""
    return int(made.get((), 0)) if all(not powers for powers in made) else None


def _without_zeros(made: Polynomial) -> dict[Powers, int]:
    return {powers: int(value) for powers, value in made.items() if value}


def _divided(made: Polynomial, by: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return the quotient and the rest of the division, term by term from the highest."""
    atoms = sorted({base for each in (made, by) for powers in each for base, _ in powers}, key=str)

    def rank(powers: Powers) -> tuple[int, ...]:
        counts = dict(powers)
        return sum(counts.values()), *(counts.get(base, 0) for base in atoms)

    lead = max(by, key=rank)
    whole: Polynomial = {}
    rest: Polynomial = {}
    left = made
    for _ in range(MOST_DIVISIONS):
        if not left:
            return whole, rest
        powers = max(left, key=rank)
        counts = dict(powers)
        for base, power in lead:
            counts[base] = counts.get(base, 0) - power
        if min(counts.values(), default=0) < 0 or left[powers] % by[lead]:
            rest = plus(rest, {powers: left[powers]})
            left = plus(left, {powers: left[powers]}, -1)
            continue
        term = {tuple((base, counts[base]) for base in atoms if counts.get(base)): left[powers] // by[lead]}
        whole = plus(whole, term)
        left = plus(left, multiplied(term, by), -1)
    return {}, made


def _single(made: Expression, box: Box) -> Polynomial:
    """Return one polynomial that equals the expression; maxima and minima are atoms."""
    if made.kind is Kind.NUMBER:
        return constant(made.value)
    if made.kind is Kind.SYMBOL:
        return {((made, 1),): 1}
    parts = [_single(part, box) for part in made.parts]
    found: Polynomial | None
    match made.kind:
        case Kind.SUM:
            found = {}
            for part in parts:
                found = plus(found, part)
        case Kind.PRODUCT:
            found = constant(1)
            for part in parts:
                if len(found) * len(part) > MOST_TERMS:
                    found = None
                    break
                found = multiplied(found, part)
        case Kind.CEILDIV:
            found = None
            if never_below(parts[1], constant(1), box):
                found = _extreme([quotient(each, parts[1], box) for each in _spread(parts[0], box)], box)
        case Kind.MAX:
            found = _extreme([each for part in parts for each in _spread(part, box)], box)
        case Kind.MIN:
            found = _extreme([each for part in parts for each in _spread(_negative(part), box)], box)
            found = None if found is None else _negative(found)
    return _known(Expression(made.kind, tuple(map(expression, parts))), box) if found is None else found


def _spread(made: Polynomial, box: Box) -> list[Polynomial]:
    """Return polynomials whose maximum is this one: each part of a maximum, or of a minimum that is taken off, with its factor.

    A minimum that is added, or a maximum that is taken off, stays one of its parts with their factor.
    """
    factors: dict[Expression, dict[Powers, Rational]] = {}
    """What each maximum or minimum is multiplied with."""
    for powers, value in made.items():
        extremes = [item for item in powers if item[0].kind in EXTREMES]
        if len(extremes) == 1 and extremes[0][1] == 1:
            rest = tuple(item for item in powers if item != extremes[0])
            factors.setdefault(extremes[0][0], {})[rest] = value
    found: list[Polynomial] = [made]
    for base, factor in factors.items():
        parts: list[Polynomial] = [polynomial(part) for part in base.parts]
        is_positive = never_below(factor, {}, box)
        if not is_positive and not never_below({}, factor, box):
            continue
        if len(factor) * max(map(len, parts)) > MOST_TERMS:
            continue
        whole = multiplied(factor, {((base, 1),): 1})
        parts = [multiplied(factor, part) for part in parts]
        if (base.kind is Kind.MAX) != is_positive:
            least = _extreme([each for part in parts for each in _spread(_negative(part), box)], box)
            parts = [whole if least is None else _negative(least)]
        else:
            parts = _unlike([each for part in parts for each in _spread(part, box)])
        if len(found) * len(parts) <= MOST_ALTERNATIVES:
            found = [plus(plus(each, whole, -1), part) for each in found for part in parts]
    return _unlike(found)


def _extreme(made: Sequence[Polynomial], box: Box) -> Polynomial | None:
    """Return the maximum as one polynomial; None if too many can be it."""
    made = _unlike(made)
    if len(made) <= MOST_COMPARED:
        made = envelope(made, box)
    if len(made) == 1:
        return made[0]
    if len(made) > MOST_ALTERNATIVES:
        return None
    shared = {powers: value for powers, value in made[0].items() if all(each.get(powers) == value for each in made)}
    rest = [plus(each, shared, -1) for each in made]
    common = gcd(*(int(value) for each in rest for value in each.values()))
    kind = Kind.MAX
    if _leans(rest) < 0:
        kind, common = Kind.MIN, -common
    parts = [expression({powers: int(value) // common for powers, value in each.items()}) for each in rest]
    return plus(shared, _known(Expression(kind, tuple(sorted(parts, key=str))), box), common)


def _unlike(made: Sequence[Polynomial]) -> list[Polynomial]:
    return list({frozenset(each.items()): each for each in made}.values())


def _negative(made: Polynomial) -> dict[Powers, Rational]:
    return plus({}, made, -1)


def _leans(made: Sequence[Polynomial]) -> int:
    """Return the sign of the first product that the sums together do not cancel: so a minimum, and the maximum of the negatives, look alike."""
    total: Polynomial = {}
    for each in made:
        total = plus(total, each)
    return min(((str(powers), 1 if value > 0 else -1) for powers, value in total.items()), default=("", 0))[1]
