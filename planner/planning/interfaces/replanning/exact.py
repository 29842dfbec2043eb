"""Which values a session may keep: those whose every part is of one of the known types, and not of a class made from it.

Nobody can change these, their texts say all that they are, and equal texts are equal values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from solvers.model.instance import Term

from ....checks.declared.types import kind_of
from ....model.problem import Buffer

PLAIN = frozenset({int, str, float, bool, bytes, type(None)})
WITH_PARTS = frozenset({tuple, dict})
"""Dictionaries occur in options alone, of which a session keeps the text."""
OURS = tuple(each.__module__.split(".")[0] for each in (Buffer, Term))
LONGEST, MOST_SHAPES = 32, 1000
"""Longer sequences have shapes of their own, too many to remember."""

_shapes: set[tuple[Any, ...]] = set()
"""Objects of these shapes are of known types, with all that they contain."""


def is_exact(value: Any) -> bool:
    """True if the value is of the types that its class declares, down to its smallest part, and of exactly these."""
    found: set[type] = set()
    of: Any = type(value)
    return kind_of(of).holds([value], found) and all(map(_is_known, found))


def are_exact(values: Iterable[Any]) -> bool:
    """True if this holds of each; the types of plain ones are looked up."""
    return all(map(_has_known_shape, values))


def _is_known(of: type) -> bool:
    return of in PLAIN or of in WITH_PARTS or of.__module__.split(".")[0] in OURS


def _has_known_shape(value: Any) -> bool:
    of: Any = type(value)
    read = _fields_of(of)
    if read is None:
        return is_exact(value)
    shape = of, *_shape(read(value))
    if shape in _shapes:
        return True
    if not is_exact(value):
        return False
    if len(_shapes) < MOST_SHAPES and _is_of_plain_types(shape[1:]):
        _shapes.add(shape)
    return True


def _shape(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the types of the parts, then what is in those that are tuples."""
    types = tuple(map(type, parts))
    return (*types, *[_shape(part) for part in parts if type(part) is tuple]) if tuple in types else types


def _is_of_plain_types(shape: tuple[Any, ...]) -> bool:
    """True if the shape names no objects, whose parts it does not tell."""
    return len(shape) <= LONGEST and all(
        _is_of_plain_types(each) if type(each) is tuple else each is tuple or each in PLAIN for each in shape
    )


@cache
def _fields_of(of: type) -> attrgetter[Any] | None:
    return attrgetter(*[each.name for each in fields(of)]) if is_dataclass(of) and _is_known(of) else None
