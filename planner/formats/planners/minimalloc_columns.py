"""Rows of plain numbers read in columns: for minimalloc's files with many rows and nothing unusual.

Anything unusual (spaces, quotes, other columns) is left to the careful reader, which reports faults and their places.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from solvers.model.instance import Ints

from ...model.columns.buffers import BufferColumns
from ...model.columns.texts import GatheredTexts
from ...model.deadline import look
from ...model.errors import BadInput
from ..text.digits import Bytes, chunks, numbers

COMMA, NEWLINE, MINUS = b",\n-"
MARK = b"\xef\xbb\xbf"
DEFAULT = "default"
"""The memory that is meant where a file names none."""
NUMBERS = ("size", "alignment", "lower", "upper")
Cells: TypeAlias = tuple[Ints, Ints]
"""Where the cells begin and end, a row of numbers for each line."""
Header: TypeAlias = Callable[[list[str]], tuple[dict[str, int], bool]]
"""From the names of the columns: the number of each, and whether lifetimes are inclusive. Raises BadInput."""
CONTROL = bytes(byte for byte in (*range(32), 127) if byte != NEWLINE)


def read_columns(data: bytes, begin: int, header: Header, *, inclusive: bool) -> tuple[BufferColumns, str] | None:
    """Return the buffers in the lines from `begin` on, the first of which names the columns, and the name of their memory; None if something is unusual."""
    lines = _plain_lines(data)
    return None if lines is None else _columns_of(lines, begin, header, inclusive=inclusive)


def _plain_lines(data: bytes) -> bytes | None:
    """Return the lines, each with one newline at its end; None if there are quotes, control characters, or more than ASCII."""
    if data.startswith(MARK) or b'"' in data or not data.isascii():
        return None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    if len(data.translate(None, CONTROL)) != len(data):
        return None
    if not data.endswith(b"\n") or data.endswith(b"\n\n"):
        data = data.rstrip(b"\n") + b"\n"
    return data


def _columns_of(data: bytes, begin: int, header: Header, *, inclusive: bool) -> tuple[BufferColumns, str] | None:
    first = data.find(b"\n", begin) + 1
    try:
        places, is_inclusive = header(data[begin : first - 1].decode().split(","))
    except BadInput:
        return None
    if not places.keys() <= {"id", "pool", *NUMBERS} or first == len(data):
        return None
    found = [array("q") for _ in NUMBERS]
    ids = GatheredTexts()
    pool = None if "pool" in places else DEFAULT.encode()
    for chunk in chunks(data, first, len(data), b"\n"):
        look("reading")
        cells = _cells(chunk, len(places)) if chunk else None
        columns = None if cells is None else _numbers(chunk, cells, places)
        if cells is None or columns is None:
            return None
        for numbers_, column in zip(found, columns, strict=True):
            numbers_.frombytes(column.tobytes())
        ids.add_lines(_text(chunk, cells, places["id"]))
        if "pool" in places:
            names = _text(chunk, cells, places["pool"])
            pool = names[: names.index(b"\n")] if pool is None else pool
            if names != (pool + b"\n") * len(cells[0]):
                return None
    if not pool or pool != pool.strip():
        return None
    size, alignment, start, end = (np.frombuffer(column, np.int64) for column in found)
    if inclusive or is_inclusive:
        if (end < start).any():
            return None
        end = end + 1
    return BufferColumns(ids.all(), size, alignment, start, end), pool.decode()


def _cells(chunk: bytes, count: int) -> Cells | None:
    """Return where the cells of each row begin and end; None unless each row has so many."""
    chars: Bytes = np.frombuffer(chunk, np.uint8)
    marks = np.flatnonzero((chars == COMMA) | (chars == NEWLINE))
    if len(marks) % count:
        return None
    is_end = (chars[marks] == NEWLINE).reshape(-1, count)
    if is_end[:, :-1].any() or not is_end[:, -1].all():
        return None
    return np.concatenate([[0], marks[:-1] + 1]).reshape(-1, count), marks.reshape(-1, count)


def _text(chunk: bytes, cells: Cells, column: int) -> bytes:
    """Return the text of a column, with a newline after each cell."""
    chars: Bytes = np.frombuffer(chunk, np.uint8)
    begin, length = cells[0][:, column], cells[1][:, column] - cells[0][:, column] + 1
    after = np.cumsum(length)
    text: Bytes = chars[np.arange(after[-1]) + np.repeat(begin - after + length, length)]
    text[after - 1] = NEWLINE
    return text.tobytes()


def _numbers(chunk: bytes, cells: Cells, places: dict[str, int]) -> list[Ints] | None:
    """Return the columns of numbers, with 1 for every missing alignment."""
    chars: Bytes = np.frombuffer(chunk, np.uint8)
    begin, end = cells
    found = []
    for name in NUMBERS:
        if name not in places:
            found.append(np.ones(len(end), dtype=np.int64))
            continue
        first, last = begin[:, places[name]], end[:, places[name]]
        below = chars[first] == MINUS
        value = numbers(chars, first + below, last)
        if value is None:
            return None
        found.append(np.where(below, -value, value))
    return found
