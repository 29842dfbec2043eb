"""A first look at JSON from outside: finds faults that a validation library overlooks, or cannot handle.

These are duplicate keys, deep nesting, numbers that are not finite or absurdly long, and broken text. Sound input, the usual case, is read by
C code alone; only if something is wrong does exact_scan.py go through it character by character to find the place.
"""

from __future__ import annotations

import codecs
import json
import re
import time
from array import array
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ...checks.report import Report, bad_input
from ...model.deadline import LOOK_EVERY, look
from ...model.errors import Code
from .pieces import (
    LARGE,
    MAX_DEPTH,
    MAX_DIGITS,
    PIECE,
    Marks,
    Piece,
    Span,
    container,
    count_of,
    deepest,
    member,
    most_keys,
    pieces,
    root,
)

WIDE = 1000
"""Objects with more keys are read with care: each key might become an error."""

_DIGITS_ALIKE = bytes(ord("0") if chr(byte).isdecimal() else ord(" ") for byte in range(128)) + b" " * 128
_LONG_NUMBER = b"0" * (MAX_DIGITS + 1)
_HALF_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
READING = "reading"
EMPTY = "is empty"
_SPACE = re.compile(r"[ \t\n\r,]*")
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")


@dataclass(slots=True)
class Scanned:
    """What the first look showed."""

    top: dict[str, Any] | None
    """The document's own keys if it is an object, with strings and numbers, and the lengths of lists."""
    wide: bool
    """True if some object may have more than WIDE keys."""
    marks: Marks | None = None
    """For a LARGE document, until it has been read."""
    seconds: float = 0.0
    """The time taken: reading the document, which cannot look at the clock, takes about as long again."""


def scan(data: bytes) -> Scanned:
    """Return the first look. Raises BadInput unless the bytes are sound JSON."""
    begun = time.monotonic()
    look(READING)
    if is_empty(data):
        raise bad_input(Code.INVALID_JSON, (), EMPTY)
    _require_text(data)
    marks = Marks.of(data) if len(data) > LARGE else None
    if _nests_too_deep(data, marks) or (b"\\u" in data and _HALF_SURROGATE.search(data)):
        _find_fault(data)
        if deepest(data) > MAX_DEPTH:  # brackets after the end of what exact_scan saw
            raise bad_input(Code.TOO_DEEP, (), f"brackets nest deeper than {MAX_DEPTH}")
    long_numbers = _has_long_numbers(data)
    hooks = _Hooks(has_long_numbers=long_numbers, is_quick=marks is not None and not long_numbers and b"\\" not in data)
    look(READING)
    with suppress(ValueError, RecursionError):
        top = _read(data, hooks, marks)
        return Scanned(top, hooks.wide, marks, time.monotonic() - begun)
    hooks.last = {}
    _find_fault(data)  # and drops all that was read
    raise bad_input(Code.INVALID_JSON, (), "is not valid JSON")


def is_empty(data: bytes) -> bool:
    """True if there is nothing but white space."""
    return not data or data.isspace()


def _nests_too_deep(data: bytes, marks: Marks | None) -> bool:
    """True if a closer look is needed: few brackets cannot nest deep."""
    if marks is not None:
        return marks.deepest > MAX_DEPTH
    return count_of(data, b"[", b"{") > MAX_DEPTH and deepest(data) > MAX_DEPTH


def _read(data: bytes, hooks: _Hooks, marks: Marks | None) -> dict[str, Any] | None:
    """Read the whole document in pieces; return its own keys. ValueError: look closely."""
    whole = root(data) if len(data) > PIECE else None
    if whole is None and len(data) > PIECE and data.lstrip()[:1] in (b"[", b"{"):
        raise ValueError  # it ends differently from how it begins
    if whole is None or whole.end - whole.begin <= PIECE:
        return hooks.last if isinstance(hooks.load(data), _Object) else None
    return _read_container(data, whole, hooks, marks, is_own=True, is_kept=True)


def _read_container(
    data: bytes, span: Span, hooks: _Hooks, marks: Marks | None, *, is_own: bool = False, is_kept: bool = False
) -> dict[str, Any] | None:
    """Read a long object and return its keys if they are to be kept; of a long list nothing is."""
    is_object = data[span.begin] == ord("{")
    keys: dict[str, Any] = {}
    hashes = array("q")
    count, most = 0, most_keys(len(data), is_own=is_own)
    for piece in pieces(data, span, marks):
        found = _large(data, piece, is_object=is_object) if piece.is_large else None
        if found is None:
            opening, closing = (b"{", b"}") if is_object else (b"[", b"]")
            text = opening + data[piece.begin : piece.end] + closing
            read = None if is_object else hooks.quickly(text)
            if read is None:
                read = hooks.load(text)
            here = hooks.last if isinstance(read, _Object) else {}
            if (len(here) if is_object else len(read)) != piece.children:
                raise ValueError  # a comma with nothing before or behind it
        else:
            key, value = found
            _read_container(data, value, hooks, marks)
            here = {hooks.load(key): None} if is_object else {}
        count += len(here)
        if is_kept:
            keys.update(here)
        else:
            hashes.extend(map(hash, here))
        if is_kept and len(keys) != count:
            raise ValueError
        hooks.wide = hooks.wide or count > WIDE
        if is_object and count > most:
            raise ValueError
    if not is_kept and len(np.unique(hashes)) != count:  # two may be alike
        _read_container(data, span, hooks, marks, is_kept=True)
    return keys if is_object else None


def _large(data: bytes, piece: Piece, *, is_object: bool) -> tuple[bytes, Span] | None:
    """Return key and place of a large child, if it is a list or an object."""
    key, begin = b"", piece.begin
    if is_object:
        found = member(data, piece)
        if found is None:
            raise ValueError
        key, begin = found
    value = container(data, begin, piece.end)
    return None if value is None else (key, value)


def members(data: bytes) -> dict[str, bytes]:
    """Return the values of a sound document's own keys as written, none of them loaded."""
    text = data.decode("utf-8")
    values = json.JSONDecoder(object_pairs_hook=lambda _: None)
    found, at = {}, text.index("{") + 1
    while text[at := _SPACE.match(text, at).end()] != "}":  # type: ignore[union-attr]  # it matches nothing as well
        key, at = values.raw_decode(text, at)
        begin = _COLON.match(text, at).end()  # type: ignore[union-attr]  # the document is sound
        _, at = values.raw_decode(text, begin)
        found[key] = text[begin:at].encode("utf-8")
    return found


class _Object:
    """Stands for an object that is not kept."""


_AN_OBJECT = _Object()


class _Hooks:
    """The callbacks of json.loads; their ValueError means: look closely."""

    def __init__(self, *, has_long_numbers: bool, is_quick: bool = False) -> None:
        self.last: dict[str, Any] = {}
        self.wide = False
        self._is_quick = is_quick
        """There are neither escapes nor long numbers."""
        self._has_long_numbers = has_long_numbers
        self._objects = 0

    def load(self, data: bytes) -> Any:
        """Load the data. Raises ValueError."""
        return json.loads(  # a kept decoder would refer back to this object and keep the last one read in memory
            data.decode("utf-8"),
            object_pairs_hook=self.object,
            parse_constant=self.constant,
            parse_float=self.float,
            parse_int=self.integer if self._has_long_numbers else None,
        )

    def quickly(self, data: bytes) -> Any:
        """Read a list by a library that drops duplicate keys, write it again, and compare; None if that does not show that it is sound."""
        if not self._is_quick:
            return None
        from pydantic_core import from_json, to_json  # imported only for long documents

        try:
            read = from_json(data, allow_inf_nan=False, cache_strings="none")
        except ValueError:
            return None
        written = to_json(read)
        if written.count(b":") != data.count(b":") or b"Infinity" in written:
            return None
        look(READING)
        objects = written.count(b"{")
        if objects == len(read) and set(map(type, read)) == {dict}:
            self.wide = self.wide or max(map(len, read)) > WIDE
        else:  # the number of keys of nested objects is unknown
            self.wide = self.wide or objects > 0
        return read

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


def _require_text(data: bytes) -> None:
    """Raise BadInput unless it is UTF-8."""
    if data.startswith(codecs.BOM_UTF8):
        raise bad_input(Code.INVALID_JSON, (), "begins with a byte order mark; save the file as UTF-8 without one")
    byte = undecodable(data)
    if byte is not None:
        from .exact_scan import exact_scan

        place, _ = exact_scan(data[:byte].decode("utf-8"), Report())
        raise bad_input(Code.INVALID_JSON, place, not_utf_8(data, byte))


def not_utf_8(data: bytes, byte: int) -> str:
    """Return what to say of a file whose byte with this number is the first one that is not UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "is text in UTF-16: save it as UTF-8, as by `iconv -f UTF-16 -t UTF-8`"
    return f"is not UTF-8: byte {byte} cannot be decoded"


def undecodable(data: bytes) -> int | None:
    """Return the first byte that is not UTF-8; None if there is none."""
    if data.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for begin in range(0, len(data), PIECE):
        kept = len(decoder.getstate()[0])
        try:
            decoder.decode(data[begin : begin + PIECE], begin + PIECE >= len(data))
        except UnicodeDecodeError as error:
            return begin - kept + error.start
    return None


def _has_long_numbers(data: bytes) -> bool:
    """True if some number has more than MAX_DIGITS digits. Digits in texts count too."""
    step = PIECE - len(_LONG_NUMBER)
    return any(
        _LONG_NUMBER in data[begin : begin + PIECE].translate(_DIGITS_ALIKE) for begin in range(0, len(data), step)
    )


def _find_fault(data: bytes) -> None:
    """Raise BadInput if the exact scan confirms the suspicion of the fast look."""
    from .exact_scan import exact_scan  # imported only for faulty documents

    report = Report()
    exact_scan(data.decode("utf-8"), report)
    report.raise_if_any()
