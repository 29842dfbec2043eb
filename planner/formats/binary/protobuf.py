"""Protocol buffers as bytes: the fields of a message in turn, with nothing copied and nothing trusted.

Readers take the fields that they know and skip the others. Whatever a file says, it only becomes numbers and places in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import iter_unpack
from typing import NamedTuple, TypeVar

from ...checks.report import bad_input
from ...model.deadline import tick
from ...model.errors import BadInput, Code

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_KINDS = {VARINT: "a number", FIXED64: "8 bytes", BYTES: "bytes", FIXED32: "4 bytes"}
MAX_DEPTH = 64
"""The most nested messages."""
MAX_TEXT = 1024
"""The most bytes of a name."""
MESSAGES, BYTES_A_MESSAGE = 1 << 17, 8
"""The messages that any file may have, and the bytes per further message: most messages become objects, and an empty one takes two bytes."""


MEMORY, FOR_EACH_BYTE = 1 << 23, 6
"""The bytes of memory that the results for any file may take, and further ones for each byte of the file."""
A_TEXT = 50
"""The memory of a name, besides its own bytes."""


Made = TypeVar("Made")


class _Left:
    """The budget left for a file."""

    __slots__ = ("memory", "messages")

    def __init__(self, size: int) -> None:
        self.messages = MESSAGES + size // BYTES_A_MESSAGE
        self.memory = MEMORY + FOR_EACH_BYTE * size


class Part:
    """A part of the file: a message, a text, or a packed list of numbers."""

    __slots__ = ("_left", "data", "depth", "end", "start")

    def __init__(self, data: bytes, start: int, end: int, depth: int, left: _Left) -> None:
        self.data, self.start, self.end, self.depth, self._left = data, start, end, depth, left

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def bytes(self) -> bytes:
        return self.data[self.start : self.end]

    def text(self) -> str:
        """Return a name. Raises BadInput if it is too long, or not UTF-8."""
        if self.end - self.start > MAX_TEXT:
            text = f"byte {self.start}: a name of {self.end - self.start} bytes; at most {MAX_TEXT} are taken"
            raise bad_input(Code.TOO_LARGE, ("bytes", self.start), text)
        self.keep(A_TEXT + self.end - self.start)
        try:
            return self.bytes.decode("utf-8")
        except UnicodeDecodeError:
            raise unreadable(self.start, "a name that is not UTF-8") from None

    def keep(self, memory: int) -> None:
        """Count memory of a result that is kept. Raises BadInput if it is too much for a file of this length."""
        self._left.memory -= memory
        if self._left.memory < 0:
            text = f"byte {self.start}: more than a file of this length should hold, however little each takes there"
            raise bad_input(Code.TOO_LARGE, ("bytes", self.start), text)

    def passing(self, make: Callable[[Part], Made]) -> Made:
        """Return a result that is not kept, so that it does not count."""
        left = self._left
        before = left.memory, left.messages
        try:
            return make(self)
        finally:
            left.memory, left.messages = before

    def fields(self) -> Iterator[Field]:
        """Yield the message's fields in the order of the file. Raises BadInput if they are damaged."""
        if self.depth > MAX_DEPTH:
            text = f"byte {self.start}: messages nest deeper than {MAX_DEPTH}"
            raise bad_input(Code.TOO_DEEP, ("bytes", self.start), text)
        self._left.messages -= 1
        if self._left.messages < 0:
            text = f"byte {self.start}: more messages than a file of this length should have"
            raise bad_input(Code.TOO_LARGE, ("bytes", self.start), text)
        return self._fields()

    def _fields(self) -> Iterator[Field]:
        data, at, end, inner = self.data, self.start, self.end, self.depth + 1
        while at < end:
            tick("reading")
            begun = at
            key, at = _varint(data, at, end)
            number, kind = key >> 3, key & 7
            if not number:
                raise unreadable(begun, "a field without a number")
            if kind == VARINT:
                value, at = _varint(data, at, end)
                yield Field(number, kind, begun, value, None)
                continue
            if kind == BYTES:
                size, at = _varint(data, at, end)
            elif kind in (FIXED64, FIXED32):
                size = 8 if kind == FIXED64 else 4
            else:
                raise unreadable(begun, f"a field of the kind {kind}, which there is not")
            if size > end - at:
                raise unreadable(begun, f"a field of {size} bytes, where only {end - at} are left")
            yield Field(number, kind, begun, 0, Part(data, at, at + size, inner, self._left))
            at += size


class Field(NamedTuple):
    """A field of a message."""

    number: int
    kind: int
    at: int
    """Its beginning in the file."""
    raw: int
    inside: Part | None

    @property
    def part(self) -> Part:
        """Return its bytes. Raises BadInput if it is of another kind."""
        if self.kind != BYTES or self.inside is None:
            raise self._other("bytes")
        return self.inside

    def text(self) -> str:
        return self.part.text()

    @property
    def signed(self) -> int:
        """Return a number of 64 bits, or one of 32 that was extended."""
        if self.kind != VARINT:
            raise self._other("a number")
        return self.raw - (1 << 64) if self.raw >> 63 else self.raw

    def numbers(self) -> Iterator[int]:
        """Return one signed number, or many packed ones."""
        if self.kind != BYTES or self.inside is None:
            yield self.signed
            return
        at = self.inside.start
        while at < self.inside.end:
            value, at = _varint(self.inside.data, at, self.inside.end)
            yield value - (1 << 64) if value >> 63 else value

    def floats(self) -> Iterator[float]:
        """Return one number of 4 bytes, or many packed ones."""
        if self.inside is None or self.kind == FIXED64 or self.inside.size % 4:
            raise self._other("numbers of 4 bytes")
        for (value,) in iter_unpack("<f", self.inside.bytes):
            yield value

    def _other(self, wanted: str) -> BadInput:
        return unreadable(self.at, f"field {self.number} must be {wanted}, not {_KINDS[self.kind]}")


def message(data: bytes) -> Part:
    """Return the whole file as one message."""
    return Part(data, 0, len(data), 0, _Left(len(data)))


def unreadable(at: int, what: str) -> BadInput:
    """Return an error about a byte."""
    return bad_input(Code.UNREADABLE, ("bytes", at), f"byte {at}: {what}")


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the number, and where the next item begins."""
    begun = at
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    raise unreadable(begun, "a number that does not end" if at < end else "the file ends within a number")
