"""Checks that the library's functions are called with what they declare to take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, wraps
from inspect import isfunction, signature, unwrap
from typing import Any, ParamSpec, Protocol, TypeVar, runtime_checkable

from ..model.errors import BadInput, Code
from ..model.problem import Problem
from . import require_sound
from .declared.like import are_unusual, have_other_integers, made_plain
from .declared.types import Record, hints_of, kind_of
from .report import Place, Report, bad_input

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


@runtime_checkable
class Sound(Protocol):
    """What can be wrong in itself although everything in it is of the declared type."""

    def require_sound(self) -> None:
        """Raise BadInput if it is."""


OF_PYTHON = (TypeError, ValueError, AttributeError, LookupError, AssertionError, ArithmeticError)
"""Errors that nobody raised on purpose."""


def require_types(value: Any, place: Place) -> None:
    """Raise BadInput if the object, or anything in it, is of another type than declared."""
    of: Any = type(value)
    kind = kind_of(of)
    if not kind.holds([value], set()):
        report = Report()
        kind.find(value, place, report)
        report.raise_if_any()


class _Arguments:
    """The arguments that a function takes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = function.__name__
        self._signature, hints = signature(function), hints_of(unwrap(function))
        named = [each for each in self._signature.parameters.values() if not each.kind.name.startswith("VAR_")]
        self._kinds = {each.name: kind_of(hints.get(each.name, Any)) for each in named}
        self._has_clock = {"options", "begun"} <= self._kinds.keys()
        """True if it takes options with a time limit, and the moment from which that counts."""
        self._first = next((each.name for each in named if each.name != "self"), None)

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Raise BadInput for whatever is of another type than declared.

        Return the arguments, with tuples for other sequences and Python's integers for others, and with a time limit that includes this check.
        """
        begun, report = time.monotonic(), Report()
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:  # too many, too few or unknown ones
            raise TypeError(f"{self._name}(): {error}") from None
        given, changed = bound.arguments, False
        for name, value in given.items():
            kind, found = self._kinds.get(name), set[type]()
            try:
                if kind is not None and not kind.holds([value], found):
                    kind.find(value, () if name == self._first and isinstance(kind, Record) else (name,), report)
                elif are_unusual(found):
                    given[name], changed = made_plain(value), True
                    if have_other_integers(found):
                        _require_sound(given[name])
            except RecursionError:
                raise bad_input(Code.TOO_DEEP, (name,), "has too many levels, one within the other") from None
        report.raise_if_any()
        if changed:
            args, kwargs = bound.args, bound.kwargs
        return args, {**kwargs, "begun": begun} if self._has_clock and "begun" not in given else kwargs

    def explain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise BadInput for what else is wrong with the arguments of a call that failed: problems and answers that are not sound."""
        for value in self._signature.bind(*args, **kwargs).arguments.values():
            _require_sound(value)


def _require_sound(value: Any) -> None:
    """Raise BadInput for a problem that is not sound, or for another object that says so of itself."""
    if isinstance(value, Problem):
        require_sound(value)
    elif isinstance(value, Sound):
        value.require_sound()


_arguments = cache(_Arguments)


@cache
def checked(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
    """Return the function, with a check of its arguments before it runs."""

    @wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        sound, with_clock = _arguments(function).check(args, kwargs)
        try:
            return function(*sound, **with_clock)
        except OF_PYTHON:
            _arguments(function).explain(sound, with_clock)
            raise

    return call


def explained(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
    """Return the function, with a check of its arguments once it has failed: for calls that take less time than the check."""

    @wraps(function)
    def call(*once: Parameters.args, **named_once: Parameters.kwargs) -> Answer:
        args: Any = tuple(map(_readable_again, once))
        kwargs: Any = {name: _readable_again(value) for name, value in named_once.items()}
        try:
            return function(*args, **kwargs)
        except BadInput as refusal:  # integers of numpy are refused, too
            try:
                sound, named = _arguments(function).check(args, kwargs)
            except BadInput:
                raise refusal from None
            if sound is args:
                raise
        except (*OF_PYTHON, RecursionError):
            sound, named = _arguments(function).check(args, kwargs)
            _arguments(function).explain(sound, named)
            if sound is args:
                raise
        return function(*sound, **named)

    return call


def _readable_again(value: Any) -> Any:
    """Return a tuple for what can be read only once."""
    return tuple(value) if isinstance(value, Iterator) else value


def exported(module: str, name: str, what: Any) -> Any:
    """Return what a module of the library exports under this name: functions with a check of their arguments, all else as it is."""
    if not isfunction(what):
        return what
    found = checked(what)
    found.__module__, found.__qualname__ = module, name  # where pickle looks for it
    return found
