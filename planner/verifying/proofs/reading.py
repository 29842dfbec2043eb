"""Reads a proof line by line, and limits the work that it may ask for."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from io import BufferedReader, BytesIO
from typing import BinaryIO

from ...facts.sweep import VERIFYING
from ...model.deadline import look, tick
from ...model.errors import Code, Finding, PlannerError

MOST_LINES = 10_000_000
MOST_LINE_BYTES = 1 << 22
MOST_MEMBERS = 5_000_000
"""The most members of all cliques and other kept sets together."""
MOST_WORK = 100_000_000
"""The most examinations of a buffer: some minutes."""

_NUMBER = re.compile(r" (0|-?[1-9][0-9]{0,19})", re.ASCII)


class BadProof(PlannerError):
    """The text is not a proof, or does not show what it claims."""

    def __init__(self, line: int, message: str) -> None:
        self.line = line
        """Counted from 1; 0 if it concerns no line."""
        super().__init__(Finding(Code.INVALID_PROOF, f"/line/{line}" if line else "", message))


class Refused(ValueError):
    """A step that its rule does not allow."""


class Reader:
    """The lines of a proof, possibly compressed by gzip."""

    def __init__(self, proof: bytes | BufferedReader) -> None:
        self._lines = _lines(proof)
        self.line = 0
        """The number of the last line read."""
        self.work = 0
        """The examinations of buffers so far."""
        self._members = 0

    def next(self) -> str:
        """Return the next line. Raises BadProof if there is none."""
        self.line += 1
        line = next(self._lines, None)
        if line is None:
            raise self.bad("the proof ends before everything is refuted")
        return line

    def words(self) -> tuple[str, list[int]]:
        """Return the next line as a word and numbers. Raises BadProof, and OutOfTime."""
        look(VERIFYING)
        line = self.next()
        word, _, _ = line.partition(" ")
        at, numbers = len(word), list[int]()
        for found in _NUMBER.finditer(line, at):  # one by one: a long line has no room for them all as texts, too
            if found.start() != at:
                break
            at = found.end()
            numbers.append(int(found[1]))
        if at < len(line):
            raise self.bad("the line is not a word and numbers, with a blank before each number")
        return word, numbers

    def end(self) -> None:
        """Raise BadProof if there is more."""
        if next(self._lines, None) is not None:
            self.line += 1
            raise self.bad("everything is refuted already")

    def bad(self, message: str) -> BadProof:
        """Return an error about this line."""
        return BadProof(self.line, message)

    def require_work(self, looks: int) -> None:
        """Raise Refused if this many further examinations of buffers are too many."""
        if self.work + looks > MOST_WORK:
            raise Refused(f"the proof asks for more than {MOST_WORK} looks at buffers")

    def spend(self, looks: int) -> None:
        """Count further examinations."""
        self.work += looks
        tick(VERIFYING, looks)
        self.require_work(0)

    def hold(self, members: int) -> None:
        """Count further kept members."""
        self._members += members
        if self._members > MOST_MEMBERS:
            raise Refused(f"cliques, and what is kept, have more than {MOST_MEMBERS} members")


def exactly(numbers: list[int], count: int) -> list[int]:
    """Return the numbers, if there are `count` of them. Raises Refused."""
    if len(numbers) != count:
        raise Refused(f"the step takes {count} number{'' if count == 1 else 's'}")
    return numbers


def _lines(proof: bytes | BufferedReader) -> Iterator[str]:
    """Yield the lines without their ends. Raises BadProof at one that cannot be in a proof."""
    stream = BufferedReader(BytesIO(proof)) if isinstance(proof, bytes) else proof
    packed = stream.peek(2)[:2] == b"\x1f\x8b"
    source: BinaryIO = gzip.GzipFile(fileobj=stream) if packed else stream  # type: ignore[assignment]
    number = 0
    while True:
        number += 1
        try:
            line = source.readline(MOST_LINE_BYTES + 1)
        except (OSError, EOFError, zlib.error):
            raise BadProof(number, "the compressed data is broken or ends early") from None
        if not line:
            return
        if not line.endswith(b"\n"):
            what = "is too long" if len(line) > MOST_LINE_BYTES else "ends early"
            raise BadProof(number, f"the line {what}")
        if number > MOST_LINES:
            raise BadProof(number, f"there are more than {MOST_LINES} lines")
        try:
            yield line[:-1].decode("ascii")
        except UnicodeDecodeError:
            raise BadProof(number, "the line is not ASCII") from None
