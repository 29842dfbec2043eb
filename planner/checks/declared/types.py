"""Kinds of values, made from annotations. They tell whether a value is of the declared type, down to the fields of its smallest part.

Lists are checked by column, a field of all their entries at a time; only if something is wrong is it looked for.
"""

from __future__ import annotations

import builtins
import io
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from inspect import isclass
from itertools import chain
from numbers import Integral, Real
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ...model.columns.rows import Columns
from ...model.errors import MAX_BITS, Code
from ...model.problem import Problem
from ..report import Place, Report, quoted

MOST_WORDS = 16
"""A message lists the members of an enumeration if there are no more than this."""
PLAIN: dict[object, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a string"),
    bytes: ((bytes, bytearray, memoryview), "bytes (of a file: opened in the mode 'rb')"),
    type(None): ((type(None),), "None"),
}
SURE = {tuple, list}
"""Types whose values all have entries."""


class Kind(ABC):
    """What an annotation says of a value."""

    text = "anything"

    def __init__(self) -> None:
        self.taken: set[type] = set()
        """Types that were found to be of this kind."""

    @abstractmethod
    def takes(self, of: type) -> bool:
        """True if values of this type are of this kind, apart from what they contain."""

    def fits(self, _: list[Any]) -> bool:
        """True if the lengths of values of such types are right."""
        return True

    def columns(self, _: list[Any]) -> Iterator[tuple[Kind, list[Any]]]:
        """Yield what the values contain, everything of one kind together."""
        yield from ()

    def parts(self, _: Any) -> Iterator[tuple[str | int, Kind, Any]]:
        """Yield what a value contains, and where."""
        yield from ()

    def holds(self, values: list[Any], found: set[type]) -> bool:
        """True if the values are of this kind, with all that they contain. Their types are added to those found."""
        types = {*map(type, values)}
        found |= types
        if not types <= self.taken:
            if not all(map(self.takes, types)):
                return False
            self.taken |= types
        return self.fits(values) and all(kind.holds(column, found) for kind, column in self.columns(values) if column)

    def find(self, value: Any, place: Place, report: Report) -> None:
        """Report what is not of the declared kind."""
        if report.is_full:
            return
        if not self.takes(type(value)) or not self.fits([value]):
            code = Code.INVALID_OPTION if place[:1] == ("options",) else Code.WRONG_TYPE
            report.add(code, place, f"must be {self.text}, not {_shown(value)}")
            return
        for step, kind, part in self.parts(value):
            kind.find(part, (*place, step), report)


class Anything(Kind):
    """Values of any type."""

    def holds(self, _: list[Any], __: set[type]) -> bool:
        return True

    def takes(self, of: type) -> bool:
        return True


class Plain(Kind):
    """Values that contain nothing else."""

    def __init__(self, types: tuple[type, ...], text: str) -> None:
        super().__init__()
        self._types, self.text = types, text

    def takes(self, of: type) -> bool:
        return issubclass(of, self._types) and not (of is bool and bool not in self._types)


class Number(Kind):
    """Integers, or other numbers too, that can be written."""

    def __init__(self, like: type, text: str) -> None:
        super().__init__()
        self._like, self.text = like, text

    def takes(self, of: type) -> bool:
        return issubclass(of, self._like) and of is not bool

    def fits(self, values: list[Any]) -> bool:
        if {*map(type, values)} == {int}:
            least, most = int(min(values)), int(max(values))
            return max(least.bit_length(), most.bit_length()) <= MAX_BITS
        return all(value.bit_length() <= MAX_BITS for value in values if type(value) is int)


class Word(Kind):
    """One of some words."""

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__()
        self._words, self.text = frozenset(words), f"one of {', '.join(map(quoted, words))}"

    def takes(self, of: type) -> bool:
        return issubclass(of, str)

    def fits(self, values: list[Any]) -> bool:
        return self._words.issuperset(values)


class Called(Plain):
    """What can be called; if it is an object of the library's with declared fields, these are checked."""

    def __init__(self) -> None:
        super().__init__((Callable,), "something to call")  # type: ignore[arg-type]

    def columns(self, values: list[Any]) -> Iterator[tuple[Kind, list[Any]]]:
        for value in values:
            if is_ours(value):
                of: Any = type(value)
                yield kind_of(of), [value]

    def parts(self, value: Any) -> Iterator[tuple[str | int, Kind, Any]]:
        if is_ours(value):
            of: Any = type(value)
            yield from kind_of(of).parts(value)


class Several(Kind):
    """Any number of values of one kind."""

    def __init__(self, like: type, of: Kind) -> None:
        super().__init__()
        self._like: tuple[type, ...] = (Sequence,) if like in (tuple, list) else (like,)
        self._of, self.text = of, "a set" if issubclass(like, Set) else "a tuple or list"

    def takes(self, of: type) -> bool:
        return issubclass(of, self._like) and not issubclass(of, str | bytes | Mapping)

    def fits(self, values: list[Any]) -> bool:
        return {*map(type, values)} <= SURE or all(map(_has_entries, values))

    def columns(self, values: list[Any]) -> Iterator[tuple[Kind, list[Any]]]:
        unread = {type_ for type_ in {*map(type, values)} if not _can_be_read(type_)}
        if unread:
            values = [each for each in values if type(each) not in unread]
        yield self._of, [*chain.from_iterable(values)]

    def parts(self, value: Any) -> Iterator[tuple[str | int, Kind, Any]]:
        for i, part in enumerate(value if _can_be_read(type(value)) else ()):
            yield i, self._of, part


class Row(Kind):
    """A fixed number of values, each of its own kind."""

    def __init__(self, of: tuple[Kind, ...]) -> None:
        super().__init__()
        self._of = of
        self.text = f"{len(of)} values ({', '.join(each.text for each in of)})"

    def takes(self, of: type) -> bool:
        return issubclass(of, Sequence) and not issubclass(of, str | bytes)

    def fits(self, values: list[Any]) -> bool:
        return {*map(len, values)} <= {len(self._of)}

    def columns(self, values: list[Any]) -> Iterator[tuple[Kind, list[Any]]]:
        flat = [*chain.from_iterable(values)]
        for i, kind in enumerate(self._of):
            yield kind, flat[i :: len(self._of)]

    def parts(self, value: Any) -> Iterator[tuple[str | int, Kind, Any]]:
        for i, (kind, part) in enumerate(zip(self._of, value, strict=True)):
            yield i, kind, part


class Named(Kind):
    """A mapping."""

    def __init__(self, key: Kind, of: Kind) -> None:
        super().__init__()
        self._key, self._of, self.text = key, of, "a mapping"

    def takes(self, of: type) -> bool:
        return issubclass(of, Mapping)

    def columns(self, values: list[Any]) -> Iterator[tuple[Kind, list[Any]]]:
        yield self._key, [*chain.from_iterable(values)]
        yield self._of, [*chain.from_iterable(each.values() for each in values)]

    def parts(self, value: Any) -> Iterator[tuple[str | int, Kind, Any]]:
        for key, part in value.items():
            yield str(key), self._key, key
            yield str(key), self._of, part


class Record(Kind):
    """Objects of a class with declared fields."""

    def __init__(self, of: type) -> None:
        super().__init__()
        self._class, self.text = of, f"{_article(of.__name__)} {of.__name__}"
        self._kinds: dict[str, Kind] | None = None

    def takes(self, of: type) -> bool:
        return issubclass(of, self._class)

    def _fields(self) -> dict[str, Kind]:
        """Return the kinds of the fields, made when needed: a class may contain itself."""
        if self._kinds is None:
            hints = hints_of(self._class)
            named = [f.name for f in fields(self._class) if f.init] if is_dataclass(self._class) else [*hints]
            kinds = {name: kind_of(hints[name]) for name in named}
            self._kinds = {name: kind for name, kind in kinds.items() if not isinstance(kind, Anything)}
        return self._kinds

    def columns(self, values: list[Any]) -> Iterator[tuple[Kind, list[Any]]]:
        values = [*dict(zip(map(id, values), values, strict=True)).values()]
        if self._class is Problem:
            values = [value for value in values if not is_known(value)]
        for name, kind in self._fields().items():
            yield kind, [*map(attrgetter(name), values)]

    def parts(self, value: Any) -> Iterator[tuple[str | int, Kind, Any]]:
        if not is_known(value):
            for name, kind in self._fields().items():
                yield name, kind, getattr(value, name)


class OneOf(Kind):
    """Values of any of some kinds."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        super().__init__()
        self._kinds, self.text = kinds, " or ".join(kind.text for kind in kinds)
        self._chosen: dict[type, Kind] = {}

    def takes(self, of: type) -> bool:
        return any(kind.takes(of) for kind in self._kinds)

    def _of(self, type_: type) -> Kind:
        if type_ not in self._chosen:
            self._chosen[type_] = next(kind for kind in self._kinds if kind.takes(type_))
        return self._chosen[type_]

    def fits(self, values: list[Any]) -> bool:
        return all(kind.fits(some) for kind, some in self._sorted(values))

    def columns(self, values: list[Any]) -> Iterator[tuple[Kind, list[Any]]]:
        for kind, some in self._sorted(values):
            yield from kind.columns(some)

    def _sorted(self, values: list[Any]) -> Iterator[tuple[Kind, list[Any]]]:
        types: dict[Kind, list[type]] = {}
        for type_ in {*map(type, values)}:
            types.setdefault(self._of(type_), []).append(type_)
        for kind, some in types.items():
            if not isinstance(kind, Plain):
                yield kind, values if len(types) == 1 else [value for value in values if type(value) in some]

    def parts(self, value: Any) -> Iterator[tuple[str | int, Kind, Any]]:
        yield from self._of(type(value)).parts(value)


@cache
def kind_of(hint: Any) -> Kind:
    """Return the kind that an annotation names; what cannot be checked is of any kind."""
    if hint is Any:
        return Anything()
    origin, of = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return Plain(*PLAIN[hint])
    if hint in (int, float):
        return Number(Integral, "an integer") if hint is int else Number(Real, "a number")
    if origin is Literal and all(isinstance(word, str) for word in of):
        return Word(of)
    if Callable in (hint, origin):
        return Called()
    if origin in (Union, UnionType):
        kinds = tuple(map(kind_of, of))
        return Anything() if any(isinstance(kind, Anything) for kind in kinds) else OneOf(kinds)
    if origin is tuple and of[-1:] != (...,):
        return Row(tuple(map(kind_of, of)))
    if isclass(origin) and issubclass(origin, Mapping):
        return Named(*map(kind_of, of))
    if origin in (tuple, list, Sequence, Collection, Iterable, Set, frozenset):
        return Several(origin, kind_of(of[0]))
    if not isclass(hint) or getattr(hint, "_is_protocol", False) or hint is object:
        return Anything() if not isclass(origin) else Plain((origin,), f"{_article(origin.__name__)} {origin.__name__}")
    if issubclass(hint, Enum):
        members = [f"{hint.__name__}.{each.name}" for each in hint]
        listed = f" ({', '.join(members)})" if len(members) <= MOST_WORDS else ""
        return Plain((hint,), f"{_article(hint.__name__)} {hint.__name__}{listed}")
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return Record(hint)
    text = "true or false" if hint is bool else f"{_article(hint.__name__)} {hint.__name__}"
    return Plain((hint,), text)


def hints_of(of: Any) -> dict[str, Any]:
    return get_type_hints(of, None, _Namespace(sys.modules[of.__module__]))


class _Namespace(dict[str, Any]):
    """The names of a module, then those that it imports for type checkers only: the library's, or of files. Unknown ones are of any type."""

    def __init__(self, module: object) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        for place in (self._module, sys.modules["planner"], sys.modules["collections.abc"], io):
            if hasattr(place, name):
                return getattr(place, name)
        return Any


def _has_entries(value: Any) -> bool:
    """False for an array of numpy without dimensions, whose class has entries."""
    try:
        iter(value)
    except TypeError:
        return False
    return True


def _can_be_read(type_: type) -> bool:
    """True if reading the entries leaves them there, and they are not known to be right."""
    return issubclass(type_, Collection) and not issubclass(type_, Columns)


def is_ours(value: object) -> bool:
    """True if the value has declared fields and its class is the library's, or made from one: what others keep is not for it to judge."""
    ours, of = __name__.split(".")[0], type(value).__mro__
    return is_dataclass(value) and any(each.__module__.split(".")[0] == ours for each in of)


def is_known(value: object) -> bool:
    """True if it was checked before, and cannot have changed."""
    return type(value) is Problem and value.facts.is_sound


def _article(name: str) -> str:
    return "an" if name[:1] in "AEIOU" else "a"


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool | int | float | str):
        return quoted(value)
    name = type(value).__name__
    return (
        f"{_article(name)} {name}"
        if not hasattr(builtins, name) or type(value) is getattr(builtins, name)
        else f"a {type(value).__module__}.{name}"
    )
