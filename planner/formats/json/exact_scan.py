"""Scans JSON token by token, without recursion, to find its exact faults. Slow, so only for faulty JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isinf

from ...checks.report import Place, Report, quoted
from ...model.columns.numbered import FIRST, Numbered
from ...model.deadline import tick
from ...model.errors import Code
from .pieces import MAX_DEPTH, MAX_DIGITS, most_keys

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_NOT_FINITE = re.compile(r"NaN|-?Infinity")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(slots=True)
class _Open:
    """An object or list that has begun and not ended."""

    keys: set[str] | None
    """None for a list."""
    step: str | int | None = None
    """The key or position of the next or last value."""
    more: Numbered | None = None
    """The keys of an object after the first ones: packed, since it may have a million."""

    @property
    def count(self) -> int:
        """The number of keys."""
        return len(self.keys or ()) + (0 if self.more is None else len(self.more))

    def add(self, key: str) -> bool:
        """Add a key of an object; return False if it is there already."""
        before = self.count
        if self.keys is None or key in self.keys:
            return False
        if before < FIRST:
            self.keys.add(key)
        else:
            self.more = Numbered() if self.more is None else self.more
            self.more.of(key)
        return self.count > before


@dataclass(slots=True)
class _Scan:
    text: str
    report: Report
    at: int = 0
    stack: list[_Open] = field(default_factory=list)

    @property
    def place(self) -> Place:
        return tuple(frame.step for frame in self.stack if frame.step is not None)

    def space(self) -> str:
        """Skip white space; return the next character, or nothing at the end."""
        match = _SPACE.match(self.text, self.at)
        self.at = self.at if match is None else match.end()
        return self.text[self.at : self.at + 1]

    def fault(self, what: str) -> None:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1
        seen = quoted(self.text[self.at : self.at + 10]) if self.at < len(self.text) else "the end of the document"
        message = f"is not valid JSON: expected {what} at line {line}, column {column}, found {seen}"
        self.report.add(Code.INVALID_JSON, self.place, message)

    def string(self) -> str | None:
        """Return the string that begins here; None, with a finding, if it is broken."""
        match = _STRING.match(self.text, self.at)
        if match is None:
            self.fault("a string that ends with a quote, without control characters and with valid escapes")
            return None
        self.at = match.end()
        return unescape(match[0][1:-1])


def exact_scan(text: str, report: Report) -> tuple[Place, bool]:
    """Report every fault, up to the first that makes continuing impossible; return where the scan stopped, and whether that is the end."""
    scan = _Scan(text, report)
    while _value(scan):
        while True:
            if not scan.stack:
                if scan.space():
                    scan.fault("nothing more")
                    return (), False
                return (), True
            more = _after_value(scan)
            if more is None:
                return scan.place, False
            if more:
                break
    return scan.place, False


def _value(scan: _Scan) -> bool:
    """Read one value, opening objects and lists as needed; False if continuing is impossible."""
    while True:
        tick("reading")
        first = scan.space()
        if first == '"':
            whole = scan.string()
            if whole is None:
                return False
            _check_text(scan, whole, "the string")
            return True
        if first not in ("[", "{") or not first:
            return _scalar(scan)
        if len(scan.stack) >= MAX_DEPTH:
            scan.report.add(Code.TOO_DEEP, scan.place, f"lists and objects nest deeper than {MAX_DEPTH}")
            return False
        scan.at += 1
        scan.stack.append(_Open(set() if first == "{" else None))
        if scan.space() == ("}" if first == "{" else "]"):
            scan.at += 1
            scan.stack.pop()
            return True
        if first == "[":
            scan.stack[-1].step = 0
        elif not _key(scan):
            return False


def _scalar(scan: _Scan) -> bool:
    not_finite = _NOT_FINITE.match(scan.text, scan.at)
    if not_finite is not None:
        scan.report.add(Code.NOT_FINITE, scan.place, f"{not_finite[0]} is not a finite number")
        scan.at = not_finite.end()
        return True
    match = _WORD.match(scan.text, scan.at) or _NUMBER.match(scan.text, scan.at)
    if match is None:
        scan.fault("a value")
        return False
    scan.at = match.end()
    digits = match[0]
    if match.re is _WORD:
        return True
    if match[1] is None and match[2] is None:
        if len(digits) - digits.startswith("-") > MAX_DIGITS:
            text = f"an integer may have {MAX_DIGITS} digits at most, this one has {len(digits)}"
            scan.report.add(Code.INTEGER_TOO_LONG, scan.place, text)
    elif isinf(float(digits)):
        scan.report.add(Code.NOT_FINITE, scan.place, f"{quoted(digits)} is too large for a number")
    return True


def _after_value(scan: _Scan) -> bool | None:
    """Close the innermost list or object (False) or move to its next value (True); None if neither follows."""
    frame = scan.stack[-1]
    mark = scan.space()
    if mark == ("]" if frame.keys is None else "}"):
        scan.at += 1
        scan.stack.pop()
        return False
    if mark != ",":
        scan.fault("a comma or " + ("']'" if frame.keys is None else "'}'"))
        return None
    scan.at += 1
    if frame.keys is None:
        frame.step = frame.step + 1 if isinstance(frame.step, int) else 0
        return True
    return True if _key(scan) else None


def _key(scan: _Scan) -> bool:
    frame = scan.stack[-1]
    frame.step = None
    if scan.space() != '"':
        scan.fault("a key in double quotes")
        return False
    key = scan.string()
    if key is None:
        return False
    frame.step = key
    if frame.keys is not None:
        if not frame.add(key):
            scan.report.add(Code.DUPLICATE_KEY, scan.place, f"the key {quoted(key)} appears twice in one object")
        if frame.count > most_keys(len(scan.text), is_own=len(scan.stack) == 1):
            text = f"an object has {frame.count - 1} keys at most in a document of this length"
            scan.report.add(Code.TOO_LARGE, scan.place[:-1], text)
            return False
    _check_text(scan, key, "the key")
    if scan.space() != ":":
        scan.fault("a colon")
        return False
    scan.at += 1
    return True


def _check_text(scan: _Scan, text: str, what: str) -> None:
    if _HALF_PAIR.search(text):
        message = f"{what} {quoted(text)} contains half of a surrogate pair"
        scan.report.add(Code.INVALID_JSON, scan.place, message)


def unescape(escaped: str) -> str:
    """Return the text that a JSON string (without its quotes) represents."""
    if "\\" not in escaped:
        return escaped
    text = _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else _SHORT.get(m[2], m[2]), escaped)
    if _HALF_PAIR.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text
