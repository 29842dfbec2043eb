"""A bounded reader of FlatBuffers: it trusts nothing, copies only what is requested, and gives the byte of every fault.

Tables and vectors may overlap, so that a few bytes can describe any amount. What is read is counted, and limited by the file's length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from ...checks.report import Place, bad_input
from ...model.deadline import tick
from ...model.errors import BadInput, Code

_U16: Final = struct.Struct("<H")
_U32: Final = struct.Struct("<I")
_I32: Final = struct.Struct("<i")
_U64: Final = struct.Struct("<Q")

ALLOWANCE = 1 << 16
"""Bytes that may be read of any file, besides twice its length."""
LEAST_TABLE = 16
"""The charge of a table: twice its least size together with the offset that leads to it."""


class FlatBuffer:
    """Bytes that are read as tables."""

    def __init__(self, data: bytes, identifier: bytes) -> None:
        self.data = data
        self._left = 2 * len(data) + ALLOWANCE
        if len(data) < 8:
            raise damaged((), len(data), "the file ends within its header")
        if data[4:8] != identifier:
            raise bad_input(
                Code.UNKNOWN_FORMAT, (), f"at byte 4 must be {identifier.decode()!r}, not {data[4:8].hex(' ')} (hex)"
            )

    def root(self) -> Table:
        return Table(self, self.follow(0, ()), ())

    def follow(self, at: int, place: Place) -> int:
        """Return the target of the offset at `at`."""
        to = at + self.unsigned(at, place)
        if to == at or to + 4 > len(self.data):
            raise damaged(place, at, f"leads to byte {to}, and the file has {len(self.data)}")
        return to

    def unsigned(self, at: int, place: Place) -> int:
        self.require(at, 4, place)
        number: int = _U32.unpack_from(self.data, at)[0]
        return number

    def require(self, at: int, size: int, place: Place) -> None:
        """Raise BadInput unless that many bytes exist."""
        if at < 0 or at + size > len(self.data):
            raise damaged(place, at, f"{size} bytes are expected, and the file has {len(self.data)}")

    def charge(self, size: int, at: int, place: Place) -> None:
        """Count bytes as read. Raises BadInput if they exceed what a file of this length can contain."""
        tick("reading")
        self._left -= size
        if self._left < 0:
            text = f"at byte {at}: tables and vectors lie on top of each other, so that they describe more than the file holds"
            raise bad_input(Code.TOO_LARGE, place, text)


def damaged(place: Place, at: int, what: str) -> BadInput:
    """Return an error: the file is not what it claims to be there."""
    return bad_input(Code.OUT_OF_RANGE, place, f"at byte {at}: {what}")


class Table:
    """A table: fields by their numbers in the schema, each with its default."""

    __slots__ = ("_size", "_vtable", "at", "buffer", "fields", "place")

    def __init__(self, buffer: FlatBuffer, at: int, place: Place) -> None:
        self.buffer = buffer
        self.at = at
        self.place = place
        buffer.charge(LEAST_TABLE, at, place)
        buffer.require(at, 4, place)
        data = buffer.data
        self._vtable = at - _I32.unpack_from(data, at)[0]
        buffer.require(self._vtable, 4, place)
        length, self._size = _U16.unpack_from(data, self._vtable)[0], _U16.unpack_from(data, self._vtable + 2)[0]
        if length < 4 or length % 2 or self._size < 4:
            raise damaged(place, self._vtable, f"a table of {self._size} bytes with a list of fields of {length} bytes")
        buffer.require(self._vtable, length, place)
        buffer.require(at, self._size, place)
        self.fields = length // 2 - 2

    def field(self, number: int, size: int, name: str) -> int | None:
        """Return the place of the field, which has `size` bytes; None if it is absent."""
        if number >= self.fields:
            return None
        offset: int = _U16.unpack_from(self.buffer.data, self._vtable + 4 + 2 * number)[0]
        if offset == 0:
            return None
        if offset < 4 or offset + size > self._size:
            raise damaged((*self.place, name), self.at, f"the field is at {offset} in a table of {self._size} bytes")
        return self.at + offset

    def byte(self, number: int, name: str) -> int:
        at = self.field(number, 1, name)
        return 0 if at is None else self.buffer.data[at]

    def unsigned(self, number: int, name: str, default: int = 0) -> int:
        at = self.field(number, 4, name)
        return default if at is None else _U32.unpack_from(self.buffer.data, at)[0]

    def signed(self, number: int, name: str, default: int = 0) -> int:
        at = self.field(number, 4, name)
        return default if at is None else _I32.unpack_from(self.buffer.data, at)[0]

    def long(self, number: int, name: str) -> int:
        at = self.field(number, 8, name)
        return 0 if at is None else _U64.unpack_from(self.buffer.data, at)[0]

    def table(self, number: int, name: str) -> Table | None:
        at = self.field(number, 4, name)
        if at is None:
            return None
        place = (*self.place, name)
        return Table(self.buffer, self.buffer.follow(at, place), place)

    def span(self, number: int, name: str, item: int) -> tuple[int, int]:
        """Return where the vector's items of `item` bytes begin, and their number; 0 if it is absent."""
        at = self.field(number, 4, name)
        if at is None:
            return 0, 0
        place = (*self.place, name)
        start = self.buffer.follow(at, place)
        count = self.buffer.unsigned(start, place)
        if count * item > len(self.buffer.data) - start - 4:
            raise damaged(place, start, f"{count} items of {item} bytes do not fit into the file")
        return start + 4, count

    def signed_vector(self, number: int, name: str) -> tuple[int, ...]:
        start, count = self.span(number, name, 4)
        self.buffer.charge(4 * count, start, (*self.place, name))
        return struct.unpack_from(f"<{count}i", self.buffer.data, start)

    def text(self, number: int, name: str) -> str | None:
        """Return the text, with invalid UTF-8 replaced; None if it is absent."""
        if self.field(number, 4, name) is None:
            return None
        start, count = self.span(number, name, 1)
        self.buffer.charge(count, start, (*self.place, name))
        return self.buffer.data[start : start + count].decode("utf-8", "replace")

    def targets(self, number: int, name: str) -> Iterator[int]:
        """Yield the places of a vector's tables."""
        start, count = self.span(number, name, 4)
        for i in range(count):
            yield self.buffer.follow(start + 4 * i, (*self.place, name, i))

    def tables(self, number: int, name: str) -> Iterator[Table]:
        """Yield the tables of a vector."""
        for i, at in enumerate(self.targets(number, name)):
            yield Table(self.buffer, at, (*self.place, name, i))
