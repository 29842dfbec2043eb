"""A long list of plain buffers in a JSON document, read in columns: many times faster than one by one, and without an object for each.

Only what is written in a few ways over and over again is read here: each record is cut down to its shape, with 0 for every number and an empty
string for every name, and equal shapes are read once. Whatever is unusual is left to the careful readers, who say what is wrong with it and
where. So nothing is accepted here that they refuse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from solvers.model.instance import Bools, Ints

from ...model.columns import BufferColumns
from ...model.deadline import look
from ...model.problem import MAX_ADDRESS, MAX_TEXT, Buffer, BufferId, Fixed, Interval
from ..text.digits import Bytes, are_digits, chunks, numbers

MOST_SHAPES = 64
KEY = b'"buffers"'
OPEN = re.compile(KEY + rb"[ \t\n\r]*:[ \t\n\r]*\[[ \t\n\r]*(?=\{)")
CLOSE = re.compile(rb"\}[ \t\n\r]*\]")
QUOTE, COLON, ZERO = b'":0'
OPENING, CLOSING = [*b"[{"], [*b"]}"]
NOT_STRUCTURE = bytes(sorted(set(range(256)) - set(b'[]{}"')))
OPENING_BRACE, CLOSING_BRACE = b"{}"
NEEDED = {"id", "size"}
KNOWN = NEEDED | {"live", "alignment", "accesses", "kind", "fixed"}
FIXED = b'"fixed"'
BETWEEN = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*\{")
LONGEST = 1 << 12
"""Bytes of a record that has brackets within."""
WITHOUT_DIGITS = bytes(ord("0") if chr(byte) in "0123456789" else byte for byte in range(256))


class Said(NamedTuple):
    """Texts of a record."""

    kind: str | None
    pool: str | None
    """In which it is fixed."""
    has_offset: bool
    has_life: bool


NOTHING = Said(None, None, False, True)


class More(NamedTuple):
    """What is said of buffers besides sizes, alignments and lifetimes."""

    accesses: Ints
    offset: Ints
    """Where it is fixed, or anything."""
    said: list[Said]
    which: Ints
    """By buffer, which of those that are said."""

    def is_in_range(self) -> bool:
        """Are all these as they may be?"""
        numbers = np.concatenate([self.accesses, self.offset])
        texts = [text for said in self.said for text in (said.kind, said.pool) if text is not None]
        return (
            0 <= int(numbers.min()) <= int(numbers.max()) <= MAX_ADDRESS and max(map(len, texts), default=0) <= MAX_TEXT
        )

    def rows(self, columns: BufferColumns) -> tuple[Buffer, ...]:
        """The buffers."""
        which = self.which.tolist()
        kinds = map([said.kind for said in self.said].__getitem__, which)
        pinned: Iterable[Fixed | None] = repeat(None)
        if any(said.pool is not None for said in self.said):
            pinned = [
                None if pool is None else Fixed(pool, offset if has_offset else None)
                for (_, pool, has_offset, _), offset in zip(
                    map(self.said.__getitem__, which), self.offset.tolist(), strict=True
                )
            ]
        spans = zip(columns.start.tolist(), columns.end.tolist(), strict=True)
        live: list[tuple[Interval, ...] | None] = [((start, end),) if start != end else () for start, end in spans]
        if not all(said.has_life for said in self.said):
            has_life = map([said.has_life for said in self.said].__getitem__, which)
            live = [span if has else None for span, has in zip(live, has_life, strict=True)]
        sizes, alignments, none = columns.size.tolist(), columns.alignment.tolist(), repeat(None)
        accesses = self.accesses.tolist()
        return (*map(Buffer, columns.ids, sizes, alignments, live, none, pinned, none, none, kinds, accesses),)


class Taken(NamedTuple):
    """A document taken apart."""

    rest: bytes
    """The same document with an empty list of buffers."""
    buffers: BufferColumns
    """With lifetimes as they are written. Numbers may be out of range, and ids may be there twice."""
    more: More | None


class _Unusual(Exception):
    """The careful readers had better look at it."""


class _Shape(NamedTuple):
    """Which of a record's numbers is what, counted from 0, and whether it stands behind a minus."""

    numbers: int
    size: tuple[int, int]
    alignment: tuple[int, int] | None
    live: tuple[tuple[int, int], tuple[int, int]] | None
    id: tuple[int, int] | None
    """None: it is a string."""
    accesses: tuple[int, int] | None
    offset: tuple[int, int] | None
    said: Said


def taken_apart(data: bytes) -> Taken | None:
    """The document's `buffers`, if they are many, and nothing of them is unusual."""
    opened = OPEN.search(data) if b"\\" not in data else None
    closed = CLOSE.search(data, opened.end()) if opened is not None else None
    if opened is None or closed is None or not _is_of_document(data, opened.start()):
        return None
    begin, end = opened.end(), closed.start() + 1
    reading = _Reading()
    try:
        left = b","
        for chunk in chunks(data, begin, end, b"}"):
            look("reading")
            if not chunk:
                return None
            whole, left = _whole(left + chunk)
            reading.take(whole)
        if left:
            reading.take(left)
        return Taken(data[:begin] + data[end:], reading.columns(), reading.more())
    except (_Unusual, UnicodeDecodeError):
        return None


def _whole(chunk: bytes) -> tuple[bytes, bytes]:
    """The chunk, and of its last record, where these may have brackets within, what has come so far."""
    if FIXED not in chunk:
        return chunk, b""
    *_, last = [0, *(found.start() + 1 for found in BETWEEN.finditer(chunk, max(len(chunk) - LONGEST, 0)))]
    if not last:
        raise _Unusual
    return chunk[:last], chunk[last:]


def _is_of_document(data: bytes, at: int) -> bool:
    """Is the first key of that name, which stands here, one of the document's own? Nothing is escaped in it."""
    if data.count(KEY) == 1:
        return True
    marks = np.frombuffer(data[:at].translate(None, NOT_STRUCTURE), np.uint8)
    outside = np.cumsum(marks == QUOTE) % 2 == 0
    opening, closing = np.isin(marks, OPENING) & outside, np.isin(marks, CLOSING) & outside
    return int(opening.sum()) - int(closing.sum()) == 1


class _Reading:
    """What has been read of the list."""

    def __init__(self) -> None:
        self._shapes: dict[bytes, _Shape] = {}
        self._columns: list[Ints] = []
        """Of each chunk, with a row for size, alignment, start, end, id, accesses, offset and what is said."""
        self._ids: list[str] = []
        self._said: dict[Said, int] = {NOTHING: 0}

    def take(self, chunk: bytes) -> None:
        """Records, each with a comma before it."""
        raw: Bytes = np.frombuffer(chunk, np.uint8)
        raw, ids = _without_names(raw)
        is_nested = FIXED in chunk
        self._ids += ids
        digit = are_digits(raw)
        edges = np.flatnonzero(np.diff(digit, prepend=False, append=False))
        first, end = edges[::2], edges[1::2]
        value = numbers(raw, first, end)
        if value is None or ((raw[first] == ZERO) & (end - first > 1)).any():
            raise _Unusual
        kept = ~digit
        kept[first] = True
        written = raw[kept].tobytes().translate(WITHOUT_DIGITS)
        shape = written[: written.find(b"}") + 1]
        count, rest = divmod(len(written), max(len(shape), 1))
        if not is_nested and not rest and written == shape * count:
            self._place([shape[:-1]], count, None, value)
            return
        shapes = _split(written) if is_nested else written.split(b"}")[:-1]
        different = [*set(shapes)]
        number = {each: i for i, each in enumerate(different)}
        self._place(different, len(shapes), np.array([*map(number.__getitem__, shapes)]), value)

    def _place(self, different: list[bytes], records: int, kind: Ints | None, value: Ints) -> None:
        """Puts the numbers into columns. `kind` says which of the different shapes each record has; None: there is but one."""
        for each in different:
            if each not in self._shapes:
                if len(self._shapes) == MOST_SHAPES:
                    raise _Unusual
                self._shapes[each] = _shape(each)
        columns = np.ones((8, records), dtype=np.int64)
        columns[5:] = 0
        if kind is None:
            rows = [np.arange(records)]
            at = rows[0] * self._shapes[different[0]].numbers
        else:
            rows = [np.flatnonzero(kind == i) for i in range(len(different))]
            count = np.array([self._shapes[each].numbers for each in different])[kind]
            at = np.cumsum(count) - count
        for each, here in zip(different, rows, strict=True):
            shape = self._shapes[each]
            start, end = shape.live or (None, None)
            places = (shape.size, shape.alignment, start, end, shape.id, shape.accesses, shape.offset)
            for column, place in enumerate(places):
                if place is not None:
                    columns[column, here] = value[at[here] + place[0]] * place[1]
            columns[7, here] = self._said.setdefault(shape.said, len(self._said))
        self._columns.append(columns)

    def columns(self) -> BufferColumns:
        if len({shape.id is None for shape in self._shapes.values()}) != 1:
            raise _Unusual  # some ids are numbers, and some are names
        size, alignment, start, end, id_ = np.concatenate([columns[:5] for columns in self._columns], axis=1)
        ids: list[BufferId] | range = [*self._ids]
        if not self._ids:
            counted = range(len(id_))
            ids = counted if np.array_equal(id_, np.arange(len(id_))) else id_.tolist()
        return BufferColumns(ids, size, alignment, start, end)

    def more(self) -> More | None:
        """None: nothing is said but what stands in the columns."""
        if len(self._said) == 1 and not any(shape.accesses for shape in self._shapes.values()):
            return None
        accesses, offset, which = np.concatenate([columns[5:] for columns in self._columns], axis=1)
        return More(accesses, offset, [*self._said], which)


def _split(written: bytes) -> list[bytes]:
    """The shapes of records that may have brackets within, each without its last one."""
    raw = np.frombuffer(written, np.uint8)
    closing = raw == CLOSING_BRACE
    depth = np.cumsum((raw == OPENING_BRACE).astype(np.int8) - closing.astype(np.int8), dtype=np.int32)
    ends = np.flatnonzero(closing & (depth == 0)).tolist()
    if not ends or ends[-1] + 1 != len(written):
        raise _Unusual
    return [written[begin:end] for begin, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)]


def _without_names(raw: Bytes) -> tuple[Bytes, list[str]]:
    """The same with nothing between the quotes of ids, and these."""
    quotes = np.flatnonzero(raw == QUOTE)
    if len(quotes) % 2 or not len(quotes) or quotes[-1] + 1 == len(raw):
        raise _Unusual
    begin, end = quotes[::2], quotes[1::2]
    named = np.flatnonzero(raw[end + 1] != COLON)
    if not len(named):
        return raw, []
    keys = named - 1
    is_id = (end[keys] - begin[keys] == 3) & (raw[begin[keys] + 1] == ord("i")) & (raw[begin[keys] + 2] == ord("d"))
    if named[0] == 0 or (raw[end[keys] + 1] != COLON).any():
        raise _Unusual
    if not is_id.all():  # other texts belong to the shape, and what looks like a number in them would be taken for one
        if are_digits(raw[_inside(begin[named[~is_id]], end[named[~is_id]], len(raw))]).any():
            raise _Unusual
        named = named[is_id]
        if not len(named):
            return raw, []
    inside = _inside(begin[named], end[named], len(raw))
    if (raw[inside] < ord(" ")).any():
        raise _Unusual
    inside[end[named]] = True
    names = raw[inside].tobytes().decode("utf-8").split('"')[:-1]
    inside[end[named]] = False
    return raw[~inside], names


def _inside(begin: Ints, end: Ints, length: int) -> Bools:
    """True for what stands between quotes."""
    change = np.zeros(length, dtype=np.int8)
    change[begin + 1] += 1
    change[end] -= 1
    return np.cumsum(change, dtype=np.int8).view(bool)


def _shape(written: bytes) -> _Shape:
    """Raises _Unusual unless it is that of a buffer with an id, a size, one lifetime, or a kind and none, and of what else is known."""
    if written[:1] != b"," or b"0" not in written:
        raise _Unusual
    counted = 0

    def number(_: re.Match[bytes]) -> bytes:
        nonlocal counted
        counted += 1
        return b"%d" % counted

    try:
        text = re.sub(b"0", number, written[1:] + b"}").decode("utf-8")  # of bytes it takes halves of surrogates, too
        pairs: Any = json.loads(text, object_pairs_hook=tuple)
    except ValueError:
        raise _Unusual from None
    fields = dict(pairs)
    if len(fields) != len(pairs) or not NEEDED <= fields.keys() <= KNOWN:
        raise _Unusual
    kind, pinned = fields.get("kind", ""), fields.get("fixed", (("pool", "anywhere"),))
    if not isinstance(kind, str) or not isinstance(pinned, tuple):
        raise _Unusual
    fixed = dict(pinned)
    if len(fixed) != len(pinned) or not {"pool"} <= fixed.keys() <= {"pool", "offset"}:
        raise _Unusual
    if not isinstance(fixed["pool"], str) or not fixed["pool"]:
        raise _Unusual
    if "live" in fields:
        live = fields["live"]
        if not isinstance(live, list) or len(live) != 1 or not isinstance(live[0], list) or len(live[0]) != 2:
            raise _Unusual
        span = _place_of(live[0][0]), _place_of(live[0][1])
    elif "kind" not in fields:  # of constants alone
        raise _Unusual
    else:
        span = None
    return _Shape(
        counted,
        _place_of(fields["size"]),
        _place_of(fields["alignment"]) if "alignment" in fields else None,
        span,
        None if fields["id"] == "" else _place_of(fields["id"]),
        _place_of(fields["accesses"]) if "accesses" in fields else None,
        _place_of(fixed["offset"]) if "offset" in fixed else None,
        Said(
            kind if "kind" in fields else None,
            fixed["pool"] if "fixed" in fields else None,
            "offset" in fixed,
            span is not None,
        ),
    )


def _place_of(number: object) -> tuple[int, int]:
    if type(number) is not int:
        raise _Unusual
    return abs(number) - 1, 1 if number > 0 else -1
