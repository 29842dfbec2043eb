"""Sums of products with integer coefficients, and proofs that one is never below another: exact, and without trying values.

Anything else (a maximum within a product, a rounded quotient) is an atom, of which only the range is known.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb
from typing import TypeAlias

from ...model.deadline import PREPARING, tick
from .expression import Expression, Kind, Values, number, times, total
from .intervals import Box, bounds

Atom: TypeAlias = Expression
Powers: TypeAlias = tuple[tuple[Atom, int], ...]
"""The atoms of a product, ordered by their texts, with their exponents."""
Rational: TypeAlias = int | Fraction
Polynomial: TypeAlias = Mapping[Powers, Rational]

MOST_TERMS = 4096
"""The most products of terms that are multiplied out; beyond, a product is an atom."""
MOST_BOXES = 32


def constant(value: Rational) -> dict[Powers, Rational]:
    return {(): value} if value else {}


def plus(a: Polynomial, b: Polynomial, factor: Rational = 1) -> dict[Powers, Rational]:
    """a + factor * b."""
    found = dict(a)
    for powers, coefficient in b.items():
        new = found.get(powers, 0) + factor * coefficient
        if new:
            found[powers] = new
        else:
            found.pop(powers, None)
    return found


def multiplied(a: Polynomial, b: Polynomial) -> dict[Powers, Rational]:
    found: dict[Powers, Rational] = {}
    for (p, x), (q, y) in product(a.items(), b.items()):
        tick(PREPARING)
        powers = _joined(p, q)
        found[powers] = found.get(powers, 0) + x * y
    return {powers: coefficient for powers, coefficient in found.items() if coefficient}


def _joined(p: Powers, q: Powers) -> Powers:
    if not (p and q):
        return p or q
    count: dict[Atom, int] = dict(p)
    for atom, power in q:
        count[atom] = count.get(atom, 0) + power
    return tuple(sorted(count.items(), key=lambda item: item[0].name or str(item[0])))


def polynomial(made: Expression) -> dict[Powers, Rational]:
    """Return the expression as one sum of products of atoms."""
    match made.kind:
        case Kind.NUMBER:
            return constant(made.value)
        case Kind.SUM:
            found: dict[Powers, Rational] = {}
            for part in made.parts:
                found = plus(found, polynomial(part))
            return found
        case Kind.PRODUCT:
            found = constant(1)
            for part in made.parts:
                factor = polynomial(part)
                if len(found) * len(factor) > MOST_TERMS:
                    return {((made, 1),): 1}
                found = multiplied(found, factor)
            return found
        case _:
            return atom(made)


def atom(made: Expression) -> dict[Powers, Rational]:
    """Return the expression with its parts in the form that expression() writes, so that equal atoms look alike."""
    if made.parts:
        made = Expression(made.kind, tuple(expression(polynomial(part)) for part in made.parts))
    return {((made, 1),): 1}


def is_multiple(made: Polynomial, of: int) -> bool:
    """True if it is always a multiple, as its coefficients show."""
    return all(coefficient % of == 0 for coefficient in made.values())


def expression(made: Polynomial) -> Expression:
    """Return a polynomial with integer coefficients as an expression."""
    terms = []
    for powers, coefficient in sorted(made.items(), key=lambda item: (-sum(p for _, p in item[0]), str(item[0]))):
        factors = [each for base, power in powers for each in [base] * power]
        value = int(coefficient)
        terms.append(times([*([number(value)] if value != 1 or not factors else []), *factors]))
    return total(terms)


def never_below(a: Polynomial, b: Polynomial, box: Box) -> bool:
    """True if a >= b is proven everywhere in the box. False proves nothing."""
    difference = plus(a, b, -1)
    if any(value_at(difference, values) < 0 for values in _witnesses(tuple(box.items()))):
        return False
    waiting = [dict(box)]
    looked = 0
    while waiting:
        part = waiting.pop()
        looked += 1
        if _is_plainly_positive(difference, part):
            continue
        if looked + len(waiting) >= MOST_BOXES:
            return False
        names = {name for powers in difference for base, _ in powers for name in base.symbols()}
        wide = max(names, key=lambda name: (part[name][1] - part[name][0], name), default=None)
        if wide is None or part[wide][0] == part[wide][1]:
            return False
        low, high = part[wide]
        middle = (low + high) // 2
        waiting += [{**part, wide: (low, middle)}, {**part, wide: (middle + 1, high)}]
    return True


def value_at(made: Polynomial, values: Values) -> Rational:
    """Return its exact value."""
    found: Rational = 0
    for powers, coefficient in made.items():
        for base, power in powers:
            coefficient *= base.at(values) ** power
        found += coefficient
    return found


@lru_cache(maxsize=64)
def _witnesses(box: tuple[tuple[str, tuple[int, int]], ...]) -> tuple[dict[str, int], ...]:
    """Return shapes that soon refute a false claim: the ends, and some in between."""
    chance = random.Random(0)
    ends = [{name: span[end] for name, span in box} for end in (0, 1)]
    mixed = [{name: chance.choice(span) for name, span in box} for _ in range(4)]
    between = [{name: chance.randint(*span) for name, span in box} for _ in range(4)]
    low = [{name: chance.randint(span[0], min(span[0] + 16, span[1])) for name, span in box} for _ in range(2)]
    return (*ends, *mixed, *between, *low)


def _is_plainly_positive(made: Polynomial, box: Box) -> bool:
    if _lower_bound(made, box) >= 0:
        return True
    opened = _without_quotients(made, box)
    return opened is not None and _lower_bound(opened, box) >= 0


def _lower_bound(made: Polynomial, box: Box) -> Rational:
    """Return a lower bound: with each atom as its least value plus an excess, no product of excesses is negative."""
    spans = {base: bounds(base, box) for powers in made for base, _ in powers}
    shifted = above_least(made, {base: span[0] for base, span in spans.items()})
    found = shifted.get((), 0)
    for powers, coefficient in shifted.items():
        if powers and coefficient < 0:
            most = 1
            for base, power in powers:
                low, high = spans[base]
                most *= (high - low) ** power
            found += coefficient * most
    return found


def above_least(made: Polynomial, least: Mapping[Atom, int]) -> dict[Powers, Rational]:
    """Return the polynomial in the excesses of the atoms over their least values."""
    found: dict[Powers, Rational] = {}
    for powers, coefficient in made.items():
        for chosen in product(*(range(power + 1) for _, power in powers)):
            tick(PREPARING)
            value = coefficient
            rest: list[tuple[Atom, int]] = []
            for (base, power), kept in zip(powers, chosen, strict=True):
                value *= comb(power, kept) * least[base] ** (power - kept)
                if kept:
                    rest.append((base, kept))
            if value:
                key = tuple(rest)
                found[key] = found.get(key, 0) + value
    return found


def _without_quotients(made: Polynomial, box: Box) -> dict[Powers, Rational] | None:
    """Return a lower bound with a/c or (a + c - 1)/c in place of ceildiv(a, c); None if that fails."""
    found: dict[Powers, Rational] = {}
    changed = False
    for powers, coefficient in made.items():
        place = next((i for i, (base, power) in enumerate(powers) if power == 1 and _has_plain_divisor(base)), None)
        if place is None:
            found = plus(found, {powers: coefficient})
            continue
        rest = powers[:place] + powers[place + 1 :]
        if any(bounds(base, box)[0] < 0 for base, _ in rest):
            return None
        quotient = powers[place][0]
        divisor = quotient.parts[1].value
        above = polynomial(quotient.parts[0])
        if coefficient < 0:
            above = plus(above, constant(divisor - 1))
        found = plus(found, multiplied({rest: Fraction(coefficient) / divisor}, above))
        changed = True
    return found if changed else None


def _has_plain_divisor(base: Atom) -> bool:
    return base.kind is Kind.CEILDIV and base.parts[1].kind is Kind.NUMBER


def envelope(made: Iterable[Polynomial], box: Box) -> list[Polynomial]:
    """Return the polynomials that can be the maximum: each one left out is proven never above one that is kept."""
    kept: list[list[Polynomial]] = []
    """Each with those that it replaces."""
    for one in _unlike(made):
        place = next((group for group in kept if never_below(group[0], one, box)), None)
        if place is not None:
            place.append(one)
            continue
        new = [one]
        for group in list(kept):
            if all(never_below(one, other, box) for other in group):
                new += group
                kept.remove(group)
        kept.append(new)
    return [group[0] for group in kept]


def _unlike(made: Iterable[Polynomial]) -> Iterator[Polynomial]:
    seen: set[frozenset[tuple[Powers, Rational]]] = set()
    for one in made:
        key = frozenset(one.items())
        if key not in seen:
            seen.add(key)
            yield one


def above_all(made: Sequence[Polynomial], box: Box) -> dict[Powers, Rational]:
    """Return an upper bound of all: the greatest coefficient of each product of excesses."""
    bases = {base for one in made for powers in one for base, _ in powers}
    least = {base: bounds(base, box)[0] for base in bases}
    shifted = [above_least(one, least) for one in made]
    highest = {powers: max(one.get(powers, 0) for one in shifted) for one in shifted for powers in one}
    back = {base: plus(atom(base), constant(least[base]), -1) for base in bases}
    found: dict[Powers, Rational] = {}
    for powers, coefficient in highest.items():
        term = constant(coefficient)
        for base, power in powers:
            for _ in range(power):
                term = multiplied(term, back[base])
        found = plus(found, term)
    return found
