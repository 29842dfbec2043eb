"""Collects the faults of an input: the first findings in full, the rest as a count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from ..model.errors import MAX_ECHO, MAX_FINDINGS, BadAnswer, BadInput, Code, Finding, shown_bare

Place: TypeAlias = tuple[str | int, ...]
"""The path from the root of the document to a value: keys and list positions."""

_MEANT_IN_C = re.compile(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)")
"""Between two characters that mean something in C, even in a comment."""
MAX_NAME = 64
"""Short enough that two names in one message stay well below MAX_ECHO."""


def printable(text: str) -> str:
    """Return the text with everything escaped that could move a cursor or is not a character."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode("ascii") for c in text
    )


def in_comment(text: str) -> str:
    """Return 120 characters of it at most, in ASCII, that can neither end nor open a comment of C."""
    shown = text.encode("ascii", "backslashreplace").decode("ascii")[:120]
    return _MEANT_IN_C.sub(" ", shown.replace("\\", "/"))


def pointer(place: Place) -> str:
    """Return the place as a JSON pointer (RFC 6901); control characters escaped, cut at MAX_ECHO characters."""
    parts: list[str] = []
    for step in place:
        token = str(step) if isinstance(step, int) else step[: MAX_ECHO + 1].replace("~", "~0").replace("/", "~1")
        parts.append("/" + printable(token))
    whole = "".join(parts)
    return whole if len(whole) <= MAX_ECHO else whole[: MAX_ECHO - 1] + "…"


def quoted(name: object) -> str:
    """Return a name for a message: strings in quotes, numbers bare, never long, never with control characters."""
    if not isinstance(name, str):
        return cut(shown_bare(name))
    return "'" + cut(printable(name[: MAX_NAME + 1])) + "'"


def cut(text: str) -> str:
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"


ALIKE = 0.7
"""The similarity of names (by difflib) from which a suggestion is made."""


def nearest(name: str, known: Iterable[str], alike: float = ALIKE) -> str | None:
    """Return the known name that is most like this one; None if none is like it."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name[:MAX_NAME], known, 1, alike)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about a name that is not known: empty, or a question."""
    found = nearest(name, known)
    return "" if found is None else f"; did you mean {quoted(found)}?"


class Report:
    """The faults found so far."""

    def __init__(self) -> None:
        self.listed: list[Finding] = []
        self.more = 0

    def add(self, code: Code, place: Place, message: str) -> None:
        """Add a finding."""
        self.include(Finding(code, pointer(place), message))

    def include(self, finding: Finding) -> None:
        """Add a finding made elsewhere."""
        if len(self.listed) < MAX_FINDINGS:
            self.listed.append(finding)
        else:
            self.more += 1

    def count(self, number: int) -> None:
        """Count further findings that were not examined."""
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
        """Raise BadInput with all findings, if there are any."""
        if self:
            raise BadInput(*self.listed, more=self.more)


def bad_input(code: Code, place: Iterable[str | int], message: str) -> BadInput:
    """Return BadInput with one finding, after which looking further is pointless."""
    return BadInput(Finding(code, pointer(tuple(place)), message))


def bad_answer(code: Code, place: Iterable[str | int], message: str) -> BadAnswer:
    """Return the same about an answer that was given beside its problem."""
    return BadAnswer(Finding(code, pointer(tuple(place)), message))
