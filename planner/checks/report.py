"""Collects what is wrong with an input: the first findings in full, the rest as a number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ..model.errors import MAX_ECHO, MAX_FINDINGS, BadInput, Code, Finding

Place: TypeAlias = tuple[str | int, ...]
"""The way from the root of the document to a value: keys and list positions."""

MAX_NAME = 64
"""Two names in one message stay well below MAX_ECHO."""


def printable(text: str) -> str:
    """The text with everything that could move a cursor, or is no character at all, escaped."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode("ascii") for c in text
    )


def pointer(place: Place) -> str:
    """The place as a JSON pointer (RFC 6901); control characters escaped, cut at MAX_ECHO characters."""
    parts: list[str] = []
    for step in place:
        token = str(step) if isinstance(step, int) else step[: MAX_ECHO + 1].replace("~", "~0").replace("/", "~1")
        parts.append("/" + printable(token))
    whole = "".join(parts)
    return whole if len(whole) <= MAX_ECHO else whole[: MAX_ECHO - 1] + "…"


def quoted(name: object) -> str:
    """A name for use in a message: strings in quotes, numbers bare, never long, never with control characters."""
    if not isinstance(name, str):
        return cut(str(name))
    return "'" + cut(printable(name[: MAX_NAME + 1])) + "'"


def cut(text: str) -> str:
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"


class Report:
    """What is wrong so far."""

    def __init__(self) -> None:
        self.listed: list[Finding] = []
        self.more = 0

    def add(self, code: Code, place: Place, message: str) -> None:
        """One more finding."""
        self.include(Finding(code, pointer(place), message))

    def include(self, finding: Finding) -> None:
        """One more, that was made already."""
        if len(self.listed) < MAX_FINDINGS:
            self.listed.append(finding)
        else:
            self.more += 1

    def count(self, number: int) -> None:
        """Findings that were not examined further."""
        self.more += number

    @property
    def is_full(self) -> bool:
        return len(self.listed) >= MAX_FINDINGS

    @property
    def found(self) -> int:
        return len(self.listed) + self.more

    def __bool__(self) -> bool:
        return bool(self.listed or self.more)

    def raise_if_any(self) -> None:
        """BadInput with all of it, if there is anything."""
        if self:
            raise BadInput(*self.listed, more=self.more)


def bad_input(code: Code, place: Iterable[str | int], message: str) -> BadInput:
    """One finding that makes looking further pointless."""
    return BadInput(Finding(code, pointer(tuple(place)), message))
