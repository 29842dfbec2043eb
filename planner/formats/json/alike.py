"""Many records of a JSON list in few, repeated forms, read in columns: many times faster than one by one, and without an object for each.

Each record is reduced to its shape, with 0 for every number and an empty string for every name, and equal shapes are parsed once. Anything
unusual is left to the careful readers, which report its faults. So nothing is accepted here that they refuse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from solvers.model.instance import Bools, Ints

from ...model.columns.texts import GatheredTexts
from ...model.deadline import look
from ..text.digits import Bytes, are_digits, chunks, numbers

MOST_SHAPES = 64
CLOSE = re.compile(rb"\}[ \t\n\r]*\]")
QUOTE, COLON, ZERO = b'":0'
OPENING, CLOSING = [*b"[{"], [*b"]}"]
NOT_STRUCTURE = bytes(sorted(set(range(256)) - set(b'[]{}"')))
OPENING_BRACE, CLOSING_BRACE = b"{}"
WITHOUT_DIGITS = bytes(ord("0") if chr(byte) in "0123456789" else byte for byte in range(256))

Place = tuple[int, int]
"""Which number of a record, counted from 0, and 1, or -1 if it follows a minus."""


class Unusual(Exception):
    """Leave it to the careful readers."""


class Shape(NamedTuple):
    """What the records of one form have in common."""

    numbers: int
    """How many each has."""
    places: tuple[Place | None, ...]
    """The place of each column's number; None: it has none."""
    texts: Hashable
    """All else that it says."""
    is_named: bool = True
    """True if it has a name of its own."""


class Listed(NamedTuple):
    """A list of a document, found without reading it."""

    begin: int
    end: int


def find_list(data: bytes, key: bytes) -> Listed | None:
    """Return the document's own list of objects at this key, if no other key of this name comes first; the text has no escapes."""
    opened = re.search(b'"' + key + rb'"[ \t\n\r]*:[ \t\n\r]*\[[ \t\n\r]*(?=\{)', data)
    closed = CLOSE.search(data, opened.end()) if opened is not None else None
    if opened is None or closed is None or not _is_of_document(data, b'"' + key + b'"', opened.start()):
        return None
    return Listed(opened.end(), closed.start() + 1)


def _is_of_document(data: bytes, key: bytes, at: int) -> bool:
    """True if the first key of that name, which is here, belongs to the document itself. No text in it is escaped."""
    if data.count(key) == 1:
        return True
    marks = np.frombuffer(data[:at].translate(None, NOT_STRUCTURE), np.uint8)
    outside = np.cumsum(marks == QUOTE) % 2 == 0
    opening, closing = np.isin(marks, OPENING) & outside, np.isin(marks, CLOSING) & outside
    return int(opening.sum()) - int(closing.sum()) == 1


class Alike:
    """What has been read of a list."""

    def __init__(
        self, name: bytes, shape_of: Callable[[bytes], Shape], usual: list[int], nested: bytes | None = None
    ) -> None:
        """`name` is the key of the records' names. `usual` has a number for each column, where a record has none. `nested` marks records
        that have inner brackets."""
        self._name, self._shape_of, self._usual, self._nested = name, shape_of, usual, nested
        self.shapes: dict[bytes, Shape] = {}
        self.texts: dict[Hashable, int] = {}
        """What shapes say besides their numbers, and the number of each."""
        self.names = GatheredTexts()
        self._columns: list[Ints] = []
        """For each chunk, a row for each column, and the number of the texts."""

    def read(self, data: bytes, where: Listed, whole: Callable[[bytes], tuple[bytes, bytes]] | None = None) -> Ints:
        """Return the columns, and behind them the number of each record's texts. `whole` splits off what of a chunk belongs to the next."""
        left = b","
        for chunk in chunks(data, *where, b"}"):
            look("reading")
            if not chunk:
                raise Unusual
            some, left = (left + chunk, b"") if whole is None else whole(left + chunk)
            self._take(some)
        if left:
            self._take(left)
        return np.concatenate(self._columns, axis=1)

    def _take(self, chunk: bytes) -> None:
        """Read records, each preceded by a comma."""
        written, names, value = reduced(chunk, self._name)
        is_nested = self._nested is not None and self._nested in chunk
        self.names.extend(names)
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
            if each not in self.shapes:
                if len(self.shapes) == MOST_SHAPES:
                    raise Unusual
                self.shapes[each] = self._shape_of(each)
        columns = np.empty((len(self._usual) + 1, records), dtype=np.int64)
        columns[:-1] = np.array(self._usual)[:, None]
        if kind is None:
            rows = [np.arange(records)]
            at = rows[0] * self.shapes[different[0]].numbers
        else:
            rows = [np.flatnonzero(kind == i) for i in range(len(different))]
            count = np.array([self.shapes[each].numbers for each in different])[kind]
            at = np.cumsum(count) - count
        for each, here in zip(different, rows, strict=True):
            shape = self.shapes[each]
            for column, place in enumerate(shape.places):
                if place is not None:
                    columns[column, here] = value[at[here] + place[0]] * place[1]
            columns[-1, here] = self.texts.setdefault(shape.texts, len(self.texts))
        self._columns.append(columns)


def reduced(chunk: bytes, *keys: bytes) -> tuple[bytes, list[str], Ints]:
    """Return the text with 0 for every number and nothing in the strings at these keys, these strings, and the numbers without their signs."""
    chars: Bytes = np.frombuffer(chunk, np.uint8)
    chars, names = _without_names(chars, keys)
    digit = are_digits(chars)
    edges = np.flatnonzero(np.diff(digit, prepend=False, append=False))
    first, end = edges[::2], edges[1::2]
    value = numbers(chars, first, end)
    if value is None or ((chars[first] == ZERO) & (end - first > 1)).any():
        raise Unusual
    kept = ~digit
    kept[first] = True
    return chars[kept].tobytes().translate(WITHOUT_DIGITS), names, value


def _split(written: bytes) -> list[bytes]:
    """Return the shapes of records that may have inner brackets, each without its last one."""
    chars = np.frombuffer(written, np.uint8)
    closing = chars == CLOSING_BRACE
    depth = np.cumsum((chars == OPENING_BRACE).astype(np.int8) - closing.astype(np.int8), dtype=np.int32)
    ends = np.flatnonzero(closing & (depth == 0)).tolist()
    if not ends or ends[-1] + 1 != len(written):
        raise Unusual
    return [written[begin:end] for begin, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)]


def _without_names(chars: Bytes, wanted: Sequence[bytes]) -> tuple[Bytes, list[str]]:
    """Return the text with the strings at these keys emptied, and these strings."""
    quotes = np.flatnonzero(chars == QUOTE)
    if len(quotes) % 2 or not len(quotes) or quotes[-1] + 1 == len(chars):
        raise Unusual
    begin, end = quotes[::2], quotes[1::2]
    named = np.flatnonzero(chars[end + 1] != COLON)
    if not len(named):
        return chars, []
    keys = named - 1
    is_name = np.zeros(len(keys), dtype=bool)
    for key in wanted:
        is_key = end[keys] - begin[keys] == len(key) + 1
        for i, char in enumerate(key, 1):
            is_key &= chars[np.minimum(begin[keys] + i, len(chars) - 1)] == char
        is_name |= is_key
    if named[0] == 0 or (chars[end[keys] + 1] != COLON).any():
        raise Unusual
    if not is_name.all():  # other texts belong to the shape, and digits in them would be taken for numbers
        if are_digits(chars[_inside(begin[named[~is_name]], end[named[~is_name]], len(chars))]).any():
            raise Unusual
        named = named[is_name]
        if not len(named):
            return chars, []
    inside = _inside(begin[named], end[named], len(chars))
    if (chars[inside] < ord(" ")).any():
        raise Unusual
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


def fields_of(written: bytes, needed: set[str], known: set[str]) -> tuple[dict[str, Any], int]:
    """Return the fields of a shape, with its numbers counted from 1, and how many there are. Raises Unusual unless it has those needed, and no unknown ones."""
    if written[:1] != b",":
        raise Unusual
    text, counted = with_numbers_counted(written[1:] + b"}")
    try:
        pairs: Any = json.loads(text.decode("utf-8"), object_pairs_hook=tuple)  # for bytes it accepts half surrogates
    except ValueError:
        raise Unusual from None
    fields = dict(pairs)
    if len(fields) != len(pairs) or not needed <= fields.keys() <= known:
        raise Unusual
    return fields, counted


def with_numbers_counted(written: bytes) -> tuple[bytes, int]:
    """Return the text with its numbers counted from 1 instead of 0, and how many there are."""
    texts = written.split(b"0")
    return b"".join([text + b"%d" % i for i, text in enumerate(texts[:-1], 1)] + texts[-1:]), len(texts) - 1


def place_of(number: object) -> Place:
    """Return the place of a number of a shape. Raises Unusual if it is none."""
    if type(number) is not int:
        raise Unusual
    return abs(number) - 1, 1 if number > 0 else -1
