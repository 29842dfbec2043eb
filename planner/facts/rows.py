"""Many rows of text that differ only in a name and a few numbers, made from columns in batches: much faster than one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias, cast

import numpy as np

from solvers.model.instance import Ints

from ..model.columns.texts import Texts

Table: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.uint8]]
"""One row of bytes each; a zero stands for no character."""

AT_ONCE = 1 << 13
"""Rows in a batch, which fits the processor's cache."""
NAME = "\1"
"""Stands for a row's name until the rest is written."""
ESCAPED = bytes([*range(32), *b'"\\', 127])
"""The ASCII characters that JSON escapes."""
DIGITS = 4
MOST = 10**DIGITS
"""Digits are looked up four at a time."""


def rows(words: Sequence[str], *columns: Ints | Sequence[str] | range) -> Iterator[str]:
    """Yield the text of batches of rows: words[0], the first column's name or number, words[1], the next column's, and so on."""
    around = [np.frombuffer(word.encode(), np.uint8) for word in words]
    for begin in range(0, len(columns[0]), AT_ONCE):
        some = [column[begin : begin + AT_ONCE] for column in columns]
        names = [column for column in some if isinstance(column, list)]
        text = _text(around, [*map(_characters, some)])
        if not names:
            yield text
            continue
        before, *pieces = text.split(NAME)
        yield before + "".join(
            [*chain.from_iterable(zip(chain.from_iterable(zip(*names, strict=True)), pieces, strict=True))]
        )


def named_rows(
    words: Sequence[str], ids: Sequence[object], encode: Callable[[object], str], *columns: Ints | Sequence[str]
) -> Iterator[str]:
    """Yield the same with the JSON text of each id as first column. Where JSON escapes nothing, quotes are written as words."""
    if isinstance(ids, range) or not _are_plain(ids):
        return rows(words, names_of(ids, encode), *columns)
    names = cast(Sequence[str], ids if isinstance(ids, list | Texts) else [*ids])
    return rows((f'{words[0]}"', f'"{words[1]}', *words[2:]), names, *columns)


def _characters(column: Ints | Sequence[str] | range) -> Table:
    """Return the text of a column; that of names follows later."""
    if isinstance(column, list):
        return np.full((len(column), 1), ord(NAME), np.uint8)
    return _digits(np.asarray(column))


def names_of(ids: Sequence[object], encode: Callable[[object], str]) -> Sequence[str] | range:
    """Return the JSON text of each id; a range is returned as it is. Where JSON escapes nothing, `encode` is not called."""
    if isinstance(ids, range):
        return ids
    if _are_plain(ids):
        return [f'"{id_}"' for id_ in ids]
    return [*map(str if {*map(type, ids)} == {int} else encode, ids)]


def _are_plain(ids: Sequence[object]) -> bool:
    """Return True if all ids are strings of ASCII in which JSON escapes nothing."""
    if isinstance(ids, Texts):
        return ids.whole.isascii() and len(ids.whole.translate(None, ESCAPED)) == len(ids.whole) - len(ids)
    try:
        text = "".join(ids)  # type: ignore[arg-type]  # raises TypeError itself
    except TypeError:
        return False
    if not text.isascii():
        return False
    encoded = text.encode()
    return len(encoded.translate(None, ESCAPED)) == len(encoded)


def _text(around: Sequence[Table], columns: Sequence[Table]) -> str:
    table = np.zeros((len(columns[0]), sum(map(len, around)) + sum(column.shape[1] for column in columns)), np.uint8)
    at = len(around[0])
    table[:, :at] = around[0]
    for column, word in zip(columns, around[1:], strict=True):
        table[:, at : at + column.shape[1]] = column
        at += column.shape[1] + len(word)
        table[:, at - len(word) : at] = word
    return table.tobytes().translate(None, b"\0").decode()


def _digits(numbers: Ints) -> Table:
    """Return the numbers in decimal; they must be >= -2^63 + 1."""
    rest = np.abs(numbers)
    groups = -(-len(str(rest.max())) // DIGITS)
    found = np.empty((len(rest), groups), np.uint32)
    for group in reversed(range(groups)):
        above = rest // MOST
        low = rest - above * MOST  # many times faster than `%`
        found[:, group] = (LAST if group == groups - 1 else UPPER)[low + MOST * (above > 0)]
        rest = above
    digits: Table = found.view(np.uint8)
    if numbers.min() >= 0:
        return digits
    return np.concatenate([np.where(numbers < 0, np.uint8(ord("-")), np.uint8(0))[:, None], digits], axis=1)


def _looked_up() -> tuple[np.ndarray[tuple[int], np.dtype[np.uint32]], np.ndarray[tuple[int], np.dtype[np.uint32]]]:
    """Return the digits of 0 to 9999 twice: without leading zeros, and padded to four; a lone zero keeps its digit in the second."""
    number = np.arange(MOST)[:, None]
    places = 10 ** np.arange(DIGITS)[::-1]
    whole = (number // places % 10 + ord("0")).astype(np.uint8)
    bare = np.where(number >= places, whole, np.uint8(0))
    upper = np.concatenate([bare, whole])
    last = upper.copy()
    last[0, -1] = ord("0")
    return upper.view(np.uint32).ravel(), last.view(np.uint32).ravel()


UPPER, LAST = _looked_up()
