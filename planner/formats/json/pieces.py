"""Long lists and objects in JSON, in pieces, so that objects for the whole document are never needed.

Brackets, quotes and commas are found without interpreting what is between them. The reader of a piece finds out whether it is sound.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from solvers.model.instance import Ints

from ...checks.report import Place, bad_input
from ...model.deadline import look
from ...model.errors import Code

PIECE = 1 << 16
"""Bytes read at once."""
LARGE = 1 << 20
"""Longer documents are validated in pieces."""
ALLOWANCE, FOR_EACH = 1 << 26, 16
"""The memory that reading may take at once, and further bytes for each byte of the document."""
MAX_DEPTH = 64
"""The most nested lists and objects."""
MOST_OWN_KEYS = 1 << 12
"""The most keys of the document itself, which in no format is a map of names."""
MOST_KEYS, BYTES_A_KEY = 1 << 14, 32
"""The most keys of any other object, and the document's bytes per further key: a map names what the document says more of elsewhere."""
MAX_DIGITS = 20
"""The most digits of an integer."""
ANY: Final = None
"""Every item of a list."""
Path: TypeAlias = tuple[str | int | None, ...]
COUNTED_AT_ONCE = 1 << 24
"""Bytes in which characters are counted between two looks at the clock."""
_CHUNK = 1 << 16
"""Bytes examined together."""
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_BLANK = b" \t\n\r"
_SPACE = re.compile(rb"[ \t\n\r]*")
_KEY = re.compile(rb'[ \t\n\r]*("[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*")[ \t\n\r]*:[ \t\n\r]*', re.DOTALL)
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[[*b"[{"]] = 1
_STEPS[[*b"]}"]] = -1
COMMA = ord(",")
_MARKS = np.zeros(256, dtype=bool)
_MARKS[[*b"[{,"]] = True
BYTES_A_MARK = 4
"""The document's bytes per mark, each of which takes five; with more marks, the document is scanned each time instead."""
DEEP = 100
"""A depth that is told from no greater one."""


class Piece(NamedTuple):
    """Adjacent children of a list or an object, or a single large one."""

    first: int
    """The index of the first."""
    begin: int
    end: int
    """The end, without the surrounding commas."""
    children: int

    @property
    def is_large(self) -> bool:
        return self.end - self.begin > PIECE


class Span(NamedTuple):
    """A list or an object, from its first bracket to its last."""

    begin: int
    end: int


def _levels(
    data: bytes, begin: int, end: int
) -> Iterator[tuple[int, np.ndarray[tuple[int], np.dtype[np.uint8]], Ints]]:
    """Yield each chunk: its begin, its bytes with texts blanked, and the depth of each (inside for brackets)."""
    inside, depth = False, 0
    while begin < end:
        look("reading")
        stop = min(begin + _CHUNK, end)
        chunk = data[begin:stop]
        while chunk.endswith(b"\\") and stop < end and (len(chunk) - len(chunk.rstrip(b"\\"))) % 2:
            stop += 1
            chunk = data[begin:stop]
        if b"\\" in chunk:
            chunk = _ESCAPE.sub(b"  ", chunk)
        chars: np.ndarray[tuple[int], np.dtype[np.uint8]] = np.frombuffer(chunk, np.uint8).copy()
        quotes = chars == ord('"')
        parity = np.cumsum(quotes, dtype=np.uint8)  # which may overflow: only odd or even counts
        parity += inside
        parity &= 1
        inside = bool(parity[-1])
        parity |= quotes
        np.putmask(chars, parity.view(bool), ord(" "))
        steps = _STEPS[chars]
        levels: np.ndarray[tuple[int], Any] = np.cumsum(steps, dtype=np.int32)
        levels += depth
        depth = int(levels[-1])
        levels += steps < 0
        yield begin, chars, levels
        begin = stop


class Marks(NamedTuple):
    """The commas and opening brackets outside of texts, for several passes over the same document."""

    places: Ints
    levels: np.ndarray[tuple[int], Any]
    """The depth of each comma; for a bracket, the negated depth inside. What is as deep as DEEP is refused before anybody asks."""
    deepest: int
    length: int
    """The document's."""

    @classmethod
    def of(cls, data: bytes) -> Marks | None:
        """Return the marks of a document, as far as it is sound; None if they would take more memory than it should."""
        most = count_of(data, b",", b"[", b"{")
        if most * BYTES_A_MARK > len(data):
            return None
        if not most:  # one text or number, or nothing: there are no depths to be found
            return cls(np.zeros(0, np.int32), np.zeros(0, np.int8), 0, len(data))
        places: np.ndarray[tuple[int], Any] = np.zeros(most, np.int64 if len(data) >> 31 else np.int32)
        levels: np.ndarray[tuple[int], Any] = np.zeros(most, np.int8)
        count = deepest = 0
        for begin, chars, here in _levels(data, 0, len(data)):
            deepest = max(deepest, int(here.max()))
            found = np.flatnonzero(_MARKS[chars])
            places[count : count + len(found)] = found + begin
            level = np.clip(here[found], -DEEP, DEEP)
            levels[count : count + len(found)] = np.where(chars[found] == COMMA, level, -level)
            count += len(found)
        return cls(places[:count], levels[:count], deepest, len(data))

    def commas(self, span: Span) -> Ints:
        """Return the commas between the children of a list or an object."""
        first, behind = (_before(self.places, place) for place in (span.begin, span.end - 1))
        found: Ints = self.places[first:behind][self.levels[first:behind] == -self.levels[first]]
        return found


def most_keys(length: int, *, is_own: bool) -> int:
    """Return the most keys of an object in a document of this length; of the document itself if it is its own."""
    return MOST_OWN_KEYS if is_own else MOST_KEYS + length // BYTES_A_KEY


def _before(places: Ints, place: int) -> int:
    """Return how many of them, which are in order, come before a place. A number of another type would make numpy copy them all."""
    most = np.iinfo(places.dtype).max
    return int(np.searchsorted(places, places.dtype.type(min(place, most))))


def count_of(data: bytes, *marks: bytes) -> int:
    """Return how often these characters occur; looks at the clock now and then."""
    found = 0
    for begin in range(0, len(data), COUNTED_AT_ONCE):
        look("reading")
        found += sum(data.count(mark, begin, begin + COUNTED_AT_ONCE) for mark in marks)
    return found


def deepest(data: bytes) -> int:
    """Return the greatest depth of brackets outside of texts, as far as the document is sound."""
    return max((int(levels.max()) for _, _, levels in _levels(data, 0, len(data))), default=0)


def root(data: bytes) -> Span | None:
    """Return the document, if it is a list or an object."""
    return container(data, 0, len(data))


def stripped(data: bytes, begin: int, end: int) -> Span:
    """Return it without surrounding white space."""
    begin = _SPACE.match(data, begin, end).end()  # type: ignore[union-attr]  # it matches nothing as well
    while begin < end and data[end - 1] in _BLANK:
        tail = data[max(begin, end - PIECE) : end]
        end -= len(tail) - len(tail.rstrip(_BLANK))
    return Span(begin, end)


def pieces(data: bytes, span: Span, marks: Marks | None = None) -> Iterator[Piece]:
    """Yield the children of a list or an object, in pieces of about PIECE bytes; a longer child is a piece by itself. None if it is empty."""
    look("reading")
    start, first = span.begin + 1, 0
    last, count = -1, 0
    """The last comma that can end a piece, and the number of children before it."""
    end = span.end - 1
    for commas in _commas(data, start, end) if marks is None else [marks.commas(span)]:
        at = 0
        while at < len(commas):
            upto = _before(commas, start + PIECE + 1)
            if upto > at:
                last, count, at = int(commas[upto - 1]), count + upto - at, upto
            elif count:
                yield Piece(first, start, last, count)
                start, first, count = last + 1, first + count, 0
            else:
                yield Piece(first, start, int(commas[at]), 1)
                start, first, at = int(commas[at]) + 1, first + 1, at + 1
    if count and end - start > PIECE:
        yield Piece(first, start, last, count)
        start, first, count = last + 1, first + count, 0
    rest = stripped(data, start, end)
    if first or count or rest.begin < rest.end:
        yield Piece(first, start, end, count + 1)


def _commas(data: bytes, start: int, end: int) -> Iterator[Ints]:
    """Yield commas outside of any list, object or text that begins here."""
    for begin, chars, levels in _levels(data, start, end):
        yield np.flatnonzero((chars == COMMA) & (levels == 0)) + begin


def member(data: bytes, piece: Piece) -> tuple[bytes, int] | None:
    """Return a large member's key as written, and where its value begins."""
    found = _KEY.match(data, piece.begin, piece.end)
    return None if found is None else (found[1], found.end())


def container(data: bytes, begin: int, end: int) -> Span | None:
    """Return the one list or object there, if it can be one."""
    span = stripped(data, begin, end)
    is_one = span.end - span.begin >= 2 and (data[span.begin], data[span.end - 1]) in (tuple(b"[]"), tuple(b"{}"))
    return span if is_one else None


def long_lists(
    data: bytes, paths: Iterable[Path], marks: Marks | None = None, whole: Span | None = None
) -> Iterator[tuple[Path, Span]]:
    """Return the places of long lists at these paths in a sound document, or a part of one. ANY in a path is every item of a list."""
    whole = whole or root(data)
    waiting: list[tuple[Path, Span]] = [] if whole is None else [((), whole)]
    while waiting:
        place, span = waiting.pop()
        is_list = data[span.begin] == ord("[")
        if is_list and any(_leads(place, path) and len(path) == len(place) for path in paths):
            if next(pieces(data, span, marks), None) is not None:  # otherwise it is long only by white space
                yield place, span
            continue
        further = [path[len(place)] for path in paths if len(path) > len(place) and _leads(place, path)]
        for piece in pieces(data, span, marks) if further and is_list == (ANY in further) else ():
            if piece.is_large:
                found = (b"", piece.begin) if is_list else member(data, piece)
                inner = None if found is None else container(data, found[1], piece.end)
                key = piece.first if is_list or found is None else found[0][1:-1].decode()
                if inner is not None and (is_list or key in further):
                    waiting.append(((*place, key), inner))


def _leads(place: Path, path: Path) -> bool:
    return all(there in (here, ANY) for here, there in zip(place, path, strict=False))


def shortened(
    data: bytes,
    spans: Iterable[Span],
    marks: Marks | None = None,
    emptied: Container[Span] = (),
    whole: Span | None = None,
) -> bytes:
    """Return the document, or a part of it, with only the first piece of each of these lists, and nothing of emptied ones."""
    kept: list[bytes] = []
    at, end = whole or (0, len(data))
    for span in sorted(spans):
        kept.append(data[at : span.begin + 1 if span in emptied else next(pieces(data, span, marks)).end])
        at = span.end - 1
    return b"".join([*kept, data[at:end]])


def without(data: bytes, names: Container[str], marks: Marks | None = None) -> bytes:
    """Return the document with its own objects of these names emptied, if they are long."""
    whole = root(data) if names else None
    cut: list[Span] = []
    for piece in pieces(data, whole, marks) if whole is not None and data[whole.begin] == ord("{") else ():
        found = member(data, piece) if piece.is_large else None
        inner = None if found is None else container(data, found[1], piece.end)
        if (
            found is not None
            and inner is not None
            and found[0][1:-1].decode() in names
            and data[inner.begin] == ord("{")
        ):
            cut.append(inner)
    for span in reversed(cut):
        data = data[: span.begin + 1] + data[span.end - 1 :]
    return data


def require_room(part: bytes, length: int, place: Place, costs: tuple[int, int]) -> None:
    """Raise BadInput if this part of a document of this length would take too much memory. `costs`: of a list or object, and of a value."""
    containers = part.count(b"[") + part.count(b"{")
    values = part.count(b",") + part.count(b":")
    if costs[0] * containers + costs[1] * values > ALLOWANCE + FOR_EACH * length:
        text = "holds more lists, objects and values in one place than a document of this length should have"
        raise bad_input(Code.TOO_LARGE, place, text)
