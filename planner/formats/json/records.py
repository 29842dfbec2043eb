"""A long list of plain buffers in a JSON document, read in columns: many times faster than one by one, and without an object for each.

This reads only records in few, repeated forms: each is reduced to its shape, with 0 for every number and an empty string for every name,
and equal shapes are parsed once. Anything unusual is left to the careful readers, which report its faults. So nothing is accepted here that
they refuse.
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
"""The most bytes of a record with inner brackets."""
WITHOUT_DIGITS = bytes(ord("0") if chr(byte) in "0123456789" else byte for byte in range(256))


class Texts(NamedTuple):
    """The texts of a record."""

    kind: str | None
    pool: str | None
    """The pool in which it is fixed."""
    has_offset: bool
    has_life: bool


NOTHING = Texts(None, None, False, True)


class More(NamedTuple):
    """Fields of buffers besides sizes, alignments and lifetimes."""

    accesses: Ints
    offset: Ints
    """The fixed offset, or anything."""
    texts: list[Texts]
    which: Ints
    """By buffer, the index of its texts."""

    def is_in_range(self) -> bool:
        """True if all of these are in range."""
        numbers = np.concatenate([self.accesses, self.offset])
        written = [text for each in self.texts for text in (each.kind, each.pool) if text is not None]
        return (
            0 <= int(numbers.min()) <= int(numbers.max()) <= MAX_ADDRESS
            and max(map(len, written), default=0) <= MAX_TEXT
        )

    def rows(self, columns: BufferColumns) -> tuple[Buffer, ...]:
        """Return the buffers."""
        which = self.which.tolist()
        kinds = map([each.kind for each in self.texts].__getitem__, which)
        pinned: Iterable[Fixed | None] = repeat(None)
        if any(each.pool is not None for each in self.texts):
            pinned = [
                None if pool is None else Fixed(pool, offset if has_offset else None)
                for (_, pool, has_offset, _), offset in zip(
                    map(self.texts.__getitem__, which), self.offset.tolist(), strict=True
                )
            ]
        spans = zip(columns.start.tolist(), columns.end.tolist(), strict=True)
        live: list[tuple[Interval, ...] | None] = [((start, end),) if start != end else () for start, end in spans]
        if not all(each.has_life for each in self.texts):
            has_life = map([each.has_life for each in self.texts].__getitem__, which)
            live = [span if has else None for span, has in zip(live, has_life, strict=True)]
        sizes, alignments, none = columns.size.tolist(), columns.alignment.tolist(), repeat(None)
        accesses = self.accesses.tolist()
        return (*map(Buffer, columns.ids, sizes, alignments, live, none, pinned, none, none, kinds, accesses),)


class Taken(NamedTuple):
    """A document in parts."""

    rest: bytes
    """The same document with an empty list of buffers."""
    buffers: BufferColumns
    """With lifetimes as written. Numbers may be out of range, and ids duplicated."""
    more: More | None


class _Unusual(Exception):
    """Leave it to the careful readers."""


class _Shape(NamedTuple):
    """The meaning of each number in a record, counted from 0, and whether it follows a minus."""

    numbers: int
    size: tuple[int, int]
    alignment: tuple[int, int] | None
    live: tuple[tuple[int, int], tuple[int, int]] | None
    id: tuple[int, int] | None
    """None: a string."""
    accesses: tuple[int, int] | None
    offset: tuple[int, int] | None
    texts: Texts


def taken_apart(data: bytes) -> Taken | None:
    """Return the document in parts, if its `buffers` are many and nothing about them is unusual."""
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
    """Yield whole records of a chunk, keeping an incomplete last one for the next if they may have inner brackets."""
    if FIXED not in chunk:
        return chunk, b""
    *_, last = [0, *(found.start() + 1 for found in BETWEEN.finditer(chunk, max(len(chunk) - LONGEST, 0)))]
    if not last:
        raise _Unusual
    return chunk[:last], chunk[last:]


def _is_of_document(data: bytes, at: int) -> bool:
    """True if the first key of that name, which is here, belongs to the document itself. No text in it is escaped."""
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
        """For each chunk, rows for size, alignment, start, end, id, accesses, offset and index of texts."""
        self._ids: list[str] = []
        self._texts: dict[Texts, int] = {NOTHING: 0}

    def take(self, chunk: bytes) -> None:
        """Read records, each preceded by a comma."""
        chars: Bytes = np.frombuffer(chunk, np.uint8)
        chars, ids = _without_names(chars)
        is_nested = FIXED in chunk
        self._ids += ids
        digit = are_digits(chars)
        edges = np.flatnonzero(np.diff(digit, prepend=False, append=False))
        first, end = edges[::2], edges[1::2]
        value = numbers(chars, first, end)
        if value is None or ((chars[first] == ZERO) & (end - first > 1)).any():
            raise _Unusual
        kept = ~digit
        kept[first] = True
        written = chars[kept].tobytes().translate(WITHOUT_DIGITS)
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
        """Put the numbers into columns. `kind` gives each record's shape; None: there is only one."""
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
            columns[7, here] = self._texts.setdefault(shape.texts, len(self._texts))
        self._columns.append(columns)

    def columns(self) -> BufferColumns:
        if len({shape.id is None for shape in self._shapes.values()}) != 1:
            raise _Unusual  # some ids are numbers, others names
        size, alignment, start, end, id_ = np.concatenate([columns[:5] for columns in self._columns], axis=1)
        ids: list[BufferId] | range = [*self._ids]
        if not self._ids:
            counted = range(len(id_))
            ids = counted if np.array_equal(id_, np.arange(len(id_))) else id_.tolist()
        return BufferColumns(ids, size, alignment, start, end)

    def more(self) -> More | None:
        """Return further fields; None if the columns say everything."""
        if len(self._texts) == 1 and not any(shape.accesses for shape in self._shapes.values()):
            return None
        accesses, offset, which = np.concatenate([columns[5:] for columns in self._columns], axis=1)
        return More(accesses, offset, [*self._texts], which)


def _split(written: bytes) -> list[bytes]:
    """Return the shapes of records that may have inner brackets, each without its last one."""
    chars = np.frombuffer(written, np.uint8)
    closing = chars == CLOSING_BRACE
    depth = np.cumsum((chars == OPENING_BRACE).astype(np.int8) - closing.astype(np.int8), dtype=np.int32)
    ends = np.flatnonzero(closing & (depth == 0)).tolist()
    if not ends or ends[-1] + 1 != len(written):
        raise _Unusual
    return [written[begin:end] for begin, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)]


def _without_names(chars: Bytes) -> tuple[Bytes, list[str]]:
    """Return the text with ids' strings emptied, and these strings."""
    quotes = np.flatnonzero(chars == QUOTE)
    if len(quotes) % 2 or not len(quotes) or quotes[-1] + 1 == len(chars):
        raise _Unusual
    begin, end = quotes[::2], quotes[1::2]
    named = np.flatnonzero(chars[end + 1] != COLON)
    if not len(named):
        return chars, []
    keys = named - 1
    is_id = (end[keys] - begin[keys] == 3) & (chars[begin[keys] + 1] == ord("i")) & (chars[begin[keys] + 2] == ord("d"))
    if named[0] == 0 or (chars[end[keys] + 1] != COLON).any():
        raise _Unusual
    if not is_id.all():  # other texts belong to the shape, and digits in them would be taken for numbers
        if are_digits(chars[_inside(begin[named[~is_id]], end[named[~is_id]], len(chars))]).any():
            raise _Unusual
        named = named[is_id]
        if not len(named):
            return chars, []
    inside = _inside(begin[named], end[named], len(chars))
    if (chars[inside] < ord(" ")).any():
        raise _Unusual
    inside[end[named]] = True
    names = chars[inside].tobytes().decode("utf-8").split('"')[:-1]
    inside[end[named]] = False
    return chars[~inside], names


def _inside(begin: Ints, end: Ints, length: int) -> Bools:
    """True for characters between quotes."""
    change = np.zeros(length, dtype=np.int8)
    change[begin + 1] += 1
    change[end] -= 1
    return np.cumsum(change, dtype=np.int8).view(bool)


def _shape(written: bytes) -> _Shape:
    """Return the shape of a buffer with an id, a size, one lifetime (or a kind and none) and known fields. Raises _Unusual otherwise."""
    if written[:1] != b"," or b"0" not in written:
        raise _Unusual
    counted = 0

    def number(_: re.Match[bytes]) -> bytes:
        nonlocal counted
        counted += 1
        return b"%d" % counted

    try:
        text = re.sub(b"0", number, written[1:] + b"}").decode("utf-8")  # for bytes it accepts half surrogates
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
    elif "kind" not in fields:  # only for constants
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
        Texts(
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
