"""Sizes as expressions over symbols: `4*n*(n+m)`, `max(a, b)`, `ceildiv(n, 8)`. Read by a small grammar, and nothing is ever executed.

expression = term { ("+" | "-") term }
term       = factor { "*" factor }
factor     = number | symbol | "-" factor | "(" expression ")" | function "(" expression { "," expression } ")"
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from math import prod
from numbers import Integral
from typing import Any, TypeAlias

from ...model.errors import BadInput, Code, Finding, echo

MOST_CHARACTERS = 1024
MOST_NODES = 400
MOST_DEPTH = 32
LIMIT = 1 << 62
TOKEN = re.compile(r"\s*(?:(?P<number>[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>[-+*(),]))", re.ASCII)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)


class Kind(StrEnum):
    """The kind of a node."""

    NUMBER = "number"
    SYMBOL = "symbol"
    SUM = "sum"
    PRODUCT = "product"
    MAX = "max"
    MIN = "min"
    CEILDIV = "ceildiv"


FUNCTIONS = {"max": Kind.MAX, "min": Kind.MIN, "ceildiv": Kind.CEILDIV}

Values: TypeAlias = Mapping[str, int]
"""The value of each symbol."""


class ExpressionError(BadInput, ValueError):
    """Says why a text is no expression, or an expression no size."""

    def __init__(self, text: str) -> None:
        super().__init__(Finding(Code.INVALID_EXPRESSION, "", text))

    def __str__(self) -> str:
        return self.findings[0].message


@dataclass(frozen=True, slots=True)
class Expression:
    """A node and its children."""

    kind: Kind
    parts: tuple[Expression, ...] = ()
    value: int = 0
    name: str = ""

    def __str__(self) -> str:
        return _text(self)

    def at(self, values: Values) -> int:
        """Return its exact value. Raises ExpressionError if a symbol has no value, or a divisor is 0."""
        try:
            return self._at(values)
        except ZeroDivisionError:
            raise ExpressionError(f"{echo(str(self))} divides by 0") from None
        except (IndexError, ValueError) as error:
            if not isinstance(error, ExpressionError):
                require_formed(self, values)
            raise

    def _at(self, values: Values) -> int:
        match self.kind:
            case Kind.NUMBER:
                return self.value
            case Kind.SYMBOL:
                value = self._value(values)
                if type(value) is int or isinstance(value, Integral):
                    return int(value)
                raise ExpressionError(f"the value of {self.name} must be an integer, not {echo(value)}")
            case Kind.SUM:
                return sum(part._at(values) for part in self.parts)
            case Kind.PRODUCT:
                return prod(part._at(values) for part in self.parts)
            case Kind.MAX:
                return max(part._at(values) for part in self.parts)
            case Kind.MIN:
                return min(part._at(values) for part in self.parts)
            case Kind.CEILDIV:
                return -(-self.parts[0]._at(values) // self.parts[1]._at(values))

    def _value(self, values: Mapping[str, Any]) -> Any:
        """Return the symbol's value, or values."""
        try:
            return values[self.name]
        except (LookupError, TypeError):
            raise ExpressionError(f"the symbol {self.name} has no value") from None

    def at_many(self, values: Mapping[str, Any]) -> Any:
        """Return its values for arrays of integers. The symbols' ranges keep every step below 2^62. Raises ExpressionError if a symbol has none."""
        import numpy as np

        if self.kind is Kind.NUMBER:
            return np.int64(self.value)
        if self.kind is Kind.SYMBOL:
            return self._value(values)
        parts = [part.at_many(values) for part in self.parts]
        match self.kind:
            case Kind.SUM:
                return reduce(np.add, parts)
            case Kind.PRODUCT:
                return reduce(np.multiply, parts)
            case Kind.MAX:
                return reduce(np.maximum, parts)
            case Kind.MIN:
                return reduce(np.minimum, parts)
            case _:
                return -(-parts[0] // parts[1])

    def symbols(self) -> frozenset[str]:
        """Return the symbols it names."""
        if self.kind is Kind.SYMBOL:
            return frozenset({self.name})
        return frozenset().union(*(part.symbols() for part in self.parts))


def require_formed(made: Expression, known: Collection[str]) -> None:
    """Raise ExpressionError unless each part has as many parts as its kind takes, and names known symbols; `parse` makes only such ones."""
    wanted, count = _PARTS.get(made.kind), len(made.parts)
    if (count < 1) if wanted is None else (count != wanted):
        text = "one or more" if wanted is None else str(wanted)
        raise ExpressionError(f"the part {made.kind.value!r} has {count} parts, and takes {text}")
    if made.kind is Kind.SYMBOL and made.name not in known:
        raise ExpressionError(f"{made.name!r} is no symbol that has a range")
    for part in made.parts:
        require_formed(part, known)


def number(value: int) -> Expression:
    return Expression(Kind.NUMBER, value=value)


def symbol(name: str) -> Expression:
    return Expression(Kind.SYMBOL, name=name)


def total(parts: Sequence[Expression]) -> Expression:
    """Return the sum."""
    return parts[0] if len(parts) == 1 else Expression(Kind.SUM, tuple(parts)) if parts else number(0)


def times(parts: Sequence[Expression]) -> Expression:
    """Return the product."""
    return parts[0] if len(parts) == 1 else Expression(Kind.PRODUCT, tuple(parts)) if parts else number(1)


def largest(parts: Sequence[Expression]) -> Expression:
    """Return the maximum."""
    return parts[0] if len(parts) == 1 else Expression(Kind.MAX, tuple(parts))


def ceildiv(part: Expression, by: Expression) -> Expression:
    return Expression(Kind.CEILDIV, (part, by))


_PARTS = {Kind.NUMBER: 0, Kind.SYMBOL: 0, Kind.CEILDIV: 2}
"""The number of parts of a node, by kind; the other kinds have one or more."""
LONGER = 64
"""A closed expression may be this many times as long as a size."""


def parse(text: str, known: Collection[str], longer: int = 1) -> Expression:
    """Return the expression, which may be `longer` times as long as a size. Raises ExpressionError, which names the fault and its character."""
    if len(text) > MOST_CHARACTERS * longer:
        raise ExpressionError(f"it has {len(text)} characters, and {MOST_CHARACTERS * longer} are the most")
    return _Parser(text, known, MOST_NODES * longer).whole()


class _Parser:
    """One text, from left to right."""

    def __init__(self, text: str, known: Collection[str], most: int) -> None:
        self._known, self._most = known, most
        self._tokens: list[tuple[int, str, str]] = []
        self._next = self._nodes = 0
        at = 0
        end = len(text.rstrip())
        while at < end:
            found = TOKEN.match(text, at)
            if found is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                raise ExpressionError(f"{text[at]!r} at character {at + 1} means nothing here")
            kind = found.lastgroup or ""
            self._tokens.append((found.start(kind) + 1, kind, found[kind]))
            at = found.end()
        self._tokens.append((end + 1, "end", ""))

    def whole(self) -> Expression:
        found = self._sum(0)
        if self._kind != "end":
            raise self._unexpected("an operator or the end")
        return found

    @property
    def _kind(self) -> str:
        return self._tokens[self._next][1]

    @property
    def _word(self) -> str:
        return self._tokens[self._next][2]

    def _unexpected(self, wanted: str) -> ExpressionError:
        at, kind, word = self._tokens[self._next]
        return ExpressionError(
            f"{wanted} is missing at character {at}, where {'it ends' if kind == 'end' else repr(word) + ' stands'}"
        )

    def _take(self, word: str) -> bool:
        if self._word == word and self._kind == "sign":
            self._next += 1
            return True
        return False

    def _require(self, word: str) -> None:
        if not self._take(word):
            raise self._unexpected(repr(word))

    def _count(self, made: Expression) -> Expression:
        self._nodes += 1
        if self._nodes > self._most:
            raise ExpressionError(f"it has more than {self._most} parts")
        return made

    def _sum(self, depth: int) -> Expression:
        parts = [self._product(depth)]
        while True:
            if self._take("+"):
                parts.append(self._product(depth))
            elif self._take("-"):
                parts.append(self._count(_negative(self._product(depth))))
            else:
                return self._count(total(parts))

    def _product(self, depth: int) -> Expression:
        first = self._factor(depth)
        parts = [first]
        while self._take("*"):
            parts.append(self._factor(depth))
        if len(parts) > 1 and first.kind is Kind.PRODUCT and first.parts[0] == number(-1):
            parts[:1] = first.parts  # the sign applies to the whole product
        return self._count(times(parts))

    def _factor(self, depth: int) -> Expression:
        if depth > MOST_DEPTH:
            raise ExpressionError(f"it nests deeper than {MOST_DEPTH}")
        if self._take("-"):
            return self._count(_negative(self._factor(depth + 1)))
        if self._take("("):
            found = self._sum(depth + 1)
            self._require(")")
            return found
        at, kind, word = self._tokens[self._next]
        if kind == "number":
            self._next += 1
            if len(word) > 19 or int(word) > LIMIT:
                raise ExpressionError(f"the number at character {at} is above 2^62")
            return self._count(number(int(word)))
        if kind != "name":
            raise self._unexpected("a number, a symbol or a function")
        self._next += 1
        if self._take("("):
            return self._function(at, word, depth)
        if word not in self._known:
            raise ExpressionError(f"{word!r} at character {at} is no symbol that has a range")
        return self._count(symbol(word))

    def _function(self, at: int, word: str, depth: int) -> Expression:
        if word not in FUNCTIONS:
            raise ExpressionError(
                f"there is no function {word!r} (at character {at}); there are {', '.join(FUNCTIONS)}"
            )
        parts = [self._sum(depth + 1)]
        while self._take(","):
            parts.append(self._sum(depth + 1))
        self._require(")")
        if len(parts) < 2 or (word == "ceildiv" and len(parts) != 2):
            wanted = "two values" if word == "ceildiv" else "two values or more"
            raise ExpressionError(f"{word} at character {at} takes {wanted}, not {len(parts)}")
        return self._count(Expression(FUNCTIONS[word], tuple(parts)))


def _negative(made: Expression) -> Expression:
    factors = made.parts if made.kind is Kind.PRODUCT else (made,)
    return times((number(-1), *factors))


def _text(made: Expression) -> str:
    match made.kind:
        case Kind.NUMBER:
            return str(made.value)
        case Kind.SYMBOL:
            return made.name
        case Kind.SUM:
            text = str(made.parts[0])
            for part in made.parts[1:]:
                sums = _inner(part, Kind.SUM)
                text += f" - {sums[1:]}" if sums.startswith("-") else f" + {sums}"
            return text
        case Kind.PRODUCT:
            factors = [_inner(part, Kind.SUM, Kind.PRODUCT) for part in made.parts]
            if factors[0] == "-1":
                return "-" + "*".join(factors[1:])
            return "*".join(factors)
        case _:
            return f"{made.kind.value}({', '.join(map(str, made.parts))})"


def _inner(part: Expression, *wrapped: Kind) -> str:
    return f"({part})" if part.kind in wrapped else str(part)
