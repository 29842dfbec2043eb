"""First look at JSON from outside: finds what a validation library lets through, or would choke on.

That is duplicate keys, deep nesting, numbers that are not finite or absurdly long, broken text. Sound input, the usual case, is looked at by
C code alone; only when something is wrong does exact_scan.py go through it character by character, to say where.
"""

from __future__ import annotations

import json
import re
import time
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ...checks.limits import MAX_DEPTH, MAX_DIGITS
from ...checks.report import Report, bad_input, quoted
from ...model.deadline import LOOK_EVERY, look
from ...model.errors import Code
from ..documents import ANSWERS

WIDE = 1000
"""An object with more keys than this is looked at with care: each key might become an error."""

_DIGITS_ALIKE = bytes(ord("0") if chr(byte).isdecimal() else ord(" ") for byte in range(128)) + b" " * 128
_LONG_NUMBER = b"0" * (MAX_DIGITS + 1)
_HALF_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
READING = "reading"
_SPACE = re.compile(r"[ \t\n\r,]*")
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
NOT_STRUCTURE = bytes(sorted(set(range(256)) - set(b'[]{}"')))


class Scanned(NamedTuple):
    """What the first look showed."""

    top: dict[str, Any] | None
    """The document's own keys if it is an object; of the values strings and numbers are kept, and how long lists are."""
    wide: bool
    """Some object has more than WIDE keys."""
    seconds: float = 0.0
    """How long it took: to read the document, which looks at no clock, takes about as long again."""


def scan(data: bytes) -> Scanned:
    """Raises BadInput unless the bytes are sound JSON."""
    begun = time.monotonic()
    look(READING)
    text = _decode(data)
    if _depth(data) > MAX_DEPTH or (b"\\u" in data and _HALF_SURROGATE.search(data)):
        _find_fault(text)
        if _depth(data) > MAX_DEPTH:  # brackets beyond the end of what exact_scan saw
            raise bad_input(Code.TOO_DEEP, (), f"brackets nest deeper than {MAX_DEPTH}")
    hooks = _Hooks()
    parse_int = hooks.integer if _LONG_NUMBER in data.translate(_DIGITS_ALIKE) else None
    look(READING)
    try:
        top = json.loads(
            text,
            object_pairs_hook=hooks.object,
            parse_constant=hooks.constant,
            parse_float=hooks.float,
            parse_int=parse_int,
        )
    except (ValueError, RecursionError):
        _find_fault(text)
        raise bad_input(Code.INVALID_JSON, (), "is not valid JSON") from None
    return Scanned(hooks.last if isinstance(top, _Object) else None, hooks.wide, time.monotonic() - begun)


def members(data: bytes) -> dict[str, bytes]:
    """The values of a sound document's own keys as they stand in it, none of them loaded."""
    text = data.decode("utf-8")
    values = json.JSONDecoder(object_pairs_hook=lambda _: None)
    found, at = {}, text.index("{") + 1
    while text[at := _SPACE.match(text, at).end()] != "}":  # type: ignore[union-attr]  # it matches nothing as well
        key, at = values.raw_decode(text, at)
        begin = _COLON.match(text, at).end()  # type: ignore[union-attr]  # the document is sound
        _, at = values.raw_decode(text, begin)
        found[key] = text[begin:at].encode("utf-8")
    return found


def require_format(scanned: Scanned, wanted: str, what: str) -> None:
    """Raises BadInput unless the document says that it is of that format."""
    if scanned.top is None:
        raise bad_input(Code.WRONG_TYPE, (), f"{what} must be a JSON object")
    if "format" not in scanned.top:
        raise bad_input(
            Code.UNKNOWN_FORMAT, (), f"the field 'format' is missing; it must be {quoted(wanted)} for {what}"
        )
    found = scanned.top["format"]
    if found != wanted:
        said = quoted(found) if isinstance(found, str) else "something else"
        advice = f"; {ANSWERS[found]}" if isinstance(found, str) and found in ANSWERS else ""
        raise bad_input(Code.UNKNOWN_FORMAT, ("format",), f"{what} has the format {quoted(wanted)}, not {said}{advice}")


class _Object:
    """Stands for an object that is not kept."""


_AN_OBJECT = _Object()


class _Hooks:
    """What json.loads calls; a ValueError from here means: look closely."""

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}
        self.wide = False
        self._objects = 0

    def object(self, pairs: list[tuple[str, Any]]) -> _Object:
        self.last = dict(pairs)
        if len(self.last) != len(pairs):
            raise ValueError
        if len(pairs) > WIDE:
            self.wide = True
        self._objects += 1
        if self._objects % LOOK_EVERY == 0:
            look(READING)
        return _AN_OBJECT

    def constant(self, _: str) -> NoReturn:
        raise ValueError

    def float(self, digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            raise ValueError
        return value

    def integer(self, digits: str) -> int:
        if len(digits) - digits.startswith("-") > MAX_DIGITS:
            raise ValueError
        return int(digits)


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        from .exact_scan import exact_scan

        place, _ = exact_scan(data[: error.start].decode("utf-8"), Report())
        raise bad_input(Code.INVALID_JSON, place, f"is not UTF-8: byte {error.start} cannot be decoded") from None
    if text.startswith("\ufeff"):
        raise bad_input(Code.INVALID_JSON, (), "begins with a byte order mark; save the file as UTF-8 without one")
    return text


def _depth(data: bytes) -> int:
    """The deepest nesting of brackets outside strings, if the document is valid up to there."""
    if b"\\" in data:
        data = _ESCAPE.sub(b"", data)
    marks = np.frombuffer(data.translate(None, NOT_STRUCTURE), np.uint8)
    outside = np.cumsum(marks == ord('"')) % 2 == 0
    opening = (marks == ord("[")) | (marks == ord("{"))
    closing = (marks == ord("]")) | (marks == ord("}"))
    steps = np.where(outside, opening.astype(np.int8) - closing.astype(np.int8), 0)
    return int(np.cumsum(steps, dtype=np.int64).max(initial=0))


def _find_fault(text: str) -> None:
    """Raises BadInput if the exact scan finds what made the fast look suspicious."""
    from .exact_scan import exact_scan  # only for what is broken

    report = Report()
    exact_scan(text, report)
    report.raise_if_any()
