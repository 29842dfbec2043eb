"""idealloc's binary files (.plc): eight big-endian words of 64 bits a buffer.

They are its number, birth, death, size, heap, offset there, alignment (0: none) and the size that was asked for. A buffer is needed between its birth
and its death; where one dies and another is born at the same time, they do not meet.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ...checks import sound_as_read
from ...checks.limits import MAX_ADDRESS, MAX_TIME
from ...checks.report import Report, bad_input
from ...model.deadline import tick
from ...model.errors import Code
from ...model.problem import Buffer, Lifetimes, Pool, Problem

if TYPE_CHECKING:
    from ..documents import Source

_RECORD = struct.Struct(">8Q")
_FIELDS = (
    ("id", MAX_ADDRESS),
    ("birth", MAX_TIME - 1),
    ("death", MAX_TIME - 1),
    ("size", MAX_ADDRESS),
    ("heap", (1 << 64) - 1),
    ("offset", MAX_ADDRESS),
    ("alignment", MAX_ADDRESS),
)
SEEN = 4
"""Records by which such a file is recognised."""


def looks_like(data: bytes) -> bool:
    """Are its first records ones that make sense? Numbers that a program uses leave the first byte of a word empty."""
    if not data or len(data) % _RECORD.size:
        return False
    for at in range(0, min(len(data), SEEN * _RECORD.size), _RECORD.size):
        words = _RECORD.unpack_from(data, at)
        if max(words) >> 56 or words[1] >= words[2] or not words[3]:
            return False
    return True


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """The Problem; each heap is a memory, and where the buffers lay are hints."""
    if not source.data or len(source.data) % _RECORD.size:
        text = f"it must hold records of {_RECORD.size} bytes, and has {len(source.data)} bytes"
        raise bad_input(Code.UNREADABLE, ("bytes", len(source.data)), text)
    report = Report()
    buffers: list[Buffer] = []
    heaps: dict[int, str] = {}
    known: set[int] = set()
    for row, words in enumerate(_RECORD.iter_unpack(source.data)):
        tick("reading")
        at = row * _RECORD.size
        for number, (name, most) in enumerate(_FIELDS):
            if words[number] > most:
                text = f"byte {at + 8 * number}: the {name} {words[number]} is out of range"
                report.add(Code.OUT_OF_RANGE, ("bytes", at + 8 * number), text)
        id_, birth, death, size, heap, offset, alignment, _ = words
        if death < birth:
            text = f"byte {at + 16}: the death {death} comes before the birth, {birth}"
            report.add(Code.INTERVAL_REVERSED, ("bytes", at + 16), text)
        if id_ in known:
            report.add(Code.DUPLICATE_ID, ("bytes", at), f"byte {at}: there is another buffer {id_}")
        if report.is_full:
            break
        known.add(id_)
        home = heaps.setdefault(heap, f"heap {len(heaps) + 1}")
        live = ((birth, max(birth, death)),)
        buffers.append(Buffer(id_, size, max(alignment, 1), live=live, pools=(home,), hint=offset))
    report.raise_if_any()
    pools = tuple(Pool(name) for name in heaps.values())
    return sound_as_read(Problem(tuple(buffers), pools, lifetimes=Lifetimes.HALF_OPEN)), ()
