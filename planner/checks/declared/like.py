"""Values that are like the declared ones: other sequences count as tuples, views as bytes, and integers of others as Python's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from numbers import Integral
from operator import is_
from typing import Any

from ...model.columns.rows import Columns
from ...model.problem import Problem
from .types import is_known, is_ours, kind_of

VIEWS = (bytearray, memoryview)
"""Sequences that count as bytes."""
NO_LISTS = (str, bytes, bytearray, Columns)
"""Sequences that stay as they are."""


def made_plain(value: Any, *, of_problem: bool = False) -> Any:
    """Return the value with a tuple for each other sequence in it, bytes for what is like them, and Python's integers for others, such as numpy's.

    The integers of a problem stay as they are, since problems may only have Python's, wherever they come from.
    """
    if isinstance(value, VIEWS):
        return bytes(value)
    if _is_like_int(type(value)):
        return value if of_problem else int(value)
    if isinstance(value, NO_LISTS) or is_known(value):
        return value
    if isinstance(value, Sequence):
        parts = [*value] if _are_plain(value) else [made_plain(part, of_problem=of_problem) for part in value]
        if isinstance(value, tuple):
            if all(map(is_, parts, value)):
                return value
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return tuple(parts)
    if isinstance(value, Mapping):
        of_keys = {key: made_plain(part, of_problem=of_problem) for key, part in value.items()}
        return value if all(map(is_, of_keys.values(), value.values())) else of_keys
    if is_ours(value):
        of_problem = of_problem or isinstance(value, Problem)
        old = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        new = {name: made_plain(part, of_problem=of_problem) for name, part in old.items()}
        changed = {name: part for name, part in new.items() if part is not old[name]}
        return replace(value, **changed) if changed else value
    return value


def _are_plain(parts: Sequence[Any]) -> bool:
    """True if the parts are objects of one class of the library, with nothing to change in them; found by column."""
    found: set[type] = set()
    of = {*map(type, parts)}
    return len(of) == 1 and is_ours(parts[0]) and kind_of(*of).holds([*parts], found) and not are_unusual(found)


def are_unusual(found: set[type]) -> bool:
    """True if some of these types are sequences that count as tuples or as bytes, or integers of others than Python."""
    return not found.isdisjoint(VIEWS) or any(
        (issubclass(of, Sequence) and not issubclass(of, (tuple, *NO_LISTS))) or _is_like_int(of) for of in found
    )


def have_other_integers(found: set[type]) -> bool:
    """True if some of these types are integers of others than Python."""
    return any(map(_is_like_int, found))


def _is_like_int(of: type) -> bool:
    return issubclass(of, Integral) and not issubclass(of, int)
